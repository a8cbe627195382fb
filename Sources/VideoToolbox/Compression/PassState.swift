// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Where a session is in a multi-pass encoding.
struct PassState {
  private var finished = 0
  private var isFinal = false
  private(set) var isRunning = false
  private var wantsMore = false
  private var span: PassSpan?
  private var storedRanges: RangeMemory?

  /// - Returns: nil if a pass is running.
  mutating func begin(_ storage: VTMultiPassStorage, isFinal: Bool) -> EncodingPass? {
    guard !isRunning else { return nil }
    isRunning = true
    self.isFinal = isFinal
    span = nil
    return EncodingPass(
      statisticsPath: storage.path, readsStatistics: finished > 0, writesStatistics: finished == 0 && !isFinal
    )
  }

  /// - Parameter span: Of the frames that came out; nil if there were none.
  /// - Returns: true if another pass would make the result better: there are two, the first to learn.
  mutating func end(_ span: PassSpan?) -> Bool {
    isRunning = false
    self.span = span
    wantsMore = !isFinal && finished == 0
    finished += 1
    return wantsMore
  }

  /// The whole movie, or nil if no further pass was asked for. The memory belongs to the session.
  mutating func ranges(_ storage: VTMultiPassStorage) -> UnsafeBufferPointer<CMTimeRange>? {
    guard wantsMore, !isRunning else { return nil }
    var whole = span
    let stored = storage.timeRange
    if stored.isValid, stored.start.isNumeric, stored.duration.isNumeric {
      whole = PassSpan(start: stored.start, end: stored.end).union(whole)
    }
    guard let whole else { return nil }
    let range = CMTimeRange(start: whole.start, end: whole.end)
    let memory = RangeMemory(range)
    storedRanges = memory
    return memory.pointer
  }
}

/// What a pass's frames cover: from where the first is decoded or shown to where the last one ends. Ranges that are asked
/// for hold for decode times too, as `VTFrameSiloSetTimeRangesForNextPass` takes them.
struct PassSpan {
  var start: CMTime
  var end: CMTime

  init(start: CMTime, end: CMTime) { (self.start, self.end) = (start, end) }

  /// Of one frame.
  init(presentationTime: CMTime, decodeTime: CMTime, duration: CMTime) {
    start = decodeTime.isNumeric ? min(decodeTime, presentationTime) : presentationTime
    // Without a duration the range still has to contain the frame.
    end =
      presentationTime + (duration.isNumeric && duration > .zero ? duration : CMTime(value: 1, timescale: 30))
  }

  func union(_ other: PassSpan?) -> PassSpan {
    guard let other else { return self }
    return PassSpan(start: min(start, other.start), end: max(end, other.end))
  }
}

/// Time ranges at an address that stays.
private final class RangeMemory {
  private let memory: UnsafeMutablePointer<CMTimeRange>

  init(_ range: CMTimeRange) {
    memory = .allocate(capacity: 1)
    memory.initialize(to: range)
  }

  deinit { memory.deallocate() }

  var pointer: UnsafeBufferPointer<CMTimeRange> { UnsafeBufferPointer(start: memory, count: 1) }
}
