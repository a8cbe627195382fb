// SPDX-License-Identifier: Apache-2.0

/// What the caller wants of one frame.
public struct H264FrameOptions: Sendable, Equatable {
  /// Which pictures the frame may refer to.
  public enum References: Sendable, Equatable {
    /// Whatever is there, newest first.
    case automatic
    /// Only these frames (`H264FrameFacts.index`), in this order, as many of them as the effort makes use of; those that
    /// are gone are passed over. If none is left, the frame becomes a key frame.
    case frames([UInt64])
    /// Only long-term slots, in this order, likewise.
    case longTerm([Int])
  }

  /// Code the frame as an IDR picture.
  public var isKeyFrame = false
  /// Begin a gradual intra refresh with this frame, or with the next one that is coded and that later ones may refer to;
  /// `intraRefreshPeriod` must not be 0.
  public var startsIntraRefresh = false
  /// Later frames may refer to it (nal_ref_idc not 0).
  public var isReference = true
  public var references: References = .automatic
  /// Keep the frame in a long-term slot, 0 ..< `longTermReferences`; it must be a reference.
  public var longTermSlot: Int?
  /// The frame's QP, instead of the rate control's.
  public var qp: Int?
  /// Bits for the frame, instead of the rate control's target.
  public var targetBits: Int?
  /// The frame's temporal layer, 0...7: each has its own rate-control state. The prefix NAL unit tells it.
  public var temporalLayer = 0
  /// The frame's part of the bits that a frame of its duration gets on average. Layers share a rate by it:
  /// over all frames it should average 1.
  public var budgetShare = 1.0
  /// Time since the last frame in seconds; nil: one over the frame rate.
  public var duration: Double?

  public init() {}
}
