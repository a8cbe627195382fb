// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// A window that fills the screen, and goes back to where it was.
  ///
  /// SDL has the window manager do it. On an X server without one (Xvfb, or a screen that shows one program alone) nobody would,
  /// and SDL would not notice: there the window is laid over the screen, which nothing frames.
  struct ScreenFilling {
    /// Where the window was before it was laid over the screen.
    private var before: SDL_Rect?

    mutating func set(_ isFull: Bool, _ library: ovt_sdl, _ window: OpaquePointer) {
      if let old = before {
        guard !isFull else { return }
        before = nil
        move(window, to: old, library)
      } else if isFull, isUnmanaged(library) {
        var (old, screen) = (SDL_Rect(), SDL_Rect())
        library.SDL_GetWindowPosition(window, &old.x, &old.y)
        library.SDL_GetWindowSize(window, &old.w, &old.h)
        guard library.SDL_GetDisplayBounds(max(0, library.SDL_GetWindowDisplayIndex(window)), &screen) == 0
        else {
          return
        }
        before = old
        move(window, to: screen, library)
      } else {
        _ = library.SDL_SetWindowFullscreen(window, isFull ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0)
      }
    }

    private func move(_ window: OpaquePointer, to place: SDL_Rect, _ library: ovt_sdl) {
      library.SDL_SetWindowPosition(window, place.x, place.y)
      library.SDL_SetWindowSize(window, place.w, place.h)
    }

    private func isUnmanaged(_ library: ovt_sdl) -> Bool {
      library.SDL_GetCurrentVideoDriver().map { String(cString: $0) } == "x11" && ovt_x11_has_manager() == 0
    }
  }
#endif
