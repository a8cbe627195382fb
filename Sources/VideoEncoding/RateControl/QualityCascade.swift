// SPDX-License-Identifier: Apache-2.0
/// A periodic pattern of QP offsets by which some pictures are coded better than others: the
/// pictures that follow them refer to them and so keep their quality.
package struct QualityCascade {
  /// The QP offsets of the pictures after a key frame, which repeat.
  private let offsets: [Double]
  /// The index in `offsets` of the next picture.
  private var phase = 0

  /// Begins with the first offset.
  package init(offsets: [Double] = [1, 0, 1, -2]) { self.offsets = offsets }

  /// Begins the pattern anew, after a key frame, a scene cut or another start.
  package mutating func restart() { phase = 0 }

  /// The QP offset of the next picture, in QP steps.
  /// - Parameter strength: the factor of the offset, 0 (no offset) to 1.
  package mutating func next(strength: Double = 1) -> Double {
    let offset = offsets[phase]
    phase = (phase + 1) % offsets.count
    return offset * strength
  }
}
