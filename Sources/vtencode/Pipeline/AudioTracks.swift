// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// The properties of an audio track that are needed before a run starts.
struct AudioTrackProperties: Sendable {
  let track: AVAssetTrack
  /// The number of the track among the audio tracks, from 1.
  let number: Int
  let format: CMFormatDescription?
  let languageCode: String?
  let isEnabled: Bool
  /// The bit rate in bits a second; 0 if it is not known.
  let dataRate: Double

  init(_ track: AVAssetTrack, number: Int) async throws {
    self.track = track
    self.number = number
    format = try await track.load(.formatDescriptions).first
    (languageCode, isEnabled) = try await track.load(.languageCode, .isEnabled)
    let rate = Double(try await track.load(.estimatedDataRate))
    dataRate = rate.isFinite ? rate : 0
  }

  /// Whether the track cannot be decoded because it is encrypted.
  func isEncrypted(in asset: AVAsset) async throws -> Bool {
    let (isProtected, isDecodable) = try await (asset.load(.hasProtectedContent), track.load(.isDecodable))
    return isProtected && !isDecodable
  }

  var channels: Int {
    min(max(Int(format?.audioStreamBasicDescription?.mChannelsPerFrame ?? 2), 1), 8)
  }

  /// The sample rate in hertz for AAC: the source's, or the next higher one that AAC supports.
  var encodedSampleRate: Double {
    let rate = format?.audioStreamBasicDescription?.mSampleRate ?? 48_000
    let known: [Double] = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000]
    return known.contains(rate) ? rate : known.first { $0 >= rate } ?? 48_000
  }

  /// The four-character code of the codec.
  var codecName: String {
    guard let format else { return "unknown" }
    return fourCharacters(CMFormatDescriptionGetMediaSubType(format)).trimmingCharacters(in: .whitespaces)
  }

  /// Whether movies of this type with such audio are known to play. A container may be able to hold
  /// more formats than players support.
  static func isPlayable(_ format: CMFormatDescription, in type: AVFileType) -> Bool {
    let subtype = CMFormatDescriptionGetMediaSubType(format)
    let everywhere: [FourCharCode] = [
      kAudioFormatMPEG4AAC, kAudioFormatMPEG4AAC_HE, kAudioFormatMPEG4AAC_HE_V2, kAudioFormatAC3,
      kAudioFormatEnhancedAC3, kAudioFormatAppleLossless, kAudioFormatMPEGLayer3,
    ]
    if everywhere.contains(subtype) { return true }
    // The last one is 'ima4', IMA ADPCM.
    let inQuickTime: [FourCharCode] = [
      kAudioFormatLinearPCM, kAudioFormatULaw, kAudioFormatALaw, 0x696D_6134,
    ]
    return type == .mov && inQuickTime.contains(subtype)
  }
}

func fourCharacters(_ code: FourCharCode) -> String {
  let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
  return String(decoding: bytes.map { (32..<127).contains($0) ? $0 : 63 }, as: UTF8.self)
}

/// Counts how audio tracks were written, for the summary.
struct AudioReport: Sendable {
  var copied = 0
  var encoded = 0
  /// Descriptions of the tracks that are encoded with fewer channels than they have.
  var mixedDown: [String] = []
  /// Descriptions of the tracks and of the captured audio that were left out, with the reasons.
  var leftOut: [String] = []
  /// The number of audio tracks in the source.
  var total = 0

  /// A description such as `2 of 3 tracks copied, 1 encoded as AAC`; nil for a movie without audio.
  var summary: String? {
    guard total > 0 else { return nil }
    var parts: [String] = []
    let count = total == 1 ? "" : " of \(TextFormat.plural(total, "track"))"
    if copied > 0 { parts.append(total == 1 ? "copied" : "\(copied)\(count) copied") }
    if encoded > 0 {
      parts.append(total == 1 ? "encoded as AAC" : "\(encoded)\(parts.isEmpty ? count : "") encoded as AAC")
    }
    parts += mixedDown + leftOut
    return parts.isEmpty ? "left out" : parts.joined(separator: ", ")
  }
}
