// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// The codecs whose elementary streams are read and written here.
public enum ElementaryStreamCodec: Sendable, Hashable {
  /// H.264, Advanced Video Coding.
  case h264
  /// H.265, High Efficiency Video Coding.
  case hevc

  /// The codec of a format description; nil if it is another one.
  public init?(_ formatDescription: CMFormatDescription) {
    switch formatDescription.mediaSubType {
    case .h264: self = .h264
    case .hevc: self = .hevc
    default: return nil
    }
  }

  var nalCodec: NALCodec { self == .h264 ? .h264 : .hevc }
}

/// What is wrong with a stream.
public enum ElementaryStreamError: Error, Hashable, Sendable {
  /// The length before a NAL unit can be 1, 2 or 4 bytes long only.
  case invalidLengthSize(Int)
  /// A NAL unit is longer than its length can say.
  case unitTooLong(Int)
  /// An access unit has more bytes, or NAL units, than any picture needs.
  case accessUnitTooLong(Int)
  /// A length says more than there is, or is cut itself.
  case truncatedUnit
  /// The sample buffer has no data, or its format is neither H.264 nor HEVC.
  case unsupportedSampleBuffer
}

/// A NAL unit: its header and payload with emulation prevention bytes, without a start code or length.
public struct NALUnit: Sendable, Hashable {
  public var codec: ElementaryStreamCodec
  public var data: Data

  public init(codec: ElementaryStreamCodec, data: Data) {
    self.codec = codec
    self.data = data
  }

  /// nal_unit_type: 0 to 31 in H.264, 0 to 63 in HEVC; nil if there is not even a header.
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
