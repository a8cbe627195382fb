// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// Buffer queues with C's callbacks.

// MARK: - C's types of callbacks

public typealias GetTime = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> C_CMTime

/// The module's callbacks for those of C; nil if the one that is needed is missing or the version
/// is not known.
private func callbacks(_ c: C_CMBufferCallbacks) -> CMBufferCallbacks? {
  guard c.version <= 1, let getDuration = c.getDuration else { return nil }
  func time(_ function: GetTime?) -> CMBufferGetTimeCallback? {
    guard let function else { return nil }
    return { (buffer: AnyObject, refcon: UnsafeMutableRawPointer?) -> CMTime in
      FromC.value(function(ToC.unretained(buffer), refcon))
    }
  }
  let isReady = c.isDataReady.map { function -> CMBufferGetBooleanCallback in
    { function(ToC.unretained($0), $1) != 0 }
  }
  let compare = c.compare.map { function -> CMBufferCompareCallback in
    { a, b, refcon in
      let order = function(ToC.unretained(a), ToC.unretained(b), refcon)
      return order < 0 ? .compareLessThan : order > 0 ? .compareGreaterThan : .compareEqualTo
    }
  }
  let getSize = c.version < 1 ? nil : c.getSize
  let size = getSize.map { function -> CMBufferGetSizeCallback in { function(ToC.unretained($0), $1) } }
  return CMBufferCallbacks(
    version: 0, refcon: c.refcon, getDecodeTimeStamp: time(c.getDecodeTimeStamp),
    getPresentationTimeStamp: time(c.getPresentationTimeStamp),
    getDuration: { FromC.value(getDuration(ToC.unretained($0), $1)) }, isDataReady: isReady, compare: compare,
    dataBecameReadyNotification: FromC.object(c.dataBecameReadyNotification, NSString.self).map {
      Unmanaged.passUnretained($0)
    },
    getSize: size)
}

// MARK: - The callbacks for sample buffers

private func sampleCallbacks(isSorted: Bool) -> UnsafePointer<C_CMBufferCallbacks> {
  let result = UnsafeMutablePointer<C_CMBufferCallbacks>.allocate(capacity: 1)
  var callbacks = C_CMBufferCallbacks()
  callbacks.version = 1
  callbacks.getDecodeTimeStamp = { sample, _ in CMSampleBufferGetDecodeTimeStamp(OpaquePointer(sample)) }
  callbacks.getPresentationTimeStamp = { sample, _ in
    CMSampleBufferGetOutputPresentationTimeStamp(OpaquePointer(sample))
  }
  callbacks.getDuration = { sample, _ in CMSampleBufferGetOutputDuration(OpaquePointer(sample)) }
  callbacks.isDataReady = { sample, _ in CMSampleBufferDataIsReady(OpaquePointer(sample)) }
  callbacks.getSize = { sample, _ in CMSampleBufferGetTotalSampleSize(OpaquePointer(sample)) }
  callbacks.dataBecameReadyNotification = ToC.interned(CoreMedia.kCMSampleBufferNotification_DataBecameReady)
  if isSorted {
    callbacks.compare = { first, second, _ in
      Int(
        CMTimeCompare(
          CMSampleBufferGetOutputPresentationTimeStamp(OpaquePointer(first)),
          CMSampleBufferGetOutputPresentationTimeStamp(OpaquePointer(second))))
    }
  }
  result.initialize(to: callbacks)
  return UnsafePointer(result)
}

// Immutable, and never freed.
private nonisolated(unsafe) let unsorted = sampleCallbacks(isSorted: false)
private nonisolated(unsafe) let sorted = sampleCallbacks(isSorted: true)

@c @implementation
public func CMBufferQueueGetCallbacksForUnsortedSampleBuffers() -> UnsafePointer<C_CMBufferCallbacks>! {
  unsorted
}

@c @implementation
public func CMBufferQueueGetCallbacksForSampleBuffersSortedByOutputPTS() -> UnsafePointer<
  C_CMBufferCallbacks
>! {
  sorted
}

// MARK: - Queues

@c @implementation
public func CMBufferQueueCreate(
  _ allocator: OpaquePointer?, _ capacity: Int, _ callbacks: UnsafePointer<C_CMBufferCallbacks>?,
  _ queueOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  queueOut?.pointee = nil
  guard let queueOut, let given = callbacks?.pointee else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  // The module's own callbacks are used as they are, since they need not be wrapped for C.
  let chosen: CMBufferCallbacks
  if callbacks == unsorted {
    chosen = CoreMedia.CMBufferQueueGetCallbacksForUnsortedSampleBuffers().pointee
  } else if callbacks == sorted {
    chosen = CoreMedia.CMBufferQueueGetCallbacksForSampleBuffersSortedByOutputPTS().pointee
  } else if let converted = COpenVideoToolboxFunctions.callbacks(given) {
    chosen = converted
  } else {
    return CoreMedia.kCMBufferQueueError_InvalidCMBufferCallbacksStruct
  }
  var queue: CMBufferQueue?
  let result = withUnsafePointer(to: chosen) {
    CoreMedia.CMBufferQueueCreate(allocator: nil, capacity: capacity, callbacks: $0, queueOut: &queue)
  }
  queueOut.pointee = ToC.retained(queue)
  return result
}

@c @implementation
public func CMBufferQueueResetWithCallback(
  _ queue: OpaquePointer?,
  _ callback: (@convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Void)?,
  _ refcon: UnsafeMutableRawPointer?
) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self), let callback else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueResetWithCallback(
    queue, callback: { callback(ToC.unretained($0), $1) }, refcon: refcon)
}

@c @implementation
public func CMBufferQueueCallForEachBuffer(
  _ queue: OpaquePointer?,
  _ callback: (@convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Int32)?,
  _ refcon: UnsafeMutableRawPointer?
) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self), let callback else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueCallForEachBuffer(
    queue, callback: { callback(ToC.unretained($0), $1) }, refcon: refcon)
}

@c @implementation
public func CMBufferQueueSetValidationCallback(
  _ queue: OpaquePointer?,
  _ validationCallback: (
    @convention(c) (OpaquePointer?, UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Int32
  )?,
  _ validationRefCon: UnsafeMutableRawPointer?
) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self), let validationCallback else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueSetValidationCallback(
    queue, callback: { validationCallback(ToC.unretained($0), ToC.unretained($1), $2) },
    refcon: validationRefCon)
}

// MARK: - Triggers

public typealias TriggerCallback = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void

private func closure(_ callback: TriggerCallback?) -> CoreMedia.CMBufferQueueTriggerCallback? {
  guard let callback else { return nil }
  return { (refcon: UnsafeMutableRawPointer?, token: OpaquePointer) in callback(refcon, token) }
}

@c @implementation
public func CMBufferQueueInstallTrigger(
  _ queue: OpaquePointer?, _ triggerCallback: TriggerCallback?, _ triggerRefcon: UnsafeMutableRawPointer?,
  _ triggerCondition: Int32, _ triggerTime: C_CMTime,
  _ triggerTokenOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueInstallTrigger(
    queue, callback: closure(triggerCallback), refcon: triggerRefcon, condition: triggerCondition,
    time: FromC.value(triggerTime), triggerTokenOut: triggerTokenOut)
}

@c @implementation
public func CMBufferQueueInstallTriggerWithIntegerThreshold(
  _ queue: OpaquePointer?, _ triggerCallback: TriggerCallback?, _ triggerRefcon: UnsafeMutableRawPointer?,
  _ triggerCondition: Int32, _ triggerThreshold: Int,
  _ triggerTokenOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self) else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueInstallTriggerWithIntegerThreshold(
    queue, callback: closure(triggerCallback), refcon: triggerRefcon, condition: triggerCondition,
    threshold: triggerThreshold, triggerTokenOut: triggerTokenOut)
}

@c @implementation
public func CMBufferQueueRemoveTrigger(_ queue: OpaquePointer?, _ triggerToken: OpaquePointer?) -> Int32 {
  guard let queue = FromC.object(queue, CMBufferQueue.self), let triggerToken else {
    return CoreMedia.kCMBufferQueueError_RequiredParameterMissing
  }
  return CoreMedia.CMBufferQueueRemoveTrigger(queue, triggerToken: triggerToken)
}

@c @implementation
public func CMBufferQueueTestTrigger(_ queue: OpaquePointer?, _ triggerToken: OpaquePointer?) -> UInt8 {
  guard let queue = FromC.object(queue, CMBufferQueue.self), let triggerToken else { return 0 }
  return CoreMedia.CMBufferQueueTestTrigger(queue, triggerToken: triggerToken) ? 1 : 0
}
