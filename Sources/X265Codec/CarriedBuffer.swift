// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// The fullness of the decoder's buffer, which is carried over from one libx265 stream to the next.
/// Without it each of them would assume the fullness at the beginning of a stream.
struct CarriedBuffer {
  /// The share that is assumed after a stream without a buffer.
  static let defaultFullness = 0.6

  /// The size and rate of the buffer.
  private let model: BufferModel
  /// The bits in the buffer.
  private var fullness: Double

  /// Creates a buffer with its initial fullness.
  init(_ model: BufferModel) {
    self.model = model
    fullness = Double(model.size) * min(max(model.initialFullness, 0), 1)
  }

  /// Records the next frame in decoding order.
  /// - Parameters:
  ///   - bits: its size in bits.
  ///   - seconds: the time until the next frame in seconds.
  mutating func add(bits: Double, seconds: Double) {
    fullness = min(fullness - bits + Double(model.maximumRate) * seconds, Double(model.size))
  }

  /// The fullness as a share of the size, 0.1 to 1. It has a lower limit so that a key frame can
  /// always be coded.
  var fullnessFraction: Double { min(max(fullness / max(Double(model.size), 1), 0.1), 1) }
}
