// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The record of one coded frame of a pass, in order to plan the next pass.
struct PassFrame {
  var presentationTime: CMTime
  /// The decode time; invalid if the stream has no reordered frames.
  var decodeTime: CMTime
  var bits: Int
  var isKeyFrame: Bool
  var isOpenGOP = false
  var averageQP: Double

  /// The time by which a frame silo stores the frame: the decode time, or else the presentation
  /// time.
  var storedTime: CMTime { decodeTime.isNumeric ? decodeTime : presentationTime }
}

/// A group of pictures that the next pass encodes again: a key frame and the frames up to the next
/// key frame across which no frame refers to another (a closed GOP).
struct PassPart {
  /// The indices of its frames in the movie, from 0. A closed GOP has the same ones in decode order
  /// and in presentation order.
  var frames: Range<Int>
  /// The number of bits that the group is to have after the next pass.
  var bits: Int
  /// The presentation times of the first and the last frame that is shown, in presentation order.
  var firstTime: CMTime
  var lastTime: CMTime
  /// The decode times that the previous pass gave to the frames, in decode order. The new frames
  /// get the same ones, so that the frames that follow the group still fit.
  var decodeTimes: [CMTime]
  /// The range of decode times that is replaced, as `VTFrameSiloSetTimeRangesForNextPass` takes it.
  var range: CMTimeRange
}

/// Chooses the groups of pictures that another pass encodes again so that the movie meets its
/// average bit rate, and the bits of each.
///
/// Where the movie has too many bits, the groups with the lowest QP lose some; where it has too
/// few, those with the highest QP gain some. As few groups as can take the change are encoded
/// again.
enum PartialPassPlan {
  /// The relative deviation from the bit rate below which no further pass is made.
  static let tolerance = 0.005
  /// The largest change of one group's bits, as a fraction of them.
  static let largestChange = 0.25
  /// The distance from the ends of the allowed QP range, in QP steps, within which an encoder
  /// cannot change a group's size any more.
  private static let margin = 2.0

  /// Computes how many bits more than the rate allows the frames have; negative where they have
  /// fewer.
  /// - Parameters:
  ///   - frames: The coded frames.
  ///   - seconds: The time for which they are shown.
  ///   - rate: The bit rate that they should have, in bits per second.
  static func excess(_ frames: [PassFrame], seconds: Double, rate: Double) -> Double {
    Double(frames.reduce(0) { $0 + $1.bits }) - rate * seconds
  }

  /// Chooses the groups of pictures to encode again.
  /// - Parameters:
  ///   - frames: All frames of the movie, in decode order.
  ///   - end: The presentation time at which the last frame ends.
  ///   - rate: The bit rate that the movie should have, in bits per second.
  ///   - qp: The range of QPs that frames may have.
  /// - Returns: The groups in ascending order; none where another pass would not help.
  static func parts(_ frames: [PassFrame], end: CMTime, rate: Double, qp: ClosedRange<Int> = 0...51)
    -> [PassPart]
  {
    guard let first = frames.map(\.presentationTime).min(), rate > 0 else { return [] }
    let seconds = (end - first).seconds
    guard seconds.isFinite, seconds > 0 else { return [] }
    let excess = excess(frames, seconds: seconds, rate: rate)
    guard abs(excess) > tolerance * rate * seconds else { return [] }
    guard let groups = groups(frames, end: end) else { return [] }

    let (minimum, maximum) = (Double(qp.lowerBound) + margin, Double(qp.upperBound) - margin)
    let candidates = groups.filter { $0.bits > 0 && (excess > 0 ? $0.qp < maximum : $0.qp > minimum) }
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

    // Neighbouring groups stay separate: the encoder would distribute the bits of a joint one
    // again.
    return chosen.sorted { $0.frames.lowerBound < $1.frames.lowerBound }.map { group in
      let own = frames[group.frames]
      let first = own[own.startIndex]
      return PassPart(
        frames: group.frames, bits: Int((Double(group.bits) * factor).rounded()),
        firstTime: first.presentationTime, lastTime: group.last, decodeTimes: own.map(\.decodeTime),
        range: CMTimeRange(start: first.storedTime, end: group.storedEnd))
    }
  }

  /// A closed GOP of the movie, as it was coded.
  private struct Group {
    var frames: Range<Int>
    var bits: Int
    /// The mean of the frames' average QPs.
    var qp: Double
    /// The presentation time of the frame that is shown last.
    var last: CMTime
    /// The decode time of the next group's first frame, or the end of the movie.
    var storedEnd: CMTime
  }

  /// Divides the movie into closed GOPs.
  /// - Parameters:
  ///   - frames: All frames of the movie, in decode order.
  ///   - end: The presentation time at which the last frame ends.
  /// - Returns: Nil if the first frame does not begin a group, or if a frame follows a group's key
  ///   frame in decode order and precedes it in presentation order, or the reverse.
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
