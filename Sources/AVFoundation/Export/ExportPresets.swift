// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

public let AVAssetExportPresetLowQuality: String = "AVAssetExportPresetLowQuality"
public let AVAssetExportPresetMediumQuality: String = "AVAssetExportPresetMediumQuality"
public let AVAssetExportPresetHighestQuality: String = "AVAssetExportPresetHighestQuality"
public let AVAssetExportPresetHEVCHighestQuality: String = "AVAssetExportPresetHEVCHighestQuality"
/// There is no encoder for video with alpha, so a session cannot be created with this preset.
public let AVAssetExportPresetHEVCHighestQualityWithAlpha: String =
  "AVAssetExportPresetHEVCHighestQualityWithAlpha"
public let AVAssetExportPreset640x480: String = "AVAssetExportPreset640x480"
public let AVAssetExportPreset960x540: String = "AVAssetExportPreset960x540"
public let AVAssetExportPreset1280x720: String = "AVAssetExportPreset1280x720"
public let AVAssetExportPreset1920x1080: String = "AVAssetExportPreset1920x1080"
public let AVAssetExportPreset3840x2160: String = "AVAssetExportPreset3840x2160"
public let AVAssetExportPresetHEVC1920x1080: String = "AVAssetExportPresetHEVC1920x1080"
/// There is no encoder for video with alpha, so a session cannot be created with this preset.
public let AVAssetExportPresetHEVC1920x1080WithAlpha: String = "AVAssetExportPresetHEVC1920x1080WithAlpha"
public let AVAssetExportPresetHEVC3840x2160: String = "AVAssetExportPresetHEVC3840x2160"
/// There is no encoder for video with alpha, so a session cannot be created with this preset.
public let AVAssetExportPresetHEVC3840x2160WithAlpha: String = "AVAssetExportPresetHEVC3840x2160WithAlpha"
/// HEVC that fits into 7680 by 4320.
public let AVAssetExportPresetHEVC7680x4320: String = "AVAssetExportPresetHEVC7680x4320"
/// There is no encoder for stereo video, so a session cannot be created with this preset.
public let AVAssetExportPresetMVHEVC960x960: String = "AVAssetExportPresetMVHEVC960x960"
/// There is no encoder for stereo video, so a session cannot be created with this preset.
public let AVAssetExportPresetMVHEVC1440x1440: String = "AVAssetExportPresetMVHEVC1440x1440"
/// An `.m4v` file for a small screen over a mobile network: H.264 that fits into 176 by 144, and
/// AAC.
public let AVAssetExportPresetAppleM4VCellular: String = "AVAssetExportPresetAppleM4VCellular"
/// An `.m4v` file for a hand-held player: H.264 that fits into 640 by 480, and AAC.
public let AVAssetExportPresetAppleM4ViPod: String = "AVAssetExportPresetAppleM4ViPod"
/// An `.m4v` file of standard definition: H.264 that fits into 640 by 480, and AAC.
public let AVAssetExportPresetAppleM4V480pSD: String = "AVAssetExportPresetAppleM4V480pSD"
/// An `.m4v` file for a television: H.264 that fits into 960 by 540, and AAC.
public let AVAssetExportPresetAppleM4VAppleTV: String = "AVAssetExportPresetAppleM4VAppleTV"
/// An `.m4v` file for a local network: H.264 that fits into 480 by 320, and AAC.
public let AVAssetExportPresetAppleM4VWiFi: String = "AVAssetExportPresetAppleM4VWiFi"
/// An `.m4v` file: H.264 that fits into 1280 by 720, and AAC.
public let AVAssetExportPresetAppleM4V720pHD: String = "AVAssetExportPresetAppleM4V720pHD"
/// An `.m4v` file: H.264 that fits into 1920 by 1080, and AAC.
public let AVAssetExportPresetAppleM4V1080pHD: String = "AVAssetExportPresetAppleM4V1080pHD"
/// There is no encoder for ProRes, so a session cannot be created with this preset.
public let AVAssetExportPresetAppleProRes422LPCM: String = "AVAssetExportPresetAppleProRes422LPCM"
/// There is no encoder for ProRes, so a session cannot be created with this preset.
public let AVAssetExportPresetAppleProRes4444LPCM: String = "AVAssetExportPresetAppleProRes4444LPCM"
/// An `.m4a` file with audio only: AAC.
public let AVAssetExportPresetAppleM4A: String = "AVAssetExportPresetAppleM4A"
/// Samples are copied without encoding.
public let AVAssetExportPresetPassthrough: String = "AVAssetExportPresetPassthrough"

/// The codec, size and bit rate that a preset produces.
struct ExportPreset: Sendable {
  enum Video: Sendable {
    case none
    case copy
    /// Encodes video. The picture is scaled to fit into `box` with its aspect ratio and is never
    /// enlarged; nil keeps the size. The bit rate is `bitsPerPixel` for each pixel of each picture.
    case encode(AVVideoCodecType, box: (width: Int, height: Int)?, bitsPerPixel: Double)
  }

  let name: String
  let video: Video
  let copiesAudio: Bool
  /// Whether the preset only writes `.m4v` files.
  var isM4V = false

  static let all: [ExportPreset] = [
    ExportPreset(
      name: AVAssetExportPresetLowQuality, video: .encode(.h264, box: (400, 224), bitsPerPixel: 0.06),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPresetMediumQuality, video: .encode(.h264, box: (568, 320), bitsPerPixel: 0.12),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPresetHighestQuality, video: .encode(.h264, box: nil, bitsPerPixel: 0.25),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPresetHEVCHighestQuality, video: .encode(.hevc, box: nil, bitsPerPixel: 0.15),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPreset640x480, video: .encode(.h264, box: (640, 480), bitsPerPixel: 0.2),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPreset960x540, video: .encode(.h264, box: (960, 540), bitsPerPixel: 0.2),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPreset1280x720, video: .encode(.h264, box: (1280, 720), bitsPerPixel: 0.2),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPreset1920x1080, video: .encode(.h264, box: (1920, 1080), bitsPerPixel: 0.18),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPreset3840x2160, video: .encode(.h264, box: (3840, 2160), bitsPerPixel: 0.15),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPresetHEVC1920x1080, video: .encode(.hevc, box: (1920, 1080), bitsPerPixel: 0.11),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPresetHEVC3840x2160, video: .encode(.hevc, box: (3840, 2160), bitsPerPixel: 0.09),
      copiesAudio: false),
    ExportPreset(
      name: AVAssetExportPresetHEVC7680x4320, video: .encode(.hevc, box: (7680, 4320), bitsPerPixel: 0.08),
      copiesAudio: false),
    m4v(AVAssetExportPresetAppleM4VCellular, 176, 144, 0.1),
    m4v(AVAssetExportPresetAppleM4ViPod, 640, 480, 0.16),
    m4v(AVAssetExportPresetAppleM4V480pSD, 640, 480, 0.2),
    m4v(AVAssetExportPresetAppleM4VAppleTV, 960, 540, 0.2),
    m4v(AVAssetExportPresetAppleM4VWiFi, 480, 320, 0.16),
    m4v(AVAssetExportPresetAppleM4V720pHD, 1280, 720, 0.2),
    m4v(AVAssetExportPresetAppleM4V1080pHD, 1920, 1080, 0.18),
    ExportPreset(name: AVAssetExportPresetAppleM4A, video: .none, copiesAudio: false),
    ExportPreset(name: AVAssetExportPresetPassthrough, video: .copy, copiesAudio: true),
  ]

  private static func m4v(_ name: String, _ width: Int, _ height: Int, _ bits: Double) -> ExportPreset {
    ExportPreset(
      name: name, video: .encode(.h264, box: (width, height), bitsPerPixel: bits), copiesAudio: false,
      isM4V: true)
  }

  /// The presets that have an encoder.
  static var available: [ExportPreset] {
    let codecs = encodedTypes()
    return all.filter { preset in
      guard case .encode(let codec, _, _) = preset.video else { return true }
      return codecs.contains(codec.rawValue.utf8.reduce(0) { $0 << 8 | UInt32($1) })
    }
  }

  static func named(_ name: String) -> ExportPreset? { available.first { $0.name == name } }

  private static func encodedTypes() -> Set<UInt32> {
    var list: CFArray?
    guard VTCopyVideoEncoderList(nil, &list) == noErr, let list else { return [] }
    return Set(
      list.compactMap {
        (($0 as? NSDictionary)?[kVTVideoEncoderList_CodecType] as? NSNumber)?.uint32Value
      })
  }

  /// The bit rate of AAC, in bits per second.
  static let audioRate = 128_000

  /// The file types that the preset can write.
  /// - Parameter asset: The asset to export. If it has no video, copied audio can be written to an
  ///   audio file.
  func fileTypes(for asset: AVAsset) -> [AVFileType] {
    switch video {
    case .none: [.m4a]
    case .encode: isM4V ? [.m4v] : [.mov, .mp4, .m4v]
    case .copy:
      asset.tracks.contains { $0.mediaType == .video } ? [.mov, .mp4, .m4v] : [.mov, .mp4, .m4v, .m4a]
    }
  }

  /// The file type that the path extension of a URL denotes; nil if the preset does not support it.
  func fileType(of url: URL, for asset: AVAsset) -> AVFileType? {
    let named = UTType(filenameExtension: url.pathExtension)?.identifier
    return fileTypes(for: asset).first { $0.rawValue == named }
  }

  /// The size in pixels and the bit rate in bits per second of the encoded video; nil if video is
  /// not encoded.
  func videoPlan(_ track: TrackDescription) -> (width: Int, height: Int, bitRate: Int)? {
    guard case .encode(_, _, let bitsPerPixel) = video else { return nil }
    // The encoded pixels are square, so the size is the one in which the track is shown.
    let size = track.naturalSize
    let aspect = track.stream.sampleAspectRatio
    let isSquare = aspect.num <= 0 || aspect.den <= 0 || aspect.num == aspect.den
    let (columns, rows) = fitted(size, isScaled: !isSquare)
    let rate = track.frameRate > 0 ? min(120, Double(track.frameRate)) : 30
    return (columns, rows, max(64_000, Int(clamping: Double(columns * rows) * rate * bitsPerPixel)))
  }

  /// The longest side in pixels that an encoder accepts: the limit of level 6.2 for H.264, that of
  /// libx265 for HEVC.
  private static func largestSide(_ codec: AVVideoCodecType) -> Int { codec == .hevc ? 16384 : 16880 }

  /// The size of the encoded video in pixels: that of the source, which may be odd, or one that
  /// fits into the preset's box.
  /// - Parameters:
  ///   - size: The size in which the source is shown.
  ///   - isScaled: Whether pictures are scaled in any case. Scaled pictures have even sides.
  func fitted(_ size: CGSize, isScaled: Bool = false) -> (width: Int, height: Int) {
    let (width, height) = (Double(size.width), Double(size.height))
    var scale = 1.0
    var maximum = 16384
    if case .encode(let codec, let box, _) = video {
      maximum = Self.largestSide(codec)
      if let box {
        // The box has the orientation of the picture.
        let (long, short) = (Double(box.width), Double(box.height))
        let limit = width >= height ? (long, short) : (short, long)
        scale = min(1, limit.0 / width, limit.1 / height)
      }
    }
    func side(_ length: Double) -> Int {
      let whole = min(maximum, Int(clamping: (length * scale).rounded()))
      return scale < 1 || isScaled ? max(2, whole & ~1) : max(1, whole)
    }
    return (side(width), side(height))
  }
}

extension AVAssetExportSession {
  /// The size of the pictures that a preset encodes at most.
  /// - Parameter name: the name of the preset.
  /// - Returns: the width and the height in samples; nil if the preset has no limit of its own.
  package static func ovtLargestSize(ofPreset name: String) -> (width: Int, height: Int)? {
    guard let preset = ExportPreset.all.first(where: { $0.name == name }),
      case .encode(_, let box?, _) = preset.video
    else { return nil }
    return box
  }
}
