// SPDX-License-Identifier: Apache-2.0
/// Tells how much filler keeps a stream at a constant rate: bits come in steadily, each frame takes its own out, and
/// what does not fit into the bucket any more must be sent as filler.
public struct ConstantRateFiller: Sendable {
  public var bitsPerSecond: Double
  private let capacity: Double
  private var level: Double
  /// Bytes of filler in a frame: what it cannot take is lost, or the frames after it would be as large.
  static let mostFiller = 1 << 22

  /// - Parameters:
  ///   - bitsPerSecond: the rate to hold.
  ///   - capacity: bits that the bucket holds; a window may fall short of the rate by as much.
  ///   - initialFullness: how full the bucket is at first, 0 to 1.
  public init(bitsPerSecond: Int, capacity: Int, initialFullness: Double = 0.9) {
    self.bitsPerSecond = Double(bitsPerSecond)
    self.capacity = Double(capacity)
    level = Double(capacity) * initialFullness
  }

  /// Notes the next frame in decode order.
  /// - Parameters:
  ///   - bytes: its size.
  ///   - seconds: how long it is until the next.
  /// - Returns: bytes of filler to add to the frame, or nil if none are needed.
  public mutating func bytesMissing(after bytes: Int, seconds: Double) -> Int? {
    level += bitsPerSecond * seconds - Double(bytes) * 8
    guard level > capacity else { return nil }
    let missing = Int(clamping: min((level - capacity) / 8, Double(Self.mostFiller)))
    // The smallest filler that makes sense; less waits for the next frame.
    guard missing >= 16 else { return nil }
    level = missing < Self.mostFiller ? level - Double(missing) * 8 : capacity
    return missing
  }
}
