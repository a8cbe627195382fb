// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

nonisolated(unsafe) private var triggerCalls = 0

func queues() throws {
  // Decoded frames reordered by their time, in the shape of a player.
  let callbacks = CMBufferCallbacks(
    version: 0, refcon: nil,
    getDecodeTimeStamp: nil,
    getPresentationTimeStamp: { buffer, _ in CMSampleBufferGetPresentationTimeStamp(buffer as! CMSampleBuffer)
    },
    getDuration: { buffer, _ in CMSampleBufferGetDuration(buffer as! CMSampleBuffer) },
    isDataReady: nil,
    compare: { lhs, rhs, _ in
      CFComparisonResult(
        rawValue: CFIndex(
          CMTimeCompare(
            CMSampleBufferGetPresentationTimeStamp(lhs as! CMSampleBuffer),
            CMSampleBufferGetPresentationTimeStamp(rhs as! CMSampleBuffer))))!
    },
    dataBecameReadyNotification: nil, getSize: nil)
  var bufferQueue: CMBufferQueue?
  let status = withUnsafePointer(to: callbacks) {
    CMBufferQueueCreate(allocator: kCFAllocatorDefault, capacity: 16, callbacks: $0, queueOut: &bufferQueue)
  }
  checkEqual(status, noErr)
  let queue = bufferQueue!
  var token: CMBufferQueueTriggerToken?
  checkEqual(
    CMBufferQueueInstallTrigger(
      queue, callback: { _, _ in triggerCalls += 1 }, refcon: nil,
      condition: kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualTo,
      time: CMTime(value: 3, timescale: 30), triggerTokenOut: &token), noErr)
  for pts in [2, 0, 3, 1] as [Int64] {
    checkEqual(CMBufferQueueEnqueue(queue, buffer: makeSample(pts: pts)), noErr)
  }
  checkEqual(triggerCalls, 1)
  checkEqual(CMBufferQueueGetBufferCount(queue), 4)
  checkEqual(CMBufferQueueGetDuration(queue), CMTime(value: 4, timescale: 30))
  checkEqual(CMBufferQueueGetFirstPresentationTimeStamp(queue).value, 0)
  checkEqual(CMBufferQueueGetEndPresentationTimeStamp(queue), CMTime(value: 4, timescale: 30))
  let head = CMBufferQueueGetHead(queue) as! CMSampleBuffer
  checkEqual(head.presentationTimeStamp.value, 0)
  let first = CMBufferQueueDequeue(queue) as! CMSampleBuffer
  check(first === head)
  checkEqual(CMBufferQueueRemoveTrigger(queue, triggerToken: token!), noErr)
  checkEqual(CMBufferQueueMarkEndOfData(queue), noErr)
  checkEqual(CMBufferQueueEnqueue(queue, buffer: makeSample()), kCMBufferQueueError_EnqueueAfterEndOfData)
  check(CMBufferQueueContainsEndOfData(queue) && !CMBufferQueueIsAtEndOfData(queue))
  var order: [Int64] = []
  while let next = CMBufferQueueDequeue(queue) {
    order.append(CMSampleBufferGetPresentationTimeStamp(next as! CMSampleBuffer).value)
  }
  checkEqual(order, [1, 2, 3])
  check(CMBufferQueueIsAtEndOfData(queue))
  checkEqual(CMBufferQueueReset(queue), noErr)

  // The ready-made callbacks.
  var unsorted: CMBufferQueue?
  checkEqual(
    CMBufferQueueCreate(
      allocator: kCFAllocatorDefault, capacity: 0,
      callbacks: CMBufferQueueGetCallbacksForUnsortedSampleBuffers(),
      queueOut: &unsorted), noErr)
  CMBufferQueueEnqueue(unsorted!, buffer: makeSample(pts: 9))
  CMBufferQueueEnqueue(unsorted!, buffer: makeSample(pts: 3))
  checkEqual(CMBufferQueueGetMinPresentationTimeStamp(unsorted!).value, 3)
  checkEqual(CMBufferQueueGetFirstPresentationTimeStamp(unsorted!).value, 9)
  let swift = try CMBufferQueue(capacity: 4, handlers: .outputPTSSortedSampleBuffers)
  try swift.enqueue(makeSample(pts: 5))
  try swift.enqueue(makeSample(pts: 4))
  checkEqual((swift.dequeue() as! CMSampleBuffer).presentationTimeStamp.value, 4)
  checkEqual(swift.bufferCount, 1)
  checkThrows(kCMBufferQueueError_QueueIsFull) {
    for i in 0..<10 { try swift.enqueue(makeSample(pts: Int64(i))) }
  }

  // A simple queue of retained pointers.
  var simple: CMSimpleQueue?
  checkEqual(CMSimpleQueueCreate(allocator: nil, capacity: 2, queueOut: &simple), noErr)
  let elements = [NSNumber(value: 1), NSNumber(value: 2), NSNumber(value: 3)]
  for (index, element) in elements.enumerated() {
    let result = CMSimpleQueueEnqueue(simple!, element: Unmanaged.passRetained(element).toOpaque())
    checkEqual(result, index < 2 ? noErr : kCMSimpleQueueError_QueueIsFull)
    if result != noErr { Unmanaged.passUnretained(element).release() }
  }
  checkEqual(CMSimpleQueueGetCount(simple!), 2)
  checkEqual(CMSimpleQueueGetCapacity(simple!), 2)
  let number = Unmanaged<NSNumber>.fromOpaque(CMSimpleQueueDequeue(simple!)!).takeRetainedValue()
  checkEqual(number, 1)
  let second = Unmanaged<NSNumber>.fromOpaque(CMSimpleQueueDequeue(simple!)!).takeRetainedValue()
  checkEqual(second.intValue, 2)
  check(CMSimpleQueueDequeue(simple!) == nil)

  let pool = CMMemoryPoolCreate(options: [kCMMemoryPoolOption_AgeOutPeriod: 1.0] as CFDictionary)
  let allocator = CMMemoryPoolGetAllocator(pool)
  var block: CMBlockBuffer?
  checkEqual(
    CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: nil, blockLength: 1024, blockAllocator: allocator, customBlockSource: nil,
      offsetToData: 0, dataLength: 1024, flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &block),
    noErr)
  CMMemoryPoolFlush(pool)
  CMMemoryPoolInvalidate(pool)
}
