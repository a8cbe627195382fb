// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Which samples an `AVSampleBufferGenerator` is to put into a sample buffer, and when it is to read them.
open class AVSampleBufferRequest: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Which samples beside the one at the start cursor.
  public enum Direction: Int, Sendable {
    /// Samples that follow it in decode order.
    case forward = 1
    /// No other.
    case none = 0
    /// Samples that precede it in decode order.
    case reverse = -1
  }

  /// When the data is read.
  public enum Mode: Int, Sendable {
    /// Before the sample buffer is given out.
    case immediate = 0
    /// In the background, before its time comes on the generator's timebase; without one, as `.immediate`.
    case scheduled = 1
    /// In the background, when there is time for it.
    case opportunistic = 2
  }

  /// The sample that the sample buffer has to contain.
  public let startCursor: AVSampleCursor

  private let lock = Lock()
  private var state = State()

  private struct State {
    var direction = Direction.none
    var limit: AVSampleCursor?
    var preferred = 0
    var most = 0
    var mode = Mode.immediate
    var time = CMTime.invalid
  }

  public init(start startCursor: AVSampleCursor) {
    self.startCursor = startCursor
    super.init()
  }

  /// With `.none`, as it is unless set, `limitCursor`, `preferredMinSampleCount` and `maxSampleCount` have no effect.
  open var direction: Direction {
    get { lock.withLock { state.direction } }
    set { lock.withLock { state.direction = newValue } }
  }
  /// The last sample that may be in the sample buffer, in the request's direction; nil: any may be. One that lies in the other
  /// direction leaves the start cursor's sample alone.
  open var limitCursor: AVSampleCursor? {
    get { lock.withLock { state.limit } }
    set { lock.withLock { state.limit = newValue } }
  }
  /// How many samples are wanted; 0: nobody says. They are fewer where the format changes.
  open var preferredMinSampleCount: Int {
    get { lock.withLock { state.preferred } }
    set { lock.withLock { state.preferred = max(0, newValue) } }
  }
  /// How many samples there may be; 0: nobody says.
  open var maxSampleCount: Int {
    get { lock.withLock { state.most } }
    set { lock.withLock { state.most = max(0, newValue) } }
  }
  open var mode: Mode {
    get { lock.withLock { state.mode } }
    set { lock.withLock { state.mode = newValue } }
  }
  /// The output presentation time of the sample buffer, by which a scheduled one's data is there; invalid, as it is unless
  /// set: what follows from the samples.
  open var overrideTime: CMTime {
    get { lock.withLock { state.time } }
    set { lock.withLock { state.time = newValue } }
  }

  /// Samples, and bytes, that one sample buffer holds at most.
  private static let mostSamples = 1 << 14
  private static let mostBytes: Int64 = 1 << 28

  /// The numbers of the samples: of one format, and no more than a sample buffer should hold.
  func samples() -> Range<Int> {
    let state = lock.withLock { self.state }
    let (index, start) = (startCursor.index, startCursor.number)
    guard state.direction != .none, let first = index.sample(start) else { return start..<start + 1 }
    let step = state.direction.rawValue
    // Up to a limit all samples are wanted; without one, a single sample where nobody says how many.
    var count = state.preferred > 0 ? state.preferred : state.limit == nil ? 1 : Self.mostSamples
    if state.most > 0 { count = state.preferred > 0 ? min(count, state.most) : state.most }
    count = min(count, Self.mostSamples)
    if let limit = state.limit, limit.isOfSameTrack(as: startCursor) {
      count = min(count, max(0, (limit.number - start) * step) + 1)
    }
    var taken = 1
    var bytes = first.size
    while taken < count, let sample = index.sample(start + step * taken), sample.format == first.format {
      bytes += sample.size
      guard bytes <= Self.mostBytes else { break }
      taken += 1
    }
    return step > 0 ? start..<start + taken : start - taken + 1..<start + 1
  }
}
