// SPDX-License-Identifier: Apache-2.0
/// Algorithms for audio that is played faster or slower.
public struct AVAudioTimePitchAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The pitch is preserved.
  public static let timeDomain = AVAudioTimePitchAlgorithm(rawValue: "TimeDomain")
  /// The pitch is preserved. The algorithm is the same as that of `timeDomain`.
  public static let spectral = AVAudioTimePitchAlgorithm(rawValue: "Spectral")
  /// The pitch changes with the speed.
  public static let varispeed = AVAudioTimePitchAlgorithm(rawValue: "Varispeed")

  static let known: Set<AVAudioTimePitchAlgorithm> = [.timeDomain, .spectral, .varispeed]

  /// The error for an unknown algorithm; nil if the algorithm is known.
  func error(_ code: AVError.Code) -> AVError? {
    guard !Self.known.contains(self) else { return nil }
    return AVError(
      code, reason: "The pitch algorithm \(rawValue) is not known.",
      advice: "Use timeDomain, spectral or varispeed.")
  }
}
