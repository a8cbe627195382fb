// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// A frame that a pass gave, as far as a next pass wants to know it.
struct PassFrame {
  var presentationTime: CMTime
  /// Invalid where frames are never reordered.
  var decodeTime: CMTime
  var bits: Int
  var isKeyFrame: Bool
  var isOpenGOP = false
  var averageQP: Double

  /// What the ranges of a silo go by.
  var storedTime: CMTime { decodeTime.isNumeric ? decodeTime : presentationTime }
}

/// A part of the movie that a pass encodes again: a key frame and what follows up to the next that nothing refers across.
struct PassPart {
  /// Numbers of its frames; the same in decode order as in the order of presentation.
  var frames: Range<Int>
  var bits: Int
  /// Presentation times of its first and its last frame.
  var firstTime: CMTime
  var lastTime: CMTime
  /// Those that the pass before gave to its frames, in their order: what follows fits.
  var decodeTimes: [CMTime]
  /// Decode times that are replaced, as `VTFrameSiloSetTimeRangesForNextPass` takes them.
  var range: CMTimeRange
}

/// Which parts of a movie are worth another pass, for the movie to have its rate, and the bits that each is to take.
///
/// A movie that took too much gives up some where its quality is highest; one that took too little gets more where it is
/// lowest. As few groups of pictures as can bear it are encoded again.
enum PartialPassPlan {
  /// A miss that no pass is spent on, as a share of the rate.
  static let tolerance = 0.005
  /// By how much a group's bits change at the most, as a share of them.
  static let largestChange = 0.25
  /// Steps of QP from the ends of what is allowed within which an encoder has nothing to give, or nothing to take.
  private static let margin = 2.0

  /// Bits beyond those of the rate; negative where some are left.
  static func excess(_ frames: [PassFrame], seconds: Double, rate: Double) -> Double {
    Double(frames.reduce(0) { $0 + $1.bits }) - rate * seconds
  }

  /// - Parameters:
  ///   - frames: of the whole movie, in decode order.
  ///   - end: of the last one.
  ///   - rate: bits a second that it is to have.
  ///   - qp: what frames may have.
  /// - Returns: ascending; empty where another pass would not pay.
  static func parts(_ frames: [PassFrame], end: CMTime, rate: Double, qp: ClosedRange<Int> = 0...51)
    -> [PassPart]
  {
    guard let first = frames.map(\.presentationTime).min(), rate > 0 else { return [] }
    let seconds = (end - first).seconds
    guard seconds.isFinite, seconds > 0 else { return [] }
    let excess = excess(frames, seconds: seconds, rate: rate)
    guard abs(excess) > tolerance * rate * seconds else { return [] }
    guard let groups = groups(frames, end: end) else { return [] }

    let (least, most) = (Double(qp.lowerBound) + margin, Double(qp.upperBound) - margin)
    let candidates = groups.filter { $0.bits > 0 && (excess > 0 ? $0.qp < most : $0.qp > least) }
    let ranked = candidates.sorted {
      $0.qp == $1.qp ? $0.frames.lowerBound < $1.frames.lowerBound : ($0.qp < $1.qp) == (excess > 0)
    }
    var chosen: [Group] = []
    var sum = 0.0
    for group in ranked where sum * largestChange < abs(excess) {
      chosen.append(group)
      sum += Double(group.bits)
    }
    guard sum * largestChange >= abs(excess) else { return [] }
    let factor = 1 - excess / sum

    // Each by itself, also where they are neighbours: together the encoder would share their bits out anew.
    return chosen.sorted { $0.frames.lowerBound < $1.frames.lowerBound }.map { group in
      let own = frames[group.frames]
      let first = own[own.startIndex]
      return PassPart(
        frames: group.frames, bits: Int((Double(group.bits) * factor).rounded()),
        firstTime: first.presentationTime, lastTime: group.last, decodeTimes: own.map(\.decodeTime),
        range: CMTimeRange(start: first.storedTime, end: group.storedEnd))
    }
  }

  /// A key frame that nothing refers across, and what follows up to the next such.
  private struct Group {
    var frames: Range<Int>
    var bits: Int
    var qp: Double
    /// The latest presentation time.
    var last: CMTime
    /// Where the next group's decode times begin.
    var storedEnd: CMTime
  }

  /// - Returns: nil if a frame is shown on the other side of a key frame than it is decoded.
  private static func groups(_ frames: [PassFrame], end: CMTime) -> [Group]? {
    var starts = frames.indices.filter { frames[$0].isKeyFrame && !frames[$0].isOpenGOP }
    guard starts.first == frames.startIndex else { return nil }
    starts.append(frames.count)
    var groups: [Group] = []
    var before = CMTime.negativeInfinity
    for (start, next) in zip(starts, starts.dropFirst()) {
      let own = frames[start..<next]
      var last = frames[start].presentationTime
      var (bits, qp) = (0, 0.0)
      for frame in own {
        guard frame.presentationTime >= frames[start].presentationTime else { return nil }
        last = max(last, frame.presentationTime)
        bits += frame.bits
        qp += frame.averageQP
      }
      guard frames[start].presentationTime > before else { return nil }
      before = last
      groups.append(
        Group(
          frames: start..<next, bits: bits, qp: qp / Double(own.count), last: last,
          storedEnd: next < frames.count ? frames[next].storedTime : end))
    }
    return groups
  }
}
