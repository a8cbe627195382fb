// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How an export handles audio tracks that are alternatives.
public struct AVAssetTrackGroupOutputHandling: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// All alternatives are written.
  public static let preserveAlternateTracks = AVAssetTrackGroupOutputHandling(rawValue: 1 << 0)
  /// The enabled alternative is written.
  public static let defaultPolicy: AVAssetTrackGroupOutputHandling = []
}
