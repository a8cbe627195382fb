// SPDX-License-Identifier: Apache-2.0
/// A periodic pattern of QP offsets for streams with a constant QP: every fourth reference picture
/// is coded better than the QP that was asked for and those between a little worse; a key frame,
/// which all others depend on, is coded better still. Later pictures copy what was coded well once,
/// so the same mean quality takes fewer bits.
package struct ConstantQPCascade {
  /// The offset of a key frame to the QP that was asked for. It is lower than x264's default of -3,
  /// since the cascade behind the key frame makes more pay off.
  package static let keyFrameOffset = -6
  /// The offsets of the pictures after a key frame, which repeat.
  package static let offsets = [1, 1, 2, -3]
  /// The index in `offsets` of the next picture.
  private var phase = 0

  /// Begins with the first offset.
  package init() {}

  /// The QP offset of the next picture.
  package mutating func next(isKeyFrame: Bool) -> Int {
    if isKeyFrame {
      phase = 0
      return ConstantQPCascade.keyFrameOffset
    }
    let offset = ConstantQPCascade.offsets[phase]
    phase = (phase + 1) % ConstantQPCascade.offsets.count
    return offset
  }
}
