// SPDX-License-Identifier: Apache-2.0

/// What an `H264Encoder` is to produce: the pictures, the stream and the effort, and with `latency` the mode and
/// its options.
///
/// Values are checked when an encoder is made or reconfigured; see `H264EncoderError`.
public struct H264EncoderConfiguration: Sendable, Equatable {
  /// When frames come out, with the options of that mode.
  public enum Latency: Sendable, Equatable {
    /// One picture in, one access unit out, nothing held back: for calls.
    case zero(LowLatency)
    /// Pictures wait in a look-ahead and come out in decoding order, B pictures among them: for streams and files.
    case lookAhead(LookAhead)
  }

  /// H.264 profiles (A.2).
  public enum Profile: Sendable, Hashable, CaseIterable {
    case constrainedBaseline, main, constrainedHigh, high
  }

  /// The entropy coding of slice data (9.2, 9.3).
  public enum EntropyCoding: Sendable, Hashable, CaseIterable {
    case cavlc, cabac
  }

  /// No stretch of the stream that is `seconds` long may hold more than `bytes`.
  public struct DataRateLimit: Sendable, Equatable {
    public var bytes: Int
    public var seconds: Double

    public init(bytes: Int, seconds: Double) {
      self.bytes = bytes
      self.seconds = seconds
    }
  }

  /// What stands before each NAL unit, in four bytes.
  public enum Framing: Sendable, Hashable {
    /// 00 00 00 01 (Annex B).
    case startCodes
    /// The unit's length in bytes, big-endian, as in MP4.
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

  /// The mode and its options.
  public var latency: Latency

  // MARK: Pictures

  /// Luma samples of the pictures that are given; even, 16 to `largestSide`.
  public var width: Int
  public var height: Int
  /// Luma samples that a decoder shows of each picture, from the upper left: even, and at least one in the last macroblock
  /// of a row and of a column (frame cropping, 7.4.2.1.1); nil: all. So pictures that are smaller than a macroblock
  /// are coded.
  public var visibleWidth: Int?
  public var visibleHeight: Int?
  /// Frames per second, 0.01 to 1000. The rate control and the VUI's timing use it.
  public var frameRate: Double = 30
  /// sar_width and sar_height; nil: not written.
  public var sampleAspectRatio: (width: UInt16, height: UInt16)? {
    get { aspect.map { ($0.width, $0.height) } }
    set { aspect = newValue.map { Aspect(width: $0.width, height: $0.height) } }
  }
  public var colour: Colour?
  /// video_full_range_flag
  public var fullRange = false

  // MARK: Stream

  public var profile: Profile = .high
  /// Ten times the level's number, 9 for 1b (31: level 3.1); nil: the lowest that the stream fits.
  public var level: Int?
  /// Bits per second that the lowest level has to allow in any case, where no level is set: the rate may rise so far
  /// without another stream.
  public var levelBitRate = 0
  /// Whether the level that is set is raised where its frame size, macroblock rate or bit rate (MaxFS, MaxMBPS, MaxBR)
  /// is too low, and the highest one stands for rates that none allows: where a stream that a decoder may be too slow for
  /// is better than none.
  public var raisesLevel = false
  /// Nil: CABAC where the profile has it.
  public var entropyCoding: EntropyCoding?
  /// Slices in each picture, 1 up to the number of macroblock rows.
  public var slices: Int = 1
  /// Largest size of a slice's NAL unit in bytes, 100 or more; nil: no limit.
  public var maximumSliceBytes: Int?
  /// Pictures kept as references, long-term ones included, 1...16.
  public var maximumReferences: Int = 1
  /// Frames from one key frame to the next at most; nil: key frames come only when they are asked for.
  public var keyFrameInterval: Int?
  /// 8x8 transform, in the High profiles only.
  public var allowsTransform8x8 = true
  /// Weighted prediction, where pictures grow darker or brighter; not in the Baseline profile.
  public var allowsWeightedPrediction = true
  /// Deblocking filter and its offsets (half of FilterOffsetA and B), -6...6.
  public var deblocking = true
  public var deblockingAlphaOffset = 0
  public var deblockingBetaOffset = 0
  /// An access unit delimiter before each frame.
  public var writesAccessUnitDelimiters = false
  /// Parameter sets in the stream before each IDR picture; else only from `H264Encoder.parameterSets`.
  public var writesParameterSets = true
  /// What stands before each NAL unit of a frame.
  public var framing: Framing = .startCodes

  // MARK: Rate and effort

  /// Bytes that no window of so many seconds may exceed. A picture that would is coded again with less, or dropped where
  /// frames may be dropped; where they may not, a window that is used up is exceeded by the fewest bits that a
  /// frame can have. With a look-ahead the windows are those of the times at which frames leave a decoder's buffer.
  public var dataRateLimits: [DataRateLimit] = []
  /// Lowest and highest QP of every macroblock, 0...51.
  public var minimumQP: Int = 8
  public var maximumQP: Int = 51
  /// How hard the encoder works, from 0 (fastest) to `mostEffort` (best); with `encodeTimeShare` the effort to begin with.
  public var effort: Int = 3
  /// Part of the frame interval, 0.01...1, that 95 of 100 frames may take to encode at most: the effort then follows the
  /// time that frames take. Nil: the effort stays as it is, and the stream does not depend on the machine.
  public var encodeTimeShare: Double?
  /// The highest effort.
  public static let mostEffort = 9
  /// Threads that share the work, 1...16.
  public var threads: Int = 1
  /// Squared error against the source for each frame, which costs a little time.
  public var measuresError = false

  private var aspect: Aspect?
  private struct Aspect: Sendable, Equatable {
    var width: UInt16
    var height: UInt16
  }

  /// - Parameters:
  ///   - width: luma samples of a row.
  ///   - height: luma samples of a column.
  ///   - latency: the mode and its options.
  public init(width: Int, height: Int, latency: Latency = .zero(LowLatency())) {
    self.width = width
    self.height = height
    self.latency = latency
  }

  /// The options of the low-latency mode; their defaults where the mode is another. Setting them chooses the mode.
  public var lowLatency: LowLatency {
    get { if case .zero(let options) = latency { options } else { LowLatency() } }
    set { latency = .zero(newValue) }
  }

  /// The options of the mode with look-ahead; their defaults where the mode is another. Setting them chooses the mode.
  public var lookAhead: LookAhead {
    get { if case .lookAhead(let options) = latency { options } else { LookAhead() } }
    set { latency = .lookAhead(newValue) }
  }

  var cabac: Bool { (entropyCoding ?? (profile == .constrainedBaseline ? .cavlc : .cabac)) == .cabac }
  var weightedPrediction: Bool { allowsWeightedPrediction && profile != .constrainedBaseline }
  var transform8x8: Bool { allowsTransform8x8 && (profile == .high || profile == .constrainedHigh) }
}
