// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Asks a program for the value of a metadata item; see `AVMetadataItem.init(propertiesOf:valueLoadingHandler:)`.
open class AVMetadataItemValueRequest: NSObject, @unchecked Sendable {
  // Sendable: immutable; the loading has its own lock.
  /// The item whose value is wanted, while somebody holds it.
  open private(set) weak var metadataItem: AVMetadataItem?
  private let loading: ValueLoading

  init(_ item: AVMetadataItem, _ loading: ValueLoading) {
    metadataItem = item
    self.loading = loading
    super.init()
  }

  /// Nobody can answer any more.
  deinit {
    loading.finish(
      .failure(AVError(.failedToLoadMediaData, reason: "The program gave the metadata item no value.")))
  }

  /// Gives the value, once: what follows has no effect.
  open func respond(value: any NSCopying & NSObjectProtocol) { loading.finish(.success(value)) }

  /// Says why there is none, once: what follows has no effect.
  open func respond(error: any Error) { loading.finish(.failure(error)) }
}

/// The value of a metadata item that a program gives when it is asked.
final class ValueLoading: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  typealias Value = any NSCopying & NSObjectProtocol
  typealias Handler = @Sendable (AVMetadataItemValueRequest) -> Void

  private let condition = NSCondition()
  private var handler: Handler?
  private var isAsking = false
  private var outcome: Result<Value, any Error>?
  /// The thread that the handler runs on.
  private var asking: Thread?
  /// What is to be called when the outcome is there.
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
    let told = condition.withLock { () -> [@Sendable () -> Void] in
      guard outcome == nil else { return [] }
      outcome = result
      condition.broadcast()
      defer { waiting = [] }
      return waiting
    }
    for completion in told { completion() }
  }

  /// What of an item waits for the answer.
  static let keys: Set<String> = ["value", "stringValue", "numberValue", "dateValue", "dataValue"]

  private func takeHandler() -> Handler? {
    condition.withLock {
      defer { (handler, isAsking) = (nil, true) }
      return handler
    }
  }

  /// Not under the lock: the program may answer at once, and may look at the item.
  private func ask(_ handler: Handler, for item: AVMetadataItem) {
    condition.withLock { asking = Thread.current }
    handler(AVMetadataItemValueRequest(item, self))
    condition.withLock { asking = nil }
  }

  /// Asks, without waiting for the answer.
  /// - Parameter completion: Called once, on any thread, when the answer is there. It must not block.
  func ask(for item: AVMetadataItem, then completion: @escaping @Sendable () -> Void) {
    let isOver = condition.withLock {
      if outcome == nil { waiting.append(completion) }
      return outcome != nil
    }
    if isOver { return completion() }
    guard let handler = takeHandler() else { return }
    // A thread of its own: a program may take its time, or need what a queue's threads are there for.
    Thread { self.ask(handler, for: item) }.start()
  }

  /// Asks, and waits for the answer.
  func value(for item: AVMetadataItem) throws -> Value {
    if let handler = takeHandler() { ask(handler, for: item) }
    return try condition.withLock {
      while true {
        if let outcome { return try outcome.get() }
        // The handler itself looks at the value that it is asked for.
        if asking === Thread.current {
          throw AVError(.operationNotAllowed, reason: "The value is what the handler is asked for.")
        }
        condition.wait()
      }
    }
  }
}
