// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// Buffer queues with C's blocks.

/// The module's handlers for the blocks of C, which are copied; nil if the one that is needed is
/// missing or the version is not known.
private func handlers(_ c: OVTBufferHandlers) -> CMBufferHandlers? {
  guard c.version <= 1, let getDuration = time(c.getDuration) else { return nil }
  return CMBufferHandlers(
    version: 0, getDecodeTimeStamp: time(c.getDecodeTimeStamp),
    getPresentationTimeStamp: time(c.getPresentationTimeStamp), getDuration: getDuration,
    isDataReady: Block(c.isDataReady).map { block in
      { OVTBlockCallGetBoolean(block.pointer, ToC.unretained($0)) != 0 }
    },
    compare: Block(c.compare).map { block in
      { a, b in
        let order = OVTBlockCallCompare(block.pointer, ToC.unretained(a), ToC.unretained(b))
        return order < 0 ? .compareLessThan : order > 0 ? .compareGreaterThan : .compareEqualTo
      }
    },
    dataBecameReadyNotification: FromC.object(c.dataBecameReadyNotification, NSString.self).map {
      Unmanaged.passUnretained($0)
    },
    getSize: Block(c.getSize).map { block in { OVTBlockCallGetSize(block.pointer, ToC.unretained($0)) } })
}

/// The module's handler for a block that returns a time; nil for null.
private func time(_ block: UnsafeRawPointer?) -> CMBufferGetTimeHandler? {
  Block(block).map { block in
    { FromC.value(OVTBlockCallGetTime(block.pointer, ToC.unretained($0))) }
  }
}

@c(CMBufferQueueCreateWithHandlers)
public func CMBufferQueueCreateWithHandlers(
  _ allocator: OpaquePointer?, _ capacity: Int, _ handlers: UnsafePointer<OVTBufferHandlers>?,
  _ queueOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  queueOut?.pointee = nil
  guard let queueOut, let given = handlers?.pointee else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  guard let converted = COpenVideoToolboxFunctions.handlers(given) else {
    return CoreMedia.kCMBufferQueueError_InvalidCMBufferCallbacksStruct
  }
  var queue: CMBufferQueue?
  let result = withUnsafePointer(to: converted) {
    CoreMedia.CMBufferQueueCreateWithHandlers(nil, capacity, $0, &queue)
  }
  queueOut.pointee = ToC.retained(queue)
  return result
}

@c(CMBufferQueueSetValidationHandler)
public func CMBufferQueueSetValidationHandler(_ queue: OpaquePointer?, _ handler: UnsafeRawPointer?) -> Int32
{
  guard let queue = FromC.object(queue, CMBufferQueue.self), let block = Block(handler) else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  // The module's callback has the status of the block as its result, which its handler would throw.
  return CoreMedia.CMBufferQueueSetValidationCallback(
    queue,
    callback: { queue, buffer, _ in
      OVTBlockCallValidation(block.pointer, ToC.unretained(queue), ToC.unretained(buffer))
    }, refcon: nil)
}

/// The module's handler for a block of a trigger; nil for null.
private func trigger(_ block: UnsafeRawPointer?) -> CMBufferQueueTriggerHandler? {
  Block(block).map { block in { OVTBlockCallTrigger(block.pointer, $0) } }
}

@c(CMBufferQueueInstallTriggerHandler)
public func CMBufferQueueInstallTriggerHandler(
  _ queue: OpaquePointer?, _ condition: Int32, _ time: C_CMTime,
  _ triggerTokenOut: UnsafeMutablePointer<OpaquePointer?>?, _ handler: UnsafeRawPointer?
) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueInstallTriggerHandler(
    queue, condition, FromC.value(time), triggerTokenOut, trigger(handler))
}

@c(CMBufferQueueInstallTriggerHandlerWithIntegerThreshold)
public func CMBufferQueueInstallTriggerHandlerWithIntegerThreshold(
  _ queue: OpaquePointer?, _ condition: Int32, _ threshold: Int,
  _ triggerTokenOut: UnsafeMutablePointer<OpaquePointer?>?, _ handler: UnsafeRawPointer?
) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueInstallTriggerHandlerWithIntegerThreshold(
    queue, condition, threshold, triggerTokenOut, trigger(handler))
}
