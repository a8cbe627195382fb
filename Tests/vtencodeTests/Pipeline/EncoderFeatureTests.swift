// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import Synchronization
import Testing
import VideoToolbox

@testable import vtencode

extension EncoderRegistryTests {
  /// `vtencode` decides by the features that an encoder lists, and not by its name.
  @Suite struct EncoderFeatureTests {
    /// An encoder of the test's own, which notes what its sessions ask for.
    private final class Asked: Sendable {
      private let list = Mutex<[VideoEncoderConfiguration]>([])
      var configurations: [VideoEncoderConfiguration] { list.withLock { $0 } }

      /// - Parameter side: width and height of the only pictures that it takes, so that no other
      ///   test meets it.
      func register(_ id: String, side: Int, codec: CodecType = .h264, _ features: Set<EncoderFeature>) {
        var description = EncoderDescription(
          id: id, codec: codec, codecName: "Test", encoderName: "Test", displayName: "Test",
          inputFormats: [.i420VideoRange],
          makeEncoder: { [self] (configuration) throws(CodecError) in
            list.withLock { $0.append(configuration) }
            return Silent()
          })
        description.features = features.union([.speedPreference, .dataRateLimits, .lookAhead, .threadCount])
        description.sizes = PictureSizes(widths: side...side, heights: side...side)
        CodecRegistry.shared.register(description)
      }
    }

    private final class Silent: VideoEncoder {
      let reorderingDepth = 0
      func start(output: any VideoEncoderOutput) {}
      func encode(_ picture: InputPicture, request: FrameRequest) throws(CodecError) {}
      func flush() throws(CodecError) {}
      func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration { .applied }
    }

    /// Frames to look ahead that the encoder is asked for.
    private func lookAhead(
      _ features: Set<EncoderFeature>, side: Int, _ purpose: EncodingPlan.Purpose, _ arguments: [String] = []
    ) async throws -> Int? {
      let id = "org.example.features.\(side)"
      let asked = Asked()
      asked.register(id, side: side, features)
      defer { CodecRegistry.shared.unregisterEncoder(id: id) }
      let options = try EncodingOptions.parse(
        [CommandLine.sample, "--dimensions", "\(side)x\(side)", "--scaling", "stretch", "--encoder", id]
          + arguments)
      let source = try await MovieSource.open(options.movie, streamFrameRate: nil)
      let plan = try EncodingPlan(options, source: source, purpose: purpose, isPaced: false)
      let compressor = try Compressor(plan, source: source) { _ in }
      #expect(compressor.encoderID == id)
      let configuration = try #require(asked.configurations.last)
      return configuration.lookAheadFrames
    }

    @Test("A stream asks an encoder for a look-ahead that looks ahead by default, and no other")
    func aStreamAsksForALookAheadWhereTheEncoderHasItByDefault() async throws {
      let named = ["--look-ahead-frames", "3"]
      #expect(try await lookAhead([.lookAheadByDefault], side: 34, .streaming) == 20)
      #expect(try await lookAhead([], side: 38, .streaming) == nil)
      #expect(try await lookAhead([.lookAheadByDefault], side: 42, .streaming, named) == 3)
      #expect(try await lookAhead([], side: 46, .streaming, named) == 3)
      // A movie is given no number.
      #expect(try await lookAhead([.lookAheadByDefault], side: 50, .transcoding) == nil)
    }

    @Test(
      "Segments share a decoder's buffer with an encoder of any codec that joins buffers, and with no other",
      arguments: [(62, .h264, true), (66, .h264, false), (70, .hevc, true), (74, .hevc, false)]
        as [(Int, CodecType, Bool)])
    func segmentsShareABufferWhereTheEncoderJoinsBuffers(side: Int, codec: CodecType, joins: Bool)
      async throws
    {
      let id = "org.example.features.\(side)"
      let asked = Asked()
      asked.register(id, side: side, codec: codec, joins ? [.constantRate, .joinedBuffers] : [.constantRate])
      defer { CodecRegistry.shared.unregisterEncoder(id: id) }
      let options = try EncodingOptions.parse([
        CommandLine.sample, "--dimensions", "\(side)x\(side)", "--scaling", "stretch", "--encoder", id,
        "--codec", codec == .hevc ? "hevc" : "h264", "--bitrate", "100k", "--cbr", "--frames", "5",
      ])
      let folder = try Folder()
      let planner = Planner(options: options, passes: nil, size: .count(2), parent: folder.url.path)
      let opened = try await planner.open()
      // The encoder of this test gives no frames, so that the analysis cannot succeed with it.
      let error = try #require(
        await #expect(throws: (any Error).self) { try await planner.plan(opened) })
      let text = "cannot keep to one decoder's buffer over several segments"
      #expect(Failure.describe(error).contains(text) == !joins)
      #expect(asked.configurations.contains { $0.rate.hasFramesBefore && $0.rate.hasFramesAfter } == joins)
    }

    @Test("Segments may be encoded with other numbers of threads where the encoder says so, and nowhere else")
    func segmentsHaveOtherThreadsWhereTheEncoderSaysSo() async throws {
      let source = try await MovieSource.open(CommandLine.sample, streamFrameRate: nil)
      let options = try EncodingOptions.parse([CommandLine.sample])
      let plan = try EncodingPlan(options, source: source, purpose: .transcoding, isPaced: false)
      for (side, features, isFree) in [
        (54, [.threadIndependence], true), (58, [], false),
      ] as [(Int, Set<EncoderFeature>, Bool)] {
        let id = "org.example.features.\(side)"
        Asked().register(id, side: side, features)
        defer { CodecRegistry.shared.unregisterEncoder(id: id) }
        let settings = PlanSettings(options, plan: plan, encoder: id, passes: 1, isUpright: false)
        #expect(settings.threadsAreFree == isFree)
      }
      // A plan may come from a machine with other encoders.
      let unknown = PlanSettings(
        options, plan: plan, encoder: "org.example.none", passes: 1, isUpright: false)
      #expect(!unknown.threadsAreFree)
      // Of those that are built in, the package's own, as ever.
      let prefix = "org.openvideotoolbox.videoencoder.h264"
      #expect(ListedEncoder.named(prefix)?.isIndependentOfThreadCount == true)
      #expect(ListedEncoder.named(prefix)?.looksAheadByDefault == true)
      for id in [prefix + ".x264", "org.openvideotoolbox.videoencoder.hevc.x265"] {
        let other = ListedEncoder.named(id)
        #expect(other?.isIndependentOfThreadCount != true && other?.looksAheadByDefault != true)
      }
    }
  }
}
