import Foundation

/// Where a person reads. Results go to standard output unless the stream itself goes there;
/// progress and complaints go to standard error.
enum Console {
  static func complain(_ message: String) {
    // The parser's messages may span lines; one line is promised.
    let line = message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
      .joined(separator: " ")
    write("vtencode: \(line)\n", to: STDERR_FILENO)
  }

  static func note(_ message: String) {
    write(message + "\n", to: STDERR_FILENO)
  }

  static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      // Nobody reads; there is no one left to tell.
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  static var standardErrorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Columns of the terminal on standard error; 80 when it does not say.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
