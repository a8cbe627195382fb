// SPDX-License-Identifier: Apache-2.0

extension H264EncoderConfiguration {
  /// Options of the low-latency mode.
  public struct LowLatency: Sendable, Equatable {
    /// How bits are spent.
    public enum RateControl: Sendable, Equatable {
      /// A QP, 0...51, for all frames: exactly, or on average (`cascadesQuality`).
      case constantQP(Int)
      /// An average in bits per second, kept over some seconds; frames are never held back for it.
      case averageBitRate(Int)
    }

    /// What to do when a new scene begins.
    public enum SceneChangeResponse: Sendable, Hashable {
      /// Nothing in particular: intra macroblocks where they pay.
      case none
      /// An IDR picture.
      case keyFrame
      /// A gradual intra refresh begins; `intraRefreshPeriod` must say how long it takes.
      case intraRefresh
    }

    public var rateControl: RateControl = .constantQP(28)
    /// Seconds that a frame may wait at most before a link of the average bit rate, from its capture to its last bit;
    /// 0.02 to 10. A frame of a stream with few frames a second may take one and a half frame intervals.
    public var maximumQueueDelay = 0.3
    /// With a constant QP, whether every fourth reference frame is coded a little better than it says, the others a
    /// little worse, and key frames better: fewer bits for the same quality. A frame's own QP (`H264FrameOptions.qp`)
    /// is exact.
    public var cascadesQuality = true
    /// Whether the rate control may drop frames; else it exceeds its target when `maximumQP` is not enough.
    public var allowsFrameDropping = false
    /// Strength of the adaptive quantisation by local activity, 0 (off) to 2.
    public var adaptiveQuantisation: Double = 0
    /// What to do when a new scene begins.
    public var sceneChange: SceneChangeResponse = .none
    /// Long-term references, fewer than `maximumReferences`.
    public var longTermReferences: Int = 0
    /// Frames that are not references may come (`H264FrameOptions.isReference`).
    public var allowsNonReferenceFrames = false
    /// frame_num may skip: a receiver then takes lost frames without an error, until one arrives that refers only to
    /// what it has.
    public var allowsFrameNumberGaps = false
    /// Frames that a gradual intra refresh takes to pass over the picture, of those that others may refer to, 0 (none) to
    /// 1000. The macroblock columns of a picture are coded intra in turn, so that a receiver recovers without a key frame.
    public var intraRefreshPeriod: Int = 0
    /// One refresh follows the other without end; else one passes when it is asked for
    /// (`H264FrameOptions.startsIntraRefresh`, `sceneChange`).
    public var refreshesContinuously = true
    /// A prefix NAL unit (type 14) before each slice, which says the temporal layer.
    public var writesTemporalLayerPrefix = false

    /// Options with their defaults: a constant QP of 28.
    public init() {}

    /// Options with an average bit rate and the defaults of all others.
    /// - Parameter averageBitRate: bits per second.
    public init(averageBitRate: Int) { rateControl = .averageBitRate(averageBitRate) }
  }
}

extension H264EncoderConfiguration.LowLatency {
  /// Bits per second; nil with a constant QP.
  var averageBitRate: Int? { if case .averageBitRate(let rate) = rateControl { rate } else { nil } }
}
