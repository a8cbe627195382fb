// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Takes the samples for a display layer, without being a layer itself: a layer's `sampleBufferRenderer`, or one on its
/// own, whose pictures `copyDisplayedPixelBuffer()` gives.
public final class AVSampleBufferVideoRenderer: NSObject, SynchronizedRenderer, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// A sample could not be decoded; the user info holds the error.
  public static let didFailToDecodeNotification = NSNotification.Name(
    "AVSampleBufferVideoRendererDidFailToDecodeNotification")
  /// In the user info of `didFailToDecodeNotification`: the error.
  public static let didFailToDecodeNotificationErrorKey: String =
    "AVSampleBufferVideoRendererDidFailToDecodeNotificationErrorKey"
  public static let requiresFlushToResumeDecodingDidChangeNotification = NSNotification.Name(
    "AVSampleBufferVideoRendererRequiresFlushToResumeDecodingDidChangeNotification")

  private let lock = Lock()
  private weak var layer: AVSampleBufferDisplayLayer?
  /// The layer of a renderer that belongs to none.
  private let ownLayer: AVSampleBufferDisplayLayer?
  /// Stands still; for a layer that is gone.
  private let idle = CMTimebase.onHostClock()
  private var observers: [any NSObjectProtocol] = []

  /// A renderer that belongs to no layer.
  public override convenience init() { self.init(owning: AVSampleBufferDisplayLayer()) }

  private convenience init(owning layer: AVSampleBufferDisplayLayer) { self.init(layer, owned: layer) }

  convenience init(_ layer: AVSampleBufferDisplayLayer) { self.init(layer, owned: nil) }

  private init(_ layer: AVSampleBufferDisplayLayer, owned ownLayer: AVSampleBufferDisplayLayer?) {
    self.layer = layer
    self.ownLayer = ownLayer
    super.init()
    let center = NotificationCenter.default
    observers = [
      center.addObserver(
        forName: .AVSampleBufferDisplayLayerFailedToDecode, object: layer, queue: nil
      ) { [weak self] note in
        let error = note.userInfo?[AVSampleBufferDisplayLayerFailedToDecodeNotificationErrorKey]
        NotificationCenter.default.post(
          name: Self.didFailToDecodeNotification, object: self,
          userInfo: error.map { [Self.didFailToDecodeNotificationErrorKey: $0] })
      },
      center.addObserver(
        forName: .AVSampleBufferDisplayLayerRequiresFlushToResumeDecodingDidChange, object: layer, queue: nil
      ) { [weak self] _ in
        NotificationCenter.default.post(
          name: Self.requiresFlushToResumeDecodingDidChangeNotification, object: self)
      },
    ]
  }

  deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }

  private var target: AVSampleBufferDisplayLayer? { lock.withLock { layer } }

  public var status: AVQueuedSampleBufferRenderingStatus { target?.status ?? .unknown }
  public var error: Error? { target?.error }
  /// Decoding has failed: nothing is decoded before `flush()`.
  public var requiresFlushToResumeDecoding: Bool { target?.requiresFlushToResumeDecoding ?? false }

  public var timebase: CMTimebase { target?.timebase ?? idle }
  public var isReadyForMoreMediaData: Bool { target?.isReadyForMoreMediaData ?? false }
  /// Whether pictures can follow each other from the first one on.
  public var hasSufficientMediaDataForReliablePlaybackStart: Bool {
    target?.hasSufficientMediaDataForReliablePlaybackStart ?? false
  }
  /// What pixel buffers are best like, for samples that hold pictures: in formats that are shown without a conversion.
  public var recommendedPixelBufferAttributes: CVPixelBufferAttributes {
    CVPixelBufferAttributes(
      pixelFormatTypes: [
        kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
        kCVPixelFormatType_32BGRA,
      ].map { CVPixelFormatType(rawValue: $0) })
  }

  /// The picture that is seen; nil without one. It must not be written to.
  public func copyDisplayedPixelBuffer() -> CVPixelBuffer? { target?.shownPicture }
  public func enqueue(_ sampleBuffer: CMSampleBuffer) { target?.enqueue(sampleBuffer) }
  public func flush() { target?.flush() }

  /// Forgets what has not been presented.
  ///
  /// Of the parameters:
  ///
  /// - `removesDisplayedImage`: The current picture is taken away too.
  /// - `handler`: Is called when that is done.
  @preconcurrency public func flush(
    removingDisplayedImage removesDisplayedImage: Bool,
    completionHandler handler: (@Sendable () -> Void)? = nil
  ) {
    guard let target else {
      handler?()
      return
    }
    if removesDisplayedImage { target.flushAndRemoveImage() } else { target.flush() }
    target.afterWork { handler?() }
  }

  @preconcurrency public func requestMediaDataWhenReady(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) { target?.requestMediaDataWhenReady(on: queue, using: block) }
  public func stopRequestingMediaData() { target?.stopRequestingMediaData() }

  func follow(_ timebase: CMTimebase?) { target?.follow(timebase) }
}
