// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A property that can be loaded without blocking, whatever the type of its value.
open class AVPartialAsyncProperty<Root: AVAsynchronousKeyValueLoading>: @unchecked Sendable, Hashable {
  // Sendable: immutable; a key path to a class, whose readers are `@Sendable`.
  /// The property's name, as the key-based functions take it.
  let key: String

  init(key: String) { self.key = key }

  public static func == (a: AVPartialAsyncProperty, b: AVPartialAsyncProperty) -> Bool { a.key == b.key }
  open func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A property of `Root` that can be loaded without blocking: `try await asset.load(.duration)`.
public final class AVAsyncProperty<Root: AVAsynchronousKeyValueLoading, Value>: AVPartialAsyncProperty<Root>,
  @unchecked Sendable
{
  // Sendable: immutable.
  /// How far the loading of a property has come.
  public enum Status {
    case notYetLoaded
    case loading
    case loaded(Value)
    case failed(NSError)
  }

  /// Reads the value; may block, and fails as the file does.
  let read: @Sendable (Root) throws -> Value

  init(key: String, read: @escaping @Sendable (Root) throws -> Value) {
    self.read = read
    super.init(key: key)
  }
}

/// How far the loading of a key's value has come.
public enum AVKeyValueStatus: Int, Sendable {
  case unknown = 0
  case loading = 1
  case loaded = 2
  case failed = 3
  case cancelled = 4
}

/// What has properties that may need to be read from a file first.
public protocol AVAsynchronousKeyValueLoading: AnyObject, Sendable {
  /// Whether a key's value can be read without blocking. On failure `outError` holds the reason.
  func statusOfValue(forKey key: String, error outError: NSErrorPointer) -> AVKeyValueStatus
  /// Loads the values in the background. The handler is called once, on any thread.
  func loadValuesAsynchronously(forKeys keys: [String], completionHandler handler: (@Sendable () -> Void)?)
}

extension AVAsynchronousKeyValueLoading {
  /// Loads the values of keys without blocking. Ask `statusOfValue(forKey:error:)` afterwards what became of each.
  public func loadValues(forKeys keys: [String]) async {
    await withCheckedContinuation { continuation in
      loadValuesAsynchronously(forKeys: keys) { continuation.resume() }
    }
  }

  /// Loads a property without blocking.
  public func load<T>(_ property: AVAsyncProperty<Self, T>) async throws -> T {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Loaded<T>, Error>) in
      prepared(property.key) {
        continuation.resume(with: Result { Loaded(value: try property.read(self)) })
      }
    }.value
  }

  /// Does something on the loading queue, once what it needs is there.
  /// - Parameter key: The property that it is about.
  func prepared(_ key: String, _ body: @escaping @Sendable () -> Void) {
    guard let self = self as? any ValuePreparing else { return assetLoadingQueue.async(execute: body) }
    self.prepare(key) { assetLoadingQueue.async(execute: body) }
  }

  /// Loads several properties without blocking.
  public func load<A, B, each Rest>(
    _ propertyA: AVAsyncProperty<Self, A>, _ propertyB: AVAsyncProperty<Self, B>,
    _ rest: repeat AVAsyncProperty<Self, each Rest>
  ) async throws -> (A, B, repeat each Rest) {
    (try await load(propertyA), try await load(propertyB), repeat try await load(each rest))
  }

  /// Whether a property has been loaded, with its value or its error.
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

/// Carries a value out of the loading queue, whose only owner hands it over.
// Sendable: carries a value out of the task that loaded it, which keeps nothing.
private struct Loaded<T>: @unchecked Sendable { let value: T }

/// What has properties that may depend on a server, on a disk or on a program's answer.
protocol ValuePreparing: AnyObject {
  /// Sees to it that reading a property will not wait for anybody.
  /// - Parameters:
  ///   - key: The property's name.
  ///   - completion: Called once, on any thread, when the property has come or cannot come. It must not block.
  func prepare(_ key: String, _ completion: @escaping @Sendable () -> Void)
}

/// Where properties are read for the asynchronous functions, whose number of threads is limited. Nothing waits here for an
/// answer of a program, or for a file to be opened: that is what `ValuePreparing` is for.
let assetLoadingQueue = DispatchQueue(
  label: "AVFoundation.loading", qos: .userInitiated, attributes: .concurrent)
