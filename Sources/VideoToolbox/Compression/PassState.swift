// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Where a session is in a multi-pass encoding.
struct PassState {
  private var finished = 0
  private var isFinal = false
  private(set) var isRunning = false
  private var wantsMore = false
  private var first: CMTime?
  private var last: CMTime?
  private var storedRanges: RangeMemory?

  /// Notes a frame of the pass.
  mutating func note(_ time: CMTime) {
    if first == nil { first = time }
    last = time
  }

  /// - Returns: nil if a pass is running.
  mutating func begin(_ storage: VTMultiPassStorage, isFinal: Bool) -> EncodingPass? {
    guard !isRunning else { return nil }
    isRunning = true
    self.isFinal = isFinal
    first = nil
    last = nil
    return EncodingPass(
      statisticsPath: storage.path, readsStatistics: finished > 0, writesStatistics: finished == 0 && !isFinal
    )
  }

  /// - Returns: true if another pass would make the result better: there are two, the first to learn.
  mutating func end() -> Bool {
    isRunning = false
    wantsMore = !isFinal && finished == 0
    finished += 1
    return wantsMore
  }

  /// The whole movie, or nil if no further pass was asked for. The memory belongs to the session.
  mutating func ranges(_ storage: VTMultiPassStorage) -> UnsafeBufferPointer<CMTimeRange>? {
    guard wantsMore, !isRunning else { return nil }
    let range: CMTimeRange
    if storage.timeRange.isValid, storage.timeRange.duration.isNumeric, storage.timeRange.duration > .zero {
      range = storage.timeRange
    } else {
      // Ranges do not include their end: to the end of time, so that the last frame is inside.
      range = CMTimeRange(start: first ?? .zero, duration: .positiveInfinity)
    }
    let memory = RangeMemory(range)
    storedRanges = memory
    return memory.pointer
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
