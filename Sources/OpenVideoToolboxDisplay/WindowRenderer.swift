// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// An SDL window and its renderer. Everything happens on the display's thread.
  final class WindowRenderer: @unchecked Sendable {
    // Sendable: only used on the display's thread; the window retains it.
    private let library: ovt_sdl
    private weak var owner: OVTDisplayWindow?
    private let title: String
    private let size: (width: Int, height: Int)
    private var window: OpaquePointer?
    private var renderer: OpaquePointer?
    private(set) var id: UInt32 = 0
    private var front: PictureTexture?
    private var back: PictureTexture?
    private var needsDrawing = true
    /// Nanoseconds by which a picture is handed over before it is due. This is half a refresh
    /// interval if the renderer waits for the refresh, as the picture is seen at the next refresh;
    /// otherwise it is the average time of drawing.
    private var lead: Int64 = 0
    private var waitsForRefresh = false
    /// Whether SDL's software renderer is used.
    private var isSoftware = false
    /// The limit of `lead`, in nanoseconds. Drawing takes longer only when the machine is busy.
    private static let maxLead: Int64 = 20_000_000
    private var overlay: ProgressBarOverlay?
    private var screenFilling = FullScreenMode()
    /// The time at which a picture was drawn last, in nanoseconds of the host clock.
    private var lastDrawn: Int64 = .min / 2

    init(_ library: ovt_sdl, owner: OVTDisplayWindow, title: String, width: Int, height: Int) {
      (self.library, self.owner, self.title) = (library, owner, title)
      size = (width, height)
    }

    // MARK: - Lifetime

    func open() throws {
      let flags = SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue
      // The value of the macro `SDL_WINDOWPOS_CENTERED`, which Swift cannot import.
      let centred: Int32 = 0x2FFF_0000
      window = library.SDL_CreateWindow(
        title, centred, centred, Int32(clamping: size.width), Int32(clamping: size.height), flags)
      guard let window else {
        throw OVTDisplayError(.noScreen, "a window cannot be opened (\(SDLLibrary.complaint(library)))")
      }
      id = library.SDL_GetWindowID(window)
      renderer = RendererChoice.make(library, window)
      guard let renderer else {
        library.SDL_DestroyWindow(window)
        self.window = nil
        throw OVTDisplayError(.noScreen, "nothing can draw in a window (\(SDLLibrary.complaint(library)))")
      }
      isSoftware = RendererChoice.name(library, renderer) == "software"
      front = texture(renderer)
      back = texture(renderer)
      describe(window, renderer)
    }

    private func texture(_ renderer: OpaquePointer) -> PictureTexture {
      PictureTexture(library, renderer, takesRGB: isSoftware)
    }

    private func describe(_ window: OpaquePointer, _ renderer: OpaquePointer) {
      var info = SDL_RendererInfo()
      _ = library.SDL_GetRendererInfo(renderer, &info)
      var mode = SDL_DisplayMode()
      let display = library.SDL_GetWindowDisplayIndex(window)
      let isKnown = library.SDL_GetCurrentDisplayMode(max(0, display), &mode) == 0
      let refreshRate = isKnown ? Double(mode.refresh_rate) : 0
      if info.flags & SDL_RENDERER_PRESENTVSYNC.rawValue != 0, refreshRate > 0 {
        lead = Int64(0.5e9 / refreshRate)
        waitsForRefresh = true
      }
      let name = RendererChoice.name(library, renderer)
      let driver = library.SDL_GetCurrentVideoDriver().map { String(cString: $0) } ?? ""
      owner?.note { statistics in
        statistics.refreshRate = refreshRate
        statistics.renderer = name
        statistics.driver = driver
      }
    }

    func close() {
      (front, back) = (nil, nil)
      if let renderer { library.SDL_DestroyRenderer(renderer) }
      if let window { library.SDL_DestroyWindow(window) }
      (renderer, window) = (nil, nil)
    }

    // MARK: - Events

    func tell(_ event: OVTDisplayEvent) { owner?.tell(event) }

    func windowChanged(_ kind: UInt8) {
      switch SDL_WindowEventID(UInt32(kind)) {
      case SDL_WINDOWEVENT_CLOSE: tell(.closeRequest)
      case SDL_WINDOWEVENT_EXPOSED, SDL_WINDOWEVENT_SIZE_CHANGED, SDL_WINDOWEVENT_RESTORED:
        needsDrawing = true
      default: break
      }
    }

    func clicked(_ x: Int, _ y: Int) {
      guard let window else { return }
      var (width, height) = (Int32(0), Int32(0))
      library.SDL_GetWindowSize(window, &width, &height)
      guard width > 0, height > 0 else { return }
      tell(.click(x: Double(x) / Double(width), y: Double(y) / Double(height)))
    }

    /// Restores the textures after the device's memory has been lost.
    func lost() {
      guard let renderer else { return }
      let shown = front?.picture
      (front, back) = (texture(renderer), texture(renderer))
      if let shown { front?.load(shown) }
      needsDrawing = true
    }

    func setFullScreen(_ isFull: Bool) {
      guard let window else { return }
      screenFilling.set(isFull, library, window)
      needsDrawing = true
    }

    func setTitle(_ title: String) { if let window { library.SDL_SetWindowTitle(window, title) } }

    func setOverlay(_ overlay: ProgressBarOverlay?) {
      self.overlay = overlay
      needsDrawing = true
    }

    func redraw() { needsDrawing = true }

    func clear() {
      guard let renderer else { return }
      front = texture(renderer)
      needsDrawing = true
    }

    // MARK: - Pictures

    /// Shows the pictures that are due.
    /// - Returns: The time at which the next picture will be due, in nanoseconds of the host clock;
    ///   `Int64.max` if it is unknown.
    func tick() -> Int64 {
      var next = Int64.max
      // Retains the window until the end of this method. If the last reference were released while
      // something is drawn, deallocating the window would remove the renderer.
      let owner = owner
      defer { withExtendedLifetime(owner) {} }
      if let layer = owner?.layer {
        while true {
          let base = layer.timebase
          let rate = CMTimebaseGetEffectiveRate(base)
          let now = CMTimebaseGetTime(base)
          let early = CMTime(
            value: Int64(clamping: Double(lead) * max(0, rate)), timescale: 1_000_000_000)
          let reached = rate > 0 ? now + early : now
          guard let picture = layer.nextPicture(at: reached) else { break }
          if rate > 0, isTooLate(dueTime(of: picture, on: base)) {
            // Another picture may replace this one until then. If none does, it is shown after all.
            next = lastDrawn + Self.longestPause
            break
          }
          // The picture is uploaded before it is due.
          if back?.picture?.number != picture.number { back?.load(picture) }
          let isDue = !picture.time.isNumeric || picture.time <= reached
          if !isDue {
            guard rate > 0 else { break }
            let due = dueTime(of: picture, on: base)
            if due == .max { break }
            next = due.subtractingClamped(lead)
            if next > hostNanoseconds() { break }
          }
          let due = rate > 0 ? dueTime(of: picture, on: base) : .max
          swap(&front, &back)
          let began = hostNanoseconds()
          draw()
          lastDrawn = hostNanoseconds()
          if !waitsForRefresh {
            lead = min((lead * 7 + lastDrawn.subtractingClamped(began)) / 8, Self.maxLead)
          }
          layer.presented(picture)
          if due != .max, picture.time.isNumeric {
            note(Double(hostNanoseconds().subtractingClamped(due)) * 1e-9)
          }
          next = .max
        }
      }
      if needsDrawing { draw() }
      return next
    }

    /// Whether a picture is so late that showing it would only delay the next ones. A picture is
    /// shown at least every 0.25 seconds nevertheless.
    private func isTooLate(_ due: Int64) -> Bool {
      guard due != .max else { return false }
      let now = hostNanoseconds()
      // A picture that is later than `farthest` has times of another clock, such as zero on the
      // host clock, and is shown.
      let late = now.subtractingClamped(due)
      return late > Self.latest && late < Self.farthest && now - lastDrawn < Self.longestPause
    }

    // In nanoseconds.
    private static let latest: Int64 = 100_000_000
    private static let farthest: Int64 = 10_000_000_000
    private static let longestPause: Int64 = 250_000_000

    private func dueTime(of picture: AVSampleBufferDisplayLayer.Picture, on base: CMTimebase) -> Int64 {
      guard picture.time.isNumeric else { return .max }
      let host = CMSyncConvertTime(picture.time, from: base, to: CMClockGetHostTimeClock())
      guard host.isNumeric else { return .max }
      return host.units(1_000_000_000, .default)
    }

    private func note(_ error: Double) {
      owner?.note { statistics in
        // Removes the oldest half at once, so that the array is not moved for each picture.
        if statistics.errors.count >= 131_072 { statistics.errors.removeFirst(65_536) }
        statistics.errors.append(error)
      }
    }

    // MARK: - Drawing

    private func draw() {
      needsDrawing = false
      guard let renderer else { return }
      compose()
      library.SDL_RenderPresent(renderer)
    }

    private func compose() {
      guard let renderer else { return }
      var (width, height) = (Int32(0), Int32(0))
      _ = library.SDL_GetRendererOutputSize(renderer, &width, &height)
      let whole = CGRect(x: 0, y: 0, width: CGFloat(width), height: CGFloat(height))
      let image = front?.picture?.image
      let imageRect = image.flatMap { owner?.layer?.rect(of: $0, in: whole) }
      let texture = front?.prepare()
      // The background is not cleared if the picture covers it, because clearing takes the
      // processor much time.
      let isCovered = texture != nil && imageRect?.rounded().contains(whole) ?? false
      if !isSoftware || !isCovered {
        _ = library.SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255)
        _ = library.SDL_RenderClear(renderer)
      }
      if let layer = owner?.layer, let image, let imageRect, let texture {
        let turn = layer.transform
        let quarters = Self.quarters(turn)
        var target = SDL_Rect(imageRect.rounded())
        if quarters % 2 != 0 {
          // SDL rotates about the centre of the unrotated rectangle.
          target = SDL_Rect(
            CGRect(
              x: imageRect.midX - imageRect.height / 2, y: imageRect.midY - imageRect.width / 2,
              width: imageRect.height,
              height: imageRect.width
            ).rounded())
        }
        let clean = CVImageBufferGetCleanRect(image)
        var source = SDL_Rect(
          CGRect(
            x: clean.minX, y: CGFloat(CVPixelBufferGetHeight(image)) - clean.maxY, width: clean.width,
            height: clean.height
          ).rounded())
        let isMirrored = turn.a * turn.d - turn.b * turn.c < 0
        _ = library.SDL_RenderCopyEx(
          renderer, texture, &source, &target, Double(quarters) * 90, nil,
          isMirrored ? SDL_FLIP_HORIZONTAL : SDL_FLIP_NONE)
      }
      overlay?.draw(library, renderer, width: Int(width), height: Int(height))
    }

    /// The number of clockwise rotations by 90 degrees. It is 0 if the transform contains values
    /// that are not numbers.
    private static func quarters(_ transform: CGAffineTransform) -> Int {
      let isMirrored = transform.a * transform.d - transform.b * transform.c < 0
      let (a, b) = isMirrored ? (-transform.a, -transform.b) : (transform.a, transform.b)
      let angle = atan2(Double(b), Double(a)) / (.pi / 2)
      return (Int(clamping: angle.rounded()) + 4) % 4
    }

    /// The contents of the window as 32BGRA.
    /// - Throws: `OVTDisplayError` if the window is closed or cannot be read.
    func snapshot() throws -> CVPixelBuffer {
      guard let renderer else { throw OVTDisplayError(.windowClosed, "the window is closed") }
      compose()
      var (width, height) = (Int32(0), Int32(0))
      _ = library.SDL_GetRendererOutputSize(renderer, &width, &height)
      var made: CVPixelBuffer?
      CVPixelBufferCreate(nil, Int(width), Int(height), kCVPixelFormatType_32BGRA, nil, &made)
      guard let made else { throw OVTDisplayError(.other, "out of memory for a snapshot of the window") }
      CVPixelBufferLockBaseAddress(made, [])
      let status = library.SDL_RenderReadPixels(
        renderer, nil, UInt32(SDL_PIXELFORMAT_ARGB8888.rawValue), CVPixelBufferGetBaseAddress(made),
        Int32(CVPixelBufferGetBytesPerRow(made)))
      CVPixelBufferUnlockBaseAddress(made, [])
      library.SDL_RenderPresent(renderer)
      guard status == 0 else {
        throw OVTDisplayError(.other, "the window cannot be read (\(SDLLibrary.complaint(library)))")
      }
      return made
    }
  }
#endif
