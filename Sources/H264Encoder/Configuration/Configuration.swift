// SPDX-License-Identifier: Apache-2.0
/// What a `LowLatencyEncoder` is to produce.
///
/// Values are checked when an encoder is made or reconfigured; see `EncoderError`.
public struct EncoderConfiguration: Sendable, Equatable {
  /// H.264 profiles (A.2).
  public enum Profile: Sendable, Hashable, CaseIterable {
    case constrainedBaseline, main, constrainedHigh, high
  }

  public enum EntropyCoding: Sendable, Hashable, CaseIterable {
    case cavlc, cabac
  }

  /// How bits are spent.
  public enum RateControl: Sendable, Equatable {
    /// A QP, 0...51, for all frames: exactly, or on average (`cascadesQuality`).
    case constantQP(Int)
    /// An average in bits per second, kept over some seconds; frames are never held back for it.
    case averageBitRate(Int)
  }

  /// No `seconds`-long stretch of the stream may hold more than `bytes`.
  public struct DataRateLimit: Sendable, Equatable {
    public var bytes: Int
    public var seconds: Double

    public init(bytes: Int, seconds: Double) {
      self.bytes = bytes
      self.seconds = seconds
    }
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

  /// What stands before each NAL unit, in four bytes.
  public enum Framing: Sendable, Hashable {
    /// 00 00 00 01 (Annex B).
    case startCodes
    /// The unit's length in bytes, big-endian.
    case lengths
  }

  /// Colour description for the VUI, as code points of ITU-T H.273.
  public struct Colour: Sendable, Equatable {
    public var primaries: UInt8
    public var transfer: UInt8
    public var matrix: UInt8

    public init(primaries: UInt8, transfer: UInt8, matrix: UInt8) {
      self.primaries = primaries
      self.transfer = transfer
      self.matrix = matrix
    }
  }

  /// Luma samples of the pictures that are given; even, 16 to `largestSide`.
  public var width: Int
  public var height: Int
  /// Luma samples that a decoder shows of each, from the upper left: even, and at least one in the last macroblock of a
  /// row, of a column (frame cropping, 7.4.2.1.1); nil: all. So pictures that are smaller than a macroblock are coded.
  public var visibleWidth: Int?
  public var visibleHeight: Int?
  /// Frames per second, 0.01 to 1000. The rate control and the VUI's timing use it.
  public var frameRate: Double = 30
  public var profile: Profile = .high
  /// Ten times the level's number, 9 for 1b (31: level 3.1); nil: the lowest that the stream fits.
  public var level: Int?
  /// Bits a second that the lowest level has to allow in any case, where none is set: a rate may rise so far without another
  /// stream.
  public var levelBitRate = 0
  /// Whether the level that is set is raised where its frame size, macroblock rate or bit rate (MaxFS, MaxMBPS, MaxBR) is too
  /// low, and the highest one stands for rates that none has: where a stream that a decoder may be too slow for is better
  /// than none.
  public var raisesLevel = false
  /// Nil: CABAC where the profile has it.
  public var entropyCoding: EntropyCoding?
  public var rateControl: RateControl = .constantQP(28)
  /// Bytes that no window of so many seconds may pass. A picture that would is coded anew with less, or left out where
  /// frames may be dropped; where they may not, a window that is used up is passed by the least bits that a frame has.
  public var dataRateLimits: [DataRateLimit] = []
  /// Seconds that a frame may wait at most before a line of the average bit rate, from its capture to its last bit;
  /// 0.02 to 10. A frame of a stream with few frames a second may take one and a half frame intervals.
  public var maximumQueueDelay = 0.3
  /// QP floor and ceiling for every macroblock, 0...51.
  public var minimumQP: Int = 8
  public var maximumQP: Int = 51
  /// With a constant QP, whether every fourth reference frame is coded a little better than it says, the others a
  /// little worse, and key frames better: fewer bits for the same quality. A frame's own QP (`FrameOptions.qp`) is exact.
  public var cascadesQuality = true
  /// Whether the rate control may drop frames; else it overshoots when `maximumQP` is not enough.
  public var allowsFrameDropping = false
  /// How hard the encoder works, from 0 (fastest) to `mostEffort` (best); with `encodeTimeShare` the effort to begin with.
  public var effort: Int = 3
  /// Part of the frame interval, 0.01...1, that 95 of 100 frames may take to encode at most: the effort then follows the
  /// time that frames take. Nil: the effort stays as it is, and the stream does not depend on the machine.
  public var encodeTimeShare: Double?
  /// The highest effort.
  public static let mostEffort = 9
  /// Threads that share the work of one frame, 1...16.
  public var threads: Int = 1
  /// Slices in each picture, 1 up to the number of macroblock rows.
  public var slices: Int = 1
  /// Largest size of a slice's NAL unit in bytes, 100 or more; nil: no limit.
  public var maximumSliceBytes: Int?
  /// Pictures kept as references, long-term ones included, 1...16.
  public var maximumReferences: Int = 1
  /// Long-term references, fewer than `maximumReferences`.
  public var longTermReferences: Int = 0
  /// Frames that are not references may come (`FrameOptions.isReference`).
  public var allowsNonReferenceFrames = false
  /// frame_num may skip: a receiver then takes lost frames without an error, until one arrives that
  /// refers only to what it has.
  public var allowsFrameNumberGaps = false
  /// 8x8 transform, High profiles only.
  public var allowsTransform8x8 = true
  /// Weighted prediction, where pictures grow darker or brighter; not in the Baseline profile.
  public var allowsWeightedPrediction = true
  /// Deblocking filter and its offsets (half of FilterOffsetA and B), -6...6.
  public var deblocking = true
  public var deblockingAlphaOffset = 0
  public var deblockingBetaOffset = 0
  /// Strength of the adaptive quantisation by local activity, 0 (off) to 2.
  public var adaptiveQuantisation: Double = 0
  /// Frames that a gradual intra refresh takes to pass over the picture, of those that others may refer to; 0: none. A picture's macroblock
  /// columns are coded intra in turn, so that a receiver recovers without a key frame.
  public var intraRefreshPeriod: Int = 0
  /// One refresh follows the other without end; else one passes when asked for
  /// (`FrameOptions.startsIntraRefresh`, `sceneChange`).
  public var refreshesContinuously = true
  /// Frames from one IDR picture to the next; nil: only when asked.
  public var keyFrameInterval: Int?
  public var sceneChange: SceneChangeResponse = .none
  /// sar_width and sar_height; nil: not written.
  public var sampleAspectRatio: (width: UInt16, height: UInt16)? {
    get { aspect.map { ($0.width, $0.height) } }
    set { aspect = newValue.map { Aspect(width: $0.width, height: $0.height) } }
  }
  public var colour: Colour?
  public var fullRange = false
  /// An access unit delimiter before each frame.
  public var writesAccessUnitDelimiters = false
  /// A prefix NAL unit (type 14) that tells the temporal layer before each slice.
  public var writesTemporalLayerPrefix = false
  /// Parameter sets in the stream before each IDR picture; else only from `parameterSets`.
  public var writesParameterSets = true
  /// What stands before each NAL unit of a frame: a start code, as in a byte stream, or its length, as in MP4.
  public var framing: Framing = .startCodes
  /// Squared error against the source for each frame (costs a little time).
  public var measuresError = false

  private var aspect: Aspect?
  private struct Aspect: Sendable, Equatable {
    var width: UInt16
    var height: UInt16
  }

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  var cabac: Bool { (entropyCoding ?? (profile == .constrainedBaseline ? .cavlc : .cabac)) == .cabac }
  var weightedPrediction: Bool { allowsWeightedPrediction && profile != .constrainedBaseline }
  var transform8x8: Bool { allowsTransform8x8 && (profile == .high || profile == .constrainedHigh) }
}

/// Why a configuration, a picture or an option is refused. The encoder stays as it was.
public enum EncoderError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A value of the configuration is out of range; the text says which and what is allowed.
  case invalidConfiguration(String)
  /// A value that cannot change in mid-stream differs: that takes a new encoder.
  case fixedInStream(String)
  /// The stream does not fit the level asked for, or any.
  case levelExceeded(String)
  /// The picture's size or strides do not fit the configuration.
  case invalidPicture(String)
  /// A frame option cannot be followed.
  case invalidOption(String)

  public var description: String {
    switch self {
    case .invalidConfiguration(let text), .fixedInStream(let text), .levelExceeded(let text),
      .invalidPicture(let text), .invalidOption(let text):
      text
    }
  }
}

/// What the caller wants of one frame.
public struct FrameOptions: Sendable, Equatable {
  /// Which pictures the frame may refer to.
  public enum References: Sendable, Equatable {
    /// Whatever is there, newest first.
    case automatic
    /// Only these frames (`FrameFacts.index`), in this order, as many of them as the effort makes use of; those that
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

/// What a frame turned out to be.
public struct FrameFacts: Sendable, Equatable {
  /// Counted from 0, dropped frames included.
  public var index: UInt64 = 0
  /// An IDR picture, or one that `isOpenGOP` says.
  public var isKeyFrame = false
  /// A key frame that is no IDR picture: frames that follow it, but are shown before it, may refer to what precedes it.
  /// Nothing that is shown after it does.
  public var isOpenGOP = false
  public var isReference = false
  /// The rate control dropped it: there are no NAL units.
  public var isDropped = false
  /// Bits of all NAL units, four bytes of framing each included.
  public var bits = 0
  /// Mean, lowest and highest QP_Y of its macroblocks.
  public var averageQP = 0.0
  public var lowestQP = 0
  public var highestQP = 0
  /// Parts of all macroblocks, 0...1.
  public var intraShare = 0.0
  public var skipShare = 0.0
  /// Seconds that the call took.
  public var encodeTime = 0.0
  /// The effort that it was coded with, 0 to `EncoderConfiguration.mostEffort`.
  public var effort = 0
  /// Mean squared error of luma, Cb and Cr; nil unless `measuresError`.
  public var meanSquaredError: (luma: Double, cb: Double, cr: Double)? {
    get { error.map { ($0.luma, $0.cb, $0.cr) } }
    set { error = newValue.map { SquaredError(luma: $0.luma, cb: $0.cb, cr: $0.cr) } }
  }
  public var temporalLayer = 0
  public var longTermSlot: Int?
  /// Frames that it refers to.
  public var referenceCount = 0
  /// Bytes of filler data that hold a constant rate, their NAL unit's framing included; `bits` counts them.
  public var fillerBytes = 0

  private var error: SquaredError?
  private struct SquaredError: Sendable, Equatable {
    var luma: Double
    var cb: Double
    var cr: Double
  }

  public init() {}
}
