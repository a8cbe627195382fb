// SPDX-License-Identifier: Apache-2.0

/// What is left of a stream whose first pass is known: bits at each QP.
///
/// Where there is a decoder's buffer, the pictures to come next are run through it one by one; of those behind them the sums
/// are known, of what the buffer would carry at each QP.
struct RemainingPass {
  /// Bits of the pictures that are still to come, by QP without the offset of their kind; with a buffer, of those behind `near`.
  private var bits = [Double](repeating: 0, count: 52)
  /// Of those, what the buffer carries, where there is one.
  private var carriedBits = [Double](repeating: 0, count: 52)
  private(set) var seconds: Double
  /// Seconds of the pictures that `bits` stands for.
  private var farSeconds: Double
  /// Nil without a buffer.
  private var carried: BufferSimulation?
  private let count: Int
  /// Pictures that are gone.
  private var next = 0
  /// Those that are still to come.
  private var coming: PassCursor
  /// Those behind `near`.
  private var approaching: PassCursor
  /// Empty where nothing is to be followed picture by picture.
  private var near = UpcomingPassPictures()
  /// Of the pictures that are gone: what they took, and what the first pass said that they would.
  private var taken = 1.0
  private var expected = 1.0

  /// - Parameters:
  ///   - buffer: of a decoder, as the stream finds it.
  ///   - end: bits that must be in it behind the stream.
  ///   - isFollowed: pictures will be coded, and noted one by one.
  init(_ pass: any PassSource, buffer: BufferState? = nil, end: Double = 0, isFollowed: Bool = false) {
    count = pass.count
    coming = pass.cursor()
    approaching = coming
    seconds = pass.seconds
    farSeconds = seconds
    carried = buffer.map { BufferSimulation($0, end: end) }
    var total = 0.0
    var all = coming
    while let picture = all.next() {
      add(picture, 1)
      total += Double(picture.bits)
    }
    // What a few pictures of hardly any bits take says nothing of the rest.
    taken = max(total / Double(max(count, 1)) * Self.trust, 1)
    expected = taken
    farSeconds = seconds
    carried?.restart()
    guard isFollowed, carried != nil else { return }
    while near.count < UpcomingPassPictures.capacity, let picture = approaching.next() { approach(picture) }
  }

  /// The next picture in decoding order joins what is to come (1), or is gone (-1); the buffer goes on either way.
  private mutating func add(_ picture: PassStatistics.Picture, _ sign: Double) {
    Self.forEachQP(picture) { qp, own in
      bits[qp] += sign * own
      if let taken = carried?.take(own, qp: qp, seconds: picture.duration, left: farSeconds) {
        carriedBits[qp] += sign * taken
      }
    }
    farSeconds -= picture.duration
  }

  /// A picture that was far is near now.
  private mutating func approach(_ picture: PassStatistics.Picture) {
    add(picture, -1)
    var row = [Double](repeating: 0, count: 52)
    Self.forEachQP(picture) { row[$0] = $1 }
    near.append(.init(kind: picture.kind, seconds: picture.duration)) { row[$0] }
  }

  /// As `bits(_:qp:)` of each QP, with less work: a pass over hours begins with all of its pictures.
  private static func forEachQP(_ picture: PassStatistics.Picture, _ body: (Int, Double) -> Void) {
    let offset = LookAheadRateControl.offsets[picture.kind.rawValue]
    let then = BitModel.units(picture.residual, qp: min(max(picture.qp + offset, 0), 51))
    let scale = Double(picture.bits) / then
    let part = offset - offset.rounded(.down)
    var at = Int(offset.rounded(.down))
    var below = BitModel.units(picture.residual, at)
    for qp in 0..<52 {
      at += 1
      let above = BitModel.units(picture.residual, at)
      body(qp, scale * (below + (above - below) * part))
      below = above
    }
  }

  static func bits(_ picture: PassStatistics.Picture, qp: Double) -> Double {
    let offset = LookAheadRateControl.offsets[picture.kind.rawValue]
    let then = BitModel.units(picture.residual, qp: min(max(picture.qp + offset, 0), 51))
    return Double(picture.bits) * BitModel.units(picture.residual, qp: min(max(qp + offset, 0), 51)) / then
  }

  /// Bits that the buffer carries of what is behind `near`, at a QP of 0 to 51, by what the pass has taken.
  /// - Parameter fullness: bits in the buffer; what it holds beyond what the QP would have left there is carried too.
  private func farBits(_ qp: Int, fullness: Double?, scale: Double) -> Double {
    guard let carried else { return bits[qp] * scale }
    let saved = fullness.map { max($0 - carried.held[qp], 0) } ?? 0
    return min(bits[qp] * scale, carriedBits[qp] + saved)
  }

  /// Bits that the whole stream takes at a QP of 0 to 51, where nothing is followed.
  func bits(qp: Double) -> Double {
    let low = min(max(Int(qp), 0), 51)
    let (a, b) = (
      farBits(low, fullness: nil, scale: 1), farBits(min(low + 1, 51), fullness: nil, scale: 1)
    )
    return a + (b - a) * (qp - Double(low))
  }

  var isOver: Bool { next >= count }

  /// The QP at which the rest takes so many bits, and whether those are all that the buffer carries.
  /// - Parameter buffer: as the next picture finds it, where there is one.
  func plan(bits wanted: Double, buffer: BufferState? = nil) -> (qp: Double, takesAll: Bool) {
    guard wanted.isFinite else { return (wanted == .infinity ? 0 : 51, false) }
    let scale = taken / expected
    guard let carried, let buffer else {
      // Also of what was followed before a buffer went away.
      func free(_ qp: Int) -> Double {
        (0..<near.count).reduce(bits[qp]) { $0 + near.bits($1, qp: Double(qp)) } * scale
      }
      return (Self.qp(wanted, free), false)
    }
    func all(_ qp: Int) -> Double {
      var rest = BufferSimulation(buffer, held: buffer.fullness, end: carried.end)
      var sum = 0.0
      var left = seconds
      for n in 0..<near.count {
        let picture = near[n]
        let own = near.bits(n, qp: Double(qp)) * scale
        sum += rest.take(own, qp: 0, seconds: picture.seconds, left: left)
        left -= picture.seconds
      }
      return sum + farBits(qp, fullness: rest.held[0], scale: scale)
    }
    // What a buffer carries is no more at any quality: the coarsest does that has nearly all of it.
    let most = all(0) * Self.nearlyAll
    return (Self.qp(min(wanted, most), all), wanted >= most)
  }

  /// The QP at which the whole stream takes so many bits.
  func qp(bits wanted: Double) -> Double { plan(bits: wanted).qp }

  /// What one of the next pictures takes, by the pass before.
  /// - Parameter n: of those that come.
  func expected(_ n: Int, qp: Double) -> (bits: Double, isIntra: Bool)? {
    guard n < near.count else { return nil }
    return (near.bits(n, qp: min(max(qp, 0), 51)), near[n].kind == .intra)
  }

  /// The QP at which what falls from QP to QP is so much.
  private static func qp(_ wanted: Double, _ all: (Int) -> Double) -> Double {
    var low = 0
    var high = 51
    if all(low) <= wanted { return 0 }
    if all(high) >= wanted { return 51 }
    while high - low > 1 {
      let middle = (low + high) / 2
      if all(middle) > wanted { low = middle } else { high = middle }
    }
    let part = (all(low) - wanted) / max(all(low) - all(high), 1e-9)
    return Double(low) + min(max(part, 0), 1)
  }

  private static let nearlyAll = 0.995
  /// Pictures of the mean size that count as having taken what the pass said, before any is coded.
  private static let trust = 4.0

  /// The next picture is coded.
  mutating func note(bits: Double, qp: Double, isIntra: Bool) {
    guard let picture = coming.next() else {
      next = count
      return
    }
    next += 1
    if carried == nil {
      add(picture, -1)
    } else {
      near.removeFirst()
      if let picture = approaching.next() { approach(picture) }
    }
    seconds -= picture.duration
    // The last seconds say more than the first.
    let planned = max(Self.bits(picture, qp: qp), 1)
    // A part's first picture stands alone, whatever it did in the pass.
    guard carried == nil || isIntra == (picture.kind == .intra) else { return }
    taken = taken * 0.99 + bits
    expected = expected * 0.99 + planned
  }
}
