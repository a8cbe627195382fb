// SPDX-License-Identifier: Apache-2.0
/// How a call gets over a loss.
public enum RecoveryMode: String, CaseIterable, Sendable {
  /// The receiver asks for a picture, and gets a key frame.
  case keyframe
  /// The receiver acknowledges long-term references; when it asks, it gets a frame predicted from one that it has.
  case ltr
  /// The receiver tells which frames it lacks; the next is predicted from older ones.
  case invalidate
  /// The receiver says nothing: intra macroblocks pass over the picture all the time.
  case intraRefresh = "intra-refresh"

  public var usesFeedback: Bool { self != .intraRefresh }
}
