// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Checks the paths of outputs before anything is decoded.
enum OutputCheck {
  /// Asks whether an existing file may be replaced. A user at a terminal is asked; a script, which
  /// must not wait for an answer, gets an error.
  /// - Parameters:
  ///   - path: the output.
  ///   - option: the option that names it, for messages.
  ///   - overwrites: the user has allowed it on the command line.
  /// - Returns: whether there is a file to replace.
  /// - Throws: a `Failure` if the file must not be replaced.
  static func mayReplace(_ path: String, option: String = "--out", overwrites: Bool) throws -> Bool {
    var fileStatus = stat()
    guard lstat(Destination.target(of: path), &fileStatus) == 0 else { return false }
    guard fileStatus.st_mode & S_IFMT == S_IFREG else {
      throw Failure(
        "'\(path)' is not a file that can be replaced; choose another name with \(option)", status: 64)
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

  /// Whether the path is that of a pipe, a socket or a device.
  static func isStream(_ path: String) -> Bool {
    var fileStatus = stat()
    guard stat(path, &fileStatus) == 0 else { return false }
    return [S_IFIFO, S_IFCHR, S_IFSOCK, S_IFBLK].contains(fileStatus.st_mode & S_IFMT)
  }

  /// Checks a second output of a run, such as a report: it must be writable, and neither the movie
  /// nor another output.
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
    let parent = folder(of: Destination.target(of: path))
    guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue else {
      throw Failure("the folder of \(option) '\(path)' does not exist; create it first, or choose another")
    }
    guard access(parent, W_OK) == 0 else {
      throw Failure(
        "cannot write \(option) '\(path)': \(Failure.advice(forSystemError: errno, option: option))")
    }
  }
}
