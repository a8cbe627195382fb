// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMBufferQueueGetTypeID() -> UInt {
  CoreMedia.CMBufferQueueGetTypeID()
}

@c @implementation
public func CMBufferQueueEnqueue(_ queue: OpaquePointer?, _ buffer: UnsafeRawPointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return kCMBufferQueueError_RequiredParameterMissing
  }
  guard let buffer = FromC.object(buffer, AnyObject.self) else {
    return kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueEnqueue(queue, buffer: buffer)
}

@c @implementation
public func CMBufferQueueDequeue(_ queue: OpaquePointer?) -> UnsafeRawPointer? {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return nil }
  return ToC.retained(CoreMedia.CMBufferQueueDequeue(queue))
}

@c @implementation
public func CMBufferQueueDequeueIfDataReady(_ queue: OpaquePointer?) -> UnsafeRawPointer? {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return nil }
  return ToC.retained(CoreMedia.CMBufferQueueDequeueIfDataReady(queue))
}

@c @implementation
public func CMBufferQueueGetHead(_ queue: OpaquePointer?) -> UnsafeRawPointer? {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return nil }
  return ToC.unretained(CoreMedia.CMBufferQueueGetHead(queue))
}

@c @implementation
public func CMBufferQueueCopyHead(_ queue: OpaquePointer?) -> UnsafeRawPointer? {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return nil }
  return ToC.retained(CoreMedia.CMBufferQueueCopyHead(queue))
}

@c @implementation
public func CMBufferQueueIsEmpty(_ queue: OpaquePointer?) -> UInt8 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return 0 }
  return CoreMedia.CMBufferQueueIsEmpty(queue) ? 1 : 0
}

@c @implementation
public func CMBufferQueueMarkEndOfData(_ queue: OpaquePointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueMarkEndOfData(queue)
}

@c @implementation
public func CMBufferQueueContainsEndOfData(_ queue: OpaquePointer?) -> UInt8 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return 0 }
  return CoreMedia.CMBufferQueueContainsEndOfData(queue) ? 1 : 0
}

@c @implementation
public func CMBufferQueueIsAtEndOfData(_ queue: OpaquePointer?) -> UInt8 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return 0 }
  return CoreMedia.CMBufferQueueIsAtEndOfData(queue) ? 1 : 0
}

@c @implementation
public func CMBufferQueueReset(_ queue: OpaquePointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueReset(queue)
}

@c @implementation
public func CMBufferQueueGetBufferCount(_ queue: OpaquePointer?) -> Int {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return 0 }
  return CoreMedia.CMBufferQueueGetBufferCount(queue)
}

@c @implementation
public func CMBufferQueueGetDuration(_ queue: OpaquePointer?) -> C_CMTime {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMBufferQueueGetDuration(queue))
}

@c @implementation
public func CMBufferQueueGetMinDecodeTimeStamp(_ queue: OpaquePointer?) -> C_CMTime {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMBufferQueueGetMinDecodeTimeStamp(queue))
}

@c @implementation
public func CMBufferQueueGetFirstDecodeTimeStamp(_ queue: OpaquePointer?) -> C_CMTime {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMBufferQueueGetFirstDecodeTimeStamp(queue))
}

@c @implementation
public func CMBufferQueueGetMinPresentationTimeStamp(_ queue: OpaquePointer?) -> C_CMTime {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMBufferQueueGetMinPresentationTimeStamp(queue))
}

@c @implementation
public func CMBufferQueueGetFirstPresentationTimeStamp(_ queue: OpaquePointer?) -> C_CMTime {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMBufferQueueGetFirstPresentationTimeStamp(queue))
}

@c @implementation
public func CMBufferQueueGetMaxPresentationTimeStamp(_ queue: OpaquePointer?) -> C_CMTime {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMBufferQueueGetMaxPresentationTimeStamp(queue))
}

@c @implementation
public func CMBufferQueueGetEndPresentationTimeStamp(_ queue: OpaquePointer?) -> C_CMTime {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMBufferQueueGetEndPresentationTimeStamp(queue))
}

@c @implementation
public func CMBufferQueueGetTotalSize(_ queue: OpaquePointer?) -> Int {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else { return 0 }
  return CoreMedia.CMBufferQueueGetTotalSize(queue)
}
