// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// There is not enough memory.
public let kCMBufferQueueError_AllocationFailed: OSStatus = -12760
/// A required parameter is missing.
public let kCMBufferQueueError_RequiredParameterMissing: OSStatus = -12761
/// The version of the callbacks is not 0.
public let kCMBufferQueueError_InvalidCMBufferCallbacksStruct: OSStatus = -12762
/// The end of data has been marked, so that no buffers can be added until the queue is reset.
public let kCMBufferQueueError_EnqueueAfterEndOfData: OSStatus = -12763
/// The queue is full.
public let kCMBufferQueueError_QueueIsFull: OSStatus = -12764
/// The time of a trigger is not numeric or has an epoch.
public let kCMBufferQueueError_BadTriggerDuration: OSStatus = -12765
/// The function of a trigger must not change the queue.
public let kCMBufferQueueError_CannotModifyQueueFromTriggerCallback: OSStatus = -12766
/// The condition is not known, or it needs a time rather than a threshold, or the reverse.
public let kCMBufferQueueError_InvalidTriggerCondition: OSStatus = -12767
/// The queue has no such trigger.
public let kCMBufferQueueError_InvalidTriggerToken: OSStatus = -12768
/// The validation callback has rejected the buffer.
public let kCMBufferQueueError_InvalidBuffer: OSStatus = -12769

// MARK: - Create

/// Creates a queue.
///
/// - Parameters:
///   - allocator: Not used.
///   - capacity: The largest number of buffers; 0 for any number.
///   - callbacks: The functions that read properties of buffers; they are copied.
///   - queueOut: Receives the queue.
/// - Returns: `kCMBufferQueueError_InvalidCMBufferCallbacksStruct` if the version of the callbacks
///   is not 0, `kCMBufferQueueError_RequiredParameterMissing` if the capacity is negative.
@discardableResult
public func CMBufferQueueCreate(
  allocator: CFAllocator?, capacity: CMItemCount, callbacks: UnsafePointer<CMBufferCallbacks>,
  queueOut: UnsafeMutablePointer<CMBufferQueue?>
) -> OSStatus {
  queueOut.pointee = nil
  guard callbacks.pointee.version == 0 else { return kCMBufferQueueError_InvalidCMBufferCallbacksStruct }
  guard capacity >= 0 else { return kCMBufferQueueError_RequiredParameterMissing }
  queueOut.pointee = CMBufferQueue(
    bufferLimit: capacity, handlers: CMBufferQueue.Handlers(callbacks.pointee))
  return noErr
}

/// Creates a queue; see `CMBufferQueueCreate`.
@discardableResult
public func CMBufferQueueCreateWithHandlers(
  _ allocator: CFAllocator?, _ capacity: CMItemCount, _ handlers: UnsafePointer<CMBufferHandlers>,
  _ queueOut: UnsafeMutablePointer<CMBufferQueue?>
) -> OSStatus {
  queueOut.pointee = nil
  guard handlers.pointee.version == 0 else { return kCMBufferQueueError_InvalidCMBufferCallbacksStruct }
  guard capacity >= 0 else { return kCMBufferQueueError_RequiredParameterMissing }
  queueOut.pointee = CMBufferQueue(
    bufferLimit: capacity, handlers: CMBufferQueue.Handlers(handlers.pointee))
  return noErr
}

/// The type identifier of buffer queues.
@discardableResult
public func CMBufferQueueGetTypeID() -> CFTypeID { CMBufferQueue.cfTypeID }

// MARK: - Buffers

/// Adds a buffer: at its position if the queue is sorted, otherwise at the end.
@discardableResult
public func CMBufferQueueEnqueue(_ queue: CMBufferQueue, buffer: CMBuffer) -> OSStatus { queue.add(buffer) }

/// Removes and returns the first buffer; nil if there is none.
@discardableResult
public func CMBufferQueueDequeue(_ queue: CMBufferQueue) -> CMBuffer? { queue.removeFirst(ifReady: false) }

/// Removes and returns the first buffer if it is ready; nil if it is not or there is none.
@discardableResult
public func CMBufferQueueDequeueIfDataReady(_ queue: CMBufferQueue) -> CMBuffer? {
  queue.removeFirst(ifReady: true)
}

/// Returns the first buffer without removing it; nil if there is none.
@discardableResult
public func CMBufferQueueGetHead(_ queue: CMBufferQueue) -> CMBuffer? { queue.firstBuffer }

/// Returns the first buffer without removing it; nil if there is none. On Apple's systems, unlike
/// `CMBufferQueueGetHead`, this is safe while another thread removes the buffer; here both
/// functions are.
@discardableResult
public func CMBufferQueueCopyHead(_ queue: CMBufferQueue) -> CMBuffer? { queue.firstBuffer }

/// Returns whether there are no buffers.
@discardableResult
public func CMBufferQueueIsEmpty(_ queue: CMBufferQueue) -> Bool { queue.count == 0 }

/// Marks the end of data: no more buffers can be added until the queue is reset.
@discardableResult
public func CMBufferQueueMarkEndOfData(_ queue: CMBufferQueue) -> OSStatus { queue.markEnd() }

/// Returns whether the end of data has been marked.
@discardableResult
public func CMBufferQueueContainsEndOfData(_ queue: CMBufferQueue) -> Bool { queue.isMarked }

/// Returns whether the end of data has been marked and all buffers have been removed.
@discardableResult
public func CMBufferQueueIsAtEndOfData(_ queue: CMBufferQueue) -> Bool { queue.isAtEnd }

/// Removes all buffers and the mark of the end of data.
@discardableResult
public func CMBufferQueueReset(_ queue: CMBufferQueue) -> OSStatus { queue.status { try queue.removeAll() } }

/// Calls a function with each buffer, then resets the queue.
@discardableResult
@preconcurrency public func CMBufferQueueResetWithCallback(
  _ queue: CMBufferQueue, callback: (CMBuffer, UnsafeMutableRawPointer?) -> Void,
  refcon: UnsafeMutableRawPointer?
) -> OSStatus {
  queue.status { try queue.removeAll { callback($0, refcon) } }
}

/// Calls a function with each buffer, in order, until it returns an error.
@discardableResult
public func CMBufferQueueCallForEachBuffer(
  _ queue: CMBufferQueue, callback: (CMBuffer, UnsafeMutableRawPointer?) -> OSStatus,
  refcon: UnsafeMutableRawPointer?
) -> OSStatus {
  for buffer in queue.buffersNow {
    let status = callback(buffer, refcon)
    if status != noErr { return status }
  }
  return noErr
}

/// Checks whether a buffer may be added: returns `noErr`, or the error that adding it returns.
public typealias CMBufferValidationCallback =
  @Sendable (CMBufferQueue, CMBuffer, UnsafeMutableRawPointer?) -> OSStatus
/// Checks whether a buffer may be added: returns `noErr`, or the error that adding it returns.
public typealias CMBufferValidationHandler = (CMBufferQueue, CMBuffer) -> OSStatus

/// Sets the function that checks buffers before they are added.
@discardableResult
@preconcurrency public func CMBufferQueueSetValidationCallback(
  _ queue: CMBufferQueue, callback: @escaping CMBufferValidationCallback, refcon: UnsafeMutableRawPointer?
) -> OSStatus {
  queue.setValidation { callback($0, $1, refcon) }
  return noErr
}

/// Sets the function that checks buffers before they are added.
@discardableResult
public func CMBufferQueueSetValidationHandler(
  _ queue: CMBufferQueue, _ handler: @escaping CMBufferValidationHandler
) -> OSStatus {
  queue.setValidation(handler)
  return noErr
}

// MARK: - Times and sizes

/// Returns the number of buffers.
@discardableResult
public func CMBufferQueueGetBufferCount(_ queue: CMBufferQueue) -> CMItemCount { queue.count }

/// Returns the sum of the durations of all buffers; zero if there are none.
@discardableResult
public func CMBufferQueueGetDuration(_ queue: CMBufferQueue) -> CMTime { queue.durationNow }

/// Returns the earliest decode time; invalid if there is none.
@discardableResult
public func CMBufferQueueGetMinDecodeTimeStamp(_ queue: CMBufferQueue) -> CMTime { queue.minDecodeTime }

/// Returns the decode time of the first buffer; invalid if there is none.
@discardableResult
public func CMBufferQueueGetFirstDecodeTimeStamp(_ queue: CMBufferQueue) -> CMTime { queue.firstDecodeTime }

/// Returns the earliest presentation time; invalid if there is none.
@discardableResult
public func CMBufferQueueGetMinPresentationTimeStamp(_ queue: CMBufferQueue) -> CMTime {
  queue.minPresentationTime
}

/// Returns the presentation time of the first buffer; invalid if there is none.
@discardableResult
public func CMBufferQueueGetFirstPresentationTimeStamp(_ queue: CMBufferQueue) -> CMTime {
  queue.firstPresentationTime
}

/// Returns the latest presentation time; invalid if there is none.
@discardableResult
public func CMBufferQueueGetMaxPresentationTimeStamp(_ queue: CMBufferQueue) -> CMTime {
  queue.maxPresentationTime
}

/// Returns the latest end (presentation time plus duration) of all buffers; invalid if there is
/// none.
@discardableResult
public func CMBufferQueueGetEndPresentationTimeStamp(_ queue: CMBufferQueue) -> CMTime { queue.endTime }

/// Returns the size of all buffers in bytes; 0 if it is unknown.
@discardableResult
public func CMBufferQueueGetTotalSize(_ queue: CMBufferQueue) -> Int { queue.sizeNow }

// MARK: - Members

extension CMBufferQueue {
  /// The errors that buffer queues throw, in `NSOSStatusErrorDomain`.
  public struct Error: Sendable {
    public static let allocationFailed = osStatusError(kCMBufferQueueError_AllocationFailed)
    public static let requiredParameterMissing = osStatusError(kCMBufferQueueError_RequiredParameterMissing)
    public static let invalidCMBufferCallbacksStruct = osStatusError(
      kCMBufferQueueError_InvalidCMBufferCallbacksStruct)
    public static let enqueueAfterEndOfData = osStatusError(kCMBufferQueueError_EnqueueAfterEndOfData)
    public static let queueIsFull = osStatusError(kCMBufferQueueError_QueueIsFull)
    public static let badTriggerDuration = osStatusError(kCMBufferQueueError_BadTriggerDuration)
    public static let cannotModifyQueueFromTriggerCallback = osStatusError(
      kCMBufferQueueError_CannotModifyQueueFromTriggerCallback)
    public static let invalidTriggerCondition = osStatusError(kCMBufferQueueError_InvalidTriggerCondition)
    public static let invalidTriggerToken = osStatusError(kCMBufferQueueError_InvalidTriggerToken)
    public static let invalidBuffer = osStatusError(kCMBufferQueueError_InvalidBuffer)
  }

  /// Creates a queue.
  /// - Parameters:
  ///   - capacity: The largest number of buffers; 0 for any number.
  ///   - handlers: The closures that read properties of buffers.
  public convenience init(capacity: CMItemCount, handlers: Handlers) throws {
    guard capacity >= 0 else { throw Error.requiredParameterMissing }
    self.init(bufferLimit: capacity, handlers: handlers)
  }

  /// The type identifier of buffer queues.
  public class var typeID: CFTypeID { cfTypeID }

  /// Adds a buffer: at its position if the queue is sorted, otherwise at the end.
  public func enqueue(_ buffer: CMBuffer) throws { try check(add(buffer)) }

  /// Removes and returns the first buffer; nil if there is none.
  public func dequeue() -> CMBuffer? { removeFirst(ifReady: false) }

  /// Removes and returns the first buffer if it is ready; nil if it is not or there is none.
  public func dequeueIfDataReady() -> CMBuffer? { removeFirst(ifReady: true) }

  /// The first buffer, which stays in the queue; nil if there is none.
  public var head: CMBuffer? { firstBuffer }

  /// Whether there are no buffers.
  public var isEmpty: Bool { count == 0 }

  /// Marks the end of data: no more buffers can be added until the queue is reset.
  public func markEndOfData() throws { try check(markEnd()) }

  /// Whether the end of data was marked.
  public var containsEndOfData: Bool { isMarked }

  /// Whether the end of data was marked and all buffers were removed.
  public var isAtEndOfData: Bool { isAtEnd }

  /// Removes all buffers and the mark of the end of data.
  public func reset() throws { try removeAll() }

  /// Calls a function with each buffer, then resets the queue, unless the function throws.
  public func reset(_ body: (CMBuffer) throws -> Void) throws { try removeAll(body) }

  /// The number of buffers.
  public var bufferCount: CMItemCount { count }
  /// The sum of the durations of all buffers; zero if there are none.
  public var duration: CMTime { durationNow }
  /// The earliest decode time; invalid if there is none.
  public var minDecodeTimeStamp: CMTime { minDecodeTime }
  /// The decode time of the first buffer; invalid if there is none.
  public var firstDecodeTimeStamp: CMTime { firstDecodeTime }
  /// The earliest presentation time; invalid if there is none.
  public var minPresentationTimeStamp: CMTime { minPresentationTime }
  /// The presentation time of the first buffer; invalid if there is none.
  public var firstPresentationTimeStamp: CMTime { firstPresentationTime }
  /// The latest presentation time; invalid if there is none.
  public var maxPresentationTimeStamp: CMTime { maxPresentationTime }
  /// The latest end (presentation time plus duration) of all buffers; invalid if there is none.
  public var endPresentationTimeStamp: CMTime { endTime }
  /// The size of all buffers in bytes; 0 if it is unknown.
  public var totalSize: Int { sizeNow }

  /// A snapshot of the buffers of a queue, in order.
  public struct Buffers: Sequence {
    let list: [CMBuffer]
    public func makeIterator() -> IndexingIterator<[CMBuffer]> { list.makeIterator() }
  }

  /// A snapshot of the buffers, in order.
  public var buffers: Buffers { Buffers(list: buffersNow) }

  /// Sets the function that checks buffers before they are added. The error that it throws is
  /// thrown by `enqueue`.
  public func setValidationHandler(_ body: @escaping (CMBufferQueue, CMBuffer) throws -> Void) {
    setValidation { queue, buffer in queue.status { try body(queue, buffer) } }
  }

  /// Runs a closure and returns the status code of its error, or `noErr`.
  func status(_ body: () throws -> Void) -> OSStatus {
    do {
      try body()
      return noErr
    } catch {
      let error = error as NSError
      return error.domain == NSOSStatusErrorDomain
        ? OSStatus(truncatingIfNeeded: error.code) : kCMBufferQueueError_InvalidBuffer
    }
  }
}
