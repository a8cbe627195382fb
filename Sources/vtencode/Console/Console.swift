// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// Where a person reads. Results go to standard output unless the stream itself goes there;
/// progress and complaints go to standard error.
enum Console {
  /// The object of `--progress json` that says what came of the run is written.
  static var isConcluded: Bool { lock.withLock { concluded } }
  private static let lock = Lock()
  // Safe: `lock` guards it.
  nonisolated(unsafe) private static var concluded = false

  static func complain(_ message: String) {
    write("vtencode: \(oneLine(message))\n", to: STDERR_FILENO)
  }

  /// The parser's messages may span lines; one line is promised.
  static func oneLine(_ message: String) -> String {
    printable(
      message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        .joined(separator: " "))
  }

  static func note(_ message: String) {
    write(printable(message) + "\n", to: STDERR_FILENO)
  }

  /// Names and texts from elsewhere do not command a person's terminal: control characters but ends of lines and
  /// tabulators are replaced.
  static func printable(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
      scalars.append(isControl ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }

  /// An object on one line, for programs.
  static func note(json object: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(object) else { return }
    write(String(decoding: data, as: UTF8.self) + "\n", to: STDERR_FILENO)
  }

  /// The last object of a run.
  static func conclude(_ event: some LastEvent) {
    lock.withLock { concluded = true }
    note(json: event)
  }

  /// Writes what was asked for to standard output; throws if it does not arrive.
  static func print(_ text: String) throws {
    guard write(text, to: STDOUT_FILENO) else {
      let reason = errno == ENOSPC ? "the disk is full" : Failure.advice(forSystemError: errno)
      throw Failure("cannot write to standard output: \(reason)")
    }
  }

  /// - Returns: False if nobody takes it; `errno` says why.
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

  /// Columns of the terminal on standard error; 80 when it does not say.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Columns for text on standard output: those of the terminal, at most 100.
  static var width: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
    return min(max(Int(size.ws_col) - 1, 30), 100)
  }
}
