// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
#endif
import Foundation

/// A window on the screen that shows a layer's pictures, each at its time on the layer's time line.
///
/// Pictures are brought to the screen's memory before they are due, as they are where SDL can convert them (8 bits,
/// 4:2:0, BT.601 or video-range BT.709), and what comes too late is left out. Functions may be called from any thread.
public final class OVTDisplayWindow: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public typealias EventHandler = @Sendable (OVTDisplayEvent) -> Void

  private let lock = NSLock()
  private var attached: AVSampleBufferDisplayLayer?
  /// Whose content that is.
  private var holder: AVPlayerLayer?
  private var handler: EventHandler?
  private var figures = OVTDisplayStatistics()
  private var isFull = false
  private var isClosed = false
  /// What the layer had counted when it was attached.
  private var before = (shown: 0, dropped: 0)
  #if Display
    private var renderer: WindowRenderer?
  #endif

  /// Opens a window.
  ///
  /// Of the parameters:
  ///
  /// - `width`, `height`: In the screen's points, from 1 to 16384.
  /// - Throws: `OVTDisplayError`, if there is no screen or no SDL.
  public init(title: String, width: Int, height: Int) throws {
    #if Display
      let library = try SDLLibrary.load()
      let made = WindowRenderer(
        library, owner: self, title: title, width: min(max(width, 1), 16384),
        height: min(max(height, 1), 16384))
      renderer = made
      try DisplayThread.shared.perform { try $0.add(made, library) }
    #else
      throw OVTDisplayError(
        .notBuilt,
        "this build has no windows; build the package with its trait Display (it needs libsdl2-dev)")
    #endif
  }

  deinit { close() }

  // MARK: - What is shown

  /// Shows a layer's pictures in place of what was shown before.
  public func attach(_ layer: AVSampleBufferDisplayLayer) { attach(layer, of: nil) }

  /// Shows a player's pictures in place of what was shown before.
  public func attach(_ layer: AVPlayerLayer) { attach(layer.content, of: layer) }

  private func attach(_ layer: AVSampleBufferDisplayLayer, of player: AVPlayerLayer?) {
    let (old, _) = lock.withLock { () -> (AVSampleBufferDisplayLayer?, AVPlayerLayer?) in
      defer { (attached, holder) = (layer, player) }
      before = layer.ovtPictureCounts
      return (attached, holder)
    }
    old?.removePresenter(self)
    layer.setPresenter(self)
  }

  var layer: AVSampleBufferDisplayLayer? { lock.withLock { attached } }

  /// A bar along the lower edge, with a time in digits.
  ///
  /// Of the parameters:
  ///
  /// - `fraction`: How far the bar is filled, from 0 to 1; nil: not at all.
  /// - `text`: Digits, `:`, `.`, `/` and spaces. Both are asked whenever the window is drawn, on a thread of its own.
  public func setProgressBar(
    fraction: @escaping @Sendable () -> Double?, text: @escaping @Sendable () -> String
  ) {
    #if Display
      onRenderer { $0.setOverlay(ClockOverlay(fraction: fraction, text: text)) }
    #endif
  }

  public func removeProgressBar() {
    #if Display
      onRenderer { $0.setOverlay(nil) }
    #endif
  }

  /// Draws the window anew, as after a change of what the progress bar shows.
  public func setNeedsDisplay() {
    #if Display
      onRenderer { $0.redraw() }
    #endif
  }

  public var isFullScreen: Bool {
    get { lock.withLock { isFull } }
    set {
      lock.withLock { isFull = newValue }
      #if Display
        onRenderer { $0.setFullScreen(newValue) }
      #endif
    }
  }

  public func setTitle(_ title: String) {
    #if Display
      onRenderer { $0.setTitle(title) }
    #endif
  }

  /// What the window shows now, as 32BGRA in the pixels of the screen.
  public func snapshot() throws -> CVPixelBuffer {
    #if Display
      if let renderer = lock.withLock({ isClosed ? nil : renderer }) {
        return try DisplayThread.shared.perform { _ in try renderer.snapshot() }
      }
    #endif
    throw OVTDisplayError(.windowClosed, "the window is closed")
  }

  /// Takes the window away, and returns when it has gone (or after two seconds, if a handler of the program's is at work
  /// all that time). The layer is let go. A window is best closed before the process ends.
  public func close() {
    // Nothing is let go under the lock.
    let (old, _) = lock.withLock { () -> (AVSampleBufferDisplayLayer?, AVPlayerLayer?) in
      defer { (attached, holder, isClosed) = (nil, nil, true) }
      figures = counted()
      return (attached, holder)
    }
    old?.removePresenter(self)
    #if Display
      let open = lock.withLock {
        defer { renderer = nil }
        return renderer
      }
      if let open { DisplayThread.shared.remove(open) }
    #endif
  }

  // MARK: - What happens

  /// Hears of keys, clicks and the wish to close the window, on the display's thread: what takes long belongs elsewhere.
  @preconcurrency public var eventHandler: EventHandler? {
    get { lock.withLock { handler } }
    set { lock.withLock { handler = newValue } }
  }

  func tell(_ event: OVTDisplayEvent) { eventHandler?(event) }

  /// How pictures have come to the screen so far.
  public var statistics: OVTDisplayStatistics { lock.withLock { counted() } }

  private func counted() -> OVTDisplayStatistics {
    var result = figures
    if let attached {
      let now = attached.ovtPictureCounts
      result.shown = now.shown - before.shown
      result.dropped = now.dropped - before.dropped
    }
    return result
  }

  func note(_ change: (inout OVTDisplayStatistics) -> Void) { lock.withLock { change(&figures) } }

  #if Display
    private func onRenderer(_ body: @escaping @Sendable (WindowRenderer) -> Void) {
      guard let renderer = lock.withLock({ isClosed ? nil : renderer }) else { return }
      DisplayThread.shared.post { body(renderer) }
    }
  #endif
}

extension OVTDisplayWindow: PicturePresenter {
  package func picturesChanged() {
    #if Display
      DisplayThread.shared.wake()
    #endif
  }

  package func pictureRemoved() {
    #if Display
      onRenderer { $0.clear() }
    #endif
  }
}
