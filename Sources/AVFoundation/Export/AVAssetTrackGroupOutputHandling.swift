// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What an export does with sound tracks that stand in for each other.
public struct AVAssetTrackGroupOutputHandling: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// All of them are written.
  public static let preserveAlternateTracks = AVAssetTrackGroupOutputHandling(rawValue: 1 << 0)
  /// The one that is enabled is written.
  public static let defaultPolicy: AVAssetTrackGroupOutputHandling = []
}
