// SPDX-License-Identifier: Apache-2.0
import Foundation

public enum AVQueuedSampleBufferRenderingStatus: Int, Sendable {
  /// Nothing has been enqueued.
  case unknown = 0
  case rendering = 1
  /// See `error`. `flush()` makes a fresh start possible.
  case failed = 2
}

/// What takes sample buffers and presents them in time.
public protocol AVQueuedSampleBufferRendering: AnyObject, Sendable {
  /// The time line that samples are presented on.
  var timebase: CMTimebase { get }
  /// Takes a sample. Samples come in decode order.
  func enqueue(_ sampleBuffer: CMSampleBuffer)
  /// Forgets what has not been presented yet.
  func flush()
  /// Whether more samples are wanted. One that comes nevertheless is kept as well.
  var isReadyForMoreMediaData: Bool { get }
  /// Calls `block` on `queue` whenever more samples are wanted, until `stopRequestingMediaData()`.
  func requestMediaDataWhenReady(on queue: DispatchQueue, using block: @escaping @Sendable () -> Void)
  func stopRequestingMediaData()
}

/// What a synchronizer needs of its renderers.
protocol SynchronizedRenderer: AVQueuedSampleBufferRendering {
  /// Follows this timebase from now on; nil: its own again.
  func follow(_ timebase: CMTimebase?)
}

/// How a picture is fitted into a rectangle of another shape.
public struct AVLayerVideoGravity: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Wholly visible, with bars.
  public static let resizeAspect = AVLayerVideoGravity(rawValue: "AVLayerVideoGravityResizeAspect")
  /// Filling the rectangle, edges cut off.
  public static let resizeAspectFill = AVLayerVideoGravity(rawValue: "AVLayerVideoGravityResizeAspectFill")
  /// Filling the rectangle, stretched.
  public static let resize = AVLayerVideoGravity(rawValue: "AVLayerVideoGravityResize")
}
