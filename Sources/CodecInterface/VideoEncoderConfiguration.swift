// SPDX-License-Identifier: Apache-2.0
/// The configuration that an encoder needs before its first picture.
///
/// The members under "may change" can be changed between two pictures with
/// ``VideoEncoder/reconfigure(_:)``; a change of any other one takes a new stream.
public struct VideoEncoderConfiguration: Sendable, Equatable {
  // MARK: The picture

  /// The format to produce.
  public var codec: CodecType
  /// The width of a picture in luma samples.
  public var width: Int
  /// The height of a picture in luma samples.
  public var height: Int
  /// The layout of the samples.
  public var format: PictureFormat
  /// The units per second in which time stamps are given.
  public var timescale: Int32 = 90_000
  /// The colours that the samples mean, which the stream states.
  public var color = ColorDescription()
  /// Whether the samples use the full range of values instead of the video range
  /// (video_full_range_flag), which the stream states.
  public var isFullRange = false
  /// The shape of a sample; nil: the stream does not state it.
  public var pixelAspect: PixelAspect?
  /// The static HDR metadata, which the stream states.
  public var hdr = HDRMetadata()

  // MARK: The stream

  /// The profile of the stream.
  public var profile: CodecProfile
  /// Ten times the number of the level (31 is level 3.1); nil: the encoder chooses the lowest one
  /// that fits.
  public var level: Int?
  /// The entropy coding of H.264; nil: the encoder chooses it.
  public var entropyMode: EntropyMode?
  /// The most frames from one key frame to the next; 0: the encoder chooses; 1: every frame is a
  /// key frame.
  public var maxKeyFrameInterval = 0
  /// The most seconds from one key frame to the next; 0: there is no limit.
  public var maxKeyFrameIntervalDuration = 0.0
  /// Whether frames may be predicted from others; otherwise every frame is a key frame.
  public var allowsTemporalCompression = true
  /// Whether the decoding order may differ from the order of presentation; otherwise there are no B
  /// frames.
  public var allowsReordering = true
  /// The largest ``VideoEncoder/reorderingDepth``, where a stream continues another; nil: there is
  /// no limit.
  public var maxReorderingDepth: Int?
  /// Whether frames that are shown before a key frame but follow it in the stream may refer to
  /// frames before it.
  public var allowsOpenGOP = false
  /// Whether there may be more than one picture parameter set. Only encoders with the feature
  /// ``EncoderFeature/severalPictureSets`` get true.
  public var allowsSeveralPictureSets = false
  /// The number of reference frames; 0: the encoder chooses.
  public var referenceFrameCount = 0
  /// The most bytes of a slice's NAL unit; 0: there is no limit.
  public var maxSliceBytes = 0

  // MARK: Effort

  /// The most frames that the encoder may hold before it outputs one; nil: only
  /// ``frameLimit(overhead:)`` limits them.
  public var maxFrameDelay: Int?
  /// The frames that the rate control looks ahead; nil: the encoder chooses.
  public var lookAheadFrames: Int?
  /// Whether the QP follows the local activity of the picture; nil: the encoder chooses.
  public var spatialAdaptiveQP: AdaptiveQP?
  /// The caller's preference: speed, quality, or saving power.
  public var speed = SpeedPreference()
  /// The number of threads; 0: the encoder chooses it from the number of processors.
  public var threads = 0
  /// The duration of the stream in seconds; nil if unknown.
  public var expectedDuration: Double?
  /// Whether to report the mean squared error of each frame.
  public var measuresError = false
  /// The pass of an encoding with several passes; nil: there is one pass only.
  public var pass: EncodingPass?

  // MARK: May change between two pictures

  /// The expected number of frames per second; nil if unknown.
  public var frameRate: Double?
  /// How many bits frames may have.
  public var rate = RateRequest()
  /// The settings of the low-latency mode; nil: another mode.
  public var lowLatency: LowLatencyRequest?

  /// Creates a configuration with default values.
  /// - Parameters:
  ///   - codec: the format to produce.
  ///   - width: the width of a picture in luma samples.
  ///   - height: the height of a picture in luma samples.
  ///   - format: the layout of the samples.
  ///   - profile: the profile of the stream.
  public init(codec: CodecType, width: Int, height: Int, format: PictureFormat, profile: CodecProfile) {
    self.codec = codec
    self.width = width
    self.height = height
    self.format = format
    self.profile = profile
  }
}

extension VideoEncoderConfiguration {
  /// The most frames that the encoder may hold; nil: there is no limit. In real time it is 0,
  /// unless a delay or a look-ahead was asked for.
  /// - Parameter overhead: the frames that the encoder holds besides those of its look-ahead.
  public func frameLimit(overhead: Int) -> Int? {
    if let maxFrameDelay { return maxFrameDelay }
    guard speed.isRealTime == true, pass == nil else { return nil }
    guard let lookAheadFrames, lookAheadFrames > 0 else { return 0 }
    return min(lookAheadFrames, 1 << 16) + overhead
  }
}

/// A profile of H.264 or HEVC, as a client asks for it. Encoders have types of their own for the
/// profiles that they write.
public enum CodecProfile: Sendable, Hashable {
  /// Baseline of H.264.
  case h264Baseline
  /// Constrained Baseline of H.264.
  case h264ConstrainedBaseline
  /// Main of H.264.
  case h264Main
  /// Extended of H.264.
  case h264Extended
  /// High of H.264.
  case h264High
  /// Constrained High of H.264.
  case h264ConstrainedHigh
  /// High 4:4:4 Predictive of H.264, with pictures of 4:4:4.
  case h264High444Predictive
  /// Main of HEVC.
  case hevcMain
  /// Main 10 of HEVC.
  case hevcMain10
  /// The encoder chooses; for codecs whose profiles sessions do not know.
  case unspecified
}

/// The entropy coding of H.264.
public enum EntropyMode: Sendable, Hashable {
  /// Context-adaptive variable-length coding.
  case cavlc
  /// Context-adaptive binary arithmetic coding.
  case cabac
}

/// How strongly the QP follows the local activity of the picture.
public enum AdaptiveQP: Sendable, Hashable {
  /// The QP does not depend on it.
  case off
  /// The QP depends on it as strongly as suits the encoder.
  case standard
}

/// The caller's preference: speed, quality, or saving power.
public struct SpeedPreference: Sendable, Equatable {
  /// Whether frames arrive in real time and must not be late; nil if unknown.
  public var isRealTime: Bool?
  /// Whether speed is more important than quality; nil: neither is.
  public var prefersSpeedOverQuality: Bool?
  /// Whether to use less power.
  public var savesPower = false
  /// The effort, 0 (fastest) to 9 (best); nil: it follows from the members above.
  public var effort: Int?
  /// Creates a preference for nothing.
  public init() {}
}

/// One of several passes over the same frames. A pass ends with its encoder, which has written its
/// statistics by then.
public struct EncodingPass: Sendable, Equatable {
  /// The path of the file in which the encoder stores the statistics of the pass. A codec may
  /// append suffixes.
  public var statisticsPath: String
  /// Whether to read the statistics of an earlier pass.
  public var readsStatistics: Bool
  /// Whether to write statistics for a later pass.
  public var writesStatistics: Bool
  /// Whether the frames of this pass are the result unless another pass would give a better one
  /// (``VideoEncoder/wantsAnotherPass``). The encoder then uses its full effort, even if it writes
  /// statistics for a later pass.
  public var mayBeLast = false
  /// The part of the frames that this pass encodes; nil: it encodes all of them.
  public var part: Part?

  /// The frames from one key frame to another that are encoded again; the other frames of the
  /// stream do not change.
  public struct Part: Sendable, Equatable {
    /// The indices of the frames among all frames, in the order of presentation from 0 on. The
    /// first one has to be a key frame.
    public var frames: Range<Int>
    /// The bits that they should have in all.
    public var bits: Int
    /// Creates a part.
    /// - Parameters:
    ///   - frames: the indices of the frames.
    ///   - bits: the bits that they should have in all.
    public init(frames: Range<Int>, bits: Int) {
      self.frames = frames
      self.bits = bits
    }
  }

  /// Creates a pass over all frames.
  /// - Parameters:
  ///   - statisticsPath: the path of the file with the statistics.
  ///   - readsStatistics: whether to read the statistics of an earlier pass.
  ///   - writesStatistics: whether to write statistics for a later pass.
  public init(statisticsPath: String, readsStatistics: Bool, writesStatistics: Bool) {
    self.statisticsPath = statisticsPath
    self.readsStatistics = readsStatistics
    self.writesStatistics = writesStatistics
  }
}

/// Static metadata of high dynamic range, as the big-endian payloads of the SEI messages of the
/// same names.
public struct HDRMetadata: Sendable, Equatable {
  /// The mastering display colour volume, 24 bytes; nil if unknown.
  public var masteringDisplay: [UInt8]?
  /// The content light level, 4 bytes; nil if unknown.
  public var contentLightLevel: [UInt8]?
  /// Creates metadata that states nothing.
  public init() {}
}

/// How many bits frames may have, as a client asks for it. Encoders derive their rate control from
/// it.
///
/// Every encoder supports `average` and, where the client sets no bit rate, `quality`, even without
/// the feature ``EncoderFeature/quality``. Only encoders with the feature for them get the other
/// settings.
public struct RateRequest: Sendable, Equatable {
  /// The target of the encoder's rate control.
  public enum Mode: Sendable, Equatable {
    /// A constant quality, 0 (smallest) to 1 (best, or lossless if the codec supports it).
    case quality(Double)
    /// A bit rate in bits per second, in the long run.
    case average(Int)
    /// A bit rate in bits per second at any time, with filler data where frames take less.
    case constant(Int)
    /// A bit rate in bits per second in the long run, and up to `maximumBitRate` for some time.
    case variable(Int)
  }

  /// The target of the encoder's rate control.
  public var mode = Mode.quality(0.5)
  /// The rate at which the decoder's buffer fills, in bits per second; nil: the encoder or
  /// `bufferModel` chooses it.
  public var maximumBitRate: Int?
  /// The size of the decoder's buffer in seconds of `maximumBitRate`, or of the mode's rate; nil:
  /// `bufferModel` chooses it.
  public var bufferDuration: Double?
  /// The share of the buffer that is filled when the first frame is taken from it, 0 to 1; nil:
  /// `bufferModel` chooses it.
  public var initialBufferFullness: Double?
  /// Hard limits: no window of `seconds` may have more than `bytes`.
  public var limits: [DataRateLimit] = []
  /// The most seconds from the capture of a frame to the transmission of its last bit, on a link
  /// with the mode's rate; nil: the encoder chooses.
  public var maximumQueueDelay: Double?
  /// The luma PSNR in dB, 30 to 100, up to which a static picture is refined; nil: the
  /// encoder chooses. Only encoders with the feature ``EncoderFeature/stillQualityLimit`` get it.
  public var maximumStillPSNR: Double?
  /// Whether the stream describes `bufferModel`, and states for each frame when it is taken out of
  /// the buffer. An error if `bufferModel` is nil.
  public var writesBufferTiming = false
  /// Whether this stream continues one that is encoded independently and shares the decoder's
  /// buffer. `bufferModel` then applies to all streams that are joined. At each join the buffer is
  /// at least as full as at the start of a stream, and with a constant rate exactly as full. Only
  /// encoders with the feature ``EncoderFeature/joinedBuffers`` get true.
  public var hasFramesBefore = false
  /// Whether such a stream continues this one, which then has to end with the agreed fullness of
  /// the buffer.
  public var hasFramesAfter = false
  /// The lowest QP of a macroblock; nil: the encoder chooses.
  public var minQP: Int?
  /// The highest QP of a macroblock; nil: the encoder chooses.
  public var maxQP: Int?

  /// Creates a rate control that aims at medium quality.
  public init() {}
}

/// A client's settings for the low-latency mode of any codec.
public struct LowLatencyRequest: Sendable, Equatable {
  /// The share of the frames that are in the base layer: 1 (there are no layers), 0.5 or 0.25. No
  /// frame refers to a frame of the other layer.
  public var baseLayerFrameRateFraction = 1.0
  /// The share of the bits that the base layer has, if there are layers, 0 to 1.
  public var baseLayerBitRateFraction = 0.6
  /// Whether to keep frames as long-term references that the receiver acknowledges.
  public var enablesLongTermReferences = false
  /// The frames in which a gradual intra refresh passes over the picture, over and over, in place
  /// of key frames; 0: there is none.
  public var intraRefreshPeriod = 0
  /// Whether to state the temporal layer of each frame in a prefix NAL unit.
  public var writesLayerPrefix = false
  /// Creates settings without layers, long-term references and refreshes.
  public init() {}
}
