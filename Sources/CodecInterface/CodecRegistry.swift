// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

/// An encoder that a session can choose.
public struct EncoderDescription: Sendable {
  /// Unique, in reverse-domain style.
  public var id: String
  public var codec: CodecType
  /// "H.264", "HEVC".
  public var codecName: String
  /// The implementation's name.
  public var encoderName: String
  /// Name for a menu.
  public var displayName: String
  /// A client can require such an encoder, or refuse it. Where it cannot be made, no other is tried: the call that
  /// wanted it fails.
  public var isHardwareAccelerated = false
  /// The registry ID of the GPU that it runs on, by which a client can ask for it; nil: none.
  public var gpuRegistryID: UInt64?
  /// Sessions that can have it at a time; nil: as many as are made. One more gets the next encoder that fits, or
  /// `kVTVideoEncoderNotAvailableNowErr` if there is none.
  public var instanceLimit: Int?
  /// The sizes of pictures that it can encode. A session of another size gets another encoder, or none.
  public var sizes = PictureSizes()
  /// What it can be asked for, named one by one: a feature that comes later is not promised by an encoder that was
  /// written before it. A session offers a property only if the encoder has the feature behind it.
  public var features: Set<EncoderFeature> = []
  /// The profiles that it writes; nil: all of the codec's.
  public var profiles: Set<Profile>?
  /// Made for one frame in, one frame out: chosen by the low-latency mode, and only by that unless asked for by id.
  public var isLowLatency = false
  /// Greater is faster, or better; nil if unknown. Only the order within one codec has a meaning.
  public var performanceRating: Int?
  public var qualityRating: Int?
  /// Formats that it takes without a conversion, in memory or on a surface, the best first.
  public var inputFormats: [PictureFormat]
  /// Whether it reads pictures on this surface where they are. Others are mapped into memory for it, and so are those
  /// that have to be scaled or converted first. Asked for each picture.
  public var takesSurface: @Sendable (any OVTPixelBufferSurface) -> Bool = { _ in false }
  /// Called before a session's first frame, and again for every new stream.
  public var makeEncoder: @Sendable (VideoEncoderConfiguration) throws(CodecError) -> any VideoEncoder

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
}

/// Sizes of pictures, in luma samples.
public struct PictureSizes: Sendable, Equatable {
  public var widths: ClosedRange<Int>
  public var heights: ClosedRange<Int>
  /// Width and height are multiples of these, each at least 1.
  public var widthMultiple: Int
  public var heightMultiple: Int
  /// Width times height is at most this, both rounded up to whole blocks.
  public var largestArea = Int.max
  /// Luma samples of a side of the blocks that `largestArea` counts; 1 or more.
  public var blockSize = 1

  public init(
    widths: ClosedRange<Int> = 1...Int.max, heights: ClosedRange<Int> = 1...Int.max, widthMultiple: Int = 1,
    heightMultiple: Int = 1
  ) {
    self.widths = widths
    self.heights = heights
    self.widthMultiple = widthMultiple
    self.heightMultiple = heightMultiple
  }

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

/// Something an encoder can be asked for, beyond what all are asked for: size, profile, frame rate, average bit rate,
/// key frames and what the stream says about its colours.
public enum EncoderFeature: Sendable, Hashable {
  case quality
  case dataRateLimits
  case constantRate
  /// A variable rate with a buffer model.
  case variableRate
  case frameReordering
  case openGOP
  /// A choice between CAVLC and CABAC.
  case entropyMode
  case frameDelayLimit
  case lookAhead
  case spatialAdaptiveQP
  /// A lowest QP and a highest, which the bit rate gives way to. (In the low-latency mode the highest needs
  /// `frameDropping`.)
  case qpLimits
  /// In the low-latency mode: with a highest QP frames are left out where they would take more than the rate has.
  case frameDropping
  case baseFrameQP
  case referenceCount
  case sliceBytes
  case meanSquaredError
  case hdrMetadata
  case multiPass
  /// Passes over parts of the frames, after one over all of them (`EncodingPass.part`).
  case partialPasses
  /// Says at the end of a first pass whether another would bring a better result (``VideoEncoder/wantsAnotherPass``).
  case passesOnDemand
  case speedPreference
  /// A choice of how many threads encode.
  case threadCount
  /// Knowing how long the stream will be is of use.
  case expectedDuration
  case temporalLayers
  case longTermReferences
  /// A choice of the effort on a scale of its own, from 0 (fastest) to 9 (best).
  case effort
  /// Frames that the receiver lost are no longer referred to.
  case referenceInvalidation
  /// Intra macroblocks, column by column, in place of key frames.
  case intraRefresh
  /// The temporal layer in a NAL unit before each slice.
  case layerPrefix
  /// A bound for how long a frame waits before a line of the bit rate.
  case queueDelayLimit
  /// The decoder's buffer in the stream, and the time of each frame in it.
  case bufferTiming
  /// More than one picture parameter set, where that saves bits.
  case severalPictureSets
  /// Streams that are joined have one buffer (`RateControl.hasFramesBefore`, `hasFramesAfter`).
  case joinedBuffers
}

/// A decoder that a session can choose.
public struct DecoderDescription: Sendable {
  public var id: String
  public var name: String
  /// True if it decodes this codec.
  public var supports: @Sendable (CodecType) -> Bool
  /// A client can require such a decoder, or refuse it.
  public var isHardwareAccelerated = false
  /// The registry ID of the GPU that it runs on, by which a client can ask for it; nil: none.
  public var gpuRegistryID: UInt64?
  public var makeDecoder: @Sendable (VideoDecoderConfiguration) throws(CodecError) -> any VideoDecoder

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

/// The codecs that the program has added to those of the package.
///
/// They come before the built-in ones: the first encoder for a codec that suits a session is the one that it gets,
/// and an encoder with the id of a built-in one takes its place. Sessions that exist already stay as they are.
public final class CodecRegistry: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public static let shared = CodecRegistry()

  private let lock = Lock()
  private var encoderList: [EncoderDescription] = []
  private var decoderList: [DecoderDescription] = []
  private var allCountAsHardware = ProcessInfo.processInfo.environment["OVT_COUNT_AS_HARDWARE"] == "1"

  public init() {}

  /// Whether every encoder and decoder counts as hardware, also those that run on the processor: sessions that require
  /// hardware get one, lists and properties say that it is accelerated. For programs that ask for nothing else and that
  /// cannot be changed. A session that rules hardware out gets what really is software, which says so.
  ///
  /// False, unless the environment has `OVT_COUNT_AS_HARDWARE=1` when the process begins. Sessions that exist already stay
  /// as they are.
  public var countsAllAsHardware: Bool {
    get { lock.withLock { allCountAsHardware } }
    set { lock.withLock { allCountAsHardware = newValue } }
  }

  /// Adds an encoder, or takes the place of the one with the same id.
  public func register(_ encoder: EncoderDescription) {
    lock.withLock {
      encoderList.removeAll { $0.id == encoder.id }
      encoderList.append(encoder)
    }
  }

  /// Adds a decoder, or takes the place of the one with the same id.
  public func register(_ decoder: DecoderDescription) {
    lock.withLock {
      decoderList.removeAll { $0.id == decoder.id }
      decoderList.append(decoder)
    }
  }

  /// Takes an encoder out again. Sessions that have it keep it.
  public func unregisterEncoder(id: String) { lock.withLock { encoderList.removeAll { $0.id == id } } }

  /// Takes a decoder out again. Sessions that have it keep it.
  public func unregisterDecoder(id: String) { lock.withLock { decoderList.removeAll { $0.id == id } } }

  public var encoders: [EncoderDescription] { lock.withLock { encoderList } }
  public var decoders: [DecoderDescription] { lock.withLock { decoderList } }
}
