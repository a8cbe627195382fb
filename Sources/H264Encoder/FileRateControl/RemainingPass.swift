// SPDX-License-Identifier: Apache-2.0

/// What is left of a stream whose first pass is known: bits at each QP.
struct RemainingPass {
  /// Bits of the pictures that are still to come, by QP without the offset of their kind.
  private var bits = [Double](repeating: 0, count: 52)
  /// Of those, what the buffer carries, where there is one.
  private var carriedBits = [Double](repeating: 0, count: 52)
  private(set) var seconds: Double
  /// Nil without a buffer.
  private var carried: CarriedBits?
  private let pictures: [PassStatistics.Picture]
  /// Pictures that are gone.
  private var next = 0
  /// Of the pictures that are gone: what they took, and what the first pass said that they would.
  private var taken = 1.0
  private var expected = 1.0

  /// - Parameters:
  ///   - buffer: of a decoder, as the stream finds it.
  ///   - end: bits that must be in it behind the stream.
  init(_ statistics: PassStatistics, buffer: BufferState? = nil, end: Double = 0) {
    pictures = statistics.pictures
    seconds = statistics.seconds
    carried = buffer.map { CarriedBits($0, end: end) }
    let all = seconds
    for picture in pictures { add(picture, 1) }
    seconds = all
    carried?.restart()
  }

  /// The next picture in decoding order joins what is to come (1), or is gone (-1); the buffer goes on either way.
  private mutating func add(_ picture: PassStatistics.Picture, _ sign: Double) {
    // As `bits(_:qp:)` of each QP, with less work: a pass over hours begins with all of its pictures.
    let offset = FileRateController.offsets[picture.kind.rawValue]
    let then = BitModel.units(picture.residual, qp: min(max(picture.qp + offset, 0), 51))
    let scale = Double(picture.bits) / then
    let part = offset - offset.rounded(.down)
    var at = Int(offset.rounded(.down))
    var below = BitModel.units(picture.residual, at)
    for qp in bits.indices {
      at += 1
      let above = BitModel.units(picture.residual, at)
      let own = scale * (below + (above - below) * part)
      bits[qp] += sign * own
      if let taken = carried?.take(own, qp: qp, seconds: picture.duration, left: seconds) {
        carriedBits[qp] += sign * taken
      }
      below = above
    }
    seconds -= picture.duration
  }

  static func bits(_ picture: PassStatistics.Picture, qp: Double) -> Double {
    let offset = FileRateController.offsets[picture.kind.rawValue]
    let then = BitModel.units(picture.residual, qp: min(max(picture.qp + offset, 0), 51))
    return Double(picture.bits) * BitModel.units(picture.residual, qp: min(max(qp + offset, 0), 51)) / then
  }

  /// Bits that the rest takes at a QP of 0 to 51, by what the pass has taken.
  /// - Parameter fullness: bits in the buffer; what it holds beyond what the QP would have left there is carried too.
  private func bits(_ qp: Int, fullness: Double?) -> Double {
    guard let carried else { return bits[qp] }
    let saved = fullness.map { max($0 - carried.held[qp], 0) } ?? 0
    return min(bits[qp], carriedBits[qp] + saved)
  }

  /// Bits that the whole stream takes at a QP of 0 to 51.
  func bits(qp: Double) -> Double {
    let low = min(max(Int(qp), 0), 51)
    let (a, b) = (bits(low, fullness: nil), bits(min(low + 1, 51), fullness: nil))
    return a + (b - a) * (qp - Double(low))
  }

  var isOver: Bool { next >= pictures.count }

  /// The QP at which the rest takes so many bits.
  /// - Parameter fullness: bits in the buffer, where there is one.
  func qp(bits wanted: Double, fullness: Double? = nil) -> Double {
    guard wanted.isFinite else { return wanted == .infinity ? 0 : 51 }
    let scale = taken / expected
    guard carried != nil else { return Self.qp(wanted) { bits[$0] * scale } }
    func all(_ qp: Int) -> Double { bits(qp, fullness: fullness) }
    // What a buffer carries is no more at any quality: the coarsest does that has nearly all of it.
    let then = Self.qp(min(wanted, all(0) * Self.nearlyAll), all)
    // Where pictures take another size than they were to, the buffer is none the larger: that is another QP.
    let low = min(Int(then), 50)
    let free = bits[low] + (bits[low + 1] - bits[low]) * (then - Double(low))
    return Self.qp(free) { bits[$0] * scale }
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

  private static let nearlyAll = 0.99

  /// The next picture is coded.
  mutating func note(bits: Double, qp: Double) {
    guard next < pictures.count else { return }
    let picture = pictures[next]
    next += 1
    add(picture, -1)
    // The last seconds say more than the first.
    taken = taken * 0.99 + bits
    expected = expected * 0.99 + max(Self.bits(picture, qp: qp), 1)
  }
}
