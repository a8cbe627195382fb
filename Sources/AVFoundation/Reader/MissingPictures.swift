// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Counts pictures that have vanished from a stream together with the packets that held them, so that nothing of what is
/// left is damaged: the intervals between the others tell.
///
/// They tell it where a file says that something is missing, and of streams whose pictures come at a constant rate alone: at
/// a variable one, and where streams of two rates or clocks are put together, a longer interval means nothing.
struct MissingPictures {
  /// Pictures before and after a gap that are looked at: more than a stream reorders (16), so that the place is
  /// among them, and enough to tell a constant rate.
  private static let reach = 48
  /// Pictures after which intervals far from any gap are looked at.
  private static let most = 128
  /// Seconds. What is longer is another clock.
  private static let longest = 1.0
  /// Pictures of which intervals mean something.
  private static let fewest = 8
  /// Intervals in a row in which pictures may be missing.
  private static let longestRun = 3
  /// Of the intervals beside a gap, as many are alike, as a share.
  private static let alike = 0.7

  /// In seconds, as they were shown, and of those that could not be decoded.
  private var times: [Double] = []
  /// Pictures since the last gap that is not looked at yet; nil without one.
  private var sinceGap: Int?
  /// An interval was longer than the others where nothing was missing.
  private var isVariable = false
  /// Intervals up to here have been looked at.
  private var seenUntil = -Double.infinity

  /// - Parameters:
  ///   - time: of a picture that is shown, in order of presentation.
  ///   - isBesideGap: packets are missing before the picture's own, or behind it.
  /// - Returns: Pictures that are found missing, anywhere before.
  mutating func add(_ time: CMTime, isBesideGap: Bool) -> Int {
    let seconds = time.seconds
    guard seconds.isFinite else { return 0 }
    var found = 0
    if let last = times.max(), seconds <= last - Self.longest || seconds > last + Self.longest {
      found = finish()
    }
    if isBesideGap, sinceGap == nil {
      noteRate()
      times = Array(times.suffix(Self.reach))
    }
    times.append(seconds)
    sinceGap = isBesideGap ? 0 : sinceGap.map { $0 + 1 }
    if let sinceGap, sinceGap >= Self.reach || times.count >= Self.most {
      found += count()
      if sinceGap >= Self.reach { self.sinceGap = nil }
      times = Array(times.suffix(Self.reach))
    } else if times.count >= Self.most {
      noteRate()
      times = Array(times.suffix(Self.reach))
    }
    return found
  }

  /// A picture that could not be decoded, and that is told of already.
  mutating func addLost(_ time: CMTime) {
    let seconds = time.seconds
    guard seconds.isFinite, let last = times.max(), abs(seconds - last) <= Self.longest else { return }
    times.append(seconds)
  }

  /// No more pictures follow, or they have another clock.
  mutating func finish() -> Int {
    defer { (times, sinceGap, seenUntil) = ([], nil, -.infinity) }
    return sinceGap == nil ? 0 : count()
  }

  private static func intervals(_ times: some Sequence<Double>) -> [(length: Double, end: Double)] {
    let sorted = times.sorted()
    return zip(sorted, sorted.dropFirst()).map { ($1 - $0, $1) }.filter { $0.0 > 0 }
  }

  /// The intervals, those that have been looked at before too, and the one of a constant rate; nil if there is none.
  private mutating func look(at times: some Collection<Double>) -> (
    usual: Double, all: [(length: Double, isNew: Bool)]
  )? {
    let all = Self.intervals(times)
    guard times.count > Self.fewest, !all.isEmpty else { return nil }
    let marked = all.map { (length: $0.length, isNew: $0.end > seenUntil) }
    seenUntil = max(seenUntil, all.last?.end ?? seenUntil)
    let usual = all.map(\.length).sorted()[all.count / 2]
    let count = all.count { abs($0.length / usual - 1) < 0.1 }
    return Double(count) >= Double(all.count) * Self.alike ? (usual, marked) : nil
  }

  private mutating func count() -> Int {
    guard let (usual, all) = look(at: times), !isVariable else { return 0 }
    var (found, run, inRun) = (0, 0, 0)
    for interval in all + [(usual, false)] {
      if interval.length > usual * 1.5 {
        run += 1
        if interval.isNew { inRun += max(0, Int((interval.length / usual).rounded()) - 1) }
      } else {
        // Many in a row are another rate.
        if run <= Self.longestRun { found += inRun }
        (run, inRun) = (0, 0)
      }
    }
    return found
  }

  /// Of what no gap is near.
  private mutating func noteRate() {
    let old = times.dropLast(Self.reach)
    guard old.count > Self.fewest else { return }
    guard let (usual, all) = look(at: old) else { return isVariable = true }
    if all.contains(where: { $0.isNew && $0.length > usual * 1.5 }) { isVariable = true }
  }
}
