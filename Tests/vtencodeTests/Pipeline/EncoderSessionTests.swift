// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import Synchronization
import Testing
import VideoToolbox

@testable import vtencode

/// The suites that register encoders, or that expect the whole list of encoders. They run one after
/// the other, because the registry is shared by the whole process.
@Suite(.serialized) enum EncoderRegistryTests {}

extension EncoderRegistryTests {
  /// The sessions of all subcommands are made in one place, which says why there is none, and what
  /// became of a frame.
  @Suite struct EncoderSessionTests {
    /// The reason for which something is refused.
    private func refusal(_ work: () throws -> Void) throws -> String {
      do { try work() } catch let failure as Failure { return failure.message }
      Issue.record("nothing was refused")
      return ""
    }

    @Test(
      "Where there is no encoder, transcoding and calls say the same: which one, for what, and what to do")
    func aMissingEncoderIsReportedTheSameWayEverywhere() async throws {
      let all = try ListedEncoder.all().filter { $0.codecType == kCMVideoCodecType_H264 }.map(\.id)
      let unknown =
        "there is no encoder 'org.example.none' for H.264 at 64x48; there are " + all.joined(separator: ", ")
      #expect(all.contains("org.openvideotoolbox.videoencoder.h264"))
      let requested = EncoderRequest(width: 64, height: 48, id: "org.example.none")
      #expect(try refusal { _ = try EncoderSession(requested) } == unknown)
      var call = CallEncoder.Settings(width: 64, height: 48, frameRate: 30, rate: 100_000, maxRate: 100_000)
      call.id = "org.example.none"
      let settings = call
      #expect(try refusal { _ = try CallEncoder(settings) } == unknown)
      let source = try await MovieSource.open(CommandLine.sample, streamFrameRate: nil)
      let options = try EncodingOptions.parse(
        [CommandLine.sample, "--dimensions", "64x48", "--encoder", "org.example.none"])
      let plan = try EncodingPlan(options, source: source, purpose: .transcoding, isPaced: false)
      #expect(try refusal { _ = try Compressor(plan, source: source) { _ in } } == unknown)

      var calls = EncoderRequest(width: 64, height: 48, id: "org.openvideotoolbox.videoencoder.h264")
      calls.isLowLatency = true
      let wanted = calls
      #expect(
        try refusal { _ = try EncoderSession(wanted) }
          .hasPrefix(
            "'org.openvideotoolbox.videoencoder.h264' is not an encoder with a low-latency mode for H.264")
      )
      let large = EncoderRequest(width: 1 << 20, height: 1 << 20)
      #expect(
        try refusal { _ = try EncoderSession(large) }
          == "no encoder takes H.264 at 1048576x1048576; try another size with --dimensions")
    }

    /// Fails on every picture but the first, once its call is over.
    private final class Failing: VideoEncoder {
      let reorderingDepth = 0
      private var output: (any VideoEncoderOutput)?
      private var count = 0

      func start(output: any VideoEncoderOutput) { self.output = output }
      func encode(_ picture: InputPicture, request: FrameRequest) throws(CodecError) {
        count += 1
        if count == 1 {
          var frame = CompressedFrame(presentationTime: picture.presentationTime, data: nil)
          frame.header = .nothing
          output?.send(frame)
        } else {
          output?.fail(pictureAt: picture.presentationTime, with: .malfunction("of the test's own"))
        }
      }
      func flush() throws(CodecError) {}
      func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration { .applied }
    }

    @Test("A frame that the encoder fails on is reported with its time, and a dropped one as nothing")
    func aFrameThatTheEncoderFailsOnIsReportedWithItsTime() throws {
      let side = 62
      let id = "org.example.failing"
      var description = EncoderDescription(
        id: id, codec: .h264, codecName: "H.264", encoderName: "Test", displayName: "Test",
        inputFormats: [.nv12VideoRange], makeEncoder: { (_) throws(CodecError) in Failing() })
      description.sizes = PictureSizes(widths: side...side, heights: side...side)
      CodecRegistry.shared.register(description)
      defer { CodecRegistry.shared.unregisterEncoder(id: id) }
      let session = try EncoderSession(EncoderRequest(width: side, height: side, id: id))
      #expect(session.id == id)
      #expect(throws: Failure.self) {
        try session.set(kVTCompressionPropertyKey_EnableLTR, true, for: "--ltr")
      }
      var buffer: CVPixelBuffer?
      CVPixelBufferCreate(nil, side, side, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer)
      let picture = try #require(buffer)
      let results = Mutex<[String]>([])
      for frame in 0..<2 {
        try session.encode(
          picture, at: CMTime(value: CMTimeValue(frame), timescale: 4), duration: .invalid, options: [:]
        ) { result in
          let text =
            switch result {
            case .success(let sample): sample == nil ? "dropped" : "a sample"
            case .failure(let failure): failure.message
            }
          results.withLock { $0.append(text) }
        }
      }
      try session.complete()
      #expect(
        results.withLock { $0 }
          == [
            "dropped", "the encoder failed on the frame at 0.250 s (error \(kVTVideoEncoderMalfunctionErr))",
          ])
      // Out of order: refused by the call.
      #expect(throws: Failure.self) {
        try session.encode(picture, at: .zero, duration: .invalid, options: [:]) { _ in }
      }
    }
  }
}
