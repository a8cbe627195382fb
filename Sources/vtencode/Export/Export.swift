// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Exports a movie with a preset: in another size or codec, a part of it, or only its sound.",
    discussion: """
      Uses AVAssetExportSession. Pictures are never enlarged and keep their aspect ratio. Sound in other formats is \
      converted to AAC, except by Passthrough, which copies everything as it is.

      Available presets, also by Apple's full names (AVAssetExportPreset...):
      \(ExportPresetName.table)

      Examples:
        vtencode export holiday.mov --preset 1280x720 --out small.mp4
        vtencode export holiday.mov --preset HEVCHighestQuality --multi-pass --out small.mov
        vtencode export talk.mp4 --preset Passthrough --start 1:30 --duration 20 --out part.mp4
        vtencode export talk.mp4 --preset AppleM4A --out talk.m4a
      """)

  @Argument(help: "The movie.", completion: .file())
  var movie: String

  @Option(
    help: ArgumentHelp("The preset; one of those above.", valueName: "name"),
    completion: .list(ExportPresetName.available.map(\.text)))
  var preset: ExportPresetName

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Where to write: a .mov, .mp4 or .m4v movie, or .m4a for the sound. The file gets its name when it is "
        + "complete.",
      valueName: "file"), completion: .file())
  var out: String

  @Option(help: ArgumentHelp("Where to begin: seconds, m:ss or h:mm:ss.", valueName: "time"))
  var start: ClockTime?

  @Option(help: ArgumentHelp("Where to end, counted from the movie's beginning.", valueName: "time"))
  var end: ClockTime?

  @Option(help: ArgumentHelp("The duration, in place of --end.", valueName: "time"))
  var duration: ClockTime?

  @Option(
    help: ArgumentHelp(
      "The approximate largest size of the file in bytes, reached by a lower bit rate or, with Passthrough, "
        + "by a shorter movie. The effect is reported.",
      valueName: "bytes"))
  var fileLengthLimit: Int64?

  @Flag(
    help: ArgumentHelp(
      "Encode in two passes, for better quality at the same size, if the encoder can, and encode parts again "
        + "if the rate is still missed."))
  var multiPass = false

  @OptionGroup var faststart: FaststartOption

  @OptionGroup var overwriting: OverwriteOption

  @OptionGroup var telling: ProgressOption

  @OptionGroup var sandboxing: SandboxOptions

  func validate() throws {
    if end != nil, duration != nil {
      throw ValidationError("--end and --duration exclude each other; give one of them.")
    }
    if let end, end.seconds <= start?.seconds ?? 0 {
      throw ValidationError("--end must come after --start.")
    }
    if let duration, duration.seconds <= 0 {
      throw ValidationError("--duration must be more than 0 seconds.")
    }
    if let fileLengthLimit, fileLengthLimit <= 0 {
      throw ValidationError("--file-length-limit must be more than 0 bytes.")
    }
  }

  func run() async throws {
    try await ExportRun(
      movie: movie, preset: preset, out: out, range: range, limit: fileLengthLimit ?? 0,
      makesPasses: multiPass,
      isFastStart: !faststart.noFaststart, overwrites: overwriting.overwrite, progress: telling.progress
    ).perform()
  }

  private var range: CMTimeRange {
    let from = start?.time ?? .zero
    if let end { return CMTimeRange(start: from, end: end.time) }
    return CMTimeRange(start: from, duration: duration?.time ?? .positiveInfinity)
  }
}

/// An export preset, by Apple's name with or without `AVAssetExportPreset`.
struct ExportPresetName: ExpressibleByArgument, Sendable {
  let name: String
  private static let prefix = "AVAssetExportPreset"

  var text: String { name.hasPrefix(Self.prefix) ? String(name.dropFirst(Self.prefix.count)) : name }

  private init(name: String) { self.name = name }

  init?(argument: String) {
    let wanted = argument.lowercased()
    guard
      let known = Self.available.first(where: {
        $0.text.lowercased() == wanted || $0.name.lowercased() == wanted
      })
    else { return nil }
    self = known
  }

  static var available: [ExportPresetName] {
    AVAssetExportSession.allExportPresets().map { ExportPresetName(name: $0) }
  }

  static var allValueStrings: [String] { available.map(\.text) }

  /// The list of presets in the help.
  static var table: String {
    let column = (available.map(\.text.count).max() ?? 0) + 2
    return available.map { preset in
      "  " + preset.text.padding(toLength: column, withPad: " ", startingAt: 0) + preset.meaning
    }.joined(separator: "\n")
  }

  private var meaning: String {
    switch name {
    case AVAssetExportPresetPassthrough: return "as it is stored"
    case AVAssetExportPresetAppleM4A: return "the sound alone, AAC"
    case AVAssetExportPresetLowQuality: return "H.264, to send over a slow line"
    case AVAssetExportPresetMediumQuality: return "H.264, to send"
    case AVAssetExportPresetHighestQuality: return "H.264, in the movie's size"
    case AVAssetExportPresetHEVCHighestQuality: return "HEVC, in the movie's size"
    default:
      let codec = text.hasPrefix("HEVC") ? "HEVC" : "H.264"
      return "\(codec), at most \(text.replacingOccurrences(of: "HEVC", with: ""))"
    }
  }

  /// The codec of the preset's pictures; nil if it does not encode pictures.
  var codec: CMVideoCodecType? {
    switch name {
    case AVAssetExportPresetPassthrough, AVAssetExportPresetAppleM4A: nil
    default: text.hasPrefix("HEVC") ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264
    }
  }
}

/// A time in seconds, or as `m:ss` or `h:mm:ss`, with optional decimals, such as `90`, `1:30` or
/// `1:02:03.5`.
struct ClockTime: ExpressibleByArgument, Sendable {
  let seconds: Double

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var total = 0.0
    for (index, part) in parts.enumerated() {
      guard let number = Double(part), number.isFinite, number >= 0, index == 0 || number < 60 else {
        return nil
      }
      guard index == parts.count - 1 || Int(part) != nil else { return nil }
      total = total * 60 + number
    }
    guard total < 1e9 else { return nil }
    seconds = total
  }

  var time: CMTime { CMTime(nearest: seconds, preferredTimescale: 1_000_000) }
}
