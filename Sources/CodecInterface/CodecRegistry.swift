// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

/// Describes an encoder that a session can choose.
public struct EncoderDescription: Sendable {
  /// The unique identifier, in reverse-domain style.
  public var id: String
  /// The format that it produces.
  public var codec: CodecType
  /// The name of the format: "H.264" or "HEVC".
  public var codecName: String
  /// The name of the implementation.
  public var encoderName: String
  /// The name to show in a menu.
  public var displayName: String
  /// Whether it counts as a hardware encoder, which a client can require or refuse. If it cannot be
  /// created, the call that wanted it fails; no other encoder is tried.
  public var isHardwareAccelerated = false
  /// The registry ID of the GPU that it runs on, by which a client can ask for it; nil: it runs on
  /// none.
  public var gpuRegistryID: UInt64?
  /// The number of sessions that can use it at the same time; nil: there is no limit. A further
  /// session gets the next encoder that fits or, if there is none,
  /// `kVTVideoEncoderNotAvailableNowErr`.
  public var instanceLimit: Int?
  /// The sizes of pictures that it can encode. A session of another size gets another encoder, or
  /// none.
  public var sizes = PictureSizes()
  /// The features that it has, listed one by one, so that an encoder does not promise a feature
  /// that was added to this package later. A session offers a property only if its encoder has the
  /// feature for it.
  public var features: Set<EncoderFeature> = []
  /// The profiles that it produces; nil: all profiles of the codec.
  public var profiles: Set<CodecProfile>?
  /// Whether it is an encoder of the low-latency mode, which outputs one frame for each picture at
  /// once. Other sessions use it only if they ask for its `id`.
  public var isLowLatency = false
  /// A relative measure of its speed: greater is faster; nil if unknown. Only ratings of the same
  /// codec can be compared.
  public var performanceRating: Int?
  /// A relative measure of its quality: greater is better; nil if unknown. Only ratings of the same
  /// codec can be compared.
  public var qualityRating: Int?
  /// The formats that it reads without a conversion, in memory or on a surface, the preferred one
  /// first.
  public var inputFormats: [PictureFormat]
  /// The formats that it reads without a conversion in place of `inputFormats` in certain profiles,
  /// which have another chroma format, the preferred one first.
  public var inputFormatsByProfile: [CodecProfile: [PictureFormat]] = [:]
  /// Whether it can read a picture on a surface in place; asked for each picture. Pictures on other
  /// surfaces, and pictures that have to be scaled or converted first, are mapped into memory for
  /// it.
  public var takesSurface: @Sendable (any OVTPixelBufferSurface) -> Bool = { _ in false }
  /// Creates an encoder; called before the first frame of a session, and for every new stream. For
  /// an encoder that hands its frames over during its calls it returns a ``SynchronousEncoder``.
  public var makeEncoder: @Sendable (VideoEncoderConfiguration) throws(CodecError) -> any VideoEncoder

  /// Describes an encoder without features that reads pictures of any size.
  /// - Parameters:
  ///   - id: the unique identifier, in reverse-domain style.
  ///   - codec: the format that it produces.
  ///   - codecName: the name of the format.
  ///   - encoderName: the name of the implementation.
  ///   - displayName: the name to show in a menu.
  ///   - inputFormats: the formats that it reads without a conversion, the preferred one first.
  ///   - makeEncoder: creates an encoder.
  public init(
    id: String, codec: CodecType, codecName: String, encoderName: String, displayName: String,
    inputFormats: [PictureFormat],
    makeEncoder: @escaping @Sendable (VideoEncoderConfiguration) throws(CodecError) -> any VideoEncoder
  ) {
    self.id = id
    self.codec = codec
    self.codecName = codecName
    self.encoderName = encoderName
    self.displayName = displayName
    self.inputFormats = inputFormats
    self.makeEncoder = makeEncoder
  }

  /// The formats that it reads without a conversion in a profile, the preferred one first.
  package func inputFormats(for profile: CodecProfile) -> [PictureFormat] {
    inputFormatsByProfile[profile] ?? inputFormats
  }
}

/// A range of picture sizes, in luma samples.
public struct PictureSizes: Sendable, Equatable {
  /// The widths.
  public var widths: ClosedRange<Int>
  /// The heights.
  public var heights: ClosedRange<Int>
  /// The number that widths are multiples of, at least 1.
  public var widthMultiple: Int
  /// The number that heights are multiples of, at least 1.
  public var heightMultiple: Int
  /// The largest product of width and height, both rounded up to whole blocks.
  public var largestArea = Int.max
  /// The side of the blocks that `largestArea` counts with, in luma samples; at least 1.
  public var blockSize = 1

  /// Creates a range, by default that of all sizes.
  /// - Parameters:
  ///   - widths: the widths.
  ///   - heights: the heights.
  ///   - widthMultiple: the number that widths are multiples of, at least 1.
  ///   - heightMultiple: the number that heights are multiples of, at least 1.
  public init(
    widths: ClosedRange<Int> = 1...Int.max, heights: ClosedRange<Int> = 1...Int.max, widthMultiple: Int = 1,
    heightMultiple: Int = 1
  ) {
    self.widths = widths
    self.heights = heights
    self.widthMultiple = widthMultiple
    self.heightMultiple = heightMultiple
  }

  /// Whether a size is in the range.
  /// - Parameters:
  ///   - width: the width in luma samples.
  ///   - height: the height in luma samples.
  public func contains(width: Int, height: Int) -> Bool {
    guard widths.contains(width), heights.contains(height) else { return false }
    let block = max(blockSize, 1)
    func rounded(_ side: Int) -> Int? {
      let (up, isBeyondInt) = side.addingReportingOverflow(block - 1)
      return isBeyondInt ? nil : up / block * block
    }
    guard let columns = rounded(width), let rows = rounded(height) else { return false }
    let (area, isBeyondInt) = columns.multipliedReportingOverflow(by: rows)
    return !isBeyondInt && area <= largestArea
      && width % max(widthMultiple, 1) == 0 && height % max(heightMultiple, 1) == 0
  }
}

/// A feature that an encoder may have, beyond those of every encoder: size, profile, frame rate,
/// average bit rate, key frames and colour description.
public enum EncoderFeature: Sendable, Hashable {
  /// A constant quality (``RateRequest/Mode/quality(_:)``).
  case quality
  /// Hard limits of the bytes in windows of time (``RateRequest/limits``).
  case dataRateLimits
  /// A constant bit rate, with filler data.
  case constantRate
  /// A variable bit rate that keeps to a buffer model.
  case variableRate
  /// B frames, so that the decoding order differs from the order of presentation.
  case frameReordering
  /// Key frames before which frames are shown that refer to earlier frames.
  case openGOP
  /// A choice between CAVLC and CABAC.
  case entropyMode
  /// A limit of the frames that the encoder holds.
  case frameDelayLimit
  /// A choice of the frames that rate control looks ahead.
  case lookAhead
  /// The encoder looks ahead by default: a client whose frames come at their own pace, but may wait
  /// for a second or two, such as a stream to many viewers, suggests a look-ahead where its user
  /// names none. Comes with `lookAhead`.
  case lookAheadByDefault
  /// A choice whether the QP follows the local activity of the picture.
  case spatialAdaptiveQP
  /// A lowest and a highest QP, which take precedence over the bit rate. (In the low-latency mode a
  /// highest QP needs `frameDropping`.)
  case qpLimits
  /// In the low-latency mode: with a highest QP, frames are dropped that would exceed the bit rate.
  case frameDropping
  /// A QP for a single frame (``FrameRequest/baseQP``).
  case baseFrameQP
  /// A choice of the number of reference frames.
  case referenceCount
  /// A limit of the bytes of a slice.
  case sliceBytes
  /// The mean squared error of each frame.
  case meanSquaredError
  /// Static HDR metadata in the stream.
  case hdrMetadata
  /// Several passes over the same frames.
  case multiPass
  /// Passes over a part of the frames, after one over all of them
  /// (`EncodingPass.part`).
  case partialPasses
  /// A statement at the end of a first pass whether another pass would give a better result
  /// (``VideoEncoder/wantsAnotherPass``).
  case passesOnDemand
  /// A preference for speed or for quality (``SpeedPreference``).
  case speedPreference
  /// A choice of the number of threads.
  case threadCount
  /// Any number of threads gives the same bits.
  case threadIndependence
  /// Use of the expected duration of the stream.
  case expectedDuration
  /// Temporal layers.
  case temporalLayers
  /// Long-term references that the receiver acknowledges.
  case longTermReferences
  /// A choice of the effort, from 0 (fastest) to 9 (best).
  case effort
  /// Frames that the receiver has lost are no longer referred to.
  case referenceInvalidation
  /// A gradual refresh by intra blocks, over and over, in place of key frames
  /// (``LowLatencyRequest/intraRefreshPeriod``).
  case intraRefresh
  /// A NAL unit before each slice that gives its temporal layer.
  case layerPrefix
  /// A limit of the time that a frame waits for transmission on a link with the bit rate of the
  /// stream.
  case queueDelayLimit
  /// A limit of the quality up to which a static picture is refined.
  case stillQualityLimit
  /// A description of the decoder's buffer in the stream, and the times of each frame in it.
  case bufferTiming
  /// More than one picture parameter set, where that saves bits.
  case severalPictureSets
  /// Streams that are joined and share the decoder's buffer (``RateRequest/hasFramesBefore``,
  /// ``RateRequest/hasFramesAfter``).
  case joinedBuffers
}

/// Describes a decoder that a session can choose.
public struct DecoderDescription: Sendable {
  /// The unique identifier, in reverse-domain style.
  public var id: String
  /// The name of the implementation.
  public var name: String
  /// Whether it decodes a format.
  public var supports: @Sendable (CodecType) -> Bool
  /// Whether it counts as a hardware decoder, which a client can require or refuse.
  public var isHardwareAccelerated = false
  /// The registry ID of the GPU that it runs on, by which a client can ask for it; nil: it runs on
  /// none.
  public var gpuRegistryID: UInt64?
  /// Creates a decoder for a stream.
  public var makeDecoder: @Sendable (VideoDecoderConfiguration) throws(CodecError) -> any VideoDecoder

  /// Describes a decoder.
  /// - Parameters:
  ///   - id: the unique identifier, in reverse-domain style.
  ///   - name: the name of the implementation.
  ///   - supports: whether it decodes a format.
  ///   - makeDecoder: creates a decoder.
  public init(
    id: String, name: String, supports: @escaping @Sendable (CodecType) -> Bool,
    makeDecoder: @escaping @Sendable (VideoDecoderConfiguration) throws(CodecError) -> any VideoDecoder
  ) {
    self.id = id
    self.name = name
    self.supports = supports
    self.makeDecoder = makeDecoder
  }
}

/// The codecs that a program has added to those of this package.
///
/// They precede the built-in codecs: a session gets the first encoder for its codec that fits. An
/// encoder with the `id` of a built-in one replaces it. Existing sessions do not change.
public final class CodecRegistry: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The registry that sessions use.
  public static let shared = CodecRegistry()

  /// Guards the members below.
  private let lock = Lock()
  /// The encoders that were added, in the order of their registration.
  private var encoderList: [EncoderDescription] = []
  /// The decoders that were added, in the order of their registration.
  private var decoderList: [DecoderDescription] = []
  /// The value of `countsAllAsHardware`.
  private var allCountAsHardware = ProcessInfo.processInfo.environment["OVT_COUNT_AS_HARDWARE"] == "1"

  /// Creates an empty registry.
  public init() {}

  /// Whether every encoder and decoder counts as hardware, including those that run on the
  /// processor. Sessions that require hardware then get one, and lists and properties call it
  /// hardware accelerated. This is for programs that require hardware and cannot be changed. A
  /// session that refuses hardware gets what is really software, and this is reported.
  ///
  /// The value is false, unless the environment variable `OVT_COUNT_AS_HARDWARE` is 1 when the
  /// process starts. Existing sessions do not change.
  public var countsAllAsHardware: Bool {
    get { lock.withLock { allCountAsHardware } }
    set { lock.withLock { allCountAsHardware = newValue } }
  }

  /// Adds an encoder; one with the same `id` is replaced.
  public func register(_ encoder: EncoderDescription) {
    lock.withLock {
      encoderList.removeAll { $0.id == encoder.id }
      encoderList.append(encoder)
    }
  }

  /// Adds a decoder; one with the same `id` is replaced.
  public func register(_ decoder: DecoderDescription) {
    lock.withLock {
      decoderList.removeAll { $0.id == decoder.id }
      decoderList.append(decoder)
    }
  }

  /// Removes an encoder. Sessions that use it keep it.
  public func unregisterEncoder(id: String) { lock.withLock { encoderList.removeAll { $0.id == id } } }

  /// Removes a decoder. Sessions that use it keep it.
  public func unregisterDecoder(id: String) { lock.withLock { decoderList.removeAll { $0.id == id } } }

  /// The encoders that were added.
  public var encoders: [EncoderDescription] { lock.withLock { encoderList } }
  /// The decoders that were added.
  public var decoders: [DecoderDescription] { lock.withLock { decoderList } }
}
