// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Whether what a run is to write may be written, asked before anything is decoded.
enum OutputCheck {
  /// An existing file is not replaced unless that was asked for: a movie that a slip of the fingers destroyed took hours
  /// to make. A person at a terminal is asked; a script, which must not hang, gets an error.
  /// - Returns: Whether there is something to replace.
  static func mayReplace(_ path: String, option: String = "--out", overwrites: Bool) throws -> Bool {
    var facts = stat()
    guard lstat(Destination.target(of: path), &facts) == 0 else { return false }
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw Failure(
        "'\(path)' is no file that can be replaced; choose another name with \(option)", status: 64)
    }
    if overwrites { return true }
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      throw Failure("'\(path)' exists; replace it with --overwrite, or choose another name with \(option)")
    }
    Console.write("'\(path)' exists. Replace it? [y/N] ", to: STDERR_FILENO)
    let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased() ?? ""
    guard answer == "y" || answer == "yes" else {
      throw Failure("'\(path)' is left as it is; choose another name with \(option)")
    }
    return true
  }

  /// Whether the name is that of a pipe or a device.
  static func isStream(_ path: String) -> Bool {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return false }
    return [S_IFIFO, S_IFCHR, S_IFSOCK, S_IFBLK].contains(facts.st_mode & S_IFMT)
  }

  /// A second file of a run, such as a report: writable, and neither the movie nor another output.
  static func check(_ path: String?, option: String, others: [String?]) throws {
    guard let path else { return }
    guard !path.isEmpty else { throw Failure("\(option) has no name; give a file name", status: 64) }
    for case let other? in others where path == other || Destination.areSameFile(path, other) {
      throw Failure("\(option) '\(path)' is the movie or another output; choose another name", status: 64)
    }
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw Failure("\(option) '\(path)' is a folder; give a file name")
    }
    if isStream(path) {
      guard access(path, W_OK) == 0 else {
        throw Failure(
          "cannot write \(option) '\(path)': \(Failure.advice(forSystemError: errno, option: option))")
      }
      return
    }
    let place = folder(of: Destination.target(of: path))
    guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder), isFolder.boolValue else {
      throw Failure("the folder of \(option) '\(path)' does not exist; create it first, or choose another")
    }
    guard access(place, W_OK) == 0 else {
      throw Failure(
        "cannot write \(option) '\(path)': \(Failure.advice(forSystemError: errno, option: option))")
    }
  }
}
