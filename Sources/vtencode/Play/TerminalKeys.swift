// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads single keys from the terminal without echo. It opens /dev/tty, because the movie may come
/// through standard input.
final class TerminalKeys: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let descriptor: Int32
  private var before: termios
  private let lock = NSLock()
  private var isOpen = true
  private let source: any DispatchSourceRead

  /// Nil if there is no terminal.
  init?(_ handler: @escaping @Sendable (PlayCommand) -> Void) {
    descriptor = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    before = termios()
    guard descriptor >= 0 else { return nil }
    guard tcgetattr(descriptor, &before) == 0 else {
      _ = Foundation.close(descriptor)
      return nil
    }
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    _ = tcsetattr(descriptor, TCSANOW, &raw)
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "keys"))
    let descriptor = descriptor
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return }
      for command in Self.commands(bytes.prefix(count)) { handler(command) }
    }
    source.setCancelHandler { _ = Foundation.close(descriptor) }
    source.resume()
  }

  deinit { close() }

  /// Restores the terminal's settings.
  func close() {
    let wasOpen = lock.withLock {
      defer { isOpen = false }
      return isOpen
    }
    guard wasOpen else { return }
    _ = tcsetattr(descriptor, TCSANOW, &before)
    source.cancel()
  }

  static func commands(_ bytes: some Sequence<UInt8>) -> [PlayCommand] {
    var commands: [PlayCommand] = []
    var rest = Array(bytes)[...]
    while let byte = rest.popFirst() {
      if byte == 0x1B, rest.first == UInt8(ascii: "["), rest.count >= 2 {
        rest.removeFirst()
        switch rest.removeFirst() {
        case UInt8(ascii: "A"): commands.append(.louder)
        case UInt8(ascii: "B"): commands.append(.softer)
        case UInt8(ascii: "C"): commands.append(.forward)
        case UInt8(ascii: "D"): commands.append(.back)
        default: break
        }
        continue
      }
      switch byte {
      case UInt8(ascii: " "): commands.append(.toggle)
      case UInt8(ascii: "."): commands.append(.stepForward)
      case UInt8(ascii: ","): commands.append(.stepBack)
      case UInt8(ascii: "q"), 0x1B: commands.append(.quit)
      default: break
      }
    }
    return commands
  }
}
