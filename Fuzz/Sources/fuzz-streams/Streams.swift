// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import Foundation
import FuzzDriver

/// Converts between Annex B streams and length-prefixed NAL units.
@Sendable func fuzzStreams(_ input: inout FuzzInput) {
  let lengthSize = input.number()
  let cut = Int(input.byte())
  let data = input.rest()
  let units = AnnexB.units(in: data)
  // The units must not depend on how the stream is split.
  var parser = AnnexBParser()
  var found: [Data] = []
  var from = 0
  while from < data.count {
    let to = min(data.count, from + 1 + cut)
    found += parser.append(data.subdata(in: from..<to))
    from = to
  }
  found += parser.finish()
  require(found == units, "\(found.count) units in pieces, \(units.count) at once")
  if let prefixed = try? AnnexB.lengthPrefixed(units, lengthSize: lengthSize) {
    let again = try? AnnexB.units(inLengthPrefixed: prefixed, lengthSize: lengthSize)
    require(again == units, "other units after a round")
  }
  if let units = try? AnnexB.units(inLengthPrefixed: data, lengthSize: lengthSize) {
    let prefixed = try? AnnexB.lengthPrefixed(units, lengthSize: lengthSize)
    require(prefixed != nil, "units cannot go back")
  }
  _ = try? AnnexB.stream(lengthPrefixed: data, lengthSize: lengthSize)
  for unit in units.prefix(50) {
    for codec in [ElementaryStreamCodec.h264, .hevc] {
      let unit = NALUnit(codec: codec, data: unit)
      _ = (unit.type, unit.isParameterSet, unit.isSlice)
    }
  }
}

/// Parses byte streams into timed sample buffers, and converts these back.
@Sendable func fuzzParser(_ input: inout FuzzInput) {
  var options = ElementaryStreamParser.Options()
  let flags = input.byte()
  options.keepsParameterSets = flags & 1 != 0
  if flags & 4 != 0 { options.lengthSize = Int(input.byte()) }
  if flags & 8 != 0 {
    options.frameDuration = CMTime(value: Int64(input.number()), timescale: Int32(input.byte()))
  }
  if flags & 16 != 0 { options.maxReorderFrames = input.number() }
  let cut = Int(input.byte()) * 16
  guard var parser = try? ElementaryStreamParser(codec: flags & 2 != 0 ? .hevc : .h264, options: options)
  else { return }
  let data = input.rest()
  var samples: [CMSampleBuffer] = []
  var from = 0
  while from < data.count {
    let to = min(data.count, from + 1 + cut)
    samples += (try? parser.append(data.subdata(in: from..<to))) ?? []
    from = to
  }
  samples += (try? parser.finish()) ?? []
  for sample in samples {
    _ = try? sample.nalUnits()
    _ = try? sample.annexBData(parameterSets: .syncSamples)
    _ = CMSampleBufferGetPresentationTimeStamp(sample)
    _ = CMSampleBufferGetDuration(sample)
    if let description = CMSampleBufferGetFormatDescription(sample) { inspect(description) }
  }
}
