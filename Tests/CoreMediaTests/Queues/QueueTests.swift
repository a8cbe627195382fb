// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing
import TestSupport

private func time(_ value: Int64, _ scale: Int32 = 600) -> CMTime { CMTime(value: value, timescale: scale) }

private func sample(_ pts: Int64, _ duration: Int64 = 20, dts: Int64? = nil, ready: Bool = true) throws
  -> CMSampleBuffer
{
  let timing = CMSampleTimingInfo(
    duration: time(duration), presentationTimeStamp: time(pts),
    decodeTimeStamp: dts.map { time($0) } ?? .invalid)
  if ready {
    return try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [timing], sampleSizes: [10])
  }
  return try CMSampleBuffer(
    dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [timing], sampleSizes: [10],
    makeDataReadyHandler: { _ in 0 })
}

private func code(_ body: () throws -> Void) -> OSStatus {
  do {
    try body()
    return 0
  } catch { return OSStatus((error as NSError).code) }
}

/// Of this thread: machines are busy, and other tests run at the same time.
private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

@Suite struct BufferQueueTests {
  @Test func queuesKeepTheirOrder() throws {
    let fifo = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    let sorted = try CMBufferQueue(capacity: 0, handlers: .outputPTSSortedSampleBuffers)
    let samples = try [40, 0, 20, 60, 20].map { try sample($0, 20, dts: 100 - $0) }
    for sample in samples {
      try fifo.enqueue(sample)
      try sorted.enqueue(sample)
    }
    #expect(fifo.bufferCount == 5 && fifo.duration == time(100) && fifo.totalSize == 50)
    #expect(fifo.minPresentationTimeStamp == time(0) && fifo.maxPresentationTimeStamp == time(60))
    #expect(fifo.firstPresentationTimeStamp == time(40) && fifo.endPresentationTimeStamp == time(80))
    #expect(fifo.minDecodeTimeStamp == time(40) && fifo.firstDecodeTimeStamp == time(60))
    #expect(fifo.head === samples[0])
    #expect(fifo.buffers.map { $0 as? CMSampleBuffer } == samples)
    var order: [CMSampleBuffer?] = []
    while let buffer = sorted.dequeue() { order.append(buffer as? CMSampleBuffer) }
    // Equal ones in the order in which they came.
    #expect(order == [samples[1], samples[2], samples[4], samples[0], samples[3]])
    #expect(sorted.isEmpty && sorted.duration == .zero && !sorted.minPresentationTimeStamp.isValid)
    #expect(sorted.dequeue() == nil)
  }

  /// Durations that are not numbers, or rounded, count as long as they are there, and no longer.
  @Test func inexactDurationsCountWhileTheyAreThere() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    func add(_ duration: CMTime) throws {
      try queue.enqueue(
        try CMSampleBuffer(
          dataBuffer: nil, formatDescription: nil, numSamples: 1,
          sampleTimings: [
            CMSampleTimingInfo(
              duration: duration, presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
          ], sampleSizes: [10]))
    }
    var rounded = time(30)
    rounded.flags.insert(.hasBeenRounded)
    let durations: [CMTime] = [
      time(20), .indefinite, .invalid, .positiveInfinity, .negativeInfinity, .positiveInfinity, .indefinite,
      rounded, time(1, 2_147_483_647), time(1, 2_147_483_629), time(40), time(7, 1000),
    ]
    for duration in durations { try add(duration) }
    // Before each is taken, the sum of what is left.
    for start in durations.indices {
      let sum = durations[start...].reduce(CMTime.zero) { $0 + $1 }
      #expect(queue.duration == sum && queue.duration.flags == sum.flags)
      #expect(queue.dequeue() != nil)
    }
    #expect(queue.duration == .zero && queue.isEmpty)
    try add(time(5))
    #expect(queue.duration == time(5))
  }

  /// An unknown duration adds no cost for each dequeued buffer.
  @Test func aLongQueueWithAnUnknownDurationCostsLittle() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    let buffers = [try sample(0)]
    for _ in 0..<40_000 { try queue.enqueue(buffers[0]) }
    try queue.enqueue(
      try CMSampleBuffer(
        dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [], sampleSizes: [10]))
    _ = try queue.installTrigger(condition: .whenDurationBecomesGreaterThan(time(1))) { _ in }
    let began = processorSeconds()
    for _ in 0..<40_000 { _ = queue.dequeue() }
    #expect(processorSeconds() - began < 2)
    #expect(queue.bufferCount == 1 && !queue.duration.isValid)
  }

  @Test func capacityEndAndResetAreKept() throws {
    let queue = try CMBufferQueue(capacity: 2, handlers: .unsortedSampleBuffers)
    try queue.enqueue(sample(0))
    try queue.enqueue(sample(20))
    #expect(code { try queue.enqueue(try sample(40)) } == kCMBufferQueueError_QueueIsFull)
    try queue.markEndOfData()
    #expect(queue.containsEndOfData && !queue.isAtEndOfData)
    #expect(queue.dequeue() != nil)
    #expect(code { try queue.enqueue(try sample(40)) } == kCMBufferQueueError_EnqueueAfterEndOfData)
    #expect(queue.dequeue() != nil && queue.isAtEndOfData)
    try queue.reset()
    #expect(!queue.containsEndOfData)
    try queue.enqueue(sample(60))
    var seen = 0
    try queue.reset { _ in seen += 1 }
    #expect(seen == 1 && queue.isEmpty)
  }

  @Test func readinessFollowsTheData() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    let late = try sample(0, ready: false)
    try queue.enqueue(late)
    try queue.enqueue(sample(20))
    let fired = Guarded(0)
    let token = try queue.installTrigger(condition: .whenDataBecomesReady) { _ in fired.withLock { $0 += 1 } }
    #expect(queue.dequeueIfDataReady() == nil && !queue.testTrigger(token) && fired.withLock { $0 } == 0)
    try late.setDataReadiness(.ready)
    #expect(fired.withLock { $0 } == 1 && queue.testTrigger(token))
    #expect(queue.dequeueIfDataReady() === late)
  }

  @Test func invalidBuffersAreRefused() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    queue.setValidationHandler { _, buffer in
      if (buffer as? CMSampleBuffer)?.presentationTimeStamp == time(7) {
        throw CMBufferQueue.Error.invalidBuffer
      }
    }
    #expect(code { try queue.enqueue(try sample(7)) } == kCMBufferQueueError_InvalidBuffer)
    try queue.enqueue(sample(8))
    CMBufferQueueSetValidationCallback(queue, callback: { _, _, _ in -4 }, refcon: nil)
    #expect(CMBufferQueueEnqueue(queue, buffer: try sample(9)) == -4)
    #expect(queue.bufferCount == 1)
  }

  @Test func triggersFireWhenTheirConditionBecomesTrue() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    let log = Guarded<[String]>([])
    func install(_ name: String, _ condition: CMBufferQueue.TriggerCondition) throws
      -> CMBufferQueue.TriggerToken
    {
      try queue.installTrigger(condition: condition) { _ in log.withLock { $0.append(name) } }
    }
    func taken() -> [String] {
      log.withLock { names in
        defer { names = [] }
        return names.sorted()
      }
    }
    // True at once: the low watermark; the others later.
    let low = try install("low", .whenDurationBecomesLessThan(time(30)))
    #expect(taken() == ["low"] && queue.testTrigger(low))
    _ = try install("high", .whenDurationBecomesGreaterThanOrEqualTo(time(40)))
    _ = try install("more than 1", .whenBufferCountBecomesGreaterThan(1))
    _ = try install("min", .whenMinPresentationTimeStampChanges)
    _ = try install("max", .whenMaxPresentationTimeStampChanges)
    _ = try install("end", .whenEndOfDataReached)
    _ = try install("reset", .whenReset)
    #expect(taken() == [])
    try queue.enqueue(sample(100))
    #expect(taken() == ["max", "min"])
    try queue.enqueue(sample(120))
    #expect(taken() == ["high", "max", "more than 1"] && !queue.testTrigger(low))
    try queue.enqueue(sample(140))
    #expect(taken() == ["max"])
    _ = queue.dequeue()
    #expect(taken() == ["min"])
    _ = queue.dequeue()
    #expect(taken() == ["low", "min"])
    try queue.markEndOfData()
    #expect(taken() == [])
    _ = queue.dequeue()
    #expect(taken() == ["end", "max", "min"])
    try queue.removeTrigger(low)
    #expect(code { try queue.removeTrigger(low) } == kCMBufferQueueError_InvalidTriggerToken)
    #expect(!queue.testTrigger(low))
    try queue.reset()
    #expect(taken() == ["reset"])
  }

  @Test func triggersMustNotChangeTheQueue() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    let results = Guarded<[OSStatus]>([])
    let other = try sample(999)
    // The queue holds its triggers: a trigger that holds its queue would keep both forever.
    _ = try queue.installTrigger(condition: .whenBufferCountBecomesGreaterThan(0)) { [unowned queue] _ in
      let all = [
        code { try queue.enqueue(other) }, code { try queue.reset() }, code { try queue.markEndOfData() },
        queue.dequeue() == nil ? kCMBufferQueueError_CannotModifyQueueFromTriggerCallback : 0,
      ]
      results.withLock { $0 = all + [OSStatus(queue.bufferCount)] }
    }
    try queue.enqueue(sample(0))
    let refused = kCMBufferQueueError_CannotModifyQueueFromTriggerCallback
    #expect(results.withLock { $0 } == [refused, refused, refused, refused, 1])
    #expect(queue.bufferCount == 1)
    try queue.enqueue(sample(20))
    #expect(queue.bufferCount == 2)
  }

  @Test func badTriggersAreErrors() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    var token: CMBufferQueueTriggerToken?
    func install(_ condition: CMBufferQueueTriggerCondition, _ time: CMTime) -> OSStatus {
      CMBufferQueueInstallTrigger(
        queue, callback: { _, _ in }, refcon: nil, condition: condition, time: time, triggerTokenOut: &token)
    }
    #expect(install(0, .zero) == kCMBufferQueueError_InvalidTriggerCondition)
    #expect(install(13, .zero) == kCMBufferQueueError_InvalidTriggerCondition)
    #expect(install(1, .invalid) == kCMBufferQueueError_BadTriggerDuration)
    #expect(install(1, .positiveInfinity) == kCMBufferQueueError_BadTriggerDuration)
    #expect(
      install(1, CMTimeMakeWithEpoch(value: 1, timescale: 1, epoch: 1))
        == kCMBufferQueueError_BadTriggerDuration)
    #expect(install(9, .invalid) == 0)
    #expect(
      CMBufferQueueInstallTriggerWithIntegerThreshold(
        queue, callback: nil, refcon: nil, condition: 1, threshold: 1, triggerTokenOut: &token)
        == kCMBufferQueueError_InvalidTriggerCondition)
    #expect(
      CMBufferQueueInstallTrigger(
        queue, callback: nil, refcon: nil, condition: 9, time: .invalid, triggerTokenOut: nil)
        == kCMBufferQueueError_RequiredParameterMissing)
    // With a token alone it can be tested.
    #expect(
      CMBufferQueueInstallTriggerWithIntegerThreshold(
        queue, callback: nil, refcon: nil,
        condition: kCMBufferQueueTrigger_WhenBufferCountBecomesLessThan, threshold: 1, triggerTokenOut: &token
      )
        == 0)
    #expect(CMBufferQueueTestTrigger(queue, triggerToken: try #require(token)))
    #expect(
      CMBufferQueueInstallTriggerHandlerWithIntegerThreshold(
        queue, kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualToAndBufferCountBecomesGreaterThan,
        1,
        &token, nil) == 0)
    try queue.enqueue(sample(0))
    #expect(!CMBufferQueueTestTrigger(queue, triggerToken: try #require(token)))
    try queue.enqueue(sample(0))
    #expect(CMBufferQueueTestTrigger(queue, triggerToken: try #require(token)))
  }

  @Test func ownCallbacksAndHandlersDecideOnTheOrder() throws {
    final class Item: NSObject {
      let value: Int
      init(_ value: Int) { self.value = value }
    }
    let handlers = CMBufferQueue.Handlers { builder in
      builder.getDuration { _ in time(1, 1) }
      builder.compare { first, second in
        let order = (first as? Item)!.value - (second as? Item)!.value
        return order < 0 ? .compareGreaterThan : order > 0 ? .compareLessThan : .compareEqualTo
      }
    }
    let queue = try CMBufferQueue(capacity: 0, handlers: handlers.withHandlers { $0.getSize { _ in 5 } })
    for value in [1, 5, 3] { try queue.enqueue(Item(value)) }
    #expect(queue.totalSize == 15 && queue.duration == time(3, 1) && !queue.minDecodeTimeStamp.isValid)
    #expect((0..<3).map { _ in (queue.dequeue() as? Item)?.value } == [5, 3, 1])

    var callbacks = CMBufferQueueGetCallbacksForUnsortedSampleBuffers().pointee
    var made: CMBufferQueue?
    #expect(CMBufferQueueCreate(allocator: nil, capacity: 3, callbacks: &callbacks, queueOut: &made) == 0)
    #expect(made.map { CFGetTypeID($0) } == CMBufferQueueGetTypeID())
    callbacks.version = 1
    #expect(
      CMBufferQueueCreate(allocator: nil, capacity: 3, callbacks: &callbacks, queueOut: &made)
        == kCMBufferQueueError_InvalidCMBufferCallbacksStruct)
    #expect(made == nil)
  }

  @Test func durationsThatAreNotExactAreAddedUpAgain() throws {
    let queue = try CMBufferQueue(
      capacity: 0,
      handlers: .unsortedSampleBuffers.withHandlers {
        $0.getDuration { ($0 as? CMSampleBuffer)?.duration ?? .zero }
      })
    let scales: [Int32] = [30000, 48000, 90000, 1_000_000_007, 999_999_937, 25]
    for (index, scale) in (scales + scales).enumerated() {
      let timing = CMSampleTimingInfo(
        duration: CMTime(value: Int64(index + 1), timescale: scale), presentationTimeStamp: .zero,
        decodeTimeStamp: .invalid)
      try queue.enqueue(
        CMSampleBuffer(
          dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [timing], sampleSizes: []))
    }
    while let buffer = queue.dequeue() as? CMSampleBuffer {
      _ = buffer
      let sum = queue.buffers.reduce(0.0) { $0 + (($1 as? CMSampleBuffer)?.duration.seconds ?? 0) }
      #expect(abs(queue.duration.seconds - sum) < 1e-6)
    }
    #expect(queue.duration == .zero)
  }

  /// Producers and consumers on many threads: every buffer comes out once.
  @Test func manyThreadsGetEachBufferOnce() throws {
    let queue = try CMBufferQueue(capacity: 50, handlers: .outputPTSSortedSampleBuffers)
    let highWater = Guarded(0)
    _ = try queue.installTrigger(condition: .whenBufferCountBecomesGreaterThan(20)) { _ in
      highWater.withLock { $0 += 1 }
    }
    let out = Guarded<[Int64]>([])
    let samples = try (0..<4000).map { try sample(Int64($0)) }
    let group = DispatchGroup()
    for thread in 0..<8 {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        if thread < 4 {
          for index in stride(from: thread, to: 4000, by: 4) {
            while CMBufferQueueEnqueue(queue, buffer: samples[index]) != 0 { letOthersRun(turns: 1) }
          }
        } else {
          var count = 0
          while count < 1000 {
            guard let buffer = queue.dequeue() as? CMSampleBuffer else {
              letOthersRun(turns: 1)
              continue
            }
            count += 1
            out.withLock { $0.append(buffer.presentationTimeStamp.value) }
          }
        }
      }
    }
    #expect(waitForEnd(of: group))
    #expect(out.withLock { $0.sorted() } == (0..<4000).map { Int64($0) })
    #expect(queue.isEmpty && queue.duration == .zero && queue.totalSize == 0)
  }
}

@Suite struct SimpleQueueTests {
  @Test func simpleQueuesGiveWhatCameFirst() throws {
    let queue = try CMSimpleQueue(capacity: 3)
    var values: [Int] = [1, 2, 3, 4]
    try values.withUnsafeMutableBytes { bytes in
      let base = UnsafeRawPointer(bytes.baseAddress!)
      for round in 0..<5 {
        #expect(queue.dequeue() == nil && queue.head == nil)
        for index in 0..<3 { try queue.enqueue(base + index * 8) }
        #expect(code { try queue.enqueue(base + 24) } == kCMSimpleQueueError_QueueIsFull)
        #expect(queue.count == 3 && queue.fullness == 1)
        #expect(queue.dequeue() == base && queue.head == base + 8)
        if round == 2 {
          try queue.reset()
        } else {
          #expect(queue.dequeue() == base + 8 && queue.dequeue() == base + 16)
        }
        try queue.enqueue(base)
        #expect(queue.dequeue() == base)
      }
    }
    #expect(queue.capacity == 3 && queue.fullness == 0)
    #expect(try CMSimpleQueue(capacity: 0).fullness == 0)
    #expect(code { _ = try CMSimpleQueue(capacity: -1) } == kCMSimpleQueueError_ParameterOutOfRange)
    #expect(code { _ = try CMSimpleQueue(capacity: .max) } == kCMSimpleQueueError_ParameterOutOfRange)
    var made: CMSimpleQueue?
    #expect(CMSimpleQueueCreate(allocator: nil, capacity: 5, queueOut: &made) == 0)
    #expect(made.map(CMSimpleQueueGetCapacity) == 5 && CMSimpleQueue.typeID == CMSimpleQueueGetTypeID())
    #expect(
      CMSimpleQueueCreate(allocator: nil, capacity: -5, queueOut: &made)
        == kCMSimpleQueueError_ParameterOutOfRange)
  }
}

@Suite struct MemoryPoolTests {
  @Test func memoryComesBack() throws {
    let pool = CMMemoryPoolCreate(options: [kCMMemoryPoolOption_AgeOutPeriod: 60 as CFNumber] as CFDictionary)
    let allocator = CMMemoryPoolGetAllocator(pool)
    func address() throws -> UnsafeMutableRawPointer? {
      let buffer = try CMBlockBuffer(length: 100_000, allocator: allocator, flags: .assureMemoryNow)
      try buffer.fillDataBytes(with: 1)
      return try buffer.withUnsafeMutableBytes { $0.baseAddress }
    }
    let first = try address()
    #expect(try address() == first)
    let held = CFAllocatorAllocate(allocator, 100_000, 0)
    #expect(held == first)
    #expect(try address() != first)
    // Grown, it keeps what it held.
    let grown = CFAllocatorReallocate(allocator, held, 300_000, 0)
    #expect(grown?.load(as: UInt8.self) == 1)
    CFAllocatorDeallocate(allocator, grown)
    #expect(CFAllocatorAllocate(allocator, .max, 0) == nil)
    CMMemoryPoolFlush(pool)
    CMMemoryPoolInvalidate(pool)
    #expect(try address() != nil)
    #expect(CFGetTypeID(pool) == CMMemoryPoolGetTypeID())
  }

  @Test func blocksOutliveThePool() throws {
    var pool: CMMemoryPool? = CMMemoryPoolCreate(options: nil)
    let buffer = try CMBlockBuffer(
      length: 5000, allocator: CMMemoryPoolGetAllocator(pool!), flags: .assureMemoryNow)
    pool = nil
    try buffer.fillDataBytes(with: 3)
    #expect(try buffer.dataBytes().allSatisfy { $0 == 3 })
  }
}
