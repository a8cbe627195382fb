// SPDX-License-Identifier: Apache-2.0
import CSandbox
import CoreFoundation
import Dispatch
import Foundation

/// Handles SIGINT, SIGTERM and SIGHUP. The first signal asks the run to finish with what it has
/// encoded so far; the second ends the process at once and removes unfinished files. A run that
/// records live input, and so has registered a handler with `onRepeat`, finishes at the second
/// signal too, but without waiting for its peers; the third then ends the process, and the
/// unfinished file is kept under a name of its own.
final class Interrupt: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  static let shared = Interrupt()

  private let lock = Lock()
  /// Held while a file gets its name. If both locks are needed, this one is taken first.
  private let names = Lock()
  private var sources: [any DispatchSourceSignal] = []
  private var handlers: [() -> Void] = []
  private var repeatHandlers: [() -> Void] = []
  /// The paths of unfinished files, each with the closure that gives it a name if it is to be kept.
  private var unfinished: [String: (() -> Void)?] = [:]
  private var scratch: Set<String> = []
  /// The number of the first signal; nil if none has come.
  private var signalled: Int32?
  private var count = 0

  var isRequested: Bool { lock.withLock { signalled != nil } }

  /// Whether more than one signal has come, so that the run should not wait any longer.
  var isRepeated: Bool { lock.withLock { count > 1 } }

  /// The exit status that shells report for a program ended by the signal.
  var status: Int32 { 128 + (lock.withLock { signalled } ?? SIGINT) }

  /// Checks for an interrupt in a run that writes everything or nothing.
  /// - Parameter outcome: what the error message says about the output.
  /// - Throws: a `Failure` if a signal has come.
  func check(_ outcome: String = "nothing was written") throws {
    guard isRequested else { return }
    throw Failure("interrupted; \(outcome)", status: status)
  }

  /// Starts to handle the signals, in place of their default actions.
  func watch() {
    lock.withLock {
      guard sources.isEmpty else { return }
      for number in [SIGINT, SIGTERM, SIGHUP] {
        // nohup ignores SIGHUP, so that the program outlives its terminal.
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

  /// Runs `handler` at the first signal, or at once if it has already come.
  func onRequest(_ handler: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock {
      if signalled == nil { handlers.append(handler) }
      return signalled != nil
    }
    if isLate { handler() }
  }

  /// Runs `handler` at the second signal. The process is then ended by the third.
  func onRepeat(_ handler: @escaping @Sendable () -> Void) {
    lock.withLock { repeatHandlers.append(handler) }
  }

  /// Registers a file to remove if the process has to end at once.
  /// - Parameters:
  ///   - path: the file.
  ///   - keep: gives the file a name so that it is kept; nil if it is to be removed.
  func register(unfinished path: String, keep: (@Sendable () -> Void)? = nil) {
    lock.withLock { unfinished[path] = .some(keep) }
    // A process that ends for want of memory or descriptors removes the files registered here. A
    // file to be kept is not among them, and then stays in its hidden folder.
    if keep == nil { ovt_add_leftover(path, 0) }
  }

  /// Gives a registered file its name while no signal can end the process, so that it never has two
  /// names.
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

  /// Registers a folder that is removed with its contents if the process has to end at once.
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
    guard !isLast else { return terminate(number) }
    for handler in waiting { handler() }
  }

  private func terminate(_ number: Int32) {
    names.withLock {
      // Longer paths first: a folder can only be removed when it is empty.
      let files = lock.withLock { unfinished }.sorted { $0.key.utf8.count > $1.key.utf8.count }
      for (path, keep) in files {
        keep?()
        unlink(path)
        rmdir(folder(of: path))
      }
      for path in lock.withLock({ scratch }) { ovt_remove_folder(-1, path) }
      _exit(128 + number)
    }
  }
}
