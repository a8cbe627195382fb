// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Enqueues samples in a display layer: the layer whose `sampleBufferRenderer` it is, or one of its
/// own, whose pictures `copyDisplayedPixelBuffer()` returns.
public final class AVSampleBufferVideoRenderer: NSObject, SynchronizedRenderer, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Posted when a sample could not be decoded. The user info contains the error.
  public static let didFailToDecodeNotification = NSNotification.Name(
    "AVSampleBufferVideoRendererDidFailToDecodeNotification")
  /// The key of the error in the user info of `didFailToDecodeNotification`.
  public static let didFailToDecodeNotificationErrorKey: String =
    "AVSampleBufferVideoRendererDidFailToDecodeNotificationErrorKey"
  public static let requiresFlushToResumeDecodingDidChangeNotification = NSNotification.Name(
    "AVSampleBufferVideoRendererRequiresFlushToResumeDecodingDidChangeNotification")

  private let lock = Lock()
  private weak var layer: AVSampleBufferDisplayLayer?
  /// The layer of a renderer that was created without one.
  private let ownLayer: AVSampleBufferDisplayLayer?
  /// A stopped timebase, which is used when the layer has been deallocated.
  private let idle = CMTimebase.onHostClock()
  private var observers: [any NSObjectProtocol] = []

  /// Creates a renderer with a layer of its own.
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
  /// Whether decoding has failed, so that nothing is decoded before `flush()`.
  public var requiresFlushToResumeDecoding: Bool { target?.requiresFlushToResumeDecoding ?? false }

  public var timebase: CMTimebase { target?.timebase ?? idle }
  public var isReadyForMoreMediaData: Bool { target?.isReadyForMoreMediaData ?? false }
  /// Whether enough has been enqueued to show pictures without interruption.
  public var hasSufficientMediaDataForReliablePlaybackStart: Bool {
    target?.hasSufficientMediaDataForReliablePlaybackStart ?? false
  }
  /// Attributes of pixel buffers that are shown without a conversion.
  public var recommendedPixelBufferAttributes: CVPixelBufferAttributes {
    CVPixelBufferAttributes(
      pixelFormatTypes: [
        kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
        kCVPixelFormatType_32BGRA,
      ].map { CVPixelFormatType(rawValue: $0) })
  }

  /// The picture that is shown, or nil. It must not be written to.
  public func copyDisplayedPixelBuffer() -> CVPixelBuffer? { target?.shownPicture }
  public func enqueue(_ sampleBuffer: CMSampleBuffer) { target?.enqueue(sampleBuffer) }
  public func flush() { target?.flush() }

  /// Removes samples and pictures that have not been presented.
  /// - Parameters:
  ///   - removesDisplayedImage: Whether to remove the current picture as well.
  ///   - handler: Called when they have been removed.
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
