// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A request for the value of a metadata item; see
/// `AVMetadataItem.init(propertiesOf:valueLoadingHandler:)`.
open class AVMetadataItemValueRequest: NSObject, @unchecked Sendable {
  // Sendable: immutable; the loading has its own lock.
  /// The item whose value is requested; nil after it has been released.
  open private(set) weak var metadataItem: AVMetadataItem?
  private let loading: ValueLoading

  init(_ item: AVMetadataItem, _ loading: ValueLoading) {
    metadataItem = item
    self.loading = loading
    super.init()
  }

  /// Fails the request if it has not been answered, because the program can no longer answer it.
  deinit {
    loading.finish(
      .failure(AVError(.failedToLoadMediaData, reason: "The value request was released without a response.")))
  }

  /// Answers the request with a value. Only the first answer has an effect.
  open func respond(value: any NSCopying & NSObjectProtocol) { loading.finish(.success(value)) }

  /// Answers the request with an error. Only the first answer has an effect.
  open func respond(error: any Error) { loading.finish(.failure(error)) }
}

/// Loads the value of a metadata item from the program's handler.
final class ValueLoading: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  typealias Value = any NSCopying & NSObjectProtocol
  typealias Handler = @Sendable (AVMetadataItemValueRequest) -> Void

  private let condition = NSCondition()
  private var handler: Handler?
  private var isAsking = false
  private var outcome: Result<Value, any Error>?
  /// The thread on which the handler runs.
  private var asking: Thread?
  /// The closures to be called when the request has been answered.
  private var waiting: [@Sendable () -> Void] = []

  init(_ handler: @escaping Handler) { self.handler = handler }

  var status: (AVKeyValueStatus, (any Error)?) {
    condition.withLock {
      switch outcome {
      case .success: (.loaded, nil)
      case .failure(let error): (.failed, error)
      case nil: (isAsking ? .loading : .unknown, nil)
      }
    }
  }

  func finish(_ result: Result<Value, any Error>) {
    let completions = condition.withLock { () -> [@Sendable () -> Void] in
      guard outcome == nil else { return [] }
      outcome = result
      condition.broadcast()
      defer { waiting = [] }
      return waiting
    }
    for completion in completions { completion() }
  }

  /// The keys of the properties of a metadata item that depend on its value.
  static let keys: Set<String> = ["value", "stringValue", "numberValue", "dateValue", "dataValue"]

  private func takeHandler() -> Handler? {
    condition.withLock {
      defer { (handler, isAsking) = (nil, true) }
      return handler
    }
  }

  /// Calls the handler. The lock must not be held, since the handler may answer at once or read
  /// properties of the item.
  private func ask(_ handler: Handler, for item: AVMetadataItem) {
    condition.withLock { asking = Thread.current }
    handler(AVMetadataItemValueRequest(item, self))
    condition.withLock { asking = nil }
  }

  /// Requests the value without waiting for the answer.
  /// - Parameters:
  ///   - item: The item.
  ///   - completion: Called once, on any thread, when the request has been answered. It must not
  ///     block.
  func ask(for item: AVMetadataItem, then completion: @escaping @Sendable () -> Void) {
    let isFinished = condition.withLock {
      if outcome == nil { waiting.append(completion) }
      return outcome != nil
    }
    if isFinished { return completion() }
    guard let handler = takeHandler() else { return }
    // A separate thread is used, since the handler may take long, or depend on a queue whose
    // threads are limited.
    Thread { self.ask(handler, for: item) }.start()
  }

  /// Requests the value and waits for the answer.
  /// - Throws: The error with which the program answered, or `AVError.Code.operationNotAllowed` if
  ///   the handler itself reads the value.
  func value(for item: AVMetadataItem) throws -> Value {
    if let handler = takeHandler() { ask(handler, for: item) }
    return try condition.withLock {
      while true {
        if let outcome { return try outcome.get() }
        // The handler reads the value that it has been asked for.
        if asking === Thread.current {
          throw AVError(
            .operationNotAllowed, reason: "The value loading handler reads the value that it must provide.")
        }
        condition.wait()
      }
    }
  }
}
