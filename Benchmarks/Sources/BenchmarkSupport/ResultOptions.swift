// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// Options for the files that tables are written to in addition to standard output. All tools have
/// them.
public struct ResultOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write the tables as Markdown.", valueName: "file"))
  public var markdown: String?

  @Option(help: ArgumentHelp("Write every row as comma-separated values.", valueName: "file"))
  public var csv: String?

  public init() {}
}

/// Prints tables as they are added, and writes them to the files of ``ResultOptions``.
public final class ResultPrinter {
  private let options: ResultOptions
  private var tables: [ResultTable] = []

  public init(_ options: ResultOptions) { self.options = options }

  /// Prints a table at once. The files are rewritten each time, so an interrupted run leaves the
  /// tables that it has finished.
  public func add(_ table: ResultTable) throws {
    tables.append(table)
    FileHandle.standardOutput.write(Data(table.text.utf8))
    if let path = options.markdown {
      try write(tables.map(\.markdown).joined(separator: "\n"), to: path)
    }
    if let path = options.csv { try write(tables.map(\.csv).joined(), to: path) }
  }

  private func write(_ text: String, to path: String) throws {
    do {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    } catch {
      throw BenchmarkError(description: "cannot write '\(path)': \(error.localizedDescription)")
    }
  }
}

/// Options for the clips that a tool measures. All tools have them.
public struct ClipOptions: ParsableArguments {
  @Argument(help: "Files that libavformat reads (Y4M too), or folders of such files.")
  public var clips: [String] = []

  @Option(help: ArgumentHelp("Most frames of a clip to take.", valueName: "n"))
  public var frames: Int = 300

  @Option(help: ArgumentHelp("Halve width and height so many times.", valueName: "n"))
  public var halves: Int = 0

  public init() {}

  public func validate() throws {
    guard frames >= 2 else { throw ValidationError("--frames must be 2 or more.") }
    guard (0...4).contains(halves) else { throw ValidationError("--halves must be from 0 to 4.") }
  }

  /// All files. Files in folders are sorted by name.
  public func files() throws -> [String] { try clips.flatMap(ClipFiles.list) }

  /// Reads the pictures of a file.
  public func pictures(_ path: String) throws -> ClipPictures {
    try ClipPictures(path: path, frames: frames, halves: halves)
  }
}
