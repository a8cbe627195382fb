// SPDX-License-Identifier: Apache-2.0

/// Simulates a decoder's buffer at every QP from 0 to 51 at once, and gives the bits that a
/// stream's pictures can take at each. Pictures that would take more than the buffer holds are made
/// smaller: a passage that is complex for long takes the bits that arrive, whatever the QP.
struct BufferSimulation {
  /// The initial fullness and the size in bits, and the rate in bits per second.
  private let initial: Double
  private let size: Double
  private let rate: Double
  /// The bits that have to be in the buffer after the last picture.
  let end: Double
  /// The bits that have to be in it after any picture.
  private let least: Double
  /// The bits in the buffer before the next picture, by QP.
  private(set) var held: [Double]

  /// The share of the buffer's size that the rate control keeps free.
  private static let margin = 0.1

  /// Begins at the start of a stream, for all QPs.
  /// - Parameters:
  ///   - buffer: the buffer; its initial fullness counts.
  ///   - end: the bits that have to be in it after the last picture.
  init(_ buffer: BufferState, end: Double) {
    (initial, size, rate) = (buffer.agreedFullness, buffer.size, buffer.rate)
    self.end = min(end, buffer.size)
    least = size * Self.margin
    held = [Double](repeating: initial, count: 52)
  }

  /// Begins with a given fullness in bits, for a single QP that has index 0.
  init(_ buffer: BufferState, held: Double, end: Double) {
    self.init(buffer, end: end)
    self.held = [held]
  }

  /// Returns to the start of the stream.
  mutating func restart() {
    for qp in held.indices { held[qp] = initial }
  }

  /// Removes the next picture in decoding order.
  /// - Parameters:
  ///   - bits: the bits that it would take.
  ///   - qp: the QP as an index of `held`.
  ///   - seconds: the time until the next picture is removed.
  ///   - left: the time until the stream ends.
  /// - Returns: the bits that it can take.
  mutating func take(_ bits: Double, qp: Int, seconds: Double, left: Double) -> Double {
    let taken = min(bits, max(held[qp] - max(end - rate * left, least), 0))
    held[qp] = min(held[qp] - taken + rate * seconds, size)
    return taken
  }
}
