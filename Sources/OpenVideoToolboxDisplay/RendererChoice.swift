// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// Chooses the SDL renderer of a window.
  enum RendererChoice {
    /// Creates the renderer of a window, which uses the graphics card if there is one.
    ///
    /// Without a card OpenGL is emulated by the processor, which is several times slower than SDL's
    /// software renderer, and SDL by default also brings the software renderer's pictures to the
    /// screen through OpenGL. On such a machine SDL's software renderer is used with X11's shared
    /// memory. The environment variables `SDL_RENDER_DRIVER` and `SDL_FRAMEBUFFER_ACCELERATION`
    /// take precedence.
    static func make(_ library: ovt_sdl, _ window: OpaquePointer) -> OpaquePointer? {
      // On Wayland there is no alternative to OpenGL.
      let isX11 = library.SDL_GetCurrentVideoDriver().map { String(cString: $0) } == "x11"
      if isX11 { _ = library.SDL_SetHint("SDL_FRAMEBUFFER_ACCELERATION", "0") }
      let fast = SDL_RENDERER_ACCELERATED.rawValue | SDL_RENDERER_PRESENTVSYNC.rawValue
      let made = library.SDL_CreateRenderer(window, -1, fast)
      let isAsked = ProcessInfo.processInfo.environment["SDL_RENDER_DRIVER"].map { !$0.isEmpty } ?? false
      if let made {
        guard isX11, !isAsked, isOpenGLByProcessor(library, made) else { return made }
        library.SDL_DestroyRenderer(made)
      }
      return library.SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue)
        ?? library.SDL_CreateRenderer(window, -1, 0)
    }

    static func name(_ library: ovt_sdl, _ renderer: OpaquePointer) -> String {
      var info = SDL_RendererInfo()
      _ = library.SDL_GetRendererInfo(renderer, &info)
      return info.name.map { String(cString: $0) } ?? ""
    }

    /// Whether the renderer uses an OpenGL that is emulated by the processor. Its OpenGL context
    /// must be the current one.
    private static func isOpenGLByProcessor(_ library: ovt_sdl, _ renderer: OpaquePointer) -> Bool {
      guard name(library, renderer).hasPrefix("opengl"),
        let function = library.SDL_GL_GetProcAddress("glGetString")
      else { return false }
      let getString = unsafeBitCast(function, to: (@convention(c) (UInt32) -> UnsafePointer<CChar>?).self)
      // 0x1F01 is `GL_RENDERER`.
      guard let text = getString(0x1F01).map({ String(cString: $0).lowercased() }) else { return false }
      return ["llvmpipe", "softpipe", "software rasterizer", "swr"].contains { text.hasPrefix($0) }
    }
  }
#endif
