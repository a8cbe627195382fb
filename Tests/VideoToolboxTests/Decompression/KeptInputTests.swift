// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import Foundation
import Synchronization
import Testing
import VideoToolbox

/// Streams with which fuzzers ended the process once.
@Suite struct KeptInputTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/Corpus/decode")

  /// The first byte of an input says how it is decoded; here each is decoded in all ways.
  @Test(arguments: [
    VTDecodeFrameFlags(), ._EnableAsynchronousDecompression,
    [._EnableAsynchronousDecompression, ._EnableTemporalProcessing],
  ]) func inputsThatEndedTheProcessOnceDecodeOrFail(flags: VTDecodeFrameFlags) throws {
    let inputs = try FileManager.default.contentsOfDirectory(
      at: Self.folder, includingPropertiesForKeys: nil)
    #expect(inputs.count >= 2)
    for input in inputs {
      let bytes = try Data(contentsOf: input)
      let codec: ElementaryStreamCodec = (bytes.first ?? 0) & 1 == 0 ? .h264 : .hevc
      var parser = try ElementaryStreamParser(codec: codec)
      let samples = try parser.append(bytes.dropFirst()) + parser.finish()
      let answers = Mutex(0)
      var session: VTDecompressionSession?
      var taken = 0
      for sample in samples {
        let format = try #require(CMSampleBufferGetFormatDescription(sample))
        if let known = session,
          !VTDecompressionSessionCanAcceptFormatDescription(known, formatDescription: format)
        {
          VTDecompressionSessionWaitForAsynchronousFrames(known)
          session = nil
        }
        if session == nil {
          VTDecompressionSessionCreate(
            allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
            outputCallback: nil, decompressionSessionOut: &session)
        }
        guard let session else { continue }
        let status = VTDecompressionSessionDecodeFrame(
          session, sampleBuffer: sample, flags: flags, infoFlagsOut: nil
        ) { _, _, _, _, _ in answers.withLock { $0 += 1 } }
        if status == noErr { taken += 1 }
      }
      if let session {
        VTDecompressionSessionFinishDelayedFrames(session)
        VTDecompressionSessionWaitForAsynchronousFrames(session)
      }
      #expect(!samples.isEmpty && answers.withLock { $0 } >= taken, "\(input.lastPathComponent)")
    }
  }
}
