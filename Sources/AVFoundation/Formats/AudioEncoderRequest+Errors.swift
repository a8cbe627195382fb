// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import FFmpegMedia
import Foundation

extension AudioEncoder.Request {
  /// Takes over the settings for AAC encoding, apart from the bit rate.
  /// - Throws: `AVError.Code.unsupportedOutputSettings` if a key has an invalid value.
  mutating func adopt(encoding settings: [String: Any]) throws {
    do { try take(encoding: settings) } catch { throw Self.settingsError(error) }
  }

  /// Takes over the settings for sample rate conversion.
  /// - Throws: `AVError.Code.unsupportedOutputSettings` if a key has an invalid value.
  mutating func adopt(conversion settings: [String: Any]) throws {
    do { try take(conversion: settings) } catch { throw Self.settingsError(error) }
  }

  private static func settingsError(_ error: any Error) -> any Error {
    guard let invalid = error as? InvalidAudioSetting else { return error }
    return AVError(
      .unsupportedOutputSettings, reason: "The value of \(invalid.key) is not supported.",
      advice: "Remove the key, or use a supported value.")
  }
}
