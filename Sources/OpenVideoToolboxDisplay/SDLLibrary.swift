// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// The functions of SDL, which are loaded once.
  enum SDLLibrary {
    private static let loaded: Result<ovt_sdl, OVTDisplayError> = {
      var library = ovt_sdl()
      if let complaint = ovt_load_sdl(&library) {
        return .failure(
          OVTDisplayError(
            .libraryMissing,
            "SDL 2 cannot be loaded (\(String(cString: complaint))); install it: apt-get install libsdl2-2.0-0"
          ))
      }
      library.SDL_SetMainReady()
      // SDL must not handle signals, which belong to the program.
      _ = library.SDL_SetHint("SDL_NO_SIGNAL_HANDLERS", "1")
      _ = library.SDL_SetHint("SDL_RENDER_SCALE_QUALITY", "linear")
      return .success(library)
    }()

    static func load() throws -> ovt_sdl { try loaded.get() }

    static func complaint(_ library: ovt_sdl) -> String {
      library.SDL_GetError().map { String(cString: $0) } ?? "no reason given"
    }
  }

  /// The time of the host clock in nanoseconds.
  func hostNanoseconds() -> Int64 {
    CMClockGetTime(CMClockGetHostTimeClock()).units(1_000_000_000, .default)
  }
#endif
