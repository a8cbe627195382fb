// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzDriver
import VideoToolbox

private let path = "/dev/shm/ovt-fuzz-silo-\(ProcessInfo.processInfo.processIdentifier)"

/// Opens a silo of an earlier run after changing bytes of its file. Opening may fail; the samples
/// that it returns must be valid.
@Sendable func fuzzSilo(_ input: inout FuzzInput) {
  var bytes = template
  guard !bytes.isEmpty else { return }
  var patches = 0
  while !input.isEmpty, patches < 64 {
    patches += 1
    let place = (Int(input.byte()) << 8 | Int(input.byte())) % bytes.count
    for n in 0..<Int(input.byte() % 8) + 1 where place + n < bytes.count { bytes[place + n] = input.byte() }
    if patches == 1, place % 16 == 3 { bytes = bytes.prefix(max(place, 1)) }
  }
  guard (try? bytes.write(to: URL(fileURLWithPath: path))) != nil else { return }
  defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) } }
  guard let silo = open(existing: true) else { return }
  var count = 0
  VTFrameSiloCallBlockForEachSampleBuffer(silo, in: .invalid) { sample in
    count += 1
    _ = sample.presentationTimeStamp
    _ = sample.formatDescription?.parameterSets
    if let block = sample.dataBuffer {
      require(CMBlockBufferGetDataLength(block) == CMSampleBufferGetTotalSampleSize(sample), "sizes differ")
    }
    return count < 200 ? noErr : kVTParameterErr
  }
  var progress: Float = 0
  VTFrameSiloGetProgressOfCurrentPass(silo, progressOut: &progress)
  require(progress.isFinite && (0...1).contains(progress), "a progress of \(progress)")
  var range = CMTimeRange(
    start: CMTime(value: 4, timescale: 30), end: CMTime(value: 8, timescale: 30))
  guard VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: &range) == noErr else {
    return
  }
  for n in 4..<8 {
    if let sample = sample(n) { VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample) }
  }
  try? silo.synchronize()
}

private func open(existing: Bool) -> VTFrameSilo? {
  var silo: VTFrameSilo?
  VTFrameSiloCreate(
    allocator: nil, fileURL: URL(fileURLWithPath: path) as CFURL, timeRange: .invalid,
    options: [
      kOVTFrameSiloCreationOption_DoNotDelete: NSNumber(value: true),
      kOVTFrameSiloCreationOption_OpenExisting: NSNumber(value: existing),
    ] as CFDictionary, frameSiloOut: &silo)
  return silo
}

/// The file of a silo with twelve frames.
private let template: Data = {
  do {
    guard let silo = open(existing: false) else { return Data() }
    for n in 0..<12 { if let sample = sample(n) { VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample) } }
    try? silo.synchronize()
  }
  let bytes = (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()
  require(bytes.count > 4096, "there is no silo to begin with")
  unlink(path)
  return bytes
}()

private let format: CMFormatDescription? = {
  var made: CMFormatDescription?
  CMVideoFormatDescriptionCreate(
    allocator: nil, codecType: kCMVideoCodecType_H264, width: 64, height: 48,
    extensions: [
      kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: ["avcC": Data(repeating: 7, count: 30)]
    ] as CFDictionary, formatDescriptionOut: &made)
  return made
}()

private func sample(_ n: Int) -> CMSampleBuffer? {
  guard let format, let block = try? CMBlockBuffer(length: 40 + n, flags: .assureMemoryNow) else {
    return nil
  }
  var timing = CMSampleTimingInfo(
    duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: CMTime(value: Int64(n), timescale: 30),
    decodeTimeStamp: CMTime(value: Int64(n) - 1, timescale: 30))
  var size = 40 + n
  var made: CMSampleBuffer?
  CMSampleBufferCreateReady(
    allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: 1, sampleTimingEntryCount: 1,
    sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &made)
  return made
}
