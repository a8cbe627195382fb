// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// There is not enough memory.
public let kCMSimpleQueueError_AllocationFailed: OSStatus = -12770
/// A required parameter is missing.
public let kCMSimpleQueueError_RequiredParameterMissing: OSStatus = -12771
/// The capacity is negative or does not fit into 32 bits.
public let kCMSimpleQueueError_ParameterOutOfRange: OSStatus = -12772
/// The queue is full.
public let kCMSimpleQueueError_QueueIsFull: OSStatus = -12773

/// A first-in first-out queue of pointers with a fixed capacity. It may be used from any thread. It
/// does not own the objects that its elements point to.
public final class CMSimpleQueue: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards all variables.
  private let lock = Lock()
  private let limit: Int
  /// A ring buffer, which grows up to the capacity when needed, since a client may never use all of
  /// it.
  private var elements: [UnsafeRawPointer?] = []
  private var first = 0
  private var used = 0

  init(elementCount: Int) {
    limit = elementCount
  }

  func add(_ element: UnsafeRawPointer) -> OSStatus {
    lock.withLock {
      guard used < limit else { return kCMSimpleQueueError_QueueIsFull }
      if used == elements.count { grow() }
      elements[(first + used) % elements.count] = element
      used += 1
      return noErr
    }
  }

  private func grow() {
    let room = min(limit, max(16, elements.count * 2))
    elements = Array(elements[first...] + elements[..<first])
    elements += repeatElement(nil, count: room - elements.count)
    first = 0
  }

  func removeFirst() -> UnsafeRawPointer? {
    lock.withLock {
      guard used > 0 else { return nil }
      let element = elements[first]
      first = (first + 1) % elements.count
      used -= 1
      return element
    }
  }

  func removeAll() {
    lock.withLock { (first, used) = (0, 0) }
  }

  var firstElement: UnsafeRawPointer? { lock.withLock { used > 0 ? elements[first] : nil } }
  var elementCount: Int { lock.withLock { used } }
  var elementLimit: Int { limit }
}

extension CMSimpleQueue: CFRuntimeObject {
  package static let cfTypeID: CFTypeID = CFRuntimeRegister("CMSimpleQueue")
}

// MARK: - Functions

/// Creates a queue for `capacity` elements.
@discardableResult
public func CMSimpleQueueCreate(
  allocator: CFAllocator?, capacity: Int32, queueOut: UnsafeMutablePointer<CMSimpleQueue?>
) -> OSStatus {
  queueOut.pointee = nil
  guard capacity >= 0 else { return kCMSimpleQueueError_ParameterOutOfRange }
  queueOut.pointee = CMSimpleQueue(elementCount: Int(capacity))
  return noErr
}

/// The type identifier of simple queues.
@discardableResult
public func CMSimpleQueueGetTypeID() -> CFTypeID { CMSimpleQueue.cfTypeID }

/// Adds an element at the end.
@discardableResult
public func CMSimpleQueueEnqueue(_ queue: CMSimpleQueue, element: UnsafeRawPointer) -> OSStatus {
  queue.add(element)
}

/// Removes and returns the first element; nil if there is none.
@discardableResult
public func CMSimpleQueueDequeue(_ queue: CMSimpleQueue) -> UnsafeRawPointer? { queue.removeFirst() }

/// Returns the first element without removing it; nil if there is none.
@discardableResult
public func CMSimpleQueueGetHead(_ queue: CMSimpleQueue) -> UnsafeRawPointer? { queue.firstElement }

/// Removes all elements.
@discardableResult
public func CMSimpleQueueReset(_ queue: CMSimpleQueue) -> OSStatus {
  queue.removeAll()
  return noErr
}

/// Returns the largest number of elements.
@discardableResult
public func CMSimpleQueueGetCapacity(_ queue: CMSimpleQueue) -> Int32 { Int32(queue.elementLimit) }

/// Returns the number of elements.
@discardableResult
public func CMSimpleQueueGetCount(_ queue: CMSimpleQueue) -> Int32 { Int32(queue.elementCount) }

// MARK: - Members

extension CMSimpleQueue {
  /// The errors that simple queues throw, in `NSOSStatusErrorDomain`.
  public struct Error: Sendable {
    public static let allocationFailed = osStatusError(kCMSimpleQueueError_AllocationFailed)
    public static let requiredParameterMissing = osStatusError(kCMSimpleQueueError_RequiredParameterMissing)
    public static let parameterOutOfRange = osStatusError(kCMSimpleQueueError_ParameterOutOfRange)
    public static let queueIsFull = osStatusError(kCMSimpleQueueError_QueueIsFull)
  }

  /// Creates a queue for `capacity` elements.
  public convenience init(capacity: Int) throws {
    guard Int32(exactly: capacity) != nil, capacity >= 0 else { throw Error.parameterOutOfRange }
    self.init(elementCount: capacity)
  }

  /// The type identifier of simple queues.
  public static var typeID: CFTypeID { cfTypeID }

  /// Adds an element at the end.
  public func enqueue(_ element: UnsafeRawPointer) throws { try check(add(element)) }

  /// Removes and returns the first element; nil if there is none.
  public func dequeue() -> UnsafeRawPointer? { removeFirst() }

  /// The first element, which is not removed; nil if there is none.
  public var head: UnsafeRawPointer? { firstElement }

  /// Removes all elements.
  public func reset() throws { removeAll() }

  /// The largest number of elements.
  public var capacity: Int { elementLimit }

  /// The number of elements.
  public var count: Int { elementCount }

  /// The count divided by the capacity, from 0 to 1.
  public var fullness: Float {
    let capacity = elementLimit
    return capacity == 0 ? 0 : Float(elementCount) / Float(capacity)
  }
}
