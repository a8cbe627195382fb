// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMSimpleQueueCreate(
  _ allocator: OpaquePointer?, _ capacity: Int32, _ queueOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  queueOut?.pointee = nil
  guard let queueOut else { return kCMSimpleQueueError_RequiredParameterMissing }
  var queueOutObject: CMSimpleQueue?
  let result = CoreMedia.CMSimpleQueueCreate(
    allocator: FromC.allocator(allocator), capacity: capacity, queueOut: &queueOutObject)
  queueOut.pointee = ToC.retained(queueOutObject)
  return result
}

@c @implementation
public func CMSimpleQueueGetTypeID() -> UInt {
  CoreMedia.CMSimpleQueueGetTypeID()
}

@c @implementation
public func CMSimpleQueueEnqueue(_ queue: OpaquePointer?, _ element: UnsafeRawPointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMSimpleQueue.self) else {
    return kCMSimpleQueueError_RequiredParameterMissing
  }
  guard let element else { return kCMSimpleQueueError_RequiredParameterMissing }
  return CoreMedia.CMSimpleQueueEnqueue(queue, element: element)
}

@c @implementation
public func CMSimpleQueueDequeue(_ queue: OpaquePointer?) -> UnsafeRawPointer? {
  guard let queue = FromC.object(queue, CMSimpleQueue.self) else { return nil }
  return CoreMedia.CMSimpleQueueDequeue(queue)
}

@c @implementation
public func CMSimpleQueueGetHead(_ queue: OpaquePointer?) -> UnsafeRawPointer? {
  guard let queue = FromC.object(queue, CMSimpleQueue.self) else { return nil }
  return CoreMedia.CMSimpleQueueGetHead(queue)
}

@c @implementation
public func CMSimpleQueueReset(_ queue: OpaquePointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMSimpleQueue.self) else {
    return kCMSimpleQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMSimpleQueueReset(queue)
}

@c @implementation
public func CMSimpleQueueGetCapacity(_ queue: OpaquePointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMSimpleQueue.self) else { return 0 }
  return CoreMedia.CMSimpleQueueGetCapacity(queue)
}

@c @implementation
public func CMSimpleQueueGetCount(_ queue: OpaquePointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMSimpleQueue.self) else { return 0 }
  return CoreMedia.CMSimpleQueueGetCount(queue)
}
