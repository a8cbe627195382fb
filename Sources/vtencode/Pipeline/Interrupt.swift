// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch
import Foundation

/// SIGINT, SIGTERM and SIGHUP: the first asks the run to end well, with what has been encoded so far; the second
/// ends the process at once, and leaves no unfinished file.
final class Interrupt: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  static let shared = Interrupt()

  private let lock = Lock()
  private var sources: [any DispatchSourceSignal] = []
  private var handlers: [() -> Void] = []
  private var unfinished: Set<String> = []
  private var scratch: Set<String> = []
  /// The first signal that came.
  private var signalled: Int32?

  var isRequested: Bool { lock.withLock { signalled != nil } }

  /// The status of a program that the signal ended, as shells report it.
  var status: Int32 { 128 + (lock.withLock { signalled } ?? SIGINT) }

  /// Starts to watch for the signals in place of their default action.
  func watch() {
    lock.withLock {
      guard sources.isEmpty else { return }
      for number in [SIGINT, SIGTERM, SIGHUP] {
        // Started with nohup, the program outlives its terminal.
        if number == SIGHUP, isIgnored(number) { continue }
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(
          signal: number, queue: DispatchQueue(label: "vtencode.interrupt"))
        source.setEventHandler { [unowned self] in receive(number) }
        source.resume()
        sources.append(source)
      }
    }
  }

  /// Runs `handler` at the first signal; at once if it has come already.
  func onRequest(_ handler: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock {
      if signalled == nil { handlers.append(handler) }
      return signalled != nil
    }
    if isLate { handler() }
  }

  /// A file to remove if the process has to end at once.
  func register(unfinished path: String) { lock.withLock { _ = unfinished.insert(path) } }
  func unregister(unfinished path: String) { lock.withLock { _ = unfinished.remove(path) } }

  /// A folder to remove with all that is in it if the process has to end at once.
  func register(scratch path: String) { lock.withLock { _ = scratch.insert(path) } }
  func unregister(scratch path: String) { lock.withLock { _ = scratch.remove(path) } }

  private func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func receive(_ number: Int32) {
    let (isSecond, waiting) = lock.withLock {
      defer {
        if signalled == nil { signalled = number }
        handlers = []
      }
      return (signalled != nil, handlers)
    }
    if isSecond {
      // What lies deeper first: a folder goes when it is empty.
      for path in lock.withLock({ unfinished }).sorted(by: { $0.utf8.count > $1.utf8.count }) {
        unlink(path)
        rmdir(folder(of: path))
      }
      for path in lock.withLock({ scratch }) { try? FileManager.default.removeItem(atPath: path) }
      _exit(128 + number)
    }
    for handler in waiting { handler() }
  }
}
