// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Video compositions and audio mixes of items that are played, compared with the output of
/// readers.
@Suite(.serialized) struct PlayerMixingTests {
  private static let format = kCVPixelFormatType_420YpCbCr8Planar
  private static let attributes: [String: any Sendable] = [
    kCVPixelBufferPixelFormatTypeKey as String: format
  ]

  /// Half as large, in the lower right of a picture of its own size.
  private func composition(_ asset: AVAsset) throws -> AVMutableVideoComposition {
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let layer = AVMutableVideoCompositionLayerInstruction(assetTrack: track)
    layer.setTransform(CGAffineTransform(a: 0.5, b: 0, c: 0, d: 0.5, tx: 40, ty: 80), at: .zero)
    let instruction = AVMutableVideoCompositionInstruction()
    instruction.timeRange = CMTimeRange(start: .zero, duration: asset.duration)
    instruction.layerInstructions = [layer]
    let composition = AVMutableVideoComposition()
    composition.frameDuration = PlayerTests.frame
    composition.renderSize = CGSize(width: 200, height: 200)
    composition.instructions = [instruction]
    return composition
  }

  private func read(_ asset: AVAsset, _ composition: AVVideoComposition) throws -> [String] {
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video), videoSettings: Self.attributes)
    output.videoComposition = composition
    reader.add(output)
    #expect(reader.startReading())
    var sums: [String] = []
    while let sample = output.copyNextSampleBuffer() {
      sums.append(md5(ReaderTests.packed(try #require(CMSampleBufferGetImageBuffer(sample)))))
    }
    #expect(reader.status == .completed)
    return sums
  }

  @Test func compositionsAreShown() async throws {
    let path = try Fixture.movie()
    let player = PlayerTests.player(path)
    let item = try #require(player.currentItem)
    let composed = try composition(item.asset)
    let expected = try read(item.asset, composed)
    let plain = try ReaderTests.frameMD5s(path, ["-pix_fmt", "yuv420p"])
    #expect(expected.count == 60 && Set(expected).isDisjoint(with: plain))
    item.videoComposition = composed
    // The item has a copy of its own.
    composed.renderSize = .zero
    #expect(item.videoComposition?.renderSize == CGSize(width: 200, height: 200))
    #expect(item.customVideoCompositor == nil)
    let output = AVPlayerItemVideoOutput(pixelBufferAttributes: Self.attributes)
    item.add(output)
    func picture(_ index: Int) async throws -> String {
      let time = CMTime(value: Int64(index) * 1001 + 300, timescale: 30000)
      #expect(await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero))
      return md5(
        ReaderTests.packed(
          try #require(output.copyPixelBuffer(forItemTime: time, itemTimeForDisplay: nil))))
    }
    for index in [0, 31, 58, 7] {
      // A picture is composed for the seek time, with the source's picture of that time.
      #expect(try await picture(index) == expected[index])
    }
    #expect(item.presentationSize == CGSize(width: 200, height: 200))
    item.videoComposition = nil
    #expect(try await picture(12) == plain[12])
    #expect(item.presentationSize == CGSize(width: 320, height: 240))
    item.videoComposition = try composition(item.asset)
    #expect(try await picture(12) == expected[12])
    #expect(item.status == .readyToPlay)
  }

  /// A compositor of the program's.
  final class Counter: NSObject, AVVideoCompositing, @unchecked Sendable {
    static let requests = Gathered<CMTime>()
    let sourcePixelBufferAttributes: [String: any Sendable]? = nil
    let requiredPixelBufferAttributesForRenderContext: [String: any Sendable] = PlayerMixingTests.attributes
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
      Self.requests.add(request.compositionTime)
      if let image = request.renderContext.newPixelBuffer() { request.finish(withComposedVideoFrame: image) }
    }
  }

  @Test func compositorsOfTheProgramAreUsed() async throws {
    let player = PlayerTests.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    let composed = try composition(item.asset)
    composed.customVideoCompositorClass = Counter.self
    item.videoComposition = composed
    #expect(item.customVideoCompositor is Counter)
    let layer = AVPlayerLayer(player: player)
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
    player.play()
    await waitUntil { ends.count > 0 }
    #expect(ends.count == 1 && layer.isReadyForDisplay)
    // Late pictures are left out.
    #expect(Counter.requests.count > 10)
  }

  @Test func compositionsThatAreNoneAreRefused() async throws {
    let player = PlayerTests.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    item.videoComposition = AVMutableVideoComposition()
    let layer = AVPlayerLayer(player: player)
    await waitUntil { item.status == .failed }
    #expect(item.status == .failed && !layer.isReadyForDisplay)
    #expect((item.error as? AVError)?.code == .invalidVideoComposition)
  }

  @Test func mixesAreHeard() async throws {
    let player = PlayerTests.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    let sink = TestSink()
    player.ovtAudioSink = sink
    let track = try #require(item.asset.tracks(withMediaType: .audio).first)
    func mix(_ volume: Float) -> AVAudioMix {
      let parameters = AVMutableAudioMixInputParameters(track: track)
      parameters.setVolume(volume, at: .zero)
      let mix = AVMutableAudioMix()
      mix.inputParameters = [parameters]
      return mix
    }
    func loudest() async -> Float {
      let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
      let before = sink.heard.count
      #expect(await player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero))
      player.play()
      await waitUntil { ends.count > 0 }
      return sink.heard.all.dropFirst(before).flatMap(\.samples).map { abs($0) }.max() ?? 0
    }
    item.audioMix = mix(0)
    #expect(item.audioMix?.inputParameters.count == 1)
    #expect(await loudest() == 0)
    item.audioMix = nil
    let plain = await loudest()
    #expect(plain > 0.05)
    item.audioMix = mix(0.25)
    let quiet = await loudest()
    #expect(abs(quiet / plain - 0.25) < 0.05)
  }
}
