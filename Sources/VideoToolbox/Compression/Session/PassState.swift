// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The progress of a session through the passes of a multi-pass encoding. The session guards it
/// with its lock.
struct PassState {
  /// The number of finished passes. Where the storage has statistics of an earlier session, their
  /// pass counts as the first.
  private var finished = 0
  /// Whether the current pass was begun with `beginFinalPass`.
  private var isFinal = false
  private(set) var isRunning = false
  /// Whether the end of the current pass has begun: the encoder finishes its frames.
  private var isEnding = false
  var takesFrames: Bool { isRunning && !isEnding }
  /// Whether the last pass has asked for another one.
  private var wantsMore = false
  /// Whether the current pass is the first, is made with the session's full effort, and is the last
  /// unless its encoder asks for another (`kOVTCompressionPropertyKey_MakesPassesOnDemand`).
  private var mayBeLast = false
  /// The time that the frames of the last pass over the whole movie cover.
  private var span: PassSpan?
  /// The memory of the time ranges that a client has asked for.
  private var storedRanges: RangeMemory?
  /// The coded frames of the whole movie, in decode order; empty where they were not recorded.
  private var frames: [PassFrame] = []
  /// The parts that the next pass (or the current one) encodes again; empty for the whole movie.
  private var parts: [PassPart] = []
  /// The number of bits that the parts should have together. The encoder is given this times
  /// `correction`.
  private var wanted = 0.0
  /// The factor by which the bits that the encoder is given for parts are multiplied: an encoder
  /// that exceeded them in the last pass will exceed them again.
  private var correction = 1.0
  /// Whether the client has asked for the ranges of `parts`. If it has not, it will submit the
  /// whole movie.
  private var rangesAreKnown = false
  /// The number of bits by which the last pass deviated from the bit rate, and that rate in bits
  /// per second.
  private var lastDeviation = (bits: Double.infinity, rate: 0.0)
  /// The number of frames of the session's first pass; nil where frames were lost, so that frame
  /// numbers do not match those of the statistics.
  private var firstCount: Int?
  /// Whether the session's first pass has lost frames.
  private var hasLost = false

  /// The number of passes after which no further one over parts is made.
  private static let maxPasses = 8

  /// Begins a pass.
  /// - Parameters:
  ///   - storage: The storage of the encoder's statistics.
  ///   - isFinal: Whether no further pass will follow.
  ///   - isOnDemand: Whether the first pass may be the only one.
  /// - Returns: What the encoder does in this pass, and the parts to encode; nil if a pass is
  ///   running.
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

  /// Records that the current pass takes no more frames. Call `end` when the encoder has finished
  /// them.
  /// - Returns: False if no pass is running, or its end has begun.
  mutating func beginEnding() -> Bool {
    guard takesFrames else { return false }
    isEnding = true
    return true
  }

  /// Ends the current pass.
  /// - Parameters:
  ///   - result: What the pass has produced.
  ///   - target: The bit rate to aim at with passes over parts; nil where there are no such passes.
  /// - Returns: True if another pass would improve the result: after the first pass, which gathers
  ///   statistics, and after later ones while passes over parts bring the movie nearer to its bit
  ///   rate.
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
      lastDeviation.bits = .infinity
      correction = 1
    } else {
      let taken = Double(result.frames.reduce(0) { $0 + $1.bits })
      if taken > 0 { correction = min(max(correction * wanted / taken, 0.5), 2) }
      replace(with: result.frames)
    }
    let isFirstOverParts = parts.isEmpty
    parts = []
    wantsMore = !isFinal && finished == 1 && (!mayBeLast || result.wantsAnotherPass ?? true)
    if !isFinal, finished > 1, finished < Self.maxPasses, let target, let end = span?.end, !frames.isEmpty {
      let deviation = abs(PartialPassPlan.excess(frames, seconds: shownSeconds, rate: target.rate))
      if lastDeviation.rate != target.rate { lastDeviation.bits = .infinity }
      if deviation < lastDeviation.bits {
        parts = PartialPassPlan.parts(frames, end: end, rate: target.rate, qp: target.qp)
        correct(isFirst: isFirstOverParts, wholeBits: target.rate * shownSeconds)
      }
      lastDeviation = (deviation, target.rate)
      wantsMore = !parts.isEmpty
    }
    return wantsMore
  }

  /// Sets `wanted` and multiplies the bits of the parts by `correction`.
  /// - Parameters:
  ///   - isFirst: Whether no pass over parts has been made, so that nothing is known about how
  ///     parts come out. The correction is then estimated from the deviation of the pass over the
  ///     whole movie, weighted by the square of the parts' share of it.
  ///   - wholeBits: The number of bits that the movie should have.
  private mutating func correct(isFirst: Bool, wholeBits: Double) {
    wanted = parts.reduce(0) { $0 + Double($1.bits) }
    let all = frames.reduce(0.0) { $0 + Double($1.bits) }
    if isFirst, all > 0 {
      let bitFraction = parts.reduce(0.0) { $0 + Double(frames[$1.frames].reduce(0) { $0 + $1.bits }) } / all
      correction = min(max(1 + (wholeBits / all - 1) * bitFraction * bitFraction, 0.5), 2)
    }
    for index in parts.indices { parts[index].bits = Int((Double(parts[index].bits) * correction).rounded()) }
  }

  /// The duration of the movie, from the presentation time of the first frame that is shown to the
  /// end.
  private var shownSeconds: Double {
    guard let end = span?.end, let first = frames.map(\.presentationTime).min() else { return 0 }
    return (end - first).seconds
  }

  /// Replaces the frames of the parts by those of the pass that has ended.
  private mutating func replace(with new: [PassFrame]) {
    guard new.count == parts.reduce(0, { $0 + $1.frames.count }) else {
      // Some frames are missing, so it is unknown what the movie consists of now.
      frames = []
      return
    }
    var next = 0
    for part in parts {
      frames.replaceSubrange(part.frames, with: new[next..<next + part.frames.count])
      next += part.frames.count
    }
  }

  /// The time ranges to encode in the next pass; nil if none was asked for. The memory is valid
  /// until the next pass ends.
  mutating func ranges(_ storage: VTMultiPassStorage) -> UnsafeBufferPointer<CMTimeRange>? {
    guard wantsMore, !isRunning else { return nil }
    rangesAreKnown = true
    // Each call returns the same memory, so that the address stays valid for earlier callers too.
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

/// The results of a pass.
struct PassResult {
  /// The time that the coded frames cover; nil if there were none.
  var span: PassSpan?
  /// The coded frames in decode order; empty where they were not recorded.
  var frames: [PassFrame] = []
  /// The number of coded frames.
  var count = 0
  /// Whether every source frame was coded.
  var isComplete = true
  /// Whether the encoder asks for another pass; nil if it does not say.
  var wantsAnotherPass: Bool?
}

/// The goal of passes over parts.
struct PassTarget {
  /// The average bit rate of the movie, in bits per second.
  var rate: Double
  /// The range of QPs that frames may have.
  var qp: ClosedRange<Int>
}

/// The time that the frames of a pass cover: from the earliest decode or presentation time to the
/// end of the frame that is shown last. Decode times are included because
/// `VTFrameSiloSetTimeRangesForNextPass` takes ranges of them.
struct PassSpan {
  var start: CMTime
  var end: CMTime

  init(start: CMTime, end: CMTime) { (self.start, self.end) = (start, end) }

  /// Creates the span of one frame.
  init(presentationTime: CMTime, decodeTime: CMTime, duration: CMTime) {
    start = decodeTime.isNumeric ? min(decodeTime, presentationTime) : presentationTime
    // A frame without a duration gets one, since the range has to contain the frame.
    end =
      presentationTime + (duration.isNumeric && duration > .zero ? duration : CMTime(value: 1, timescale: 30))
  }

  func union(_ other: PassSpan?) -> PassSpan {
    guard let other else { return self }
    return PassSpan(start: min(start, other.start), end: max(end, other.end))
  }
}

/// Time ranges at an address that stays valid as long as the object lives.
private final class RangeMemory {
  let pointer: UnsafeBufferPointer<CMTimeRange>

  init(_ ranges: [CMTimeRange]) {
    let memory = UnsafeMutableBufferPointer<CMTimeRange>.allocate(capacity: ranges.count)
    _ = memory.initialize(from: ranges)
    pointer = UnsafeBufferPointer(memory)
  }

  deinit { pointer.deallocate() }
}
