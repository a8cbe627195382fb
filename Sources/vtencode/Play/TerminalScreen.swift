// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Shows a movie in a terminal, with two pixels in each character cell.
final class TerminalScreen: PlayScreen, @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let session: PlaySession
  private let lock = NSLock()
  /// Held while a picture is written, so that none is written after the terminal has been restored.
  private let output = NSLock()
  private var blocks: ColorBlocks
  private var current: CVPixelBuffer?
  private var rotator: PictureRotator?
  private var errors: [Double] = []
  private var isOpen = true
  private let keys: TerminalKeys?

  init(_ session: PlaySession) throws {
    self.session = session
    let colors = ProcessInfo.processInfo.environment["COLORTERM"] ?? ""
    blocks = ColorBlocks(isTrueColor: ["truecolor", "24bit"].contains(colors.lowercased()))
    keys = TerminalKeys { [weak session] in session?.post($0) }
    // Switches to the alternate screen, which preserves the user's text, and hides the cursor.
    guard Console.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J", to: STDOUT_FILENO) else {
      throw Failure("cannot write to standard output: \(Failure.advice(forSystemError: errno))")
    }
    session.layer.frameHandler = { [weak self] image, time in
      if let image { self?.show(image, time) }
    }
  }

  /// Called on the layer's queue when the picture is due. A slow terminal delays the next pictures,
  /// which are then dropped.
  private func show(_ image: CVPixelBuffer, _ time: CMTime) {
    let size = Self.size()
    let text = lock.withLock { () -> String? in
      guard isOpen else { return nil }
      let image = upright(image)
      current = image
      return blocks.text(
        for: image, displaySize: CVImageBufferGetDisplaySize(image), columns: size.columns,
        rows: size.rows - 1)
    }
    guard let text else { return }
    let line = "\u{1B}[\(size.rows);1H\u{1B}[0m\u{1B}[2K\(session.clock)"
    let isWritten = output.withLock { () -> Bool? in
      lock.withLock({ isOpen }) ? Console.write(text + line, to: STDOUT_FILENO) : nil
    }
    guard let isWritten else { return }
    guard isWritten else { return session.post(.quit) }
    let late = (session.item.currentTime() - time).seconds / Double(max(session.player.rate, 0.1))
    if session.player.rate > 0, late.isFinite { lock.withLock { errors.append(late) } }
    session.shown(time)
  }

  /// Rotates a picture upright; if that fails, shows it as it is.
  private func upright(_ image: CVPixelBuffer) -> CVPixelBuffer {
    let turn = PictureRotation(session.layer.content.transform)
    if turn != rotator?.turn { rotator = turn.map(PictureRotator.init) }
    return (try? rotator?.upright(image)) ?? image
  }

  /// The terminal's size in cells, at most 1000 by 500; 80 by 24 if it is unknown.
  static func size() -> (columns: Int, rows: Int) {
    var size = winsize()
    if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1, size.ws_row > 1 {
      return (min(Int(size.ws_col), 1000), min(Int(size.ws_row), 500))
    }
    return (80, 24)
  }

  var result: (shown: Int, dropped: Int, errors: [Double], note: String) {
    let counts = session.layer.ovtPictureCounts
    let colors = lock.withLock { blocks.isTrueColor } ? "24-bit colours" : "256 colours"
    return (counts.shown, counts.dropped, lock.withLock { errors }, "terminal, \(colors)")
  }

  var isFullScreen: Bool { false }
  func setFullScreen(_ isFull: Bool) {}
  func update() {}

  /// The picture that was shown last, at its own size.
  func snapshot() throws -> CVPixelBuffer {
    guard let current = lock.withLock({ current }) else {
      throw Failure("no frame was shown, so there is no snapshot")
    }
    return current
  }

  func close() {
    let wasOpen = lock.withLock {
      defer { isOpen = false }
      return isOpen
    }
    guard wasOpen else { return }
    keys?.close()
    output.withLock {}
    Console.write("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
  }
}
