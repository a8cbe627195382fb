// SPDX-License-Identifier: Apache-2.0

/// Simulates a decoder's buffer at every QP from 0 to 51 at once, and gives the bits that a
/// stream's pictures can take at each. Pictures that would take more than the buffer holds are made
/// smaller: a passage that is complex for long takes the bits that arrive, whatever the QP.
struct BufferSimulation {
  /// The buffer at the start of the stream.
  private let start: LeakyBucket
  /// The bits that have to be in the buffer after the last picture.
  let end: Double
  /// The bits that have to be in it after any picture.
  private let least: Double
  /// The buffer before the next picture, by QP.
  private var buckets: [LeakyBucket]

  /// The share of the buffer's size that the rate control keeps free.
  private static let margin = 0.1

  /// Begins at the start of a stream, for all QPs.
  /// - Parameters:
  ///   - buffer: the buffer; its initial fullness counts.
  ///   - end: the bits that have to be in it after the last picture.
  init(_ buffer: BufferState, end: Double) {
    start = LeakyBucket(capacity: buffer.size, rate: buffer.rate, fullness: buffer.agreedFullness)
    self.end = min(end, buffer.size)
    least = buffer.size * Self.margin
    buckets = [LeakyBucket](repeating: start, count: 52)
  }

  /// Begins with a given fullness in bits, for a single QP that has index 0.
  init(_ buffer: BufferState, held: Double, end: Double) {
    self.init(buffer, end: end)
    buckets = [LeakyBucket(capacity: buffer.size, rate: buffer.rate, fullness: held)]
  }

  /// The bits in the buffer before the next picture.
  /// - Parameter qp: the QP as an index.
  func held(_ qp: Int) -> Double { buckets[qp].fullness }

  /// Returns to the start of the stream.
  mutating func restart() {
    for qp in buckets.indices { buckets[qp] = start }
  }

  /// Removes the next picture in decoding order.
  /// - Parameters:
  ///   - bits: the bits that it would take.
  ///   - qp: the QP as an index.
  ///   - seconds: the time until the next picture is removed.
  ///   - left: the time until the stream ends.
  /// - Returns: the bits that it can take.
  mutating func take(_ bits: Double, qp: Int, seconds: Double, left: Double) -> Double {
    let taken = min(bits, max(buckets[qp].fullness - max(end - start.rate * left, least), 0))
    buckets[qp].remove(taken)
    buckets[qp].fill(seconds: seconds)
    return taken
  }
}
