// SPDX-License-Identifier: Apache-2.0
@_exported import struct VideoBitstream.ColorDescription
@_exported import struct VideoBitstream.DataRateLimit

/// The configuration of an `HEVCEncoder`: the pictures, the stream, the effort, and the mode with
/// its options (`latency`).
///
/// Values are checked when an encoder is made or reconfigured; see `HEVCEncoderError`.
public struct HEVCEncoderConfiguration: Sendable, Equatable {
  /// The mode of the encoder, which decides when frames are output, and its options.
  public enum Latency: Sendable, Equatable {
    /// Each picture is coded at once into one access unit: for calls.
    case zero(LowLatency)
    /// Pictures wait until the pictures after them are known, and B pictures are coded after
    /// pictures that follow them: for streams and files.
    case lookAhead(LookAhead)
  }

  /// H.265 profiles (A.3).
  public enum Profile: Sendable, Hashable, CaseIterable {
    /// 4:2:0, 8 bits per sample (A.3.2).
    case main
    /// 4:2:0, 10 bits per sample (A.3.3).
    case main10

    /// The bits of a sample.
    public var bitDepth: Int { self == .main10 ? 10 : 8 }
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

  /// The width of the pictures in luma samples: even, 8 to `largestSide`.
  public var width: Int
  /// The height of the pictures in luma samples: even, 8 to `largestSide`.
  public var height: Int
  /// The width in luma samples that a decoder outputs, from the left edge: even, 2 to `width`; nil:
  /// all (conformance window, 7.4.3.2.1). So pictures smaller than 8 samples can be coded.
  public var visibleWidth: Int?
  /// The height in luma samples that a decoder outputs, from the top edge: even, 2 to `height`;
  /// nil: all.
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
  /// The payload of the SEI message on the mastering display colour volume (D.2.28), 24 bytes,
  /// which is written with each key frame; nil: none is written.
  public var masteringDisplay: [UInt8]?
  /// The payload of the SEI message on the content light level (D.2.35), 4 bytes, which is written
  /// with each key frame; nil: none is written.
  public var contentLightLevel: [UInt8]?

  // MARK: Stream

  /// The profile of the stream.
  public var profile: Profile = .main
  /// The level as ten times its number (31 is level 3.1); nil: the lowest that the stream fits.
  public var level: Int?
  /// A bit rate in bits per second that the stream's level has to allow where none is named, so
  /// that the rate may rise that far within the stream.
  public var levelBitRate = 0
  /// Whether a named level is raised where its picture size, sample rate or bit rate (MaxLumaPs,
  /// MaxLumaSr, MaxBR) is too low. Where no level allows the rates, the highest one is used.
  public var raisesLevel = false
  /// The number of reference pictures that are kept, long-term ones included, 1...15; at most 14
  /// with B pictures.
  public var maximumReferences: Int = 1
  /// The most frames from one key frame to the next; nil: key frames are coded only when the caller
  /// requests them, and with a look-ahead after 250 frames at most.
  public var keyFrameInterval: Int?
  /// Whether weighted prediction is used where pictures become darker or brighter.
  public var allowsWeightedPrediction = true
  /// Whether the deblocking filter is used (8.7.2).
  public var deblocking = true
  /// Whether sample adaptive offset is used (8.7.3), in pictures of raised quality:
  /// key frames, and those whose QP is lower than that of the pictures around them.
  public var adaptiveOffset = true
  /// Whether each row of coding tree units is a substream of its own with an entry point, so that
  /// decoders can decode rows at the same time (entropy_coding_sync_enabled_flag). It takes a few
  /// bytes for each row; the threads of this encoder do not need it.
  public var usesWavefronts = false
  /// Whether an access unit delimiter precedes each frame.
  public var writesAccessUnitDelimiters = false
  /// Whether parameter sets are written before each key frame; otherwise only
  /// `HEVCEncoder.parameterSets` has them.
  public var writesParameterSets = true
  /// The bytes that precede each NAL unit of a frame.
  public var framing: Framing = .startCodes

  // MARK: Rate and effort

  /// Hard limits of the bytes in any window of time.
  ///
  /// A picture that would exceed one is coded again with fewer bits, or dropped where frames may be
  /// dropped. Where they may not and the window is used up, it is exceeded by the fewest bits that
  /// a frame can have.
  public var dataRateLimits: [DataRateLimit] = []
  /// The lowest QP of any coding unit, 0...51. A QP stands for the same step of the quantiser with
  /// either bit depth, as a share of the range of samples.
  public var minimumQP: Int = 8
  /// The highest QP of any coding unit, 0...51.
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
  /// The number of threads that encode, 1...16. The stream does not depend on it.
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
}
