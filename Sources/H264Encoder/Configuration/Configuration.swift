// SPDX-License-Identifier: Apache-2.0
@_exported import struct VideoBitstream.ColorDescription
@_exported import struct VideoBitstream.DataRateLimit

/// The configuration of an `H264Encoder`: the pictures, the stream, the effort, and the mode with
/// its options (`latency`).
///
/// Values are checked when an encoder is made or reconfigured; see `H264EncoderError`.
public struct H264EncoderConfiguration: Sendable, Equatable {
  /// The mode of the encoder, which decides when frames are output, and its options.
  public enum Latency: Sendable, Equatable {
    /// Each picture is coded at once into one access unit: for calls.
    case zero(LowLatency)
    /// Pictures wait in a look-ahead, and frames are output in decoding order, with B pictures: for
    /// streams and files.
    case lookAhead(LookAhead)
  }

  /// H.264 profiles (A.2).
  public enum Profile: Sendable, Hashable, CaseIterable {
    case constrainedBaseline, main, constrainedHigh, high
    /// High 4:4:4 Predictive (A.2.8), with 8 bits: pictures have as many samples of Cb and Cr as of
    /// luma (`SourcePicture.hasFullChroma`). For zero latency only.
    case high444Predictive
  }

  /// The entropy coding of slice data (9.2, 9.3).
  public enum EntropyCoding: Sendable, Hashable, CaseIterable {
    case cavlc, cabac
  }

  /// The four bytes that precede each NAL unit.
  public enum Framing: Sendable, Hashable {
    /// A start code, 00 00 00 01 (Annex B).
    case startCodes
    /// The length of the NAL unit in bytes, big-endian, as in MP4 (ISO/IEC 14496-15).
    case lengths
  }

  /// The mode and its options.
  public var latency: Latency

  // MARK: Pictures

  /// The width of the pictures in luma samples: even, 16 to `largestSide`.
  public var width: Int
  /// The height of the pictures in luma samples: even, 16 to `largestSide`.
  public var height: Int
  /// The width in luma samples that a decoder outputs, from the left edge; nil: all.
  ///
  /// It is even, and includes at least one sample of the last macroblock of each row (frame
  /// cropping, 7.4.2.1.1). So pictures that are smaller than a macroblock can be coded.
  public var visibleWidth: Int?
  /// The height in luma samples that a decoder outputs, from the top edge; nil: all. It is even,
  /// and includes at least one sample of the last macroblock of each column.
  public var visibleHeight: Int?
  /// The frame rate in frames per second, 0.01 to 1000, for the rate control and the timing in the
  /// VUI.
  public var frameRate: Double = 30
  /// The sample aspect ratio (sar_width and sar_height, E.2.1); nil: not written.
  public var sampleAspectRatio: (width: UInt16, height: UInt16)? {
    get { aspect.map { ($0.width, $0.height) } }
    set { aspect = newValue.map { Aspect(width: $0.width, height: $0.height) } }
  }
  /// The colour description; nil: not written.
  public var colour: ColorDescription?
  /// Whether samples have the full range (video_full_range_flag, E.2.1).
  public var fullRange = false
  /// The payload of the mastering display colour volume SEI message, 24 bytes, which is
  /// written with each key frame; nil: none is written.
  public var masteringDisplay: [UInt8]?
  /// The payload of the content light level SEI message, 4 bytes, which is written with
  /// each key frame; nil: none is written.
  public var contentLightLevel: [UInt8]?

  // MARK: Stream

  /// The profile of the stream.
  public var profile: Profile = .high
  /// The level as ten times its number (31 is level 3.1), or 9 for level 1b; nil: the lowest that
  /// the stream fits.
  public var level: Int?
  /// A bit rate in bits per second that the stream's level has to allow where none is named, so
  /// that the rate may rise that far within the stream.
  public var levelBitRate = 0
  /// Whether a named level is raised where its frame size, macroblock rate or bit rate (MaxFS,
  /// MaxMBPS, MaxBR) is too low. Where no level allows the rates, the highest one is used: a stream
  /// that a decoder may be too slow for is better than none.
  public var raisesLevel = false
  /// The entropy coding; nil: CABAC where the profile has it.
  public var entropyCoding: EntropyCoding?
  /// The number of slices in each picture, from 1 to the number of macroblock rows.
  public var slices: Int = 1
  /// The largest size of a slice's NAL unit in bytes, 100 or more; nil: no limit.
  public var maximumSliceBytes: Int?
  /// The number of reference pictures that are kept, long-term ones included, 1...16
  /// (max_num_ref_frames).
  public var maximumReferences: Int = 1
  /// The most frames from one key frame to the next; nil: key frames are coded only when the caller
  /// requests them, and with a look-ahead after 250 frames at most.
  public var keyFrameInterval: Int?
  /// Whether the 8x8 transform is used where the profile has it: all High profiles.
  public var allowsTransform8x8 = true
  /// Whether weighted prediction is used where pictures become darker or brighter; not in the
  /// Constrained Baseline and High 4:4:4 Predictive profiles.
  public var allowsWeightedPrediction = true
  /// Whether the pictures are coded without loss (qpprime_y_zero_transform_bypass_flag, 8.5.15). It
  /// takes the High 4:4:4 Predictive profile, a constant QP of 0 and a `maximumQP` of 0, no limits
  /// of the rate, and no deblocking.
  public var isLossless = false
  /// Whether the deblocking filter is used (8.7).
  public var deblocking = true
  /// slice_alpha_c0_offset_div2, -6...6: half of FilterOffsetA.
  public var deblockingAlphaOffset = 0
  /// slice_beta_offset_div2, -6...6: half of FilterOffsetB.
  public var deblockingBetaOffset = 0
  /// Whether an access unit delimiter precedes each frame.
  public var writesAccessUnitDelimiters = false
  /// Whether parameter sets are written before each key frame; otherwise only
  /// `H264Encoder.parameterSets` has them.
  public var writesParameterSets = true
  /// The bytes that precede each NAL unit of a frame.
  public var framing: Framing = .startCodes

  // MARK: Rate and effort

  /// Hard limits of the bytes in any window of time.
  ///
  /// A picture that would exceed one is coded again with fewer bits, or dropped where frames may be
  /// dropped. Where they may not and the window is used up, it is exceeded by the fewest bits that
  /// a frame can have. With a look-ahead, windows count the times at which frames are removed from
  /// a decoder's buffer.
  public var dataRateLimits: [DataRateLimit] = []
  /// The lowest QP of any macroblock, 0...51.
  public var minimumQP: Int = 8
  /// The highest QP of any macroblock, 0...51.
  public var maximumQP: Int = 51
  /// The effort, from 0 (fastest) to `maxEffort` (best compression); with `encodeTimeShare` the
  /// effort of the first frames.
  public var effort: Int = 3
  /// The share of the frame interval, 0.01...1, that at least 95 of 100 frames should be encoded
  /// within. The effort then changes with the encoding time. Nil: the effort is fixed, and the
  /// stream does not depend on the machine.
  public var encodeTimeShare: Double?
  /// The highest effort.
  public static let maxEffort = 9
  /// The number of threads that encode, 1...16.
  public var threads: Int = 1
  /// Whether the squared error of each frame against its source is measured, which takes a little
  /// time.
  public var measuresError = false

  private var aspect: Aspect?
  private struct Aspect: Sendable, Equatable {
    var width: UInt16
    var height: UInt16
  }

  /// Creates a configuration with defaults for everything else.
  /// - Parameters:
  ///   - width: the width of the pictures in luma samples.
  ///   - height: the height of the pictures in luma samples.
  ///   - latency: the mode and its options.
  public init(width: Int, height: Int, latency: Latency = .zero(LowLatency())) {
    self.width = width
    self.height = height
    self.latency = latency
  }

  /// The options of the low-latency mode; in the other mode their defaults. Setting them selects
  /// the mode.
  public var lowLatency: LowLatency {
    get { if case .zero(let options) = latency { options } else { LowLatency() } }
    set { latency = .zero(newValue) }
  }

  /// The options of the mode with look-ahead; in the other mode their defaults. Setting them
  /// selects the mode.
  public var lookAhead: LookAhead {
    get { if case .lookAhead(let options) = latency { options } else { LookAhead() } }
    set { latency = .lookAhead(newValue) }
  }

  /// Whether the entropy coding is CABAC.
  var cabac: Bool { (entropyCoding ?? (profile == .constrainedBaseline ? .cavlc : .cabac)) == .cabac }
  /// Whether weighted prediction is allowed and the profile has it.
  var weightedPrediction: Bool { allowsWeightedPrediction && profile != .constrainedBaseline && !is444 }
  /// Whether the 8x8 transform is allowed and the profile has it.
  var transform8x8: Bool {
    allowsTransform8x8 && (profile == .high || profile == .constrainedHigh || is444)
  }
  /// Whether the pictures are 4:4:4.
  var is444: Bool { profile == .high444Predictive }
}
