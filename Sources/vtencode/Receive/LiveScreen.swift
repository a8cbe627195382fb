// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import OpenVideoToolboxDisplay

/// A window or terminal that shows pictures as soon as they are received.
final class LiveScreen {
  enum Kind: Sendable {
    case window(isFullScreen: Bool)
    case terminal
  }

  private let kind: Kind
  var isTerminal: Bool { terminal != nil }
  var isWindow: Bool { terminal == nil }
  private let end: @Sendable () -> Void
  private let layer = AVSampleBufferDisplayLayer()
  private var window: OVTDisplayWindow?
  private var terminal: LiveTerminal?
  private var format: CMVideoFormatDescription?
  private var last: CVPixelBuffer?
  private var given = 0
  /// The number of pictures for which the layer had no room.
  private var skipped = 0

  /// - Parameters:
  ///   - kind: a window or the terminal.
  ///   - end: is called from another thread when the user quits.
  /// - Throws: a `Failure` if there is no screen, or the terminal cannot be written to.
  init(_ kind: Kind, end: @escaping @Sendable () -> Void) throws {
    (self.kind, self.end) = (kind, end)
    switch kind {
    case .window: try Self.checkScreen()
    case .terminal: terminal = try LiveTerminal(layer, end: end)
    }
  }

  /// Checks that there is a screen, before the call begins. Other problems show when the window
  /// opens with the first picture.
  private static func checkScreen() throws {
    #if !Display
      throw Failure(
        "this build has no windows; build it with its trait Display, or take --terminal or --web")
    #else
      let environment = ProcessInfo.processInfo.environment
      guard
        !["DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"].contains(where: {
          environment[$0]?.isEmpty == false
        })
      else { return }
      throw Failure(
        "there is no screen (neither DISPLAY nor WAYLAND_DISPLAY is set); --terminal shows it in a terminal, --web in a browser"
      )
    #endif
  }

  /// Shows a picture. It replaces a picture that has not been shown yet.
  /// - Throws: a `Failure` if the window cannot be opened.
  func show(_ picture: CVPixelBuffer) throws {
    if case .window(let isFullScreen) = kind, window == nil {
      try open(CVImageBufferGetDisplaySize(picture), isFullScreen)
    }
    last = picture
    guard layer.isReadyForMoreMediaData, let sample = sample(picture) else {
      skipped += 1
      return
    }
    given += 1
    layer.enqueue(sample)
  }

  /// Opens the window, with the size of the first picture.
  private func open(_ size: CGSize, _ isFullScreen: Bool) throws {
    do {
      let window = try OVTDisplayWindow(
        title: "vtencode receive", width: Int(clamping: Double(size.width)),
        height: Int(clamping: Double(size.height)))
      let end = end
      window.eventHandler = { [weak window] event in
        switch event {
        case .closeRequest, .key(.escape), .key(.character("q")): end()
        case .key(.character("f")): window?.isFullScreen.toggle()
        default: break
        }
      }
      window.attach(layer)
      if isFullScreen { window.isFullScreen = true }
      self.window = window
    } catch let error as OVTDisplayError {
      throw Failure(
        "cannot open a window: \(error.reason); --terminal shows it in a terminal, --web in a browser")
    }
  }

  private func sample(_ picture: CVPixelBuffer) -> CMSampleBuffer? {
    if let known = format, !CMVideoFormatDescriptionMatchesImageBuffer(known, imageBuffer: picture) {
      format = nil
    }
    if format == nil {
      CMVideoFormatDescriptionCreateForImageBuffer(
        allocator: nil, imageBuffer: picture, formatDescriptionOut: &format)
    }
    guard let format else { return nil }
    var timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: CMClockGetTime(CMClockGetHostTimeClock()),
      decodeTimeStamp: .invalid)
    var sample: CMSampleBuffer?
    CMSampleBufferCreateReadyWithImageBuffer(
      allocator: nil, imageBuffer: picture, formatDescription: format, sampleTiming: &timing,
      sampleBufferOut: &sample)
    guard let sample else { return nil }
    let attachments = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: true)
    (attachments?.firstObject as? NSMutableDictionary)?
      .setObject(NSNumber(value: true), forKey: kCMSampleAttachmentKey_DisplayImmediately)
    return sample
  }

  /// Writes what is shown, after the last picture has been shown.
  /// - Throws: a `Failure` if no picture came or the file cannot be written.
  func snapshot(to file: AuxiliaryFile) throws {
    guard let last else { throw Failure("no picture came, so there is no snapshot") }
    waitUntilShown()
    do {
      try file.write(SnapshotFile.data(window?.snapshot() ?? last))
    } catch let error as OVTDisplayError {
      throw Failure(error.reason)
    }
  }

  private func waitUntilShown() {
    for _ in 0..<400 where !Interrupt.shared.isRepeated {
      let counts = layer.ovtPictureCounts
      if counts.shown + counts.dropped >= given { break }
      usleep(5000)
    }
  }

  /// Closes the window, or restores the terminal.
  /// - Returns: the numbers of pictures that were shown, and of those that were dropped.
  func close() -> (shown: Int, dropped: Int) {
    waitUntilShown()
    window?.close()
    terminal?.close()
    let counts = layer.ovtPictureCounts
    return (counts.shown, counts.dropped + skipped)
  }
}

/// Shows a layer's pictures in the terminal as coloured blocks.
private final class LiveTerminal: @unchecked Sendable {
  // Sendable: `condition` guards the mutable state. Nothing is written after the terminal has been
  // restored; a picture that is being written is waited for.
  private let condition = MonotonicCondition()
  private var isWriting = false
  private var blocks: ColorBlocks
  private var isOpen = true
  private var keys: TerminalKeys?

  init(_ layer: AVSampleBufferDisplayLayer, end: @escaping @Sendable () -> Void) throws {
    let colors = ProcessInfo.processInfo.environment["COLORTERM"] ?? ""
    blocks = ColorBlocks(isTrueColor: ["truecolor", "24bit"].contains(colors.lowercased()))
    guard Console.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J", to: STDOUT_FILENO) else {
      throw Failure("cannot write to standard output: \(Failure.advice(forSystemError: errno))")
    }
    keys = TerminalKeys { if case .quit = $0 { end() } }
    layer.frameHandler = { [weak self] image, _ in
      if let self, let image, !write(image) { end() }
    }
  }

  /// Writes a picture.
  /// - Returns: false if the terminal cannot be written to.
  private func write(_ image: CVPixelBuffer) -> Bool {
    let mayGo = condition.withLock {
      while isWriting { condition.wait() }
      isWriting = isOpen
      return isWriting
    }
    guard mayGo else { return true }
    defer {
      condition.withLock {
        isWriting = false
        condition.broadcast()
      }
    }
    let size = TerminalScreen.size()
    return Console.write(
      blocks.text(
        for: image, displaySize: CVImageBufferGetDisplaySize(image), columns: size.columns, rows: size.rows),
      to: STDOUT_FILENO)
  }

  /// Restores the terminal. A stopped or disconnected terminal blocks writing, so this waits for at
  /// most a second.
  func close() {
    let end = SessionTime.now + 1
    let isMine = condition.withLock {
      while isWriting { guard condition.wait(untilSessionTime: end) else { return false } }
      defer { isOpen = false }
      return isOpen
    }
    guard isMine else { return }
    keys?.close()
    Console.write("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
  }
}
