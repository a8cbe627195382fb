// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

extension HEVCEncoderConfiguration {
  /// The options of the low-latency mode.
  public struct LowLatency: Sendable, Equatable {
    /// The bit rate or QP to aim at.
    public typealias RateControl = LowLatencyRate

    /// What to do when a new scene begins.
    public enum SceneChangeResponse: Sendable, Hashable {
      /// No response: coding units are coded intra where that takes fewer bits.
      case none
      /// An IDR picture.
      case keyFrame
      /// A gradual intra refresh begins; `intraRefreshPeriod` sets its length and must not be 0.
      case intraRefresh
    }

    /// The bit rate or QP to aim at.
    public var rateControl: RateControl = .constantQP(28)
    /// The most seconds, 0.02 to 10, from the capture of a frame to the arrival of its last bit
    /// over a link of the average bit rate. In streams with a low frame rate a frame may take one
    /// and a half frame intervals.
    public var maximumQueueDelay = 0.3
    /// The luma PSNR in dB, 30 to 100, up to which a picture that stands still is refined, with an
    /// average bit rate.
    public var maximumStillPSNR = 46.0
    /// Whether, with a constant QP, every fourth reference frame is coded with a slightly lower QP,
    /// key frames with a lower one still, and the others with a slightly higher one, which takes
    /// fewer bits for the same quality. A QP that a frame's options give (`HEVCFrameOptions.qp`) is
    /// exact.
    public var cascadesQuality = true
    /// The strength of adaptive quantisation by local variance, 0 (off) to 2: the QP steps for each
    /// doubling of the variance of 16x16 samples over the mean of the picture. A QP that a frame's
    /// options give (`HEVCFrameOptions.qp`) is exact.
    public var adaptiveQuantisation = 0.0
    /// Whether the rate control may drop frames; otherwise it exceeds its target where `maximumQP`
    /// is too low.
    public var allowsFrameDropping = false
    /// What to do when a new scene begins.
    public var sceneChange: SceneChangeResponse = .none
    /// The number of long-term reference slots, fewer than `maximumReferences`.
    public var longTermReferences: Int = 0
    /// Whether frames may be coded that are not references (`HEVCFrameOptions.isReference`).
    public var allowsNonReferenceFrames = false
    /// The number of frames that a gradual intra refresh takes to pass over the picture, 0 (none)
    /// to
    /// 1000. Rows of coding tree units are coded intra in turn, so that a receiver recovers from
    /// losses, and another one comes in, without a key frame: a recovery point SEI message (D.2.8)
    /// says where a refresh begins and how long it takes. Frames have one reference meanwhile.
    public var intraRefreshPeriod: Int = 0
    /// Whether one refresh follows another without end; otherwise one begins when it is requested
    /// (`HEVCFrameOptions.startsIntraRefresh`, `sceneChange`).
    public var refreshesContinuously = true
    /// The number of temporal layers, 1...7 (sps_max_sub_layers_minus1 + 1). A frame refers to
    /// frames of its own and lower layers only, so that higher layers can be left out.
    public var temporalLayers: Int = 1

    /// Creates options with their defaults: a constant QP of 28.
    public init() {}

    /// Creates options with an average bit rate and defaults for everything else.
    /// - Parameter averageBitRate: the bit rate in bits per second.
    public init(averageBitRate: Int) { rateControl = .averageBitRate(averageBitRate) }
  }
}

extension HEVCEncoderConfiguration.LowLatency {
  /// The average bit rate in bits per second; nil with a constant QP.
  var averageBitRate: Int? { if case .averageBitRate(let rate) = rateControl { rate } else { nil } }
}
