// SPDX-License-Identifier: Apache-2.0
import Foundation

public enum AVQueuedSampleBufferRenderingStatus: Int, Sendable {
  /// No sample has been enqueued.
  case unknown = 0
  case rendering = 1
  /// Rendering has failed; `error` tells the reason. `flush()` resets the status.
  case failed = 2
}

/// Presents sample buffers at their times.
public protocol AVQueuedSampleBufferRendering: AnyObject, Sendable {
  /// The timebase for presentation times.
  var timebase: CMTimebase { get }
  /// Enqueues a sample. Samples must be enqueued in decode order.
  func enqueue(_ sampleBuffer: CMSampleBuffer)
  /// Removes samples that have not been presented yet.
  func flush()
  /// Whether more samples are wanted. Samples that are enqueued while it is false are kept as well.
  var isReadyForMoreMediaData: Bool { get }
  /// Calls `block` on `queue` whenever more samples are wanted, until `stopRequestingMediaData()`
  /// is called.
  func requestMediaDataWhenReady(on queue: DispatchQueue, using block: @escaping @Sendable () -> Void)
  func stopRequestingMediaData()
}

/// A renderer that a synchronizer can control.
protocol SynchronizedRenderer: AVQueuedSampleBufferRendering {
  /// Sets the timebase to use; nil for the renderer's own.
  func follow(_ timebase: CMTimebase?)
}

/// How a picture is fitted into a rectangle of another aspect ratio.
public struct AVLayerVideoGravity: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The whole picture is visible, with bars around it.
  public static let resizeAspect = AVLayerVideoGravity(rawValue: "AVLayerVideoGravityResizeAspect")
  /// The picture fills the rectangle and is cropped.
  public static let resizeAspectFill = AVLayerVideoGravity(rawValue: "AVLayerVideoGravityResizeAspectFill")
  /// The picture fills the rectangle and is distorted.
  public static let resize = AVLayerVideoGravity(rawValue: "AVLayerVideoGravityResize")
}
