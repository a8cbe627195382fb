// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation

/// Clips that encoder parameters are tuned with, and clips that are used only to validate the
/// result.
enum ClipSet: String, CaseIterable, Codable {
  case tuning, validation

  /// The first part of the names of clips for tuning. All other clips are for validation. The
  /// half-size version of a clip is in the same set.
  private static let tuned = ["bunny", "cars", "garden", "people_book", "screen", "CI1_FT"]

  init(clip: String) {
    self =
      Self.tuned.contains { clip.hasPrefix($0) } && !clip.hasPrefix("screen-validation")
      ? .tuning : .validation
  }

  /// Whether a clip is screen content, which has its own summary.
  static func isScreen(_ clip: String) -> Bool { clip.hasPrefix("screen") }

  /// Calls `body` with the clips of a set as raw frames: each clip in its own size and, if it is
  /// large enough, in half size, and one clip that is assembled from pieces.
  func clips(_ options: Options, _ body: (RawClip) throws -> Void) throws {
    let paths = options.clips.filter {
      let name = URL(fileURLWithPath: $0).lastPathComponent
      return ClipSet(clip: name) == self && (!options.onlyScreens || Self.isScreen(name))
    }
    for path in paths {
      for halves in options.halves {
        let clip = try RawClip(path: path, frames: options.frames, halves: halves)
        defer { clip.remove() }
        // In smaller pictures, headers would have too much influence on the result.
        if halves > 0 && clip.width * clip.height < 160 * 120 { continue }
        try body(clip)
      }
    }
    let filmed = paths.filter { !Self.isScreen(URL(fileURLWithPath: $0).lastPathComponent) }
    guard options.cuts, filmed.count > 1 else { return }
    if let clip = try RawClip(cutting: filmed, name: "cuts-\(rawValue)", frames: options.frames) {
      defer { clip.remove() }
      try body(clip)
    }
  }
}
