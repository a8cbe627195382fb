// SPDX-License-Identifier: Apache-2.0
import Foundation

extension ExportJob {
  /// Returns the URL and the type of the output file.
  /// - Throws: `AVError` if one is missing, or the preset does not make files of the type.
  static func destination(
    _ asset: AVAsset, _ preset: ExportPreset, _ settings: AVAssetExportSession.Settings
  ) throws -> (URL, AVFileType) {
    guard let url = settings.url else {
      throw AVError(
        .incorrectlyConfigured, reason: "The export has no output.", advice: "Set outputURL.")
    }
    guard let type = settings.type ?? preset.fileType(of: url, for: asset) else {
      throw AVError(
        .incorrectlyConfigured,
        reason:
          "outputFileType is not set, and \(url.lastPathComponent) has no file name extension that the preset supports.",
        advice: "Set outputFileType, or use a file name extension such as .mov.")
    }
    guard preset.fileTypes(for: asset).contains(type) else {
      throw AVError(
        .operationNotSupportedForPreset, reason: "The preset does not make files of type \(type.rawValue).",
        advice: "Use one of supportedFileTypes.")
    }
    return (url, type)
  }

  /// Returns the time range to export, and the factor of the preset's bit rate. A limit of the file
  /// size lowers the bit rate or, if samples are copied, shortens the range.
  /// - Throws: `AVError` if the range is invalid or empty.
  static func rangeAndRateFactor(
    _ asset: AVAsset, _ preset: ExportPreset, _ settings: AVAssetExportSession.Settings
  ) throws -> (range: CMTimeRange, factor: Double) {
    let whole = CMTimeRange(start: .zero, duration: asset.duration)
    guard settings.range.isValid, settings.range.start.isNumeric else {
      throw AVError(.operationNotAllowed, reason: "The time range is invalid.")
    }
    var range = settings.range.intersection(whole)
    guard range.duration > .zero else {
      throw AVError(.operationNotAllowed, reason: "The time range holds nothing of the asset.")
    }

    var scale = 1.0
    if settings.limit > 0 {
      let bits = Double(settings.limit) * 8 * 0.95
      let rate = Self.bitRate(preset, asset)
      switch preset.video {
      case .none: break
      case .copy:
        let part = bits / (rate.pictures + rate.audio) / range.duration.seconds
        if part < 1 { range.duration = CMTimeMultiplyByFloat64(range.duration, multiplier: part) }
      case .encode where rate.pictures > 0:
        // The audio keeps its bit rate.
        scale = min(1, max(0, bits / range.duration.seconds - rate.audio) / rate.pictures)
      case .encode: break
      }
    }
    return (range, scale)
  }
}
