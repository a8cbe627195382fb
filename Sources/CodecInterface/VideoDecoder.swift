// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Decodes coded frames to pictures. A decoder is called from one thread at a time.
///
/// Every packet has exactly one outcome, which is handed over with the packet's token: a picture,
/// nothing (the frame was skipped or is not shown), or an error. Outcomes are handed over during
/// the calls below, on the caller's thread, for the present packet or for earlier ones.
public protocol VideoDecoder: AnyObject {
  /// Decodes one coded frame. After an error the decoder continues with the next packet; pictures
  /// are complete again from the next key frame on at the latest.
  /// - Parameters:
  ///   - packet: the coded frame.
  ///   - output: gets the outcomes that are ready.
  func decode(_ packet: CompressedPacket, output: (DecodedFrame) -> Void)

  /// Hands over the outcomes of all packets that have had none yet.
  /// - Parameter output: gets the outcomes.
  /// - Returns: false if the decoder has given up its reference pictures, so that the next packet
  ///   must be a key frame.
  func flush(output: (DecodedFrame) -> Void) -> Bool

  /// Which frames to decode from now on.
  var selection: FrameSelection { get set }
}

/// A selection of the frames to decode.
public enum FrameSelection: Sendable {
  /// All frames.
  case all
  /// The frames that other frames refer to.
  case references
  /// The frames that refer to no other frame.
  case intra
  /// The frames at which decoding can begin.
  case keyFrames
}

/// The order in which a decoder hands pictures over.
public enum PictureOrder: Sendable {
  /// The order in which they are shown, with the delay that the reordering of the stream takes.
  case presentation
  /// The order in which they were coded. Each picture is handed over by the call that got its
  /// packet, unless threads decode several frames at the same time.
  case decoding
}

/// The configuration that a decoder needs before its first packet.
public struct VideoDecoderConfiguration: Sendable {
  /// The format of the stream.
  public var codec: CodecType
  /// The width of the pictures in luma samples, by the container; 0 if unknown. The stream takes
  /// precedence.
  public var width: Int
  /// The height of the pictures in luma samples, by the container; 0 if unknown. The stream takes
  /// precedence.
  public var height: Int
  /// The codec's configuration record as files store it (`avcC`, `hvcC` and so on); empty if there
  /// is none.
  public var configurationRecord: [UInt8]
  /// The container's description of the stream, for decoders that know extensions of their own
  /// demuxer; nil if there is none.
  public var formatDescription: CMFormatDescription?
  /// The number of threads; 0: the decoder chooses it from the number of processors.
  public var threads = 0
  /// The order in which pictures are handed over.
  public var order = PictureOrder.presentation
  /// Whether to decode one frame at a time, so that no thread delays a picture.
  public var isLowDelay = false
  /// Whether to hand over a damaged picture, repaired as well as possible, instead of an error.
  public var concealsDamage = false
  /// Which frames to decode.
  public var selection = FrameSelection.all
  /// The formats that the caller prefers, the best first. The decoder takes the first one that
  /// holds its pictures without a conversion; if there is none it takes another format, since it
  /// never converts pictures.
  public var preferredFormats: [PictureFormat] = []
  /// Provides the memory of pictures; nil: the decoder allocates it.
  public var allocator: (any PictureAllocator)?

  /// Creates a configuration with default values.
  /// - Parameters:
  ///   - codec: the format of the stream.
  ///   - width: the width of the pictures in luma samples; 0 if unknown.
  ///   - height: their height in luma samples; 0 if unknown.
  ///   - configurationRecord: the codec's configuration record; empty if there is none.
  public init(codec: CodecType, width: Int = 0, height: Int = 0, configurationRecord: [UInt8] = []) {
    self.codec = codec
    self.width = width
    self.height = height
    self.configurationRecord = configurationRecord
  }
}

/// Provides the pixel buffers that a decoder decodes into. It is called on the decoder's threads,
/// on several at the same time.
public protocol PictureAllocator: AnyObject, Sendable {
  /// Makes a pixel buffer.
  /// - Parameter request: what the decoder needs.
  /// - Returns: nil if there is not enough memory.
  func makePixelBuffer(_ request: PictureRequest) -> CVPixelBuffer?
}

/// The requirements of a decoder for pixel buffers.
public struct PictureRequest: Sendable, Hashable {
  /// The layout of the samples.
  public var format: PictureFormat
  /// The width of the picture in luma samples.
  public var width: Int
  /// The height of the picture in luma samples.
  public var height: Int
  /// The columns to the right of the picture that the decoder writes as well, in luma samples.
  public var extraRight: Int
  /// The rows below the picture that the decoder writes as well, in luma samples.
  public var extraBottom: Int
  /// The number of bytes that the length of a row is a multiple of.
  public var rowAlignment: Int

  /// Creates a request.
  /// - Parameters:
  ///   - format: the layout of the samples.
  ///   - width: the width of the picture in luma samples.
  ///   - height: the height of the picture in luma samples.
  ///   - extraRight: the columns to the right of it that the decoder writes as well.
  ///   - extraBottom: the rows below it that the decoder writes as well.
  ///   - rowAlignment: the number of bytes that the length of a row is a multiple of.
  public init(
    format: PictureFormat, width: Int, height: Int, extraRight: Int = 0, extraBottom: Int = 0,
    rowAlignment: Int = 64
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.extraRight = extraRight
    self.extraBottom = extraBottom
    self.rowAlignment = rowAlignment
  }

  /// The attributes with which Core Video makes such a pixel buffer.
  public var pixelBufferAttributes: NSDictionary {
    [
      kCVPixelBufferPixelFormatTypeKey: NSNumber(value: format.rawValue),
      kCVPixelBufferWidthKey: NSNumber(value: width),
      kCVPixelBufferHeightKey: NSNumber(value: height),
      kCVPixelBufferExtendedPixelsRightKey: NSNumber(value: extraRight),
      kCVPixelBufferExtendedPixelsBottomKey: NSNumber(value: extraBottom),
      kCVPixelBufferBytesPerRowAlignmentKey: NSNumber(value: rowAlignment),
    ]
  }
}

/// A coded frame in the caller's memory, valid during the call.
public struct CompressedPacket {
  /// The bytes of the frame.
  public var data: UnsafeRawBufferPointer
  /// Identifies the packet among those that have had no outcome yet; its outcome has the same
  /// token.
  public var token: Int64
  /// The time at which the frame is shown, in any unit, as the client says; it may be wrong.
  public var presentationTime: Int64?
  /// Whether the container calls it a key frame.
  public var isKeyFrame: Bool
  /// The configuration record from this packet on; nil: it has not changed.
  public var newConfigurationRecord: [UInt8]?
  /// The 256 colours from this packet on, for codecs whose samples are indices of colours; nil:
  /// they have not changed. A colour has 32 bits in the machine's byte order: alpha, red, green and
  /// blue, from the most significant byte on.
  public var palette: [UInt8]?

  /// Creates a packet.
  /// - Parameters:
  ///   - data: the bytes of the frame.
  ///   - token: identifies the packet.
  ///   - presentationTime: the time at which it is shown, in any unit; nil if unknown.
  ///   - isKeyFrame: whether the container calls it a key frame.
  ///   - newConfigurationRecord: the configuration record from this packet on; nil: it has not
  ///     changed.
  ///   - palette: the 256 colours from this packet on; nil: they have not changed.
  public init(
    data: UnsafeRawBufferPointer, token: Int64, presentationTime: Int64? = nil, isKeyFrame: Bool = false,
    newConfigurationRecord: [UInt8]? = nil, palette: [UInt8]? = nil
  ) {
    self.data = data
    self.token = token
    self.presentationTime = presentationTime
    self.isKeyFrame = isKeyFrame
    self.newConfigurationRecord = newConfigurationRecord
    self.palette = palette
  }
}

/// The outcome of a packet.
public struct DecodedFrame {
  /// The outcome of a packet.
  public enum Outcome {
    /// It was decoded to a picture.
    case picture(DecodedPicture)
    /// It was skipped, or is not to be shown.
    case dropped
    /// It could not be decoded.
    case failed(CodecError)
  }

  /// The token of the packet.
  public var token: Int64
  /// The outcome of the packet.
  public var outcome: Outcome

  /// Creates an outcome.
  /// - Parameters:
  ///   - token: the token of the packet.
  ///   - outcome: what became of it.
  public init(token: Int64, outcome: Outcome) {
    self.token = token
    self.outcome = outcome
  }
}

/// A decoded picture, and what the stream says about it.
public struct DecodedPicture {
  /// The samples, in a buffer from the configuration's allocator, if there is one.
  public var pixelBuffer: CVPixelBuffer
  /// Whether the decoder still reads the buffer as a reference of other frames; it must not be
  /// written to then.
  public var isReference = false
  /// The colour space of the samples.
  public var color = ColorDescription()
  /// Whether the samples use the full range of values instead of the video range.
  public var isFullRange = false
  /// The position of the chroma samples (chroma_sample_loc_type of H.273); nil if the stream does
  /// not say.
  public var chromaLocation: UInt8?
  /// The shape of a sample; nil if the stream does not say.
  public var pixelAspect: PixelAspect?
  /// Whether the two fields show different times.
  public var isInterlaced = false
  /// Whether the decoder cannot tell yet if there are two fields.
  public var hasUnknownFields = false
  /// Whether the top field is shown first.
  public var isTopFieldFirst = false
  /// Whether parts of the picture are missing and were concealed.
  public var isDamaged = false
  /// Whether the picture has alpha, and its colours are not multiplied with it.
  public var hasStraightAlpha = false
  /// The mastering display colour volume, 24 bytes as in the SEI message of H.265, clause D.2.28;
  /// nil if the stream has none.
  public var masteringDisplay: Data?
  /// The content light level, 4 bytes as in the SEI message of H.265, clause D.2.35; nil if the
  /// stream has none.
  public var contentLightLevel: Data?

  /// Creates a picture with default values.
  public init(pixelBuffer: CVPixelBuffer) { self.pixelBuffer = pixelBuffer }
}
