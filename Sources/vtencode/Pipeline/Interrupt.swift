// SPDX-License-Identifier: Apache-2.0
import CSandbox
import CoreFoundation
import Dispatch
import Foundation

/// SIGINT, SIGTERM and SIGHUP: the first asks the run to end well, with what has been encoded so far; the second
/// ends the process at once, and leaves no unfinished file. A run that records what comes only once ends well at the second
/// too, but without waiting for anybody, and at the third the file gets a name as it is.
final class Interrupt: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  static let shared = Interrupt()

  private let lock = Lock()
  /// Held while a file gets its name; before `lock`.
  private let names = Lock()
  private var sources: [any DispatchSourceSignal] = []
  private var handlers: [() -> Void] = []
  private var repeatHandlers: [() -> Void] = []
  /// Files by their paths, with what gives one a name if it is to be kept.
  private var unfinished: [String: (() -> Void)?] = [:]
  private var scratch: Set<String> = []
  /// The first signal that came.
  private var signalled: Int32?
  private var count = 0

  var isRequested: Bool { lock.withLock { signalled != nil } }

  /// More than one signal has come: whoever sent them does not want to wait.
  var isRepeated: Bool { lock.withLock { count > 1 } }

  /// The status of a program that the signal ended, as shells report it.
  var status: Int32 { 128 + (lock.withLock { signalled } ?? SIGINT) }

  /// For a run that is whole or nothing.
  /// - Parameter fate: what becomes of what it would have written.
  /// - Throws: a `Failure` if a signal has come.
  func check(_ fate: String = "nothing was written") throws {
    guard isRequested else { return }
    throw Failure("interrupted; \(fate)", status: status)
  }

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

  /// Runs `handler` at the second signal, which does not end the process then.
  func onRepeat(_ handler: @escaping @Sendable () -> Void) {
    lock.withLock { repeatHandlers.append(handler) }
  }

  /// A file to remove if the process has to end at once.
  /// - Parameter rescue: keeps it in place of that.
  func register(unfinished path: String, rescue: (@Sendable () -> Void)? = nil) {
    lock.withLock { unfinished[path] = .some(rescue) }
    // What is to be kept stays, if under its hidden name.
    if rescue == nil { ovt_add_leftover(path, 0) }
  }

  /// Gives a registered file its name, undisturbed by the process's end: it has one name then, not two.
  func naming<R>(_ path: String, _ body: () throws -> R) rethrows -> R {
    try names.withLock {
      let result = try body()
      unregister(unfinished: path)
      return result
    }
  }

  func unregister(unfinished path: String) {
    lock.withLock { unfinished[path] = nil }
    ovt_remove_leftover(path)
  }

  /// A folder to remove with all that is in it if the process has to end at once.
  func register(scratch path: String) {
    lock.withLock { _ = scratch.insert(path) }
    ovt_add_leftover(path, 1)
  }

  func unregister(scratch path: String) {
    lock.withLock { _ = scratch.remove(path) }
    ovt_remove_leftover(path)
  }

  private func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func receive(_ number: Int32) {
    let (isLast, waiting) = lock.withLock {
      count += 1
      if signalled == nil { signalled = number }
      let waiting = count == 1 ? handlers : count == 2 ? repeatHandlers : []
      if count == 1 { handlers = [] }
      return (count > (repeatHandlers.isEmpty ? 1 : 2), waiting)
    }
    guard !isLast else { return leave(number) }
    for handler in waiting { handler() }
  }

  private func leave(_ number: Int32) {
    names.withLock {
      // What lies deeper first: a folder goes when it is empty.
      let files = lock.withLock { unfinished }.sorted { $0.key.utf8.count > $1.key.utf8.count }
      for (path, rescue) in files {
        rescue?()
        unlink(path)
        rmdir(folder(of: path))
      }
      for path in lock.withLock({ scratch }) { ovt_remove_folder(-1, path) }
      _exit(128 + number)
    }
  }
}
