// SPDX-License-Identifier: Apache-2.0

extension H264EncoderConfiguration {
  /// The options of the low-latency mode.
  public struct LowLatency: Sendable, Equatable {
    /// The bit rate or QP to aim at.
    public typealias RateControl = LowLatencyRate

    /// The response to the beginning of a new scene.
    public enum SceneChangeResponse: Sendable, Hashable {
      /// No response: macroblocks are coded intra where that takes fewer bits.
      case none
      /// An IDR picture.
      case keyFrame
      /// A gradual intra refresh begins; `intraRefreshPeriod` sets its length and must not be 0.
      case intraRefresh
    }

    /// The bit rate or QP to aim at.
    public var rateControl: RateControl = .constantQP(28)
    /// The maximum time in seconds, 0.02 to 10, from the capture of a frame to the arrival of its
    /// last bit over a link of the average bit rate. In streams with a low frame rate a frame may
    /// take one and a half frame intervals.
    public var maximumQueueDelay = 0.3
    /// The luma PSNR in dB, 30 to 100, up to which static content is refined with an average bit
    /// rate. Errors above about 46 dB are not visible, and the bits are better kept for the next
    /// change. The refinement ends at the QP whose quantisation error corresponds to this PSNR.
    public var maximumStillPSNR = 46.0
    /// Whether, with a constant QP, every fourth reference frame is coded with a slightly lower QP,
    /// key frames with a lower one still, and the others with a slightly higher one, which takes
    /// fewer bits for the same quality. A QP that a frame's options give (`H264FrameOptions.qp`) is
    /// exact.
    public var cascadesQuality = true
    /// Whether the rate control may drop frames; otherwise it exceeds its target where `maximumQP`
    /// is too low.
    public var allowsFrameDropping = false
    /// The strength of adaptive quantisation by local activity, 0 (off) to 2.
    public var adaptiveQuantisation: Double = 0
    /// The response to the beginning of a new scene.
    public var sceneChange: SceneChangeResponse = .none
    /// The number of long-term reference slots, fewer than `maximumReferences`.
    public var longTermReferences: Int = 0
    /// Whether frames may be coded that are not references (`H264FrameOptions.isReference`).
    public var allowsNonReferenceFrames = false
    /// Whether frame_num may have gaps (gaps_in_frame_num_value_allowed_flag): a receiver then
    /// accepts lost frames without an error until a frame arrives that refers only to frames that
    /// it has.
    public var allowsFrameNumberGaps = false
    /// The number of reference frames that a gradual intra refresh takes to pass over the picture,
    /// 0 (none) to 1000. The macroblock columns are coded as intra macroblocks in turn, so that a
    /// receiver recovers from losses without a key frame.
    public var intraRefreshPeriod: Int = 0
    /// Whether one refresh follows another without end; otherwise one begins when it is requested
    /// (`H264FrameOptions.startsIntraRefresh`, `sceneChange`).
    public var refreshesContinuously = true
    /// Whether a prefix NAL unit (type 14) with the temporal layer precedes each slice.
    public var writesTemporalLayerPrefix = false

    /// Creates options with their defaults: a constant QP of 28.
    public init() {}

    /// Creates options with an average bit rate and defaults for everything else.
    /// - Parameter averageBitRate: the bit rate in bits per second.
    public init(averageBitRate: Int) { rateControl = .averageBitRate(averageBitRate) }
  }
}

extension H264EncoderConfiguration.LowLatency {
  /// The average bit rate in bits per second; nil with a constant QP.
  var averageBitRate: Int? { if case .averageBitRate(let rate) = rateControl { rate } else { nil } }
}
