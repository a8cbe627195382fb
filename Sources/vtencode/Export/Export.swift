// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Exports a movie with a preset: in another size or codec, a part of it, or only its audio.",
    discussion: """
      Uses AVAssetExportSession. Pictures are never enlarged and keep their aspect ratio. Audio in other formats is \
      converted to AAC, except by Passthrough, which copies everything as it is.

      Available presets, also by Apple's full names (AVAssetExportPreset...):
      \(ExportPresetName.table)

      Examples:
        vtencode export holiday.mov --preset 1280x720 --out small.mp4
        vtencode export holiday.mov --preset HEVCHighestQuality --multi-pass --out small.mov
        vtencode export talk.mp4 --preset Passthrough --start 1:30 --duration 20 --out part.mp4
        vtencode export talk.mp4 --preset 1280x720 --file-length-limit 25M --out mail.mp4
        vtencode export talk.mp4 --preset AppleM4A --out talk.m4a

      A bit rate, a quality, a codec or a change of the picture: vtencode transcoding.

      --help shows the options that are used most; --help-all shows all of them.
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
      "Where to write: a .mov, .mp4, .m4v, .mkv, .ts or .flv movie, .webm with Passthrough, or .m4a for the "
        + "audio. The file gets its name when it is complete.",
      valueName: "file"), completion: .file())
  var out: String

  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var part: RangeOptions

  @Option(
    help: ArgumentHelp(
      "The approximate largest size of the file, such as 25M, reached by a lower bit rate or, with Passthrough, "
        + "by a shorter movie. The effect is reported.",
      valueName: "bytes"),
    transform: ByteSize.reading(or: ByteSize.advice))
  var fileLengthLimit: ByteSize?

  @Flag(
    help: ArgumentHelp(
      "Encode in two passes, for better quality at the same size, if the encoder can, and encode parts again "
        + "if the rate is still missed."))
  var multiPass = false

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var faststart: FaststartOption

  @OptionGroup var overwriting: OverwriteOption

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var progressOption: ProgressOption

  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func validate() throws {
    if let fileLengthLimit, fileLengthLimit.bytes <= 0 {
      throw ValidationError("--file-length-limit must be more than 0 bytes.")
    }
  }

  func run() async throws {
    try await ExportRun(
      movie: movie, preset: preset, out: out, range: range, limit: fileLengthLimit?.bytes ?? 0,
      makesPasses: multiPass,
      isFastStart: !faststart.noFaststart, overwrites: overwriting.overwrite,
      progress: progressOption.progress
    ).perform()
  }

  private var range: CMTimeRange {
    part.range ?? CMTimeRange(start: .zero, duration: .positiveInfinity)
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
    case AVAssetExportPresetAppleM4A: return "the audio alone, AAC"
    case AVAssetExportPresetLowQuality: return "H.264, to send over a slow line"
    case AVAssetExportPresetMediumQuality: return "H.264, to send"
    case AVAssetExportPresetHighestQuality: return "H.264, in the movie's size"
    case AVAssetExportPresetHEVCHighestQuality: return "HEVC, in the movie's size"
    default:
      let codec = text.hasPrefix("HEVC") ? "HEVC" : "H.264"
      guard let size = AVAssetExportSession.ovtLargestSize(ofPreset: name) else { return codec }
      return "\(codec), at most \(size.width)x\(size.height)"
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
