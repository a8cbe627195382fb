// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import Foundation
import FuzzDriver
import Synchronization
import VideoToolbox

/// Decodes damaged access units and parameter sets with decompression sessions.
@Sendable func fuzzDecode(_ input: inout FuzzInput) {
  let flags = input.byte()
  let codec: ElementaryStreamCodec = flags & 1 == 0 ? .h264 : .hevc
  var options = ElementaryStreamParser.Options()
  options.keepsParameterSets = flags & 2 != 0
  guard var parser = try? ElementaryStreamParser(codec: codec, options: options) else { return }
  let data = input.rest()
  var samples = (try? parser.append(data)) ?? []
  samples += (try? parser.finish()) ?? []
  var session: VTDecompressionSession?
  let outputs = Mutex(0)
  var expected = 0
  for (index, sample) in samples.prefix(40).enumerated() {
    guard let format = CMSampleBufferGetFormatDescription(sample) else { continue }
    let dimensions = CMVideoFormatDescriptionGetDimensions(format)
    // A stream may state an extremely large picture, which would take too long here.
    guard Int(dimensions.width) * Int(dimensions.height) <= 1 << 18 else { continue }
    if let known = session,
      !VTDecompressionSessionCanAcceptFormatDescription(known, formatDescription: format)
    {
      VTDecompressionSessionFinishDelayedFrames(known)
      VTDecompressionSessionWaitForAsynchronousFrames(known)
      VTDecompressionSessionInvalidate(known)
      session = nil
    }
    if session == nil {
      let attributes: NSDictionary? =
        flags & 4 == 0
        ? nil
        : [
          kCVPixelBufferPixelFormatTypeKey: NSNumber(
            value: [
              kCVPixelFormatType_32BGRA, kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_420YpCbCr8Planar,
            ][
              Int(flags >> 6) % 3])
        ]
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: nil,
        imageBufferAttributes: attributes,
        outputCallback: nil, decompressionSessionOut: &session)
      if let session, flags & 8 != 0 {
        VTSessionSetProperty(
          session, key: kVTDecompressionPropertyKey_FieldMode,
          value: [
            kVTDecompressionProperty_FieldMode_BottomFieldOnly,
            kVTDecompressionProperty_FieldMode_DeinterlaceFields,
          ][
            index & 1])
      }
    }
    guard let session else { continue }
    var decoding: VTDecodeFrameFlags = flags & 16 == 0 ? [] : ._EnableAsynchronousDecompression
    if flags & 32 != 0 { decoding.insert(._EnableTemporalProcessing) }
    let status = VTDecompressionSessionDecodeFrame(
      session, sampleBuffer: sample, flags: decoding, infoFlagsOut: nil
    ) { _, _, image, _, _ in
      if let image { require(CVPixelBufferGetWidth(image) > 0, "an empty picture") }
      outputs.withLock { $0 += 1 }
    }
    if status == noErr { expected += 1 }
  }
  if let session {
    VTDecompressionSessionFinishDelayedFrames(session)
    VTDecompressionSessionWaitForAsynchronousFrames(session)
    VTDecompressionSessionInvalidate(session)
  }
  // Each frame that a session accepted has exactly one callback.
  require(outputs.withLock { $0 } >= expected, "a frame without an answer")
}
