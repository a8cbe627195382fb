// SPDX-License-Identifier: Apache-2.0
/// Limits how far the QP falls at a scene cut, so that a simple scene does not use up the bits that
/// the next, complex one will need.
///
/// After a cut the QP may be only a few steps below the mean of the seconds before, and may fall
/// further as the scene continues. The bits saved meanwhile empty the transmission queue and the
/// window of the even rate, and a cut back to a complex scene needs both. A scene that lasts loses
/// little.
struct SceneMinimumQP {
  /// The QP steps that the first picture of a scene may be below the mean, and the steps by which
  /// the limit falls per second.
  private static let steps = (first: 6.0, perSecond: 6.0)
  /// The time constant of the mean, in seconds.
  private static let memory = 2.0
  /// The moving mean of the QP; nil before the first picture.
  private var mean: Double?
  /// The lowest QP at present.
  private(set) var qp = -Double.infinity

  /// Sets the limit for a picture that is not predicted from others, a key frame or a scene cut.
  mutating func restart() {
    if let mean { qp = mean - SceneMinimumQP.steps.first }
  }

  /// Lowers the limit by the seconds that have passed within the scene.
  mutating func pass(_ seconds: Double) { qp -= SceneMinimumQP.steps.perSecond * seconds }

  /// Removes the mean and the limit, after a change of the rate.
  mutating func forget() { self = SceneMinimumQP() }

  /// Takes the QP of a coded frame into the mean.
  /// - Parameters:
  ///   - coded: the mean QP of the frame.
  ///   - duration: its duration in seconds.
  mutating func record(_ coded: Double, duration: Double) {
    guard let before = mean else {
      mean = coded
      return
    }
    mean = before + (coded - before) * min(duration / SceneMinimumQP.memory, 1)
  }
}
