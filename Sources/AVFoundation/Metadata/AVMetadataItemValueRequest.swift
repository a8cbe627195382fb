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
    condition.withLock {
      guard outcome == nil else { return }
      outcome = result
      condition.broadcast()
    }
  }

  /// What of an item waits for the answer.
  static let keys: Set<String> = ["value", "stringValue", "numberValue", "dateValue", "dataValue"]

  /// Asks, and waits for the answer.
  func value(for item: AVMetadataItem) throws -> Value {
    let handler = condition.withLock { () -> Handler? in
      defer { (self.handler, isAsking) = (nil, true) }
      return self.handler
    }
    // Not under the lock: the program may answer at once, and may look at the item.
    if let handler {
      condition.withLock { asking = Thread.current }
      handler(AVMetadataItemValueRequest(item, self))
      condition.withLock { asking = nil }
    }
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
