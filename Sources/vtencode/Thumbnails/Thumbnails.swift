// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation

struct Thumbnails: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes pictures of a movie as PNG, JPEG or HEIC: single ones, or a contact sheet.",
    discussion: """
      Uses AVAssetImageGenerator. Pictures are upright, have square pixels, and are converted to sRGB. Several \
      pictures get a number before the ending of --out, such as shot-01.png.

      Examples:
        vtencode thumbnails holiday.mov --at 1:30 --out shot.png
        vtencode thumbnails holiday.mov --count 8 --dimensions 320 180 --out shot.jpg
        vtencode thumbnails holiday.mov --every 10 --start 1:00 --end 2:00 --out minute.png
        vtencode thumbnails holiday.mov --sheet 4x3 --out sheet.heic

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @Argument(help: "The movie, or - for standard input.", completion: .file())
  var movie: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Where to write: a .png, .jpg, .jpeg or .heic file.", valueName: "file"),
    completion: .file())
  var out: String

  @Option(
    help: ArgumentHelp(
      "The time of a picture: seconds, m:ss or h:mm:ss. Can be given several times.", valueName: "time"),
    transform: ClockTime.reading(or: ClockTime.advice))
  var at: [ClockTime] = []

  @Option(help: ArgumentHelp("This many pictures, evenly distributed. (default: 1)", valueName: "n"))
  var count: Int?

  @Option(
    help: ArgumentHelp("A picture each time that so much time has passed.", valueName: "time"),
    transform: ClockTime.reading(or: ClockTime.advice))
  var every: ClockTime?

  @Option(
    help: ArgumentHelp(
      "One picture with columns and rows of pictures, evenly distributed, such as 4x3.", valueName: "CxR"),
    transform: SheetGrid.reading(or: SheetGrid.advice))
  var sheet: SheetGrid?

  @Option(
    help: ArgumentHelp(
      "The largest width and height of a picture, which keeps its aspect ratio. (default: the movie's; in a "
        + "sheet 320x320)", valueName: "w h"),
    transform: Dimensions.reading(or: Dimensions.advice))
  var dimensions: Dimensions?

  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var part: RangeOptions

  @OptionGroup var overwriting: OverwriteOption

  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  /// The largest number of pictures in a run.
  static let maximum = 10_000

  func validate() throws {
    try dimensions?.validate()
    let ways = [
      at.isEmpty ? nil : "--at", count == nil ? nil : "--count", every == nil ? nil : "--every",
      sheet == nil ? nil : "--sheet",
    ].compactMap(\.self)
    guard ways.count < 2 else {
      throw ValidationError("\(ways[0]) and \(ways[1]) exclude each other; give one of them.")
    }
    if let name = part.givenName, !at.isEmpty {
      throw ValidationError("--at cannot be combined with \(name).")
    }
    try checkRange("--count", count, in: 1...Self.maximum)
    guard at.count <= Self.maximum else { throw ValidationError("--at can be given \(Self.maximum) times.") }
    if let every, every.seconds < 0.001 { throw ValidationError("--every must be at least 0.001 seconds.") }
    guard ThumbnailFile.type(of: out) != nil else {
      throw ValidationError("--out must have the extension \(ThumbnailFile.endings).")
    }
  }

  func run() async throws { try await ThumbnailRun(self).perform() }
}

extension Thumbnails: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    Sandbox.Needs(reading: try Sandbox.paths(ofMovie: movie), writing: Sandbox.folders(of: out))
  }
}

/// The columns and rows of a contact sheet, written `4x3`.
struct SheetGrid: ExpressibleByArgument, Sendable, Equatable {
  static let advice = "it takes columns and rows from 1 to 50, such as 4x3"

  var columns: Int
  var rows: Int
  var count: Int { columns * rows }

  init?(argument: String) {
    guard let size = Dimensions(argument: argument), (1...50).contains(size.width),
      (1...50).contains(size.height)
    else { return nil }
    (columns, rows) = (size.width, size.height)
  }
}
