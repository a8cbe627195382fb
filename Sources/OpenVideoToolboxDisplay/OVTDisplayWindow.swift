// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
#endif
import Foundation

/// A window on the screen that shows a layer's pictures at their times on the layer's timebase.
///
/// Pictures are uploaded to the memory of the graphics card before they are due, without a
/// conversion if SDL can convert them (8-bit 4:2:0 in BT.601 or video-range BT.709). Pictures that
/// are too late are dropped. All functions can be called from any thread.
public final class OVTDisplayWindow: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public typealias EventHandler = @Sendable (OVTDisplayEvent) -> Void

  private let lock = NSLock()
  private var attached: AVSampleBufferDisplayLayer?
  /// The player layer that `attached` belongs to, if there is one. It is retained while it is
  /// attached.
  private var holder: AVPlayerLayer?
  private var handler: EventHandler?
  private var figures = OVTDisplayStatistics()
  private var isFull = false
  private var isClosed = false
  /// The layer's picture counts when it was attached.
  private var before = (shown: 0, dropped: 0)
  #if Display
    private var renderer: WindowRenderer?
  #endif

  /// Opens a window.
  ///
  /// - Parameters:
  ///   - title: The title of the window.
  ///   - width: The width in points of the screen, which is limited to 1 to 16384.
  ///   - height: The height in points of the screen, which is limited to 1 to 16384.
  /// - Throws: `OVTDisplayError` if there is no screen or SDL is not available.
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

  // MARK: - Contents

  /// Shows a layer's pictures, in place of those of the previous layer.
  public func attach(_ layer: AVSampleBufferDisplayLayer) { attach(layer, of: nil) }

  /// Shows a player's pictures, in place of those of the previous layer.
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

  /// Shows a progress bar along the lower edge, with a time in digits. Both functions are called on
  /// the display's thread whenever the window is drawn.
  ///
  /// - Parameters:
  ///   - fraction: Returns the filled part of the bar, from 0 to 1, or nil to leave it empty.
  ///   - text: Returns the text, which consists of digits, `:`, `.`, `/` and spaces.
  public func setProgressBar(
    fraction: @escaping @Sendable () -> Double?, text: @escaping @Sendable () -> String
  ) {
    #if Display
      onRenderer { $0.setOverlay(ProgressBarOverlay(fraction: fraction, text: text)) }
    #endif
  }

  public func removeProgressBar() {
    #if Display
      onRenderer { $0.setOverlay(nil) }
    #endif
  }

  /// Draws the window again, for example because the contents of the progress bar have changed.
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

  /// Returns the contents of the window as 32BGRA in pixels of the screen.
  /// - Throws: `OVTDisplayError` if the window is closed or cannot be read.
  public func snapshot() throws -> CVPixelBuffer {
    #if Display
      if let renderer = lock.withLock({ isClosed ? nil : renderer }) {
        return try DisplayThread.shared.perform { _ in try renderer.snapshot() }
      }
    #endif
    throw OVTDisplayError(.windowClosed, "the window is closed")
  }

  /// Closes the window and releases the layer. Returns when the window has been closed, or after
  /// two seconds if an event handler of the program runs all that time. A window should be closed
  /// before the process ends.
  public func close() {
    // Objects are released outside of the lock.
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

  // MARK: - Events and statistics

  /// Receives key presses, clicks and requests to close the window. It is called on the display's
  /// thread and must not block.
  @preconcurrency public var eventHandler: EventHandler? {
    get { lock.withLock { handler } }
    set { lock.withLock { handler = newValue } }
  }

  func tell(_ event: OVTDisplayEvent) { eventHandler?(event) }

  /// The statistics of the pictures that have been shown so far.
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
