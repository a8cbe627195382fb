// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Describes the samples that an `AVSampleBufferGenerator` puts into a sample buffer, and when
/// their data is read.
open class AVSampleBufferRequest: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The direction in which samples follow the one at the start cursor.
  public enum Direction: Int, Sendable {
    /// Samples after it in decode order are included.
    case forward = 1
    /// No other samples are included.
    case none = 0
    /// Samples before it in decode order are included.
    case reverse = -1
  }

  /// The time at which the data is read.
  public enum Mode: Int, Sendable {
    /// The data is read before the sample buffer is returned.
    case immediate = 0
    /// The data is read in the background, before its time on the generator's timebase. Without a
    /// timebase this mode is the same as `.immediate`.
    case scheduled = 1
    /// The data is read in the background, when resources are available.
    case opportunistic = 2
  }

  /// The cursor at the sample that the sample buffer must contain.
  public let startCursor: AVSampleCursor

  private let lock = Lock()
  private var state = State()

  private struct State {
    var direction = Direction.none
    var limit: AVSampleCursor?
    var preferred = 0
    var maximum = 0
    var mode = Mode.immediate
    var time = CMTime.invalid
  }

  public init(start startCursor: AVSampleCursor) {
    self.startCursor = startCursor
    super.init()
  }

  /// The direction; `.none` by default, in which case `limitCursor`, `preferredMinSampleCount` and
  /// `maxSampleCount` have no effect.
  open var direction: Direction {
    get { lock.withLock { state.direction } }
    set { lock.withLock { state.direction = newValue } }
  }
  /// The last sample that may be included, in the direction of the request; nil for no limit. If it
  /// is in the opposite direction, only the sample at the start cursor is included.
  open var limitCursor: AVSampleCursor? {
    get { lock.withLock { state.limit } }
    set { lock.withLock { state.limit = newValue } }
  }
  /// The desired number of samples; 0 for none. There are fewer if the format description changes.
  open var preferredMinSampleCount: Int {
    get { lock.withLock { state.preferred } }
    set { lock.withLock { state.preferred = max(0, newValue) } }
  }
  /// The largest number of samples; 0 for no limit.
  open var maxSampleCount: Int {
    get { lock.withLock { state.maximum } }
    set { lock.withLock { state.maximum = max(0, newValue) } }
  }
  open var mode: Mode {
    get { lock.withLock { state.mode } }
    set { lock.withLock { state.mode = newValue } }
  }
  /// The output presentation time of the sample buffer, which is also the time by which the data of
  /// a scheduled request is ready. If it is invalid, as by default, it follows from the samples.
  open var overrideTime: CMTime {
    get { lock.withLock { state.time } }
    set { lock.withLock { state.time = newValue } }
  }

  /// The most samples and bytes in a sample buffer.
  private static let maxSamples = 1 << 14
  private static let maxBytes: Int64 = 1 << 28

  /// Returns the numbers of the samples. They have the same format description and do not exceed
  /// the limits of a sample buffer.
  func samples() -> Range<Int> {
    let state = lock.withLock { self.state }
    let (index, start) = (startCursor.index, startCursor.number)
    guard state.direction != .none, let first = index.sample(start) else { return start..<start + 1 }
    let step = state.direction.rawValue
    // Up to a limit cursor all samples are included. Without a limit and a count only one sample
    // is.
    var count = state.preferred > 0 ? state.preferred : state.limit == nil ? 1 : Self.maxSamples
    if state.maximum > 0 { count = state.preferred > 0 ? min(count, state.maximum) : state.maximum }
    count = min(count, Self.maxSamples)
    if let limit = state.limit, limit.isOfSameTrack(as: startCursor) {
      count = min(count, max(0, (limit.number - start) * step) + 1)
    }
    var taken = 1
    var bytes = first.size
    while taken < count, let sample = index.sample(start + step * taken), sample.format == first.format {
      bytes += sample.size
      guard bytes <= Self.maxBytes else { break }
      taken += 1
    }
    return step > 0 ? start..<start + taken : start - taken + 1..<start + 1
  }
}
