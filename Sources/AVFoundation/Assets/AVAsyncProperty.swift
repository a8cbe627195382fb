// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A property that can be loaded without blocking, without the type of its value.
open class AVPartialAsyncProperty<Root: AVAsynchronousKeyValueLoading>: @unchecked Sendable, Hashable {
  // Sendable: immutable.
  /// The name of the property in the key-based functions.
  let key: String

  init(key: String) { self.key = key }

  public static func == (a: AVPartialAsyncProperty, b: AVPartialAsyncProperty) -> Bool { a.key == b.key }
  open func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A property of `Root` that can be loaded without blocking: `try await asset.load(.duration)`.
public final class AVAsyncProperty<Root: AVAsynchronousKeyValueLoading, Value>: AVPartialAsyncProperty<Root>,
  @unchecked Sendable
{
  // Sendable: immutable, and `read` is `@Sendable`.
  /// The state of the loading of a property.
  public enum Status {
    case notYetLoaded
    case loading
    case loaded(Value)
    case failed(NSError)
  }

  /// Reads the value. It may block, and throws an error if the file cannot be read.
  let read: @Sendable (Root) throws -> Value

  init(key: String, read: @escaping @Sendable (Root) throws -> Value) {
    self.read = read
    super.init(key: key)
  }
}

/// The state of the loading of a value.
public enum AVKeyValueStatus: Int, Sendable {
  case unknown = 0
  case loading = 1
  case loaded = 2
  case failed = 3
  case cancelled = 4
}

/// An object with properties that may have to be loaded from a file.
public protocol AVAsynchronousKeyValueLoading: AnyObject, Sendable {
  /// Returns the state of a key's value. If it is `.failed`, `outError` receives the error.
  func statusOfValue(forKey key: String, error outError: NSErrorPointer) -> AVKeyValueStatus
  /// Loads the values in the background. The handler is called once, on any thread.
  func loadValuesAsynchronously(forKeys keys: [String], completionHandler handler: (@Sendable () -> Void)?)
}

extension AVAsynchronousKeyValueLoading {
  /// Loads the values of keys without blocking. Afterwards `statusOfValue(forKey:error:)` returns
  /// the result for each.
  public func loadValues(forKeys keys: [String]) async {
    await withCheckedContinuation { continuation in
      loadValuesAsynchronously(forKeys: keys) { continuation.resume() }
    }
  }

  /// Loads a property without blocking.
  /// - Throws: The error because of which it cannot be loaded.
  public func load<T>(_ property: AVAsyncProperty<Self, T>) async throws -> T {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Loaded<T>, Error>) in
      prepared(property.key) {
        continuation.resume(with: Result { Loaded(value: try property.read(self)) })
      }
    }.value
  }

  /// Calls a closure on the loading queue after a property has been prepared.
  /// - Parameters:
  ///   - key: The name of the property.
  ///   - body: The closure.
  func prepared(_ key: String, _ body: @escaping @Sendable () -> Void) {
    guard let self = self as? any ValuePreparing else { return assetLoadingQueue.async(execute: body) }
    self.prepare(key) { assetLoadingQueue.async(execute: body) }
  }

  /// Loads several properties without blocking.
  /// - Throws: The error of the first property that cannot be loaded.
  public func load<A, B, each Rest>(
    _ propertyA: AVAsyncProperty<Self, A>, _ propertyB: AVAsyncProperty<Self, B>,
    _ rest: repeat AVAsyncProperty<Self, each Rest>
  ) async throws -> (A, B, repeat each Rest) {
    (try await load(propertyA), try await load(propertyB), repeat try await load(each rest))
  }

  /// Returns the state of a property, with its value or its error.
  public func status<T>(of property: AVAsyncProperty<Self, T>) -> AVAsyncProperty<Self, T>.Status {
    var error: NSError?
    switch statusOfValue(forKey: property.key, error: &error) {
    case .loaded:
      do {
        return .loaded(try property.read(self))
      } catch { return .failed(error as NSError) }
    case .failed, .cancelled:
      return .failed(error ?? AVError(.unknown, reason: "The property cannot be loaded.") as NSError)
    case .loading: return .loading
    case .unknown: return .notYetLoaded
    }
  }
}

/// Carries a value out of the loading queue.
// Sendable: the task that loaded the value does not keep it.
private struct Loaded<T>: @unchecked Sendable { let value: T }

/// An object whose properties may depend on a server, a disk or an answer of the program.
protocol ValuePreparing: AnyObject {
  /// Prepares a property so that reading it does not block.
  /// - Parameters:
  ///   - key: The name of the property.
  ///   - completion: Called once, on any thread, when the property is available or has failed. It
  ///     must not block.
  func prepare(_ key: String, _ completion: @escaping @Sendable () -> Void)
}

/// The queue on which properties are read for the asynchronous functions. The number of its threads
/// is limited, so nothing on it waits for an answer of the program or for a file to be opened; see
/// `ValuePreparing`.
let assetLoadingQueue = DispatchQueue(
  label: "AVFoundation.loading", qos: .userInitiated, attributes: .concurrent)
