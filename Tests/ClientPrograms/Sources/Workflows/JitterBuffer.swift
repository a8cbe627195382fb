// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Frames that arrive out of order, kept until enough of them are there.
private final class TypedBlockQueue<T: AnyObject> {
  private let queue: CMBufferQueue

  var head: T? { queue.head.map { unsafeDowncast($0, to: T.self) } }
  var isEmpty: Bool { queue.isEmpty }
  var duration: CMTime { queue.duration }

  init(_ queue: CMBufferQueue) { self.queue = queue }

  func enqueue(_ buffer: T) throws {
    // Some packages cast to `CMBuffer`.
    try queue.enqueue(buffer as CMBuffer)
  }

  func dequeue() -> T? {
    guard let value = queue.dequeue() else { return nil }
    return (value as! T)
  }

  func reset() throws { try queue.reset() }
}

extension TypedBlockQueue where T == CMSampleBuffer {
  convenience init(capacity: Int, handlers: CMBufferQueue.Handlers) throws {
    self.init(try CMBufferQueue(capacity: capacity, handlers: handlers))
  }

  func dequeue(_ presentationTimeStamp: CMTime) -> CMSampleBuffer? {
    var result: CMSampleBuffer?
    while let head, head.presentationTimeStamp <= presentationTimeStamp { result = dequeue() }
    return result
  }
}

nonisolated(unsafe) private var allocated = 0
nonisolated(unsafe) private var freed = 0

private final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  func add() { lock.withLock { count += 1 } }
  var value: Int { lock.withLock { count } }
}

func jitterBuffer() throws {
  let handlers = CMBufferQueue.Handlers {
    $0.compare { lhs, rhs in
      let first = (lhs as! CMSampleBuffer).presentationTimeStamp
      let second = (rhs as! CMSampleBuffer).presentationTimeStamp
      return first < second ? .compareLessThan : first > second ? .compareGreaterThan : .compareEqualTo
    }
    $0.getPresentationTimeStamp { ($0 as! CMSampleBuffer).presentationTimeStamp }
    $0.getDuration { ($0 as! CMSampleBuffer).duration }
    $0.isDataReady { ($0 as! CMSampleBuffer).dataReadiness == .ready }
  }
  let queue = try TypedBlockQueue<CMSampleBuffer>(capacity: 32, handlers: handlers)
  for value in [4, 0, 2, 1, 3] as [Int64] { try queue.enqueue(frame(value)) }
  expect(queue.duration == CMTime(value: 5, timescale: 30))
  expect(queue.head?.presentationTimeStamp.value == 0)
  expect(queue.dequeue(CMTime(value: 2, timescale: 30))?.presentationTimeStamp.value == 2)
  expect(queue.dequeue()?.presentationTimeStamp.value == 3)
  try queue.reset()
  expect(queue.isEmpty)

  // Watermarks through triggers, and a consumer that waits.
  let watched = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
  let high = Counter()
  let low = Counter()
  let ready = Counter()
  let token = try watched.installTrigger(condition: .whenBufferCountBecomesGreaterThan(3)) { _ in high.add() }
  try watched.installTrigger(
    condition: .whenDurationBecomesLessThan(CMTime(value: 2, timescale: 30))
  ) { _ in low.add() }
  try watched.installTrigger(condition: .whenDataBecomesReady) { _ in ready.add() }
  for value in 0..<5 as Range<Int64> { try watched.enqueue(frame(value)) }
  expect(high.value == 1, "\(high.value)")
  expect(watched.testTrigger(token))
  while watched.dequeue() != nil {}
  // Once when it was installed, since it was true then.
  expect(low.value == 2, "\(low.value)")
  expect(!watched.testTrigger(token))
  try watched.removeTrigger(token)
  try watched.markEndOfData()
  expect(watched.isAtEndOfData && watched.containsEndOfData)

  // Across threads.
  let pipe = try CMBufferQueue(capacity: 1000, handlers: .unsortedSampleBuffers)
  let producer = Thread {
    for value in 0..<1000 as Range<Int64> { CMBufferQueueEnqueue(pipe, buffer: frame(value)) }
    CMBufferQueueMarkEndOfData(pipe)
  }
  producer.start()
  var next: Int64 = 0
  while !CMBufferQueueIsAtEndOfData(pipe) {
    guard let buffer = CMBufferQueueDequeue(pipe) else {
      usleep(100)
      continue
    }
    expect((buffer as! CMSampleBuffer).presentationTimeStamp.value == next)
    next += 1
  }
  expect(next == 1000)

  // A block buffer whose memory comes from, and goes back to, a source of the program's own.
  var source = CMBlockBufferCustomBlockSource(
    version: kCMBlockBufferCustomBlockSourceVersion,
    AllocateBlock: { refcon, size in
      allocated += size
      return malloc(size)
    },
    FreeBlock: { refcon, block, size in
      freed += size
      free(block)
    },
    refCon: nil)
  do {
    var block: CMBlockBuffer?
    expect(
      CMBlockBufferCreateWithMemoryBlock(
        allocator: kCFAllocatorDefault, memoryBlock: nil, blockLength: 256, blockAllocator: nil,
        customBlockSource: &source, offsetToData: 0, dataLength: 256, flags: 0, blockBufferOut: &block)
        == kCMBlockBufferNoErr)
    expect(allocated == 0)
    var filler = [UInt8](repeating: 3, count: 256)
    expect(
      CMBlockBufferReplaceDataBytes(
        with: &filler, blockBuffer: block!, offsetIntoDestination: 0, dataLength: 256) == kCMBlockBufferNoErr)
    expect(allocated == 256 && freed == 0)
    expectNoErr(
      CMBlockBufferAppendMemoryBlock(
        block!, memoryBlock: nil, length: 64, blockAllocator: nil, customBlockSource: &source,
        offsetToData: 0, dataLength: 64, flags: kCMBlockBufferAssureMemoryNowFlag))
    expect(allocated == 320)
    var reference: CMBlockBuffer?
    expectNoErr(
      CMBlockBufferCreateWithBufferReference(
        allocator: nil, referenceBuffer: block!, offsetToData: 250, dataLength: 20, flags: 0,
        blockBufferOut: &reference))
    block = nil
    expect(freed == 0)
    expect(CMBlockBufferGetDataLength(reference!) == 20)
    expect(!CMBlockBufferIsRangeContiguous(reference!, atOffset: 0, length: 20))
    reference = nil
  }
  expect(freed == 320, "\(freed)")
}

/// A packet in memory that the block buffer frees.
func frame(_ value: Int64, sync: Bool = true) -> CMSampleBuffer {
  let payload: [UInt8] = [0, 0, 0, 2, sync ? 0x65 : 0x41, UInt8(truncatingIfNeeded: value)]
  let block = try! CMBlockBuffer(length: payload.count, flags: .assureMemoryNow)
  try! payload.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
  let sample = try! CMSampleBuffer(
    dataBuffer: block, formatDescription: nil, numSamples: 1,
    sampleTimings: [
      CMSampleTimingInfo(
        duration: CMTime(value: 1, timescale: 30),
        presentationTimeStamp: CMTime(value: value, timescale: 30), decodeTimeStamp: .invalid)
    ], sampleSizes: [payload.count])
  if !sync { sample.sampleAttachments[0][.notSync] = true }
  return sample
}
