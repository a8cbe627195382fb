// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// What the decoder's buffer holds, from one libx265 stream to the next: each of them takes its own for as full as one at
/// the beginning.
struct CarriedBuffer {
  /// Where none was kept to.
  static let usualShare = 0.6

  private let model: BufferModel
  /// Bits.
  private var fullness: Double

  init(_ model: BufferModel) {
    self.model = model
    fullness = Double(model.size) * min(max(model.initialFullness, 0), 1)
  }

  /// Notes the next frame in decode order.
  /// - Parameter seconds: How long it is until the next.
  mutating func note(bits: Double, seconds: Double) {
    fullness = min(fullness - bits + Double(model.maximumRate) * seconds, Double(model.size))
  }

  /// Its share, 0 to 1; never so little that a key frame could not be coded at all.
  var share: Double { min(max(fullness / max(Double(model.size), 1), 0.1), 1) }
}
