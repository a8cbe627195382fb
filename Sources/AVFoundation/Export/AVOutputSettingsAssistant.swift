// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a settings assistant aims at: a codec and the size of a picture.
public struct AVOutputSettingsPreset: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let preset640x480 = AVOutputSettingsPreset(rawValue: "AVOutputSettingsPreset640x480")
  public static let preset960x540 = AVOutputSettingsPreset(rawValue: "AVOutputSettingsPreset960x540")
  public static let preset1280x720 = AVOutputSettingsPreset(rawValue: "AVOutputSettingsPreset1280x720")
  public static let preset1920x1080 = AVOutputSettingsPreset(rawValue: "AVOutputSettingsPreset1920x1080")
  public static let preset3840x2160 = AVOutputSettingsPreset(rawValue: "AVOutputSettingsPreset3840x2160")
  public static let hevc1920x1080 = AVOutputSettingsPreset(rawValue: "AVOutputSettingsPresetHEVC1920x1080")
  public static let hevc3840x2160 = AVOutputSettingsPreset(rawValue: "AVOutputSettingsPresetHEVC3840x2160")
  /// Known by name; there is no encoder for video with alpha.
  public static let hevc1920x1080WithAlpha = AVOutputSettingsPreset(
    rawValue: "AVOutputSettingsPresetHEVC1920x1080WithAlpha")
  /// Known by name; there is no encoder for video with alpha.
  public static let hevc3840x2160WithAlpha = AVOutputSettingsPreset(
    rawValue: "AVOutputSettingsPresetHEVC3840x2160WithAlpha")

  /// The export preset of the same codec, size and bits for a pixel.
  fileprivate var exportPreset: ExportPreset? {
    ExportPreset.named(
      rawValue.replacingOccurrences(of: "AVOutputSettingsPreset", with: "AVAssetExportPreset"))
  }
}

/// Proposes settings for a writer's inputs: pictures that fit into a preset's size and are never enlarged, at its bit rate
/// for the source's frame rate, and AAC.
open class AVOutputSettingsAssistant: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let preset: ExportPreset
  private let lock = Lock()
  private var source = Source()

  private struct Source {
    var video: CMVideoFormatDescription?
    var audio: CMAudioFormatDescription?
    var average = CMTime(value: 1, timescale: 30)
    var least = CMTime(value: 1, timescale: 30)
  }

  /// The presets that there is an encoder for.
  open class func availableOutputSettingsPresets() -> [AVOutputSettingsPreset] {
    let all: [AVOutputSettingsPreset] = [
      .preset640x480, .preset960x540, .preset1280x720, .preset1920x1080, .preset3840x2160, .hevc1920x1080,
      .hevc3840x2160,
    ]
    return all.filter { $0.exportPreset != nil }
  }

  /// nil for a preset that is not known, or that there is no encoder for.
  public init?(preset presetIdentifier: AVOutputSettingsPreset) {
    guard let preset = presetIdentifier.exportPreset else { return nil }
    self.preset = preset
    super.init()
  }

  // MARK: - What is known of the source

  /// The pictures to come; nil: as large as the preset's.
  open var sourceVideoFormat: CMVideoFormatDescription? {
    get { lock.withLock { source.video } }
    set { lock.withLock { source.video = newValue } }
  }
  /// The sound to come; nil: 44100 Hz in two channels.
  open var sourceAudioFormat: CMAudioFormatDescription? {
    get { lock.withLock { source.audio } }
    set { lock.withLock { source.audio = newValue } }
  }
  /// How long a picture is shown on the whole; a thirtieth of a second unless it is set to a number above zero.
  open var sourceVideoAverageFrameDuration: CMTime {
    get { lock.withLock { source.average } }
    set { if newValue.isNumeric, newValue > .zero { lock.withLock { source.average = newValue } } }
  }
  /// The shortest that a picture is shown: the highest frame rate, which decides on the bit rate if it is above the average.
  open var sourceVideoMinFrameDuration: CMTime {
    get { lock.withLock { source.least } }
    set { if newValue.isNumeric, newValue > .zero { lock.withLock { source.least = newValue } } }
  }

  // MARK: - What is proposed

  open var outputFileType: AVFileType { .mov }

  /// For an `AVAssetWriterInput` of video.
  open var videoSettings: [String: Any]? {
    guard case .encode(let codec, let box?, let bitsPerPixel) = preset.video else { return nil }
    let source = lock.withLock { self.source }
    var size = (width: box.width, height: box.height)
    if let video = source.video {
      size = preset.fitted(
        CMVideoFormatDescriptionGetPresentationDimensions(
          video, usePixelAspectRatio: true, useCleanAperture: true))
    }
    let rate = min(120, 1 / max(min(source.average, source.least).seconds, 1e-3))
    let bits = Double(size.width * size.height) * rate * bitsPerPixel
    return [
      AVVideoCodecKey: codec, AVVideoWidthKey: size.width, AVVideoHeightKey: size.height,
      AVVideoCompressionPropertiesKey: [
        AVVideoAverageBitRateKey: max(64_000, Int(clamping: bits)),
        AVVideoExpectedSourceFrameRateKey: Int(rate.rounded()),
        AVVideoProfileLevelKey: codec == .hevc
          ? kVTProfileLevel_HEVC_Main_AutoLevel as String : AVVideoProfileLevelH264HighAutoLevel,
      ] as [String: any Sendable],
    ]
  }

  /// For an `AVAssetWriterInput` of sound.
  open var audioSettings: [String: Any]? {
    let basic = lock.withLock { source.audio }?.audioStreamBasicDescription
    let rate = basic.map { min(max($0.mSampleRate, 8000), 48_000) } ?? 44_100
    let channels = min(max(basic?.mChannelsPerFrame ?? 2, 1), 2)
    return [
      AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: rate, AVNumberOfChannelsKey: Int(channels),
      AVEncoderBitRateKey: ExportPreset.soundRate / (channels == 1 ? 2 : 1),
    ]
  }
}
