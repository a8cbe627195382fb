// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import FFmpegMedia
import Foundation

extension AudioEncoder.Request {
  /// What settings say of how AAC is encoded, beside its bit rate.
  /// - Throws: `AVError.unsupportedOutputSettings` for what is none of a key's values.
  mutating func adopt(encoding settings: [String: Any]) throws {
    do { try take(encoding: settings) } catch { throw Self.refusal(error) }
  }

  /// What settings say of the conversion to another sample rate.
  /// - Throws: `AVError.unsupportedOutputSettings` for what is none of a key's values.
  mutating func adopt(conversion settings: [String: Any]) throws {
    do { try take(conversion: settings) } catch { throw Self.refusal(error) }
  }

  private static func refusal(_ error: any Error) -> any Error {
    guard let refusal = error as? SoundSettingRefusal else { return error }
    return AVError(
      .unsupportedOutputSettings, reason: "The value of \(refusal.key) is not possible.",
      advice: "Remove the key, or give one of its values.")
  }
}
