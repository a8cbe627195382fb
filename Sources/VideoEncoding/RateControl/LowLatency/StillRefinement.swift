// SPDX-License-Identifier: Apache-2.0

/// Decides how a static picture is improved, so that the next change finds the link
/// free.
///
/// Up to `sharpQP` the picture is sharpened: as fast as the link allows, but with few bits in its
/// queue. Below it the picture is refined, only with what leaves the queue empty. Below the QP of
/// the highest quality that can be seen nothing is spent any more.
///
/// A step is finished when a picture has been coded with the lower QP in all of its rows. Rows that
/// the bits do not suffice for keep the QP that they have reached, and take no bits.
struct StillRefinement {
  /// The QP and the bits of a still picture.
  struct Step: Equatable {
    /// The QP of the picture.
    var qp: Double
    /// The most bits that it may take; nil: as many as any other picture.
    var maximum: Double?
    /// The highest QP of its rows; nil: that of the stream.
    var highestQP: Int?
  }

  /// The QP at which text and edges look sharp, about 38 to 40 dB.
  static let sharpQP = 28.0
  /// The QP steps from one complete picture to the next, above and below `sharpQP`.
  private static let steps = (sharpening: 8.0, refining: 5.0)
  /// The seconds of the rate that may wait while the picture is sharpened. The link is never idle
  /// then, and more would delay the next change without making this one arrive sooner.
  static let sharpeningQueue = 0.1
  /// The part of its share that a picture may take to refine it. The rest keeps the window of the
  /// even rate, and those of hard limits, from filling.
  static let refinementPart = 0.5
  /// The seconds that a picture has to be static before a change may use all of the bound: those
  /// that follow will then refer to it.
  private static let minimumStillTime = 0.25

  /// The seconds that a picture has to be static before it is sharpened while bits wait, where
  /// the change before was one of several: pictures that are repeated between those that move do
  /// not end a motion.
  private static let pause = 0.1
  /// The number of pictures that have to be static before it where no bits wait.
  private static let repeats = 2

  /// The seconds after the picture was static for which it counts as a screen whose parts move.
  private static let screenMemory = 2.0

  /// The QP that no picture goes below to refine static content.
  private(set) var finalQP: Double
  /// The QP that all rows of the picture have reached, 0 to 51.
  private(set) var reachedQP = 51.0
  /// The lower QP of the picture that is being coded; nil if it is not to be improved.
  private var attemptedQP: Double?
  /// The seconds, and the number of pictures, for which the picture has been static.
  private var seconds = 0.0
  private var count = 0
  /// The seconds since the picture was last static for long enough.
  private var sinceStill = Double.infinity
  /// Whether the last change came after the picture had been static, so that it stands for itself.
  private var isSingleChange = false

  /// Begins a stream.
  /// - Parameters:
  ///   - psnr: the highest quality that can be seen, as a luma PSNR in dB.
  ///   - minimumQP: the lowest QP of the stream.
  init(maximumPSNR psnr: Double, minimumQP: Int) {
    finalQP = max(Self.qp(psnr: psnr), Double(minimumQP))
  }

  /// Changes the highest quality that can be seen, and the lowest QP, from the next picture on.
  mutating func change(maximumPSNR psnr: Double, minimumQP: Int) {
    finalQP = max(Self.qp(psnr: psnr), Double(minimumQP))
  }

  /// The highest QP, 0 to 51, whose quantisation error is no more than a PSNR allows. The squared
  /// error of a quantiser is a twelfth of its squared step, which is 0.625 at QP 0 and twice as
  /// large every six steps (8.5.8).
  static func qp(psnr: Double) -> Double {
    let step = (12 * 255 * 255 / exp2Approx(psnr / 10 * log2Approx(10))).squareRoot()
    return min(max((6 * log2Approx(step / 0.625)).rounded(.down), 0), 51)
  }

  /// The QP to which a change is coded at once, if the link has room for it.
  var changeQP: Double { max(Self.sharpQP, finalQP) }

  /// The lowest QP of a picture that changes. What is scrolled or moved on a screen is not to be
  /// refined further while it moves, since that would fill the queue.
  var lowestQP: Double { sinceStill < Self.screenMemory ? finalQP : 0 }

  /// Whether the picture was static for long enough before the present one.
  var hasStoodStill: Bool { seconds >= Self.minimumStillTime }

  /// Whether all rows have reached the QP to which a change is coded at once. Elsewhere a small
  /// change would have to make all of the picture sharp.
  var isSharp: Bool { reachedQP <= changeQP }

  /// Chooses the QP and the bits of a still picture.
  /// - Parameters:
  ///   - share: the share of the picture in bits.
  ///   - backlog: the bits that wait for the link.
  ///   - rate: the rate of the link in bits per second.
  ///   - mayImprove: whether later pictures refer to this one, and it to the last one.
  mutating func next(share: Double, backlog: Double, rate: Double, mayImprove: Bool) -> Step {
    attemptedQP = nil
    let held = Step(qp: reachedQP)
    let isLinkFree = backlog <= share * 0.05
    let isPause = seconds >= Self.pause || isLinkFree && count >= Self.repeats
    guard mayImprove, reachedQP > finalQP, isSingleChange || isPause else { return held }
    let qp: Double
    let maximum: Double
    if reachedQP > changeQP {
      qp = max(changeQP, reachedQP - Self.steps.sharpening)
      maximum = rate * Self.sharpeningQueue + share - backlog
      // The queue is worked off down to this first. The link stays busy.
      guard maximum >= share * 0.5 else { return held }
    } else {
      guard isLinkFree else { return held }
      qp = max(finalQP, reachedQP - Self.steps.refining)
      maximum = share * Self.refinementPart
    }
    attemptedQP = qp
    return Step(qp: qp, maximum: maximum, highestQP: Int(reachedQP.rounded(.up)))
  }

  /// Takes the result of a static picture.
  /// - Parameters:
  ///   - duration: the seconds since the picture before.
  ///   - highestQP: the highest QP of its rows.
  ///   - excess: the logarithm to base 2 of its bits over its share, where the link has a queue;
  ///     otherwise 0 or less.
  mutating func finishStill(duration: Double, highestQP: Double, excess: Double) {
    seconds += duration
    count += 1
    sinceStill = hasStoodStill ? 0 : sinceStill + duration
    if let qp = attemptedQP {
      if highestQP < qp + 0.5 { reachedQP = qp }
      attemptedQP = nil
      return
    }
    reachedQP = min(reachedQP, highestQP)
    // Something small moves all the time, or columns are refreshed.
    if excess > 0 { reachedQP = min(reachedQP + min(excess * Self.excessSteps, 4), 51) }
  }

  /// The QP steps for each doubling of the bits of a picture beyond its share.
  private static let excessSteps = 2.3

  /// Records that the bits did not suffice for all of a still picture, or that it was predicted
  /// from older pictures than the last.
  /// - Parameter qp: the QP that all of its rows have, 51 if they are not complete.
  mutating func restart(at qp: Double) {
    attemptedQP = nil
    reachedQP = qp
  }

  /// Takes the result of a picture that changed.
  /// - Parameters:
  ///   - duration: the seconds since the picture before.
  ///   - highestQP: the highest QP of its rows.
  ///   - isComplete: whether the bits sufficed for all of it.
  mutating func finishChange(duration: Double, highestQP: Double, isComplete: Bool) {
    sinceStill += duration
    isSingleChange = hasStoodStill
    (seconds, count) = (0, 0)
    attemptedQP = nil
    reachedQP = isComplete ? min(max(highestQP, 0), 51) : 51
  }

  /// Records that a picture was dropped: what has changed in it is still to be sent.
  mutating func drop() {
    (seconds, count) = (0, 0)
    attemptedQP = nil
    reachedQP = max(reachedQP, changeQP + Self.steps.sharpening)
  }
}
