// SPDX-License-Identifier: Apache-2.0
/// Some pictures are coded better than others, in a fixed rhythm: what follows inherits their quality.
struct QualityCascade {
  /// QP offsets of the pictures after a key frame, again and again.
  static let offsets = [1.0, 0.0, 1.0, -2.0]
  private var phase = 0

  /// With a key frame, a cut or another beginning.
  mutating func restart() { phase = 0 }

  /// The next picture's offset.
  /// - Parameter strength: 0 (none) to 1.
  mutating func next(strength: Double) -> Double {
    let offset = QualityCascade.offsets[phase]
    phase = (phase + 1) % QualityCascade.offsets.count
    return offset * strength
  }
}
