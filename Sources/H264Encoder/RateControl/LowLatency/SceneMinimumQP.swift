// SPDX-License-Identifier: Apache-2.0
/// Keeps an easy scene from using up what the next, difficult one will lack.
///
/// After a cut the QP of the new scene may not be far below what was usual in the seconds before; it comes down to where
/// the rate would have it as the scene goes on. What is left over meanwhile empties the line and the window of the
/// even rate, both of which a cut back to a difficult scene needs. A scene that stays loses little.
struct SceneMinimumQP {
  /// QP steps that the first picture may be below the mean before it, and further ones for each second of the scene.
  private static let steps = (first: 6.0, perSecond: 6.0)
  /// Seconds over which the mean goes.
  private static let memory = 2.0
  private var mean: Double?
  /// The least QP at present.
  private(set) var qp = -Double.infinity

  /// Nothing predicts the picture to come.
  mutating func restart() {
    if let mean { qp = mean - SceneMinimumQP.steps.first }
  }

  /// Time passes within the scene.
  mutating func pass(_ seconds: Double) { qp -= SceneMinimumQP.steps.perSecond * seconds }

  /// What was usual says nothing any more.
  mutating func forget() { self = SceneMinimumQP() }

  /// Takes in the QP that a frame was coded with.
  mutating func note(_ coded: Double, duration: Double) {
    guard let before = mean else {
      mean = coded
      return
    }
    mean = before + (coded - before) * min(duration / SceneMinimumQP.memory, 1)
  }
}
