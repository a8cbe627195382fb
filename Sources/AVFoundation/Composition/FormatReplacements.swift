// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A format description and the one that replaces it; see
/// `AVMutableCompositionTrack.replaceFormatDescription(_:with:)`.
open class AVCompositionTrackFormatDescriptionReplacement: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  /// The format description of the source track.
  public let originalFormatDescription: CMFormatDescription
  /// The format description with which the samples are read.
  public let replacementFormatDescription: CMFormatDescription

  init(_ original: CMFormatDescription, _ replacement: CMFormatDescription) {
    originalFormatDescription = original
    replacementFormatDescription = replacement
    super.init()
  }
}

extension AVCompositionTrack {
  /// The replacements of format descriptions in effect.
  public var formatDescriptionReplacements: [AVCompositionTrackFormatDescriptionReplacement] {
    timelineLock.withLock { storedReplacements.list }
  }
}

/// The replacements of format descriptions of a track.
struct FormatReplacements: Sendable {
  private(set) var list: [AVCompositionTrackFormatDescriptionReplacement] = []

  mutating func set(_ original: CMFormatDescription, _ replacement: CMFormatDescription?) {
    list.removeAll { $0.originalFormatDescription == original }
    guard let replacement,
      CMFormatDescriptionGetMediaType(original) == CMFormatDescriptionGetMediaType(replacement),
      CMFormatDescriptionGetMediaSubType(original) == CMFormatDescriptionGetMediaSubType(replacement)
    else { return }
    list.append(AVCompositionTrackFormatDescriptionReplacement(original, replacement))
  }

  func apply(to format: CMFormatDescription) -> CMFormatDescription {
    list.first { $0.originalFormatDescription == format }?.replacementFormatDescription ?? format
  }

  /// Returns the description of a file's track with the replacements applied.
  func apply(to properties: TrackDescription) -> TrackDescription {
    list.isEmpty ? properties : TrackDescription(properties, self)
  }
}
