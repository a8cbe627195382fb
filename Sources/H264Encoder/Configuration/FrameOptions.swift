// SPDX-License-Identifier: Apache-2.0

/// The options of one frame.
public struct H264FrameOptions: Sendable, Equatable {
  /// The pictures that the frame may refer to.
  public enum References: Sendable, Equatable {
    /// All available references, the newest first.
    case automatic
    /// Only these frames (`H264FrameProperties.index`), in this order, limited to the number that
    /// the effort uses. Frames that are no longer available are skipped. If none is left, the frame
    /// becomes a key frame.
    case frames([UInt64])
    /// Only the references in these long-term slots, in this order, with the same rules.
    case longTerm([Int])
  }

  /// Whether the frame is coded as a key frame.
  public var isKeyFrame = false
  /// Whether a gradual intra refresh begins with this frame, or with the next reference frame if
  /// this one is not a reference or is dropped. `intraRefreshPeriod` must not be 0.
  public var startsIntraRefresh = false
  /// Whether later frames may refer to it (nal_ref_idc is not 0).
  public var isReference = true
  /// The pictures that it may refer to.
  public var references: References = .automatic
  /// The long-term slot to keep the frame in, 0 ..< `longTermReferences`; nil for none. The frame
  /// must be a reference.
  public var longTermSlot: Int?
  /// The QP of the frame, 0...51; nil: the rate control chooses it.
  public var qp: Int?
  /// The bits that the frame should take; nil: the rate control chooses them.
  public var targetBits: Int?
  /// The temporal layer of the frame, 0...7. Each layer has its own state in the rate control, and
  /// the prefix NAL unit gives the layer.
  public var temporalLayer = 0
  /// The bits of the frame as a multiple of the average for its duration, 0.01...16. It divides the
  /// rate between temporal layers, and should average 1 over all frames.
  public var budgetShare = 1.0
  /// The time since the previous frame in seconds; nil: the frame interval of the configuration.
  public var duration: Double?

  /// Creates options with their defaults.
  public init() {}
}
