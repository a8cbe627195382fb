// SPDX-License-Identifier: Apache-2.0

/// The picture types of sources that were compressed with H.264 before.
///
/// Where B pictures of such a source become P pictures, their coarse content is what later pictures
/// refer to, and where its P pictures become B pictures, the new content in them is coded coarsely
/// and then again. A source's P and B pictures therefore remain what they were. `ExactMatchSearch`
/// tells which they are: blocks of a B picture are predicted exactly from a later picture, those of
/// a P picture never are.
extension LookAheadQueue {
  /// The number of pictures that tell whether the source was compressed before.
  private static let sourceWindow = 16
  /// The fewest pictures in the queue that can tell.
  package static let fewestForTypes = 8
  /// The number of B pictures among them from which on the types of the source are taken over.
  private static let leastBidirectional = 3
  /// The share of their blocks that match the picture before exactly above which a source without B
  /// pictures consists of P pictures.
  private static let leastPredicted = 0.006
  /// The number of blocks that a later picture predicts exactly, and their share of those compared,
  /// from which on a picture was a B picture.
  private static let leastExact = (count: 2, share: 0.01)
  /// The number of exact matches below which too few are expected to tell what a picture was, and
  /// the share of those expected up to which it was a P picture.
  private static let (leastExpected, fewExact) = (2.0, 0.15)
  /// The number of blocks of a picture that are looked at, about, where recent pictures had
  /// matches.
  private static let samples = 1600

  /// The picture types of the source.
  enum SourceTypes {
    /// The source was not compressed, or not in a way that shows.
    case unknown
    /// There are no B pictures.
    case predicted
    /// There are P and B pictures (`wasPredicted(_:)`).
    case mixed
  }

  /// Searches for exact matches of the newest pictures.
  /// - Parameters:
  ///   - picture: the newest picture, analysed.
  ///   - before: the picture before it.
  ///   - earlier: the picture before that; nil if there is none.
  func matchSource(_ picture: QueuedPicture, _ before: QueuedPicture, _ earlier: QueuedPicture?) {
    // A few blocks of each picture are enough to see that a source does not match at all.
    let samples = picture.index < matchedUntil ? Self.samples : Self.samples / 16
    var step = 1
    while geometry.macroblockCount > samples * step * step { step += 1 }
    picture.matchesBefore = analysis.match(picture, with: before, step: step, picture.vectors, sign: 1)
    before.matchesAfter = analysis.match(before, with: picture, step: step, picture.vectors, sign: -1)
    var exact = picture.matchesBefore.exact + before.matchesAfter.exact
    if let earlier {
      earlier.matchesSecond = analysis.match(
        earlier, with: picture, step: step, picture.vectors, before.vectors, sign: -1)
      exact += earlier.matchesSecond.exact
    }
    if exact > 0 { matchedUntil = picture.index + UInt64(Self.sourceWindow) }
  }

  /// Updates `sourceTypes` by the pictures around the next run. The last pictures of a stream are
  /// too few to change it.
  func updateSourceTypes() {
    let window = Self.sourceWindow
    guard keepsSourceTypes, pictures.count >= Self.fewestForTypes else { return }
    let first = max(min(planned - window / 2, pictures.count - window), 0)
    let recent = pictures[first...].prefix(window)
    var bidirectional = 0
    var share = 0.0
    var before = ExactMatches()
    for picture in recent {
      let later = picture.matchesLater
      if later.exact >= max(Self.leastExact.count, picture.matchesBefore.exact / 8),
        later.share >= Self.leastExact.share
      {
        bidirectional += 1
      }
      share += later.share
      before += picture.matchesBefore
    }
    laterShare = share / Double(recent.count)
    let isPredicted = Double(before.exact) > Double(before.sampled) * Self.leastPredicted
    sourceTypes = bidirectional >= Self.leastBidirectional ? .mixed : isPredicted ? .predicted : .unknown
  }

  /// Whether a picture of a source with B pictures was a P picture: nearly nothing of it matches
  /// the two pictures after it, while enough was compared to tell, and the next picture was
  /// predicted from it. The first of three B pictures that are not references does not match the
  /// two pictures after it either, since both are B pictures; but nothing is predicted from it.
  func wasPredicted(_ picture: QueuedPicture, next: QueuedPicture?) -> Bool {
    let later = picture.matchesLater
    let expected = laterShare * Double(later.compared)
    return expected >= Self.leastExpected && Double(later.exact) <= Self.fewExact * expected
      && (next?.matchesBefore.exact ?? 0) > 0
  }
}

extension QueuedPicture {
  /// The exact matches with the later picture that matches the larger share of this one.
  fileprivate var matchesLater: ExactMatches {
    matchesSecond.share > matchesAfter.share ? matchesSecond : matchesAfter
  }
}
