// SPDX-License-Identifier: Apache-2.0
/// The way in which a call recovers from a loss.
public enum RecoveryMode: String, CaseIterable, Sendable {
  /// The receiver reports the loss, and the sender answers with a key frame.
  case keyframe
  /// The receiver acknowledges long-term references. When it reports a loss, the next frame is
  /// predicted from one that it has acknowledged.
  case ltr
  /// The receiver reports which frames it lacks; the next one is predicted from older frames.
  case invalidate
  /// There are no reports: intra macroblocks refresh the picture all the time.
  case intraRefresh = "intra-refresh"

  public var usesFeedback: Bool { self != .intraRefresh }
}
