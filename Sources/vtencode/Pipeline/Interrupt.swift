import Dispatch
import Foundation

/// SIGINT and SIGTERM: the first asks the run to end well, with what has been encoded so far; the second
/// ends the process at once, and leaves no unfinished file.
final class Interrupt: @unchecked Sendable {
  static let shared = Interrupt()

  private let lock = NSLock()
  private var sources: [any DispatchSourceSignal] = []
  private var handlers: [() -> Void] = []
  private var unfinished: Set<String> = []
  private var signalled = false

  var isRequested: Bool { lock.withLock { signalled } }

  /// Starts to watch for the signals in place of their default action.
  func watch() {
    lock.withLock {
      guard sources.isEmpty else { return }
      for number in [SIGINT, SIGTERM] {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(
          signal: number, queue: DispatchQueue(label: "vtencode.interrupt"))
        source.setEventHandler { [unowned self] in receive() }
        source.resume()
        sources.append(source)
      }
    }
  }

  /// Runs `handler` at the first signal; at once if it has come already.
  func onRequest(_ handler: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock {
      if !signalled { handlers.append(handler) }
      return signalled
    }
    if isLate { handler() }
  }

  /// A file to remove if the process has to end at once.
  func register(unfinished path: String) { lock.withLock { _ = unfinished.insert(path) } }
  func unregister(unfinished path: String) { lock.withLock { _ = unfinished.remove(path) } }

  private func receive() {
    let (isSecond, waiting) = lock.withLock {
      defer {
        signalled = true
        handlers = []
      }
      return (signalled, handlers)
    }
    if isSecond {
      for path in lock.withLock({ unfinished }) { unlink(path) }
      _exit(Failure.interruptedStatus)
    }
    for handler in waiting { handler() }
  }
}
