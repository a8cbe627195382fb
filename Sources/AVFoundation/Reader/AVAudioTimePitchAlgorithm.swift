// SPDX-License-Identifier: Apache-2.0
/// How sound is treated when it is played faster or slower.
public struct AVAudioTimePitchAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The pitch stays.
  public static let timeDomain = AVAudioTimePitchAlgorithm(rawValue: "TimeDomain")
  /// The pitch stays. Here it is the same algorithm as `timeDomain`.
  public static let spectral = AVAudioTimePitchAlgorithm(rawValue: "Spectral")
  /// The pitch follows the speed.
  public static let varispeed = AVAudioTimePitchAlgorithm(rawValue: "Varispeed")

  static let known: Set<AVAudioTimePitchAlgorithm> = [.timeDomain, .spectral, .varispeed]

  /// What an output with this algorithm is refused with; nil if it is known.
  func error(_ code: AVError.Code) -> AVError? {
    guard !Self.known.contains(self) else { return nil }
    return AVError(
      code, reason: "The pitch algorithm \(rawValue) is not known.",
      advice: "Use timeDomain, spectral or varispeed.")
  }
}
