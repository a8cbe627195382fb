// SPDX-License-Identifier: Apache-2.0
/// How sound is treated when it is played faster or slower.
public struct AVAudioTimePitchAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let timeDomain = AVAudioTimePitchAlgorithm(rawValue: "TimeDomain")
  public static let spectral = AVAudioTimePitchAlgorithm(rawValue: "Spectral")
  public static let varispeed = AVAudioTimePitchAlgorithm(rawValue: "Varispeed")

  static let known: Set<AVAudioTimePitchAlgorithm> = [.timeDomain, .spectral, .varispeed]

  /// What an output with this algorithm is refused with; nil if it is known.
  func error(_ code: AVError.Code) -> AVError? {
    guard !Self.known.contains(self) else { return nil }
    return AVError(
      code, reason: "The pitch algorithm \(rawValue) is not known.",
      advice: "Use timeDomain, spectral or varispeed.")
  }

  /// - Throws: `AVError` if parts of a track are to be played at another rate, and their pitch is to stay.
  func check(_ timeline: CompositionTimeline) throws {
    guard self == .varispeed || !timeline.parts.contains(where: \.isScaled) else {
      throw AVError(
        .operationNotSupportedForAsset,
        reason: "The pitch of sound that is scaled cannot be kept.",
        advice: "Set audioTimePitchAlgorithm to varispeed, and the pitch follows the speed.")
    }
  }
}
