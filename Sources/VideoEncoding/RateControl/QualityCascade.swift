// SPDX-License-Identifier: Apache-2.0
/// A periodic pattern of QP offsets by which some pictures are coded better than others: the
/// pictures that follow them refer to them and so keep their quality. Later pictures copy what was
/// coded well once, so the same mean quality takes fewer bits.
package struct QualityCascade {
  /// The offsets of a cascade, in QP steps.
  package struct Pattern: Sendable {
    /// The offset of a key frame, which all later pictures depend on.
    package var keyFrame = 0.0
    /// The offsets of the pictures after a key frame, which repeat.
    var following: [Double]

    /// For streams without delay with a bit rate. The rate control chooses the QP of key frames by
    /// the bits that the link has room for.
    package static let lowLatency = Pattern(following: [1, 0, 1, -2])
    /// For streams without delay with a constant QP. The offset of key frames is lower than x264's
    /// default of -3, because the cascade after the key frame makes a larger offset efficient.
    package static let constantQP = Pattern(keyFrame: -6, following: [1, 1, 2, -3])
    /// For P pictures of streams with a look-ahead and without B pictures: the macroblock tree does
    /// a part of the work. The rate control has an offset for each type of picture.
    package static let lookAhead = Pattern(following: [0.7, 0.3, 0.7, -1.7])
  }

  /// The offsets.
  private let pattern: Pattern
  /// The index in `pattern.following` of the next picture.
  private var phase = 0

  /// Begins with the first offset after a key frame.
  package init(_ pattern: Pattern) { self.pattern = pattern }

  /// Begins the pattern again, after a key frame, a scene cut or another start.
  /// - Returns: the QP offset of a key frame.
  @discardableResult package mutating func restart() -> Double {
    phase = 0
    return pattern.keyFrame
  }

  /// The QP offset of the next picture after a key frame, in QP steps.
  /// - Parameter strength: the factor of the offset, 0 (no offset) to 1.
  package mutating func next(strength: Double = 1) -> Double {
    let offset = pattern.following[phase]
    phase = (phase + 1) % pattern.following.count
    return offset * strength
  }
}
