// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// A movie in a terminal: two pixels in each cell, one above the other.
final class TerminalScreen: PlayScreen, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let session: PlaySession
  private let lock = NSLock()
  /// Held while a picture is written, so that none is once the terminal was given back.
  private let output = NSLock()
  private var blocks: ColorBlocks
  private var current: CVPixelBuffer?
  private var errors: [Double] = []
  private var isOpen = true
  private let keys: TerminalKeys?

  init(_ session: PlaySession) throws {
    self.session = session
    let colors = ProcessInfo.processInfo.environment["COLORTERM"] ?? ""
    blocks = ColorBlocks(isTrueColor: ["truecolor", "24bit"].contains(colors.lowercased()))
    keys = TerminalKeys { [weak session] in session?.post($0) }
    // Another screen than the one with the person's work, and no cursor.
    guard Console.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J", to: STDOUT_FILENO) else {
      throw Failure("cannot write to standard output: \(Failure.advice(forSystemError: errno))")
    }
    session.layer.frameHandler = { [weak self] image, time in
      if let image { self?.show(image, time) }
    }
  }

  /// On the layer's queue, when the picture is due. A terminal that is slow makes the next ones late, and they are dropped.
  private func show(_ image: CVPixelBuffer, _ time: CMTime) {
    let size = Self.size()
    let text = lock.withLock { () -> String? in
      guard isOpen else { return nil }
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

  /// The terminal's size; that of the first ones where it does not say.
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

  /// The picture itself.
  func snapshot() throws -> CVPixelBuffer {
    guard let current = lock.withLock({ current }) else {
      throw Failure("no frame was shown, and so no snapshot")
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

/// Pictures as text: half blocks in colours.
struct ColorBlocks {
  let isTrueColor: Bool
  private var converter: VTPixelTransferSession?
  private var small: CVPixelBuffer?

  init(isTrueColor: Bool) { self.isTrueColor = isTrueColor }

  /// The picture in the middle of so many cells, from the upper left corner of the terminal on.
  mutating func text(for image: CVPixelBuffer, displaySize: CGSize, columns: Int, rows: Int) -> String {
    let (width, height) = Self.fit(displaySize, columns: columns, rows: rows)
    if small.map({ CVPixelBufferGetWidth($0) != width || CVPixelBufferGetHeight($0) != height }) ?? true {
      small = nil
      CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_32BGRA, nil, &small)
    }
    if converter == nil { VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &converter) }
    guard let converter, let small,
      VTPixelTransferSessionTransferImage(converter, from: image, to: small) == noErr
    else { return "" }
    CVPixelBufferLockBaseAddress(small, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(small, .readOnly) }
    guard let base = CVPixelBufferGetBaseAddress(small) else { return "" }
    let pixels = base.assumingMemoryBound(to: UInt8.self)
    let stride = CVPixelBufferGetBytesPerRow(small)
    let (left, top) = ((columns - width) / 2, (rows - height / 2) / 2)
    var text = ""
    text.reserveCapacity(width * height * 12)
    for row in 0..<height / 2 {
      text += "\u{1B}[\(top + row + 1);\(left + 1)H"
      var last = (upper: -1, lower: -1)
      for column in 0..<width {
        let upper = color(pixels + row * 2 * stride + column * 4)
        let lower = color(pixels + (row * 2 + 1) * stride + column * 4)
        if upper != last.upper { text += code(38, upper) }
        if lower != last.lower { text += code(48, lower) }
        last = (upper, lower)
        text += "\u{2580}"
      }
      text += "\u{1B}[0m"
    }
    return text
  }

  /// Pixels, of which two make a cell; the number of rows is even.
  static func fit(_ size: CGSize, columns: Int, rows: Int) -> (width: Int, height: Int) {
    let (columns, lines) = (max(1, columns), max(1, rows) * 2)
    guard size.width > 0, size.height > 0 else { return (columns, lines) }
    let scale = min(Double(columns) / Double(size.width), Double(lines) / Double(size.height))
    let width = min(columns, max(1, Int((Double(size.width) * scale).rounded())))
    let height = min(lines, max(2, Int((Double(size.height) * scale / 2).rounded()) * 2))
    return (width, height)
  }

  private func color(_ pixel: UnsafePointer<UInt8>) -> Int {
    let (blue, green, red) = (Int(pixel[0]), Int(pixel[1]), Int(pixel[2]))
    return isTrueColor ? red << 16 | green << 8 | blue : Self.indexed(red, green, blue)
  }

  private func code(_ layer: Int, _ color: Int) -> String {
    isTrueColor
      ? "\u{1B}[\(layer);2;\(color >> 16);\(color >> 8 & 255);\(color & 255)m" : "\u{1B}[\(layer);5;\(color)m"
  }

  /// The nearest of xterm's 256 colours: a cube of six steps each, and 24 greys.
  static func indexed(_ red: Int, _ green: Int, _ blue: Int) -> Int {
    let steps = [0, 95, 135, 175, 215, 255]
    func nearest(_ value: Int) -> Int {
      value < 48 ? 0 : value < 115 ? 1 : min(5, (value - 35) / 40)
    }
    let cube = (nearest(red), nearest(green), nearest(blue))
    let grey = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
    let level = 8 + grey * 10
    func distance(_ r: Int, _ g: Int, _ b: Int) -> Int {
      (r - red) * (r - red) + (g - green) * (g - green) + (b - blue) * (b - blue)
    }
    let ofCube = distance(steps[cube.0], steps[cube.1], steps[cube.2])
    return distance(level, level, level) < ofCube
      ? 232 + grey : 16 + 36 * cube.0 + 6 * cube.1 + cube.2
  }
}
