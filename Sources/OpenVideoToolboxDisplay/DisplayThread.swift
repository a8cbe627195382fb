// SPDX-License-Identifier: Apache-2.0
#if Display
  import AVFoundation
  import CSDL2
  import Foundation
  import Synchronization

  /// The one thread that SDL's windows live on: it was started there, and wants to be used there alone.
  final class DisplayThread: @unchecked Sendable {
    // Sendable: `condition` guards what changes, but for what belongs to the thread.
    static let shared = DisplayThread()
    /// Seconds that the thread may be busy with something else when it is to end what it does.
    private static let patience = 2.0

    private let condition = NSCondition()
    private var jobs: [() -> Void] = []
    private var thread: Thread?
    private var isWoken = false
    private var isOver = false
    /// SDL can be told of an event.
    private let hasEvents = Atomic(false)
    private var wakeEvent: UInt32 = 0

    // On the thread.
    private var renderers: [WindowRenderer] = []
    private var isVideoOn = false
    private var wasToldToClose = false
    private var rounds = 0

    /// Runs something on the thread, and waits for it. The thread itself may call it.
    func perform<T>(_ body: @escaping (DisplayThread) throws -> T) throws -> T {
      if condition.withLock({ thread === Thread.current }) { return try body(self) }
      let done = DispatchSemaphore(value: 0)
      nonisolated(unsafe) var result: Result<T, any Error>?
      post { [self] in
        result = Result { try body(self) }
        done.signal()
      }
      done.wait()
      guard let result else { throw OVTDisplayError(.other, "the display's thread has gone") }
      return try result.get()
    }

    /// Runs something on the thread.
    func post(_ body: @escaping () -> Void) {
      condition.withLock {
        jobs.append(body)
        if thread == nil {
          let made = Thread { [self] in run() }
          made.name = "display"
          thread = made
          made.start()
        }
      }
      wake()
    }

    /// Lets the thread look at what has changed.
    func wake() {
      let isFirst = condition.withLock {
        defer { isWoken = true }
        condition.signal()
        return !isWoken
      }
      guard isFirst, hasEvents.load(ordering: .acquiring), let library = try? SDLLibrary.load() else {
        return
      }
      var event = SDL_Event()
      event.type = wakeEvent
      _ = library.SDL_PushEvent(&event)
    }

    /// Takes a window away, and returns when it has gone: a process that ends while something is drawn crashes.
    func remove(_ renderer: WindowRenderer) {
      let isHere = condition.withLock { thread === Thread.current }
      let work = { [self] in
        renderers.removeAll { $0 === renderer }
        renderer.close()
      }
      if isHere { return work() }
      let done = WakeUp()
      post {
        work()
        done.signal()
      }
      // The thread may be with a handler of the program, which waits for who waits here.
      done.wait(seconds: Self.patience)
    }

    // MARK: - On the thread

    /// Turns the screen on with the first window.
    func add(_ renderer: WindowRenderer, _ library: ovt_sdl) throws {
      if !isVideoOn {
        guard library.SDL_InitSubSystem(SDL_INIT_VIDEO) == 0 else {
          throw OVTDisplayError(.noScreen, "there is no screen to use (\(SDLLibrary.complaint(library)))")
        }
        isVideoOn = true
        wakeEvent = library.SDL_RegisterEvents(1)
      }
      try renderer.open()
      Self.endWithProcess()
      renderers.append(renderer)
      hasEvents.store(true, ordering: .releasing)
    }

    /// What draws (an OpenGL that compiles its shaders with LLVM, say) goes as the process ends, while other threads still
    /// run. Nobody may be drawing then: what is registered last is run first. (A window that was closed is safe anyway.)
    private static func endWithProcess() { atexit { DisplayThread.shared.end() } }

    /// Stops: nothing is drawn any more.
    private func end() {
      let isAlive = condition.withLock {
        defer { isOver = true }
        return thread != nil && thread !== Thread.current && !isOver
      }
      guard isAlive else { return }
      let done = WakeUp()
      post {
        done.signal()
        while true { sleep(1000) }
      }
      // The thread may be with a handler of the program, which waits for what has ended already.
      done.wait(seconds: Self.patience)
    }

    private func run() {
      while true {
        let work = condition.withLock {
          defer { jobs = [] }
          isWoken = false
          return jobs
        }
        for job in work { job() }
        guard !renderers.isEmpty, let library = try? SDLLibrary.load() else {
          condition.withLock { while jobs.isEmpty { condition.wait() } }
          continue
        }
        var deadline = Int64.max
        for renderer in renderers { deadline = min(deadline, renderer.tick()) }
        // What draws registers what it ends with when it first needs it, which takes some pictures.
        if rounds < 32 {
          rounds += 1
          Self.endWithProcess()
        }
        wait(until: deadline, library)
      }
    }

    /// Waits for an event, or until a moment of the host's clock.
    private func wait(until deadline: Int64, _ library: ovt_sdl) {
      let rest = deadline == .max ? Int64.max : deadline.subtractingClamped(hostNanoseconds())
      var event = SDL_Event()
      if rest > 2_000_000 {
        // SDL counts milliseconds; the last one is slept through exactly.
        let milliseconds = Int32(clamping: min(rest / 1_000_000 - 1, 1000))
        if library.SDL_WaitEventTimeout(&event, milliseconds) != 0 { handle(event) }
      } else if rest > 0 {
        var pause = timespec(tv_sec: 0, tv_nsec: Int(rest))
        nanosleep(&pause, nil)
      }
      while library.SDL_PollEvent(&event) != 0 { handle(event) }
    }

    private func handle(_ event: SDL_Event) {
      switch SDL_EventType(event.type) {
      case SDL_QUIT:
        // A single window has been told by its own event, after which SDL sends this one of itself.
        let isTold = wasToldToClose
        wasToldToClose = false
        if !isTold { for renderer in renderers { renderer.tell(.closeRequest) } }
      case SDL_WINDOWEVENT:
        if SDL_WindowEventID(UInt32(event.window.event)) == SDL_WINDOWEVENT_CLOSE {
          wasToldToClose = renderers.count == 1
        }
        renderer(event.window.windowID)?.windowChanged(event.window.event)
      case SDL_KEYDOWN:
        guard let key = Self.key(event.key.keysym.sym) else { return }
        renderer(event.key.windowID)?.tell(.key(key))
      case SDL_MOUSEBUTTONDOWN:
        renderer(event.button.windowID)?.clicked(Int(event.button.x), Int(event.button.y))
      case SDL_RENDER_TARGETS_RESET, SDL_RENDER_DEVICE_RESET: for renderer in renderers { renderer.lost() }
      default: break
      }
    }

    private func renderer(_ id: UInt32) -> WindowRenderer? { renderers.first { $0.id == id } }

    private static func key(_ symbol: SDL_Keycode) -> OVTDisplayEvent.Key? {
      switch Int(symbol) {
      case Int(SDLK_LEFT.rawValue): .left
      case Int(SDLK_RIGHT.rawValue): .right
      case Int(SDLK_UP.rawValue): .up
      case Int(SDLK_DOWN.rawValue): .down
      case Int(SDLK_ESCAPE.rawValue): .escape
      case Int(SDLK_SPACE.rawValue): .space
      case Int(SDLK_RETURN.rawValue): .enter
      case 33..<127: .character(Character(UnicodeScalar(UInt8(symbol))))
      default: nil
      }
    }
  }
#endif
