// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import RealTimeTransport
import VideoToolbox

/// The values of `--codec`: the four-character codes of movies, or the codecs' common names.
enum Codec: String, CaseIterable, ExpressibleByArgument, Sendable {
  case avc1
  case hvc1

  init?(argument: String) {
    switch argument.lowercased() {
    case "avc1", "avc", "h264", "h.264": self = .avc1
    case "hvc1", "hevc", "h265", "h.265": self = .hvc1
    default: return nil
    }
  }

  static var allValueStrings: [String] { ["h264", "hevc", "avc1", "hvc1"] }

  /// The codec of an elementary stream by the extension of its file name; nil if the extension is
  /// not that of an elementary stream.
  init?(streamEnding: String) {
    switch streamEnding {
    case "264", "h264", "avc": self = .avc1
    case "265", "h265", "hevc": self = .hvc1
    default: return nil
    }
  }

  /// The codec as RealTimeTransport names it.
  var transportCodec: VideoCodec { self == .avc1 ? .h264 : .hevc }

  var type: CMVideoCodecType {
    switch self {
    case .avc1: kCMVideoCodecType_H264
    case .hvc1: kCMVideoCodecType_HEVC
    }
  }

  var name: String {
    switch self {
    case .avc1: "H.264"
    case .hvc1: "HEVC"
    }
  }

  /// The file name extension of an elementary stream.
  var streamEnding: String {
    switch self {
    case .avc1: "264"
    case .hvc1: "265"
    }
  }
}

/// The format in which pictures are decoded and handed to the session.
enum PixelFormatChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// Three planes, as decoders and encoders use them, so that pictures need no conversion.
  case planar420 = "y420"
  case video420v = "420v"
  case bgra = "BGRA"
  case video10Bit = "x420"
  /// 4:4:4, for `--profile high444`.
  case video444v = "444v"

  var type: OSType {
    switch self {
    case .planar420: kCVPixelFormatType_420YpCbCr8Planar
    case .video420v: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    case .bgra: kCVPixelFormatType_32BGRA
    case .video10Bit: kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
    case .video444v: kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange
    }
  }
}

enum Preset: String, CaseIterable, ExpressibleByArgument, Sendable {
  case balanced
  case highQuality
  case highSpeed
  /// For the low-latency mode.
  case videoConferencing

  var key: CFString {
    switch self {
    case .balanced: kVTCompressionPreset_Balanced
    case .highQuality: kVTCompressionPreset_HighQuality
    case .highSpeed: kVTCompressionPreset_HighSpeed
    case .videoConferencing: kVTCompressionPreset_VideoConferencing
    }
  }
}

enum ProfileChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  case baseline
  case constrainedBaseline
  case main
  case high
  case constrainedHigh
  /// High 4:4:4 Predictive.
  case high444
  case main10

  /// The session's constant for this profile with an automatic level; nil if the codec has no such
  /// profile.
  func level(for codec: Codec) -> CFString? {
    switch (codec, self) {
    case (.avc1, .baseline): kVTProfileLevel_H264_Baseline_AutoLevel
    case (.avc1, .constrainedBaseline): kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel
    case (.avc1, .main): kVTProfileLevel_H264_Main_AutoLevel
    case (.avc1, .high): kVTProfileLevel_H264_High_AutoLevel
    case (.avc1, .constrainedHigh): kVTProfileLevel_H264_ConstrainedHigh_AutoLevel
    case (.avc1, .high444): kOVTProfileLevel_H264_High444Predictive_AutoLevel
    case (.hvc1, .main): kVTProfileLevel_HEVC_Main_AutoLevel
    case (.hvc1, .main10): kVTProfileLevel_HEVC_Main10_AutoLevel
    default: nil
    }
  }

  static func choices(for codec: Codec) -> [String] {
    allCases.filter { $0.level(for: codec) != nil }.map(\.rawValue)
  }
}

/// Whether the QP of a macroblock may depend on its activity.
enum SpatialAdaptiveQP: String, CaseIterable, ExpressibleByArgument, Sendable {
  case `default`
  case disabled

  var level: Int {
    switch self {
    case .default: kVTQPModulationLevel_Default
    case .disabled: kVTQPModulationLevel_Disable
    }
  }
}

/// How a picture is fitted into `--dimensions` if its aspect ratio differs.
enum Scaling: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// Shows the whole picture, with black bars.
  case letterbox
  /// Fills the frame and cuts off the picture's edges.
  case trim
  /// Shows the whole picture with its aspect ratio changed.
  case stretch

  var mode: CFString {
    switch self {
    case .letterbox: kVTScalingMode_Letterbox
    case .trim: kVTScalingMode_Trim
    case .stretch: kVTScalingMode_Normal
    }
  }
}

/// How interlaced pictures are deinterlaced.
enum Deinterlacing: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// Makes one picture of the two fields of a frame.
  case frame
  /// Makes one picture of each field, which doubles the frame rate.
  case field

  /// The value of `kVTDecompressionPropertyKey_DeinterlaceMode`.
  var mode: CFString {
    switch self {
    case .frame: kVTDecompressionProperty_DeinterlaceMode_Temporal
    case .field: kOVTDecompressionProperty_DeinterlaceMode_TemporalFields
    }
  }
}

/// How the audio is written.
enum AudioChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// Copies a track where the output's container is known to hold its format, and encodes it as AAC
  /// otherwise.
  case auto
  case copy
  case aac
  case none
}

/// How progress is reported.
enum ProgressStyle: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// A progress bar on a terminal, or a line every few seconds elsewhere.
  case auto
  /// One JSON object per line, on standard error.
  case json
  /// No progress. Notices about what is lost or left out are printed all the same.
  case none

  /// Whether notices are printed as text. With `json` they are in the last object.
  var showsNotices: Bool { self != .json }
}
