// SPDX-License-Identifier: Apache-2.0
/// All that an encoder has to know before its first picture, in plain types.
///
/// The members under "may change" can be given anew to ``VideoEncoder/reconfigure(_:)`` between two pictures;
/// a change of any other takes a new stream.
public struct VideoEncoderConfiguration: Sendable, Equatable {
  // MARK: The picture

  public var codec: CodecType
  /// Size of a picture in luma samples.
  public var width: Int
  public var height: Int
  public var format: PictureFormat
  /// Units of a second in which time stamps are counted.
  public var timescale: Int32 = 90_000
  public var color = ColorDescription()
  /// Shape of a sample; nil says nothing in the stream.
  public var pixelAspect: PixelAspect?
  public var hdr = HDRMetadata()

  // MARK: The stream

  public var profile: Profile
  /// Ten times the level number (31 is level 3.1); nil lets the encoder choose the lowest that fits.
  public var level: Int?
  public var entropyMode: EntropyMode?
  /// Most frames from one key frame to the next; 0 leaves it to the encoder, 1 makes each a key frame.
  public var maxKeyFrameInterval = 0
  /// Most seconds from one key frame to the next; 0 is no limit.
  public var maxKeyFrameIntervalDuration = 0.0
  /// False codes each frame as a key frame.
  public var allowsTemporalCompression = true
  /// False keeps the frames in the order of presentation (no B frames).
  public var allowsReordering = true
  /// Limit for the reordering depth where a stream continues another; nil is none.
  public var maxReorderingDepth: Int?
  /// True lets frames that precede a key frame in presentation refer to frames before it in the stream.
  public var allowsOpenGOP = false
  /// Comes to encoders with ``EncoderFeature/severalPictureSets``.
  public var allowsSeveralPictureSets = false
  /// Frames that prediction may draw on; 0 leaves it to the encoder.
  public var referenceFrameCount = 0
  /// Upper limit for the bytes of one slice NAL unit; 0 is no limit.
  public var maxSliceBytes = 0

  // MARK: Effort

  /// Frames that the encoder may hold before it gives one back; nil is no limit but what ``frameLimit(overhead:)``
  /// makes of the rest.
  public var maxFrameDelay: Int?
  /// Frames that rate control looks ahead; nil leaves it to the encoder.
  public var lookAheadFrames: Int?
  /// Nil leaves it to the encoder.
  public var spatialAdaptiveQP: AdaptiveQP?
  public var speed = SpeedPreference()
  /// 0 lets the encoder choose from the number of processors.
  public var threads = 0
  /// Seconds that the stream will last, if known.
  public var expectedDuration: Double?
  /// Report the squared error of each frame against its source.
  public var measuresError = false
  public var pass: EncodingPass?

  // MARK: May change between two pictures

  /// Frames a second that are expected; nil if unknown.
  public var frameRate: Double?
  public var rate = RateControl()
  public var lowLatency: LowLatency?

  public init(codec: CodecType, width: Int, height: Int, format: PictureFormat, profile: Profile) {
    self.codec = codec
    self.width = width
    self.height = height
    self.format = format
    self.profile = profile
  }
}

extension VideoEncoderConfiguration {
  /// Frames that the encoder may hold; nil is no limit. Frames that come at their own pace are wanted at once, unless
  /// a delay or a look-ahead was asked for.
  /// - Parameter overhead: frames that the encoder holds beside those that it looks ahead.
  public func frameLimit(overhead: Int) -> Int? {
    if let maxFrameDelay { return maxFrameDelay }
    guard speed.isRealTime == true, pass == nil else { return nil }
    guard let lookAheadFrames, lookAheadFrames > 0 else { return 0 }
    return min(lookAheadFrames, 1 << 16) + overhead
  }
}

public enum Profile: Sendable, Hashable {
  case h264Baseline
  case h264ConstrainedBaseline
  case h264Main
  case h264Extended
  case h264High
  case h264ConstrainedHigh
  case hevcMain
  case hevcMain10
  /// The encoder's own choice: the codec has no profiles that sessions know.
  case unspecified
}

public enum EntropyMode: Sendable, Hashable {
  case cavlc
  case cabac
}

/// How strongly the quantiser follows the local activity of the picture.
public enum AdaptiveQP: Sendable, Hashable {
  case off
  case standard
}

/// What the caller would rather have.
public struct SpeedPreference: Sendable, Equatable {
  /// Frames come at their own pace and must not be late.
  public var isRealTime: Bool?
  public var prefersSpeedOverQuality: Bool?
  public var savesPower = false
  /// A named effort of the codec's own choosing, from 0 (fastest) to 9 (best); nil derives it from the above.
  public var effort: Int?
  public init() {}
}

/// One run of several over the same frames. It ends with the encoder: what was learnt is written down by then.
public struct EncodingPass: Sendable, Equatable {
  /// Where the encoder keeps what it learns. The codec may add suffixes of its own.
  public var statisticsPath: String
  /// Reads what an earlier pass wrote.
  public var readsStatistics: Bool
  /// Writes for a later pass.
  public var writesStatistics: Bool
  /// Its frames are the result where no other pass would bring a better one (``VideoEncoder/wantsAnotherPass``): an encoder
  /// saves no effort in it, though it writes for a later pass.
  public var mayBeLast = false
  /// Set where this run is over a part of the frames alone.
  public var part: Part?

  /// Frames between two key frames that are encoded again, between others that stay as they are.
  public struct Part: Sendable, Equatable {
    /// Their numbers among all frames, in the order of presentation, from 0 on. The first has to be a key frame.
    public var frames: Range<Int>
    /// Bits that they are to take.
    public var bits: Int
    public init(frames: Range<Int>, bits: Int) {
      self.frames = frames
      self.bits = bits
    }
  }

  public init(statisticsPath: String, readsStatistics: Bool, writesStatistics: Bool) {
    self.statisticsPath = statisticsPath
    self.readsStatistics = readsStatistics
    self.writesStatistics = writesStatistics
  }
}

/// Static metadata of high dynamic range, as the payloads of the SEI messages of the same names (big-endian).
public struct HDRMetadata: Sendable, Equatable {
  /// 24 bytes: mastering display colour volume.
  public var masteringDisplay: [UInt8]?
  /// 4 bytes: content light level.
  public var contentLightLevel: [UInt8]?
  public init() {}
}

/// How many bits a frame may have.
///
/// Every encoder is asked for `average`, and for `quality` where the client set no rate, whether or not it has the
/// feature ``EncoderFeature/quality``. The rest comes to encoders with the feature behind it.
public struct RateControl: Sendable, Equatable {
  public enum Mode: Sendable, Equatable {
    /// As many as the quality needs: 0 (smallest) to 1 (best, or lossless where the codec can).
    case quality(Double)
    /// Bits a second in the long run.
    case average(Int)
    /// Bits a second, always: short frames are filled up.
    case constant(Int)
    /// Bits a second in the long run, with freedom up to `maximumBitRate`.
    case variable(Int)
  }

  public var mode = Mode.quality(0.5)
  /// Bits a second at which the decoder's buffer fills.
  public var maximumBitRate: Int?
  /// Seconds of `maximumBitRate` (or of the mode's rate) that the decoder's buffer holds.
  public var bufferDuration: Double?
  /// How full the buffer is when the first frame is taken from it, 0 to 1.
  public var initialBufferFullness: Double?
  /// Hard limits: in no window of `seconds` more than `bytes`.
  public var limits: [RateLimit] = []
  /// Seconds that a frame may wait at most before a line of the mode's rate, from its capture to its last bit; nil
  /// leaves it to the encoder.
  public var maximumQueueDelay: Double?
  /// The stream says what `bufferModel` is, and each frame when it is taken out of the buffer. An error without one.
  public var writesBufferTiming = false
  /// The stream is joined to others, each encoded by itself, that come before it or after it: `bufferModel` holds for all
  /// of them together. At each join it is as full as where a stream begins, at least, and no fuller if the rate is constant;
  /// a stream with frames after it ends like that. Comes to encoders with ``EncoderFeature/joinedBuffers``.
  public var hasFramesBefore = false
  public var hasFramesAfter = false
  public var minQP: Int?
  public var maxQP: Int?

  public init() {}
}

public struct RateLimit: Sendable, Hashable {
  public var bytes: Int
  public var seconds: Double
  public init(bytes: Int, seconds: Double) {
    self.bytes = bytes
    self.seconds = seconds
  }
}

/// What only the low-latency mode has.
public struct LowLatency: Sendable, Equatable {
  /// Share of the frames in the base layer: 1 (no layers), 0.5 or 0.25. No frame above it is referred to.
  public var baseLayerFrameRateFraction = 1.0
  /// Share of the bits that the base layer takes, if there are layers.
  public var baseLayerBitRateFraction = 0.6
  /// Mark long-term references that the receiver acknowledges.
  public var enablesLongTermReferences = false
  /// Refresh the picture column by column in place of key frames: frames in one sweep, 0 for none.
  public var intraRefreshPeriod = 0
  /// Say the temporal layer of each frame in a prefix NAL unit.
  public var writesLayerPrefix = false
  public init() {}
}
