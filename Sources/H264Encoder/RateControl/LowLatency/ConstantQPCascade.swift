// SPDX-License-Identifier: Apache-2.0
/// Quality over pictures where the QP is fixed: every fourth reference picture is coded better than asked and those
/// between a little worse; a key frame, which all inherit from, better still. What is coded well once is copied by the
/// pictures after it, so the same mean quality takes fewer bits.
struct ConstantQPCascade {
  /// To the QP asked for. A key frame: x264 has -3 there by default; with a cascade behind it more pays.
  static let keyFrameOffset = -6
  /// The pictures after a key frame, again and again.
  static let offsets = [1, 1, 2, -3]
  private var phase = 0

  mutating func next(isKeyFrame: Bool) -> Int {
    if isKeyFrame {
      phase = 0
      return ConstantQPCascade.keyFrameOffset
    }
    let offset = ConstantQPCascade.offsets[phase]
    phase = (phase + 1) % ConstantQPCascade.offsets.count
    return offset
  }
}
