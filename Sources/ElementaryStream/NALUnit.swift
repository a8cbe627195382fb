// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// The codecs of elementary streams.
public enum ElementaryStreamCodec: Sendable, Hashable {
  /// H.264, Advanced Video Coding.
  case h264
  /// H.265, High Efficiency Video Coding.
  case hevc

  /// The codec of a format description; nil if it is neither H.264 nor HEVC.
  public init?(_ formatDescription: CMFormatDescription) {
    switch formatDescription.mediaSubType {
    case .h264: self = .h264
    case .hevc: self = .hevc
    default: return nil
    }
  }

  var nalCodec: NALCodec { self == .h264 ? .h264 : .hevc }
}

/// An error of a stream or its conversion.
public enum ElementaryStreamError: Error, Hashable, Sendable {
  /// The size of a length field is not 1, 2 or 4 bytes; the value is the size.
  case invalidLengthSize(Int)
  /// A NAL unit does not fit its length field, or exceeds what the parser holds; the value is its
  /// size in bytes.
  case unitTooLong(Int)
  /// An access unit exceeds what the parser holds; the value is its size in bytes.
  case accessUnitTooLong(Int)
  /// A length exceeds the bytes that follow it, or is itself incomplete.
  case truncatedUnit
  /// The sample buffer has no data, or its format is neither H.264 nor HEVC.
  case unsupportedSampleBuffer
}

/// A NAL unit: its header and payload with emulation prevention bytes, without a start code or
/// length.
public struct NALUnit: Sendable, Hashable {
  /// The codec, which the type depends on.
  public var codec: ElementaryStreamCodec
  /// The bytes of the NAL unit, with its header.
  public var data: Data

  /// Creates a NAL unit.
  /// - Parameters:
  ///   - codec: the codec.
  ///   - data: the header and payload, with emulation prevention bytes, without start code or
  ///     length.
  public init(codec: ElementaryStreamCodec, data: Data) {
    self.codec = codec
    self.data = data
  }

  /// nal_unit_type: 0 to 31 in H.264, 0 to 63 in HEVC; nil if the data are shorter than a header.
  public var type: Int? {
    guard let first = data.first else { return nil }
    return data.count >= codec.nalCodec.headerLength ? Int(codec.nalCodec.unitType(first)) : nil
  }

  /// Whether this is a video, sequence or picture parameter set, or an extension of one.
  public var isParameterSet: Bool {
    guard let type = type.map(UInt8.init) else { return false }
    if codec.nalCodec.isParameterSet(type) { return true }
    let extensions: [H264NALUnitType] = [.sequenceParameterSetExtension, .subsetSequenceParameterSet]
    return codec == .h264 && extensions.contains(H264NALUnitType(rawValue: type))
  }

  /// Whether this is a slice of a picture.
  public var isSlice: Bool {
    guard let type = type.map(UInt8.init) else { return false }
    return codec.nalCodec.isSlice(type)
  }
}
