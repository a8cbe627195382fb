// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// Switches a window to full screen and back.
  ///
  /// SDL asks the window manager to do so. On an X server without a window manager (Xvfb, or a
  /// screen for a single program) the request has no effect, which SDL does not notice. There the
  /// window is moved and resized to cover the screen.
  struct FullScreenMode {
    /// The position and size of the window before it was resized to cover the screen.
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

    private func move(_ window: OpaquePointer, to frame: SDL_Rect, _ library: ovt_sdl) {
      library.SDL_SetWindowPosition(window, frame.x, frame.y)
      library.SDL_SetWindowSize(window, frame.w, frame.h)
    }

    private func isUnmanaged(_ library: ovt_sdl) -> Bool {
      library.SDL_GetCurrentVideoDriver().map { String(cString: $0) } == "x11" && ovt_x11_has_manager() == 0
    }
  }
#endif
