// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation

/// Clips to tune on, and clips that only tell whether what was tuned holds.
enum ClipSet: String, CaseIterable, Codable {
  case tuning, validation

  /// Known clips to tune on, by the beginning of their names; all others validate. A clip's half size is in its set.
  private static let tuned = ["bunny", "cars", "garden", "people_book", "screen", "CI1_FT"]

  init(clip: String) {
    self =
      Self.tuned.contains { clip.hasPrefix($0) } && !clip.hasPrefix("screen-validation")
      ? .tuning : .validation
  }

  /// Screen content, which is summed up apart.
  static func isScreen(_ clip: String) -> Bool { clip.hasPrefix("screen") }

  /// The clips of a set as raw frames: each as it is, at half size too where that is not tiny, and one made of pieces.
  func clips(_ options: Options, _ body: (RawClip) throws -> Void) throws {
    let paths = options.clips.filter {
      let name = URL(fileURLWithPath: $0).lastPathComponent
      return ClipSet(clip: name) == self && (!options.onlyScreens || Self.isScreen(name))
    }
    for path in paths {
      for halves in options.halves {
        let clip = try RawClip(path: path, frames: options.frames, halves: halves)
        defer { clip.remove() }
        // Smaller than that, headers weigh more than coding.
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
