import CoreFoundation

/// A span of time: it contains its start and ends just before `end`.
public struct CMTimeRange: Sendable, BitwiseCopyable {
  public var start: CMTime
  public var duration: CMTime

  /// An invalid range.
  public init() {
    start = .invalid
    duration = .invalid
  }

  public init(start: CMTime, duration: CMTime) {
    self.start = start
    self.duration = duration
  }

  public init(start: CMTime, end: CMTime) {
    self.start = start
    duration = end - start
  }
}
