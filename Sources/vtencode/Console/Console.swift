// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// Writes to the terminal. Results go to standard output, unless the encoded stream goes there;
/// progress and errors go to standard error.
enum Console {
  /// Whether the last object of `--progress json` has been written.
  static var isConcluded: Bool { lock.withLock { concluded } }
  private static let lock = Lock()
  // Safe: `lock` guards it.
  nonisolated(unsafe) private static var concluded = false

  static func printError(_ message: String) {
    write("vtencode: \(oneLine(message))\n", to: STDERR_FILENO)
  }

  /// A message of the parser, which may have several lines, as one printable line.
  static func oneLine(_ message: String) -> String {
    printable(
      message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        .joined(separator: " "))
  }

  static func note(_ message: String) {
    write(printable(message) + "\n", to: STDERR_FILENO)
  }

  /// A text without control characters, except for newlines and tabs, so that names and texts from
  /// files cannot send escape sequences to the terminal.
  static func printable(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
      scalars.append(isControl ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }

  /// Writes an object as JSON on one line of standard error.
  static func note(json object: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(object) else { return }
    write(String(decoding: data, as: UTF8.self) + "\n", to: STDERR_FILENO)
  }

  /// Writes the last object of a run.
  static func conclude(_ event: some LastEvent) {
    lock.withLock { concluded = true }
    note(json: event)
  }

  /// Writes a result to standard output.
  /// - Throws: a `Failure` if it cannot be written.
  static func print(_ text: String) throws {
    guard write(text, to: STDOUT_FILENO) else {
      let reason = errno == ENOSPC ? "the disk is full" : Failure.advice(forSystemError: errno)
      throw Failure("cannot write to standard output: \(reason)")
    }
  }

  /// Writes a text to a descriptor.
  /// - Returns: false if that failed; `errno` says why.
  @discardableResult
  static func write(_ text: String, to descriptor: Int32) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      bytes = bytes.dropFirst(count)
    }
    return true
  }

  static var standardErrorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
  static var standardOutputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// The columns of the terminal on standard error; 80 if unknown.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The columns for text on standard output: those of the terminal, from 30 to 100; 100 if
  /// unknown.
  static var width: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
    return min(max(Int(size.ws_col) - 1, 30), 100)
  }
}
