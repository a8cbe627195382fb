// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The codec and picture size for which a settings assistant proposes settings.
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
  /// There is no encoder for video with alpha, so an assistant cannot be created with this preset.
  public static let hevc1920x1080WithAlpha = AVOutputSettingsPreset(
    rawValue: "AVOutputSettingsPresetHEVC1920x1080WithAlpha")
  /// There is no encoder for video with alpha, so an assistant cannot be created with this preset.
  public static let hevc3840x2160WithAlpha = AVOutputSettingsPreset(
    rawValue: "AVOutputSettingsPresetHEVC3840x2160WithAlpha")

  /// The export preset with the same codec, size and bits per pixel.
  fileprivate var exportPreset: ExportPreset? {
    ExportPreset.named(
      rawValue.replacingOccurrences(of: "AVOutputSettingsPreset", with: "AVAssetExportPreset"))
  }
}

/// Proposes output settings for a writer's inputs. Video fits into the size of a preset, is never
/// enlarged, and has the preset's bit rate for the frame rate of the source. Audio is AAC.
open class AVOutputSettingsAssistant: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let preset: ExportPreset
  private let lock = Lock()
  private var source = Source()

  private struct Source {
    var video: CMVideoFormatDescription?
    var audio: CMAudioFormatDescription?
    var average = CMTime(value: 1, timescale: 30)
    var minimum = CMTime(value: 1, timescale: 30)
  }

  /// The presets that have an encoder.
  open class func availableOutputSettingsPresets() -> [AVOutputSettingsPreset] {
    let all: [AVOutputSettingsPreset] = [
      .preset640x480, .preset960x540, .preset1280x720, .preset1920x1080, .preset3840x2160, .hevc1920x1080,
      .hevc3840x2160,
    ]
    return all.filter { $0.exportPreset != nil }
  }

  /// Creates an assistant.
  /// - Parameter presetIdentifier: The preset to propose settings for.
  /// - Returns: Nil if the preset is unknown or there is no encoder for it.
  public init?(preset presetIdentifier: AVOutputSettingsPreset) {
    guard let preset = presetIdentifier.exportPreset else { return nil }
    self.preset = preset
    super.init()
  }

  // MARK: - Source

  /// The format of the source video. Nil means pictures of the preset's size.
  open var sourceVideoFormat: CMVideoFormatDescription? {
    get { lock.withLock { source.video } }
    set { lock.withLock { source.video = newValue } }
  }
  /// The format of the source audio. Nil means two channels at 44100 Hz.
  open var sourceAudioFormat: CMAudioFormatDescription? {
    get { lock.withLock { source.audio } }
    set { lock.withLock { source.audio = newValue } }
  }
  /// The average duration of a source picture. The default is 1/30 second; values that are not
  /// positive numbers are ignored.
  open var sourceVideoAverageFrameDuration: CMTime {
    get { lock.withLock { source.average } }
    set { if newValue.isNumeric, newValue > .zero { lock.withLock { source.average = newValue } } }
  }
  /// The shortest duration of a source picture, which corresponds to the highest frame rate. The
  /// higher one of this rate and the average rate determines the bit rate. The default is 1/30
  /// second; values that are not positive numbers are ignored.
  open var sourceVideoMinFrameDuration: CMTime {
    get { lock.withLock { source.minimum } }
    set { if newValue.isNumeric, newValue > .zero { lock.withLock { source.minimum = newValue } } }
  }

  // MARK: - Proposed settings

  open var outputFileType: AVFileType { .mov }

  /// Settings for an `AVAssetWriterInput` of video.
  open var videoSettings: [String: Any]? {
    guard case .encode(let codec, let box?, let bitsPerPixel) = preset.video else { return nil }
    let source = lock.withLock { self.source }
    var size = (width: box.width, height: box.height)
    if let video = source.video {
      size = preset.fitted(
        CMVideoFormatDescriptionGetPresentationDimensions(
          video, usePixelAspectRatio: true, useCleanAperture: true))
    }
    let rate = min(120, 1 / max(min(source.average, source.minimum).seconds, 1e-3))
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

  /// Settings for an `AVAssetWriterInput` of audio.
  open var audioSettings: [String: Any]? {
    let basic = lock.withLock { source.audio }?.audioStreamBasicDescription
    let rate = basic.map { min(max($0.mSampleRate, 8000), 48_000) } ?? 44_100
    let channels = min(max(basic?.mChannelsPerFrame ?? 2, 1), 2)
    return [
      AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: rate, AVNumberOfChannelsKey: Int(channels),
      AVEncoderBitRateKey: ExportPreset.audioRate / (channels == 1 ? 2 : 1),
    ]
  }
}
