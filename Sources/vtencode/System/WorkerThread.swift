// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs blocking work on a thread of its own, so that it does not block Swift's cooperative
/// threads.
/// - Parameters:
///   - name: the thread's name.
///   - work: the work.
/// - Returns: what `work` returns.
/// - Throws: what `work` throws, or a `Failure` if the system provides no thread.
func onThread<Value: Sendable>(
  _ name: String, _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let code = WorkerThread.start(name) { continuation.resume(with: Result { try work() }) }
    if code != 0 { continuation.resume(throwing: ResourceLimits.noThread(code)) }
  }
}

/// Starts a thread and reports if that fails, which Foundation's `Thread` does not.
enum WorkerThread {
  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
  }

  /// Starts a detached thread.
  /// - Parameters:
  ///   - name: the thread's name.
  ///   - body: what it runs.
  /// - Returns: 0, or an error number, in which case `body` is not run.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
    var attributes = pthread_attr_t()
    let code = pthread_attr_init(&attributes)
    guard code == 0 else { return code }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 1 << 20)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let held = Unmanaged.passRetained(Body(name, body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        Thread.current.name = body.name
        body.run()
        return nil
      }, held.toOpaque())
    if result != 0 { held.release() }
    return result
  }
}
