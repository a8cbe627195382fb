// SPDX-License-Identifier: Apache-2.0
#if Display
  import AVFoundation
  import CSDL2
  import Foundation
  import Synchronization

  /// The thread on which SDL's windows are used. SDL must be used on the thread on which its video
  /// was initialized.
  final class DisplayThread: @unchecked Sendable {
    // Sendable: `condition` guards what changes, except for properties that are used on the thread
    // only.
    static let shared = DisplayThread()
    /// Seconds to wait for the thread to finish its current work when a window or the process ends.
    private static let timeout = 2.0

    private let condition = NSCondition()
    private var jobs: [() -> Void] = []
    private var thread: Thread?
    private var isWoken = false
    private var isFinished = false
    /// Whether SDL's event queue can be used to wake the thread.
    private let hasEvents = Atomic(false)
    private var wakeEvent: UInt32 = 0

    // The following properties are used on the thread.
    private var renderers: [WindowRenderer] = []
    private var isVideoOn = false
    private var wasToldToClose = false
    private var rounds = 0

    /// Runs a function on the thread and waits for its result. May be called on the thread itself.
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

    /// Schedules a function on the thread.
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

    /// Wakes the thread, so that it checks for new pictures and functions.
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

    /// Removes a window, and returns when it has been closed. If a process ended while its window
    /// is drawn, it could crash.
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
      // The wait is limited because the thread may be in an event handler of the program that waits
      // for the caller.
      done.wait(seconds: Self.timeout)
    }

    // MARK: - On the thread

    /// Opens a window. The first one initializes SDL's video.
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

    /// Stops the drawing when the process ends. Graphics drivers, such as an OpenGL that compiles
    /// shaders with LLVM, register exit handlers that release their data while other threads still
    /// run. Handlers are run in the reverse order of registration, so this handler has to be
    /// registered after theirs.
    private static func endWithProcess() { atexit { DisplayThread.shared.end() } }

    /// Stops the thread, so that nothing is drawn any more.
    private func end() {
      let isAlive = condition.withLock {
        defer { isFinished = true }
        return thread != nil && thread !== Thread.current && !isFinished
      }
      guard isAlive else { return }
      let done = WakeUp()
      post {
        done.signal()
        while true { sleep(1000) }
      }
      // The wait is limited because the thread may be in an event handler of the program that waits
      // for the exiting thread.
      done.wait(seconds: Self.timeout)
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
        // Drivers register their exit handlers when they first need them, which can be after some
        // pictures. Registering this one again after each of the first 32 rounds keeps it after
        // theirs.
        if rounds < 32 {
          rounds += 1
          Self.endWithProcess()
        }
        wait(until: deadline, library)
      }
    }

    /// Waits for an event, at most until a time of the host clock in nanoseconds.
    private func wait(until deadline: Int64, _ library: ovt_sdl) {
      let rest = deadline == .max ? Int64.max : deadline.subtractingClamped(hostNanoseconds())
      var event = SDL_Event()
      if rest > 2_000_000 {
        // SDL's timeout is in milliseconds, so the last part is waited for with `nanosleep`.
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
        // When the only window is closed, SDL sends this event after the window's own event, which
        // has been reported.
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
