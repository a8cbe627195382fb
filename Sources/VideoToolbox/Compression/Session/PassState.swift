// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Where a session is in a multi-pass encoding.
struct PassState {
  /// Passes that are over, those of an earlier session with the same storage included.
  private var finished = 0
  private var isFinal = false
  private(set) var isRunning = false
  /// Its frames are being got out of the encoder.
  private var isEnding = false
  var takesFrames: Bool { isRunning && !isEnding }
  private var wantsMore = false
  /// The running pass is the first, and may be the only one.
  private var mayBeLast = false
  private var span: PassSpan?
  private var storedRanges: RangeMemory?
  /// Of the whole movie, in decode order; empty where they were not kept.
  private var frames: [PassFrame] = []
  /// What the next pass is to be over, or the running one is; empty for the whole.
  private var parts: [PassPart] = []
  /// What the parts are to take in all; what they are told is that times `correction`.
  private var wanted = 0.0
  /// An encoder that took more for parts than it was told takes more again: it is told so much less.
  private var correction = 1.0
  /// The program knows them.
  private var rangesAreKnown = false
  /// By how many bits the last pass missed, and of which rate.
  private var miss = (bits: Double.infinity, rate: 0.0)
  /// Of the first pass that the session has made; nil where it lost some, so that numbers of frames are not those of its statistics.
  private var firstCount: Int?
  private var hasLost = false

  /// Passes over parts that may follow each other.
  private static let mostPasses = 8

  /// - Returns: nil if a pass is running.
  mutating func begin(
    _ storage: VTMultiPassStorage, isFinal: Bool, isOnDemand: Bool = false
  ) -> (pass: EncodingPass, parts: [PassPart])? {
    guard !isRunning else { return nil }
    isRunning = true
    if finished == 0, storage.isLearned { finished = 1 }
    self.isFinal = isFinal
    if !rangesAreKnown { parts = [] }
    rangesAreKnown = false
    var pass = EncodingPass(
      statisticsPath: storage.path, readsStatistics: finished > 0, writesStatistics: finished == 0 && !isFinal
    )
    mayBeLast = isOnDemand && pass.writesStatistics
    pass.mayBeLast = mayBeLast
    return (pass, parts)
  }

  /// The pass takes no more frames; `end` follows.
  /// - Returns: false if no pass is running, or its end has begun.
  mutating func beginEnding() -> Bool {
    guard takesFrames else { return false }
    isEnding = true
    return true
  }

  /// - Parameters:
  ///   - result: what came of the pass.
  ///   - target: what the movie is to have, where parts can be encoded again.
  /// - Returns: Whether another pass would make the result better: there are two, the first to learn, and others over
  ///   parts, while they bring the rate nearer.
  mutating func end(_ result: PassResult, target: PassTarget? = nil) -> Bool {
    isRunning = false
    isEnding = false
    storedRanges = nil
    finished += 1
    if firstCount == nil, !hasLost {
      firstCount = result.isComplete ? result.count : nil
      hasLost = firstCount == nil
    }
    if parts.isEmpty {
      span = result.span
      frames = result.isComplete && result.count == firstCount ? result.frames : []
      miss.bits = .infinity
      correction = 1
    } else {
      let taken = Double(result.frames.reduce(0) { $0 + $1.bits })
      if taken > 0 { correction = min(max(correction * wanted / taken, 0.5), 2) }
      replace(with: result.frames)
    }
    let isFirstOverParts = parts.isEmpty
    parts = []
    wantsMore = !isFinal && finished == 1 && (!mayBeLast || result.wantsAnotherPass ?? true)
    if !isFinal, finished > 1, finished < Self.mostPasses, let target, let end = span?.end, !frames.isEmpty {
      let missed = abs(PartialPassPlan.excess(frames, seconds: shownSeconds, rate: target.rate))
      if miss.rate != target.rate { miss.bits = .infinity }
      if missed < miss.bits {
        parts = PartialPassPlan.parts(frames, end: end, rate: target.rate, qp: target.qp)
        correct(isFirst: isFirstOverParts, wholeBits: target.rate * shownSeconds)
      }
      miss = (missed, target.rate)
      wantsMore = !parts.isEmpty
    }
    return wantsMore
  }

  /// - Parameters:
  ///   - isFirst: Nothing is known of how parts come out; but where they are most of the movie, it is what the whole did.
  ///   - wholeBits: What the movie is to take.
  private mutating func correct(isFirst: Bool, wholeBits: Double) {
    wanted = parts.reduce(0) { $0 + Double($1.bits) }
    let all = frames.reduce(0.0) { $0 + Double($1.bits) }
    if isFirst, all > 0 {
      let share = parts.reduce(0.0) { $0 + Double(frames[$1.frames].reduce(0) { $0 + $1.bits }) } / all
      correction = min(max(1 + (wholeBits / all - 1) * share * share, 0.5), 2)
    }
    for index in parts.indices { parts[index].bits = Int((Double(parts[index].bits) * correction).rounded()) }
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
    // The address holds until the next pass ends, also of those who asked before.
    if let storedRanges { return storedRanges.pointer }
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

/// What came of a pass.
struct PassResult {
  /// Of the frames that came out; nil if there were none.
  var span: PassSpan?
  /// One by one, in decode order; none where they were not kept.
  var frames: [PassFrame] = []
  /// Frames that came out.
  var count = 0
  /// Every frame that was given came out.
  var isComplete = true
  /// What the encoder says at the end; nil if it says nothing.
  var wantsAnotherPass: Bool?
}

/// What a movie is to have that is encoded again in parts.
struct PassTarget {
  /// Bits a second.
  var rate: Double
  var qp: ClosedRange<Int>
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
