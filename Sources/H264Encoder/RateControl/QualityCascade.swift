// SPDX-License-Identifier: Apache-2.0
/// Some pictures are coded better than others, in a fixed rhythm: what follows inherits their quality.
struct QualityCascade {
  /// QP offsets of the pictures after a key frame, again and again.
  private let offsets: [Double]
  private var phase = 0

  init(offsets: [Double] = [1, 0, 1, -2]) { self.offsets = offsets }

  /// With a key frame, a cut or another beginning.
  mutating func restart() { phase = 0 }

  /// The next picture's offset.
  /// - Parameter strength: 0 (none) to 1.
  mutating func next(strength: Double = 1) -> Double {
    let offset = offsets[phase]
    phase = (phase + 1) % offsets.count
    return offset * strength
  }
}
