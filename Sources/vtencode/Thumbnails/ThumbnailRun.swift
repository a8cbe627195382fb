// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Makes the pictures that `vtencode thumbnails` was asked for.
struct ThumbnailRun {
  private let command: Thumbnails

  init(_ command: Thumbnails) { self.command = command }

  func perform() async throws {
    let names = Self.names(command.out, count: command.sheet == nil ? try plannedCount() : 1)
    var files: [AuxiliaryFile] = []
    // A number of pictures that depends on the duration is known only when the movie is open.
    if let names {
      files = try names.compactMap(auxiliaryFile)
    } else {
      try OutputCheck.check(command.out, option: "--out", others: [command.movie])
    }
    Interrupt.shared.watch()
    let source = try await MovieSource.open(command.movie, streamFrameRate: nil)
    try ResourceLimits.check(tracks: 1)
    try ResourceLimits.check(decoded: (source.width, source.height), encoded: nil, isDeep: source.isDeep)
    let times = try times(in: source)
    if names == nil {
      files = try (Self.names(command.out, count: times.count) ?? []).compactMap(auxiliaryFile)
    }
    let generator = AVAssetImageGenerator(asset: source.asset)
    generator.appliesPreferredTrackTransform = true
    // A time that was named is meant exactly. Where nothing can be decoded, as at the beginning of
    // a capture before its first key frame, the next picture is used.
    generator.requestedTimeToleranceBefore = .zero
    generator.requestedTimeToleranceAfter = .positiveInfinity
    let size = command.dimensions ?? (command.sheet == nil ? nil : Dimensions(width: 320, height: 320))
    if let size { generator.maximumSize = CGSize(width: size.width, height: size.height) }
    let type = ThumbnailFile.type(of: command.out) ?? "public.png"
    if let grid = command.sheet, let file = files.first {
      try file.write(try await sheet(grid, times, generator, source, type))
      return try Console.print(
        "\(command.out)  \(TextFormat.plural(times.count, "picture")) of '\(source.name)'\n")
    }
    for (index, time) in times.enumerated() where files.indices.contains(index) {
      let (image, actual) = try await picture(generator, at: time, source)
      try files[index].write(ThumbnailFile.data(image, type: type))
      try Console.print(
        "\(names?[index] ?? Self.names(command.out, count: times.count)?[index] ?? command.out)  "
          + "\(image.width)x\(image.height) at \(TextFormat.fixed(actual.seconds, 2)) s\n")
    }
  }

  private func auxiliaryFile(_ name: String) throws -> AuxiliaryFile? {
    try AuxiliaryFile(
      name, option: "--out", what: "picture", others: [command.movie],
      overwrites: command.overwriting.overwrite)
  }

  /// The number of pictures as far as the options say it; nil if it depends on the movie.
  private func plannedCount() throws -> Int? {
    if !command.at.isEmpty { return command.at.count }
    return command.every == nil ? command.count ?? 1 : nil
  }

  /// The names of the pictures: a number before the ending if there are several; nil if the number
  /// of pictures is not known.
  static func names(_ out: String, count: Int?) -> [String]? {
    guard let count else { return nil }
    guard count > 1 else { return [out] }
    let path = out as NSString
    let digits = max(String(count).count, 2)
    return (1...count).map { number in
      let text = String(number)
      return path.deletingPathExtension + "-" + String(repeating: "0", count: digits - text.count) + text
        + "."
        + path.pathExtension
    }
  }

  private func times(in source: MovieSource) throws -> [CMTime] {
    if !command.at.isEmpty {
      for time in command.at
      where time.time > .zero && source.duration.isNumeric && time.time >= source.duration {
        throw Failure(
          "--at \(TextFormat.fixed(time.seconds, 2)) lies after the end of '\(source.name)', which is "
            + "\(TextFormat.fixed(source.duration.seconds, 2)) s long", status: 64)
      }
      return command.at.map(\.time)
    }
    let part = command.part.range
    let whole = try part.map(source.part) ?? source
    guard let seconds = whole.expectedSeconds else {
      throw Failure("'\(source.name)' does not say how long it is; name times with --at", status: 64)
    }
    let start = part?.start.seconds ?? 0
    if let every = command.every {
      return try Self.times(every: every.seconds, from: start, seconds: seconds)
    }
    // Pictures from the middles of equal parts: beginnings and ends are often black.
    let count = command.sheet?.count ?? command.count ?? 1
    return (0..<count).map {
      CMTime(nearest: start + seconds * (Double($0) + 0.5) / Double(count), preferredTimescale: 90_000)
    }
  }

  /// The times of pictures at a constant distance.
  /// - Parameters:
  ///   - distance: the time between two pictures in seconds, more than 0.
  ///   - start: the time of the first picture in seconds.
  ///   - seconds: the duration of the part that they are taken from; a movie may state any.
  /// - Throws: a `Failure` if there would be more than `Thumbnails.maximum`.
  static func times(every distance: Double, from start: Double, seconds: Double) throws -> [CMTime] {
    let count = (seconds / distance).rounded(.up)
    // Compared before the conversion, which traps for numbers that an integer cannot hold.
    guard count <= Double(Thumbnails.maximum) else {
      throw Failure("--every \(distance) would give more than \(Thumbnails.maximum) pictures", status: 64)
    }
    return (0..<max(Int(count), 1)).map {
      CMTime(nearest: start + Double($0) * distance, preferredTimescale: 90_000)
    }
  }

  private func picture(
    _ generator: AVAssetImageGenerator, at time: CMTime, _ source: MovieSource
  ) async throws -> (CGImage, CMTime) {
    if Interrupt.shared.isRequested {
      throw Failure("interrupted; not all pictures were written", status: Interrupt.shared.status)
    }
    do {
      let result = try await generator.image(at: time)
      return (result.image, result.actualTime)
    } catch {
      throw Failure(
        "'\(source.name)' has no picture at \(TextFormat.fixed(time.seconds, 2)) s that can be read "
          + "(\(Failure.describe(error)))")
    }
  }

  private func sheet(
    _ grid: SheetGrid, _ times: [CMTime], _ generator: AVAssetImageGenerator, _ source: MovieSource,
    _ type: String
  ) async throws -> Data {
    var sheet: ContactSheet?
    for (number, time) in times.enumerated() {
      let (image, _) = try await picture(generator, at: time, source)
      let made = try sheet ?? ContactSheet(grid, width: image.width, height: image.height)
      made.draw(image, number: number)
      sheet = made
    }
    guard let sheet else { throw Failure("'\(source.name)' has no pictures") }
    return try ThumbnailFile.data(sheet.image(), type: type)
  }
}
