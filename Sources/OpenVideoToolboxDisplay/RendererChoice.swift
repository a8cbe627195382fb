// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// What draws in a window.
  enum RendererChoice {
    /// Makes one for a window, the one of the graphics card if there is any.
    ///
    /// Without a card OpenGL draws by the processor, several times as slowly as SDL's own renderer, and that one would bring
    /// what it has drawn to the screen through OpenGL again. So such a machine gets SDL's own, and X's shared memory. What
    /// the environment says (`SDL_RENDER_DRIVER`, `SDL_FRAMEBUFFER_ACCELERATION`) goes before.
    static func make(_ library: ovt_sdl, _ window: OpaquePointer) -> OpaquePointer? {
      // Wayland has no other way to the screen than OpenGL.
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

    /// Whether it is an OpenGL that no card draws for; its context is the current one.
    private static func isOpenGLByProcessor(_ library: ovt_sdl, _ renderer: OpaquePointer) -> Bool {
      guard name(library, renderer).hasPrefix("opengl"),
        let function = library.SDL_GL_GetProcAddress("glGetString")
      else { return false }
      let getString = unsafeBitCast(function, to: (@convention(c) (UInt32) -> UnsafePointer<CChar>?).self)
      // GL_RENDERER.
      guard let text = getString(0x1F01).map({ String(cString: $0).lowercased() }) else { return false }
      return ["llvmpipe", "softpipe", "software rasterizer", "swr"].contains { text.hasPrefix($0) }
    }
  }
#endif
