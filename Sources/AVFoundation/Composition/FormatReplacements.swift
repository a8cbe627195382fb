// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A format that is read in place of another one; see `AVMutableCompositionTrack.replaceFormatDescription(_:with:)`.
open class AVCompositionTrackFormatDescriptionReplacement: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  /// What the source has.
  public let originalFormatDescription: CMFormatDescription
  /// What takes its place.
  public let replacementFormatDescription: CMFormatDescription

  init(_ original: CMFormatDescription, _ replacement: CMFormatDescription) {
    originalFormatDescription = original
    replacementFormatDescription = replacement
    super.init()
  }
}

extension AVCompositionTrack {
  /// The formats that are read in place of others.
  public var formatDescriptionReplacements: [AVCompositionTrackFormatDescriptionReplacement] {
    timelineLock.withLock { storedReplacements.list }
  }
}

/// The formats of a track that others take the place of.
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

  /// A file's track, as it is read with them.
  func apply(to facts: TrackFacts) -> TrackFacts { list.isEmpty ? facts : TrackFacts(facts, self) }
}
