// SPDX-License-Identifier: Apache-2.0
/// Computes the filler data that keeps a stream at a constant rate. Bits arrive in the decoder's
/// buffer at the rate, each frame takes its own out, and what no longer fits into the buffer has to
/// be sent as filler.
public struct ConstantRateFiller: Sendable {
  /// The rate in bits per second.
  public var bitsPerSecond: Double
  /// The size of the buffer in bits.
  private let capacity: Double
  /// The bits in the buffer.
  private var level: Double
  /// The most bytes of filler in a frame. What exceeds it is lost, so that the frames after a long
  /// pause do not get as much too.
  static let maxFiller = 1 << 22

  /// Creates a buffer.
  /// - Parameters:
  ///   - bitsPerSecond: the rate to keep.
  ///   - capacity: the size of the buffer in bits; in a window of time the stream may have as much
  ///     less than the rate.
  ///   - initialFullness: the share of the buffer that is filled at first, 0 to 1.
  public init(bitsPerSecond: Int, capacity: Int, initialFullness: Double = 0.9) {
    self.bitsPerSecond = Double(bitsPerSecond)
    self.capacity = Double(capacity)
    level = Double(capacity) * initialFullness
  }

  /// Records the next frame in decoding order.
  /// - Parameters:
  ///   - bytes: its size in bytes.
  ///   - seconds: the time until the next frame.
  /// - Returns: the bytes of filler to add to the frame; nil if none are needed.
  public mutating func bytesMissing(after bytes: Int, seconds: Double) -> Int? {
    level += bitsPerSecond * seconds - Double(bytes) * 8
    guard level > capacity else { return nil }
    let missing = Int(clamping: min((level - capacity) / 8, Double(Self.maxFiller)))
    // Fewer bytes do not justify a NAL unit; they are added to the filler of the next frame.
    guard missing >= 16 else { return nil }
    level = missing < Self.maxFiller ? level - Double(missing) * 8 : capacity
    return missing
  }
}
