// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

// Declarations in the shapes that programs have them: that they compile is what is asked.

#if !swift(>=6)
  /// As most compositors were written, before values had to be `Sendable`.
  class PlainCompositor: NSObject, AVVideoCompositing {
    var sourcePixelBufferAttributes: [String: Any]? = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA
    ]
    var requiredPixelBufferAttributesForRenderContext: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA
    ]
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
      request.finishCancelledRequest()
    }
  }
#endif

func preparedItem(_ asset: AVAsset) -> AVPlayerItem {
  AVPlayerItem(asset: asset, automaticallyLoadedAssetKeys: [.tracks, .duration, .preferredTransform])
}

/// The replacement of the real one in tests.
final class RecordingLayer: AVSampleBufferDisplayLayer, @unchecked Sendable {
  private(set) var enqueued: [CMSampleBuffer] = []
  override func enqueue(_ sampleBuffer: CMSampleBuffer) { enqueued.append(sampleBuffer) }
  override func flush() { enqueued = [] }
  override var isReadyForMoreMediaData: Bool { true }
}

final class StillPlayer: AVPlayer, @unchecked Sendable {
  override var rate: Float {
    get { 0 }
    set {}
  }
}

final class WaitingInput: AVAssetWriterInput, @unchecked Sendable {
  override var isReadyForMoreMediaData: Bool { false }
}

final class DamagedReader: AVAssetReader, @unchecked Sendable {
  override func startReading() -> Bool { false }
}

final class EveryTrack: AVMutableVideoCompositionInstruction, @unchecked Sendable {
  override var requiredSourceTrackIDs: [NSValue] { [NSNumber(value: 1)] }
}

func isHEVC(_ format: CMFormatDescription) -> Bool { format.extensions[.formatName] == .string("HEVC") }

func plain(_ asset: AVAsset) async throws -> AVVideoComposition {
  try await AVVideoComposition.videoComposition(withPropertiesOf: asset)
}

func askForAudio(_ renderer: AVSampleBufferAudioRenderer, from time: CMTime) {
  renderer.flush(fromSourceTime: time) { isDone in if !isDone { renderer.flush() } }
}

func isSeen(_ layer: AVSampleBufferDisplayLayer) -> Bool {
  layer.isReadyForDisplay && layer.hasSufficientMediaDataForReliablePlaybackStart
    && layer.sampleBufferRenderer.copyDisplayedPixelBuffer() != nil
}
