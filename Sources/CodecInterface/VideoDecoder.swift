// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Turns coded frames into pictures. Whoever made it calls it from one thread at a time.
///
/// Every packet has exactly one outcome, which is handed over with the packet's token: a picture, nothing (the frame
/// was skipped or is not shown), or an error. Outcomes come during the calls below, on the caller's thread, for this
/// packet or for earlier ones.
public protocol VideoDecoder: AnyObject {
  /// Takes one coded frame. After an error the decoder goes on with the next packet; the picture is whole again from
  /// the next key frame on at the latest.
  func decode(_ packet: CompressedPacket, output: (DecodedFrame) -> Void)

  /// Hands over what is still held, so that every packet has had its outcome. A decoder that had to give up its
  /// reference pictures for it returns false: the next packet must be a key frame.
  func flush(output: (DecodedFrame) -> Void) -> Bool

  /// Which frames to decode from now on.
  var selection: FrameSelection { get set }
}

/// Frames that are worth decoding.
public enum FrameSelection: Sendable {
  case all
  /// Those that other frames refer to.
  case references
  /// Those that refer to no other frame.
  case intra
  /// Those at which decoding can begin.
  case keyFrames
}

/// The sequence in which a decoder hands pictures over.
public enum PictureOrder: Sendable {
  /// As they are shown: late by what the stream reorders.
  case presentation
  /// As they are coded: each comes out of the call that took its packet, unless threads work on several frames.
  case decoding
}

public struct VideoDecoderConfiguration: Sendable {
  public var codec: CodecType
  /// As the container says; 0 if it does not. The stream itself decides.
  public var width: Int
  public var height: Int
  /// The codec's configuration record as files store it (`avcC`, `hvcC`, ...); empty if there is none.
  public var configurationRecord: [UInt8]
  /// What the container says besides, for decoders that know their own demuxer's extensions; nil if nothing is known.
  public var formatDescription: CMFormatDescription?
  /// 0 lets the decoder choose from the number of processors.
  public var threads = 0
  public var order = PictureOrder.presentation
  /// Work on one frame at a time, so that no thread holds a picture back.
  public var isLowDelay = false
  /// Hand a damaged picture over, mended as well as can be, instead of an error.
  public var concealsDamage = false
  public var selection = FrameSelection.all
  /// Formats that the caller likes best, first of all. The decoder takes the first that holds its pictures as they
  /// are; if there is none it takes another, as it never converts what a picture shows.
  public var preferredFormats: [PictureFormat] = []
  /// Where pictures come from; nil lets the decoder allocate them.
  public var allocator: (any PictureAllocator)?

  public init(codec: CodecType, width: Int = 0, height: Int = 0, configurationRecord: [UInt8] = []) {
    self.codec = codec
    self.width = width
    self.height = height
    self.configurationRecord = configurationRecord
  }
}

/// Gives a decoder pixel buffers to decode into. Called from the decoder's threads, several at once.
public protocol PictureAllocator: AnyObject, Sendable {
  /// A buffer as asked for, or nil if there is no memory.
  func makePixelBuffer(_ request: PictureRequest) -> CVPixelBuffer?
}

/// What a decoder needs of a pixel buffer.
public struct PictureRequest: Sendable, Hashable {
  public var format: PictureFormat
  public var width: Int
  public var height: Int
  /// Pixels at the right and at the bottom, beyond the picture, that the decoder writes as well.
  public var extraRight: Int
  public var extraBottom: Int
  /// The length of a row is a multiple of this many bytes.
  public var rowAlignment: Int

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

  /// The attributes of a pixel buffer that is as needed.
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
  public var data: UnsafeRawBufferPointer
  /// Tells apart the packets in flight; comes back with the outcome.
  public var token: Int64
  /// When the frame is shown, in any unit, as the client says; it may be wrong.
  public var presentationTime: Int64?
  public var isKeyFrame: Bool
  /// The configuration record that holds from this packet on, where it is another one than before.
  public var newConfigurationRecord: [UInt8]?
  /// The 256 colours that hold from this packet on, 32 bits each in the machine's byte order (alpha, red, green,
  /// blue from the most significant on), for codecs that number colours; nil: as before.
  public var palette: [UInt8]?

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

/// What became of a packet.
public struct DecodedFrame {
  public enum Outcome {
    case picture(DecodedPicture)
    /// Skipped, or not to be shown.
    case dropped
    case failed(CodecError)
  }

  public var token: Int64
  public var outcome: Outcome

  public init(token: Int64, outcome: Outcome) {
    self.token = token
    self.outcome = outcome
  }
}

public struct DecodedPicture {
  /// Comes from the configuration's allocator.
  public var pixelBuffer: CVPixelBuffer
  /// The decoder still reads the buffer, as a reference of other frames: it must not be written to.
  public var isReference = false
  public var color = ColorDescription()
  /// Where the chroma samples lie (H.273 `chroma_sample_loc_type`), nil if the stream does not say.
  public var chromaLocation: UInt8?
  public var pixelAspect: PixelAspect?
  /// The two fields show two moments.
  public var isInterlaced = false
  /// The decoder cannot tell yet whether there are two fields.
  public var hasUnknownFields = false
  public var isTopFieldFirst = false
  /// Parts of the picture were concealed.
  public var isDamaged = false
  /// The picture has alpha, with which its colours are not multiplied.
  public var hasStraightAlpha = false
  /// The stream's own static HDR metadata, laid out as in the SEI messages of H.265 clauses D.2.28 (24 bytes) and D.2.35
  /// (4 bytes); nil where it says nothing.
  public var masteringDisplay: Data?
  public var contentLightLevel: Data?

  public init(pixelBuffer: CVPixelBuffer) { self.pixelBuffer = pixelBuffer }
}
