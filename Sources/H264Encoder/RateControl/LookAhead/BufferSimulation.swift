// SPDX-License-Identifier: Apache-2.0

/// What a decoder's buffer lets through of a stream's pictures at each QP of 0 to 51, where those that would take more than
/// there is are made smaller: a busy part takes what comes in, at whichever quality.
struct BufferSimulation {
  private let initial: Double
  private let size: Double
  private let rate: Double
  /// Bits that are there when the stream has ended, and at any time.
  let end: Double
  private let least: Double
  /// Bits in the buffer before the next picture, by QP.
  private(set) var held: [Double]

  /// Part of the buffer that rate control leaves.
  private static let margin = 0.1

  /// - Parameter end: bits that must be in it behind the last picture.
  init(_ buffer: BufferState, end: Double) {
    (initial, size, rate) = (buffer.agreedFullness, buffer.size, buffer.rate)
    self.end = min(end, buffer.size)
    least = size * Self.margin
    held = [Double](repeating: initial, count: 52)
  }

  /// From what the buffer holds, at one QP, that is called 0.
  init(_ buffer: BufferState, held: Double, end: Double) {
    self.init(buffer, end: end)
    self.held = [held]
  }

  mutating func restart() {
    for qp in held.indices { held[qp] = initial }
  }

  /// The next picture, in decoding order, at this QP.
  /// - Parameters:
  ///   - bits: that it would take.
  ///   - seconds: until the one after it.
  ///   - left: until the stream ends.
  /// - Returns: Bits that it takes.
  mutating func take(_ bits: Double, qp: Int, seconds: Double, left: Double) -> Double {
    let taken = min(bits, max(held[qp] - max(end - rate * left, least), 0))
    held[qp] = min(held[qp] - taken + rate * seconds, size)
    return taken
  }
}
