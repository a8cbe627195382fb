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
  /// Of the whole movie, in decode order; empty where they were not kept.
  private var frames: [PassFrame] = []
  /// What the next pass is to be over, or the running one is; empty for the whole.
  private var parts: [PassPart] = []
  /// The program knows them.
  private var rangesAreKnown = false
  private var miss = Double.infinity

  /// Passes over parts that may follow each other.
  private static let mostPasses = 8

  /// - Returns: nil if a pass is running.
  mutating func begin(
    _ storage: VTMultiPassStorage, isFinal: Bool
  ) -> (pass: EncodingPass, parts: [PassPart])? {
    guard !isRunning else { return nil }
    isRunning = true
    self.isFinal = isFinal
    if !rangesAreKnown { parts = [] }
    rangesAreKnown = false
    let pass = EncodingPass(
      statisticsPath: storage.path, readsStatistics: finished > 0, writesStatistics: finished == 0 && !isFinal
    )
    return (pass, parts)
  }

  /// - Parameters:
  ///   - span: of the frames that came out; nil if there were none.
  ///   - frames: of the pass, in decode order; none where they were not kept.
  ///   - rate: bits a second that the movie is to have, where parts can be encoded again.
  /// - Returns: Whether another pass would make the result better: there are two, the first to learn, and others over
  ///   parts, while they bring the rate nearer.
  mutating func end(_ span: PassSpan?, frames new: [PassFrame] = [], rate: Double? = nil) -> Bool {
    isRunning = false
    finished += 1
    if parts.isEmpty {
      self.span = span
      frames = new
      miss = .infinity
    } else {
      replace(with: new)
    }
    parts = []
    wantsMore = !isFinal && finished == 1
    if !isFinal, finished > 1, finished < Self.mostPasses, let rate, let end = self.span?.end {
      let missed = abs(PartialPassPlan.excess(frames, seconds: shownSeconds, rate: rate))
      if missed < miss { parts = PartialPassPlan.parts(frames, end: end, rate: rate) }
      miss = missed
      wantsMore = !parts.isEmpty
    }
    return wantsMore
  }

  private var shownSeconds: Double {
    guard let end = span?.end, let first = frames.map(\.presentationTime).min() else { return 0 }
    return (end - first).seconds
  }

  /// Frames of parts take the place of what they were.
  private mutating func replace(with new: [PassFrame]) {
    guard new.count == parts.reduce(0, { $0 + $1.frames.count }) else {
      // Not all were given: what there is now is unknown.
      frames = []
      return
    }
    var next = 0
    for part in parts {
      frames.replaceSubrange(part.frames, with: new[next..<next + part.frames.count])
      next += part.frames.count
    }
  }

  /// What the next pass is over, or nil if none was asked for. The memory belongs to the session.
  mutating func ranges(_ storage: VTMultiPassStorage) -> UnsafeBufferPointer<CMTimeRange>? {
    guard wantsMore, !isRunning else { return nil }
    rangesAreKnown = true
    var ranges = parts.map(\.range)
    if ranges.isEmpty {
      var whole = span
      let stored = storage.timeRange
      if stored.isValid, stored.start.isNumeric, stored.duration.isNumeric {
        whole = PassSpan(start: stored.start, end: stored.end).union(whole)
      }
      guard let whole else { return nil }
      ranges = [CMTimeRange(start: whole.start, end: whole.end)]
    }
    let memory = RangeMemory(ranges)
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
  let pointer: UnsafeBufferPointer<CMTimeRange>

  init(_ ranges: [CMTimeRange]) {
    let memory = UnsafeMutableBufferPointer<CMTimeRange>.allocate(capacity: ranges.count)
    _ = memory.initialize(from: ranges)
    pointer = UnsafeBufferPointer(memory)
  }

  deinit { pointer.deallocate() }
}
