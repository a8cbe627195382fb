// SPDX-License-Identifier: Apache-2.0

/// The caller's options for one frame, as far as pre-analysis, look-ahead and rate
/// control read it.
package struct CodingRequest: Sendable, Equatable {
  /// Whether the frame is coded as a key frame.
  package var isKeyFrame = false
  /// Whether the caller has chosen the references of the frame.
  package var hasChosenReferences = false
  /// The QP of the frame, 0...51; nil: the rate control chooses it.
  package var qp: Int?
  /// The bits that the frame should take; nil: the rate control chooses them.
  package var targetBits: Int?
  /// The temporal layer of the frame, 0...7.
  package var temporalLayer = 0
  /// The bits of the frame as a multiple of the average for its duration, 0.01...16.
  package var budgetShare = 1.0
  /// The time since the previous frame in seconds; nil: the frame interval of the configuration.
  package var duration: Double?

  /// Creates a request with its defaults.
  package init() {}
}
