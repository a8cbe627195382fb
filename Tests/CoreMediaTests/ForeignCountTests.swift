// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import CoreMedia
import VideoBitstream

/// Counts, sizes and relations that a program may give, whatever they lead to.
@Suite(.timeLimit(.minutes(HangLimit.minutes))) struct ForeignCountTests {
  private func sample(
    count: Int, bytes: Int, sizes: [Int], format: CMFormatDescription? = nil
  ) throws -> CMSampleBuffer {
    let block = try CMBlockBuffer(length: bytes, flags: .assureMemoryNow)
    CMBlockBufferFillDataBytes(with: 7, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes)
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: count,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: sizes.count,
      sampleSizeArray: sizes, sampleBufferOut: &made)
    try #require(status == noErr)
    return try #require(made)
  }

  @Test(arguments: [UInt32.max, 1 << 31, 65536]) func channelsAndBytesThatNothingStandsForAreNotRead(
    number: UInt32
  )
    throws
  {
    let basic = AudioStreamBasicDescription(
      mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsFloat | kAudioFormatFlagIsNonInterleaved, mBytesPerPacket: number,
      mFramesPerPacket: 1, mBytesPerFrame: number, mChannelsPerFrame: number, mBitsPerChannel: 32,
      mReserved: 0
    )
    let format = try CMFormatDescription(audioStreamBasicDescription: basic)
    var made: CMSampleBuffer?
    let status = CMAudioSampleBufferCreateReadyWithPacketDescriptions(
      allocator: nil, dataBuffer: try CMBlockBuffer(length: 64, flags: .assureMemoryNow),
      formatDescription: format, sampleCount: 1, presentationTimeStamp: .zero, packetDescriptions: nil,
      sampleBufferOut: &made)
    // Sizes are what the program says; nothing is read of what is not there.
    if let made {
      #expect(status == noErr && CMSampleBufferGetSampleSize(made, at: 0) > 0)
      #expect(throws: (any Error).self) { try made.withAudioBufferList { _, _ in } }
    }
  }

  @Test(arguments: [Int.max, 1 << 60, 1 << 33]) func samplesThatNothingStandsForAreBounded(count: Int) throws
  {
    var basic = AudioStreamBasicDescription()
    (basic.mSampleRate, basic.mFormatID, basic.mChannelsPerFrame) = (48000, kAudioFormatMPEG4AAC, 2)
    basic.mFramesPerPacket = 1024
    let buffer = try sample(
      count: count, bytes: 1, sizes: [0],
      format: try CMFormatDescription(audioStreamBasicDescription: basic))
    let ready = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(unsafeBuffer: buffer)
    #expect(ready.sampleProperties.isEmpty)
    var calls = 0
    let status = CMSampleBufferCallBlockForEachSample(buffer) { _, _ in
      calls += 1
      return calls < 100 ? noErr : -1
    }
    #expect(status == kCMSampleBufferError_InvalidEntryCount && calls == 0)
    #expect(CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: true) == nil)
    #expect(throws: (any Error).self) { try buffer.audioStreamPacketDescriptions() }
    CMSetAttachment(
      buffer, key: kCMSampleBufferAttachmentKey_Reverse, value: NSNumber(value: true),
      attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    var needed = 0
    #expect(
      CMSampleBufferGetOutputSampleTimingInfoArray(
        buffer, entryCount: 0, arrayToFill: nil, entriesNeededOut: &needed)
        == kCMSampleBufferError_InvalidEntryCount)
  }

  /// How many of a buffer's samples a program is called with, 100 at most.
  private func calls(_ buffer: CMSampleBuffer) -> Int {
    var calls = 0
    CMSampleBufferCallBlockForEachSample(buffer) { _, _ in
      calls += 1
      return calls < 100 ? noErr : -1
    }
    return calls
  }

  private func sample(count: Int, data: CMBlockBuffer) throws -> CMSampleBuffer {
    try CMSampleBuffer(
      dataBuffer: data, formatDescription: nil, numSamples: count, sampleTimings: [], sampleSizes: [1])
  }

  /// A length is not bytes: their memory may never come, or be the same again and again.
  @Test func samplesOfClaimedBytesAreNotVisited() throws {
    let huge = try sample(count: 1 << 33, data: try CMBlockBuffer(length: 1 << 45))
    try #require(calls(huge) == 0)
    #expect(CMSampleBufferGetSampleAttachmentsArray(huge, createIfNecessary: true) == nil)
    let part = try CMBlockBuffer(length: 1 << 20, flags: .assureMemoryNow)
    let repeated = try CMBlockBuffer(capacity: 3)
    for _ in 0..<3 { try repeated.append(bufferReference: part) }
    #expect(calls(try sample(count: 3 << 20, data: repeated)) == 0)
    #expect(calls(try sample(count: 1 << 20, data: repeated)) == 100)
    // Those that are there count, in any number of pieces.
    let whole = try CMBlockBuffer(length: 3 << 20)
    #expect(calls(try sample(count: 3 << 20, data: whole)) == 0)
    try whole.assureBlockMemory()
    #expect(calls(try sample(count: 3 << 20, data: whole)) == 100)
    for _ in 0..<2 {
      try repeated.append(bufferReference: CMBlockBuffer(length: 1 << 20, flags: .assureMemoryNow))
    }
    #expect(calls(try sample(count: 3 << 20, data: repeated)) == 100)
  }

  @Test(arguments: [Int.max, 1 << 33]) func samplesThatNothingStandsForAreNotSplit(count: Int) throws {
    let buffer = try sample(count: count, bytes: 1, sizes: [0])
    _ = try #require(throws: CMSampleBuffer.Error.invalidEntryCount) { try buffer.singleSampleBuffers() }
    let ready = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(unsafeBuffer: buffer)
    #expect(ready.splitSamples().count == 1)
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func attachmentsOfSamplesThatNothingStandsForAreBounded()
    throws
  {
    let buffer = try sample(count: .max, bytes: 1, sizes: [0])
    buffer.sampleAttachments = try sample(count: .max, bytes: 1, sizes: [0]).sampleAttachments
    #expect(buffer.sampleAttachments[5][.notSync] == nil)
    // As many as there are.
    let few = try sample(count: 2, bytes: 2, sizes: [1])
    few.sampleAttachments = buffer.sampleAttachments
    #expect(few.sampleAttachments[0][.notSync] == nil)
  }

  @Test func rangesOfFramesThatCannotBeAreRefused() throws {
    var basic = AudioStreamBasicDescription()
    (basic.mSampleRate, basic.mFormatID, basic.mChannelsPerFrame) = (48000, kAudioFormatLinearPCM, 1)
    (basic.mBytesPerFrame, basic.mBytesPerPacket, basic.mFramesPerPacket) = (1, 1, 1)
    let buffer = try sample(
      count: 4, bytes: 4, sizes: [1], format: try CMFormatDescription(audioStreamBasicDescription: basic))
    var memory = [UInt8](repeating: 0, count: 4)
    try memory.withUnsafeMutableBytes { bytes in
      var list = AudioBufferList(
        mNumberBuffers: 1,
        mBuffers: AudioBuffer(mNumberChannels: 1, mDataByteSize: 4, mData: bytes.baseAddress))
      for range in [-1..<Int.max, .min..<(.max), .min..<0, -1..<1, 0..<Int.max, 3..<5, (.max - 1)..<(.max)] {
        #expect(throws: CMSampleBuffer.Error.sampleIndexOutOfRange) {
          try buffer.copyPCMData(fromRange: range, into: &list)
        }
      }
      try buffer.copyPCMData(fromRange: 0..<4, into: &list)
    }
    #expect(memory == [7, 7, 7, 7])
  }

  /// Of this thread: machines are busy, and other tests run at the same time.
  private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// Many samples, a size for each: once round, not once round for each of them.
  @Test func manySizesAreGoneThroughOnce() throws {
    let count = 300_000
    let buffer = try sample(count: count, bytes: count, sizes: Array(repeating: 1, count: count))
    let began = processorSeconds()
    var bytes = 0
    let status = CMSampleBufferCallBlockForEachSample(buffer) { part, _ in
      bytes += part.dataBuffer?.dataLength ?? 0
      return noErr
    }
    #expect(status == noErr && bytes == count)
    var single = 0
    for part in try buffer.singleSampleBuffers() { single += part.dataBuffer?.dataLength ?? 0 }
    #expect(single == count)
    #expect(processorSeconds() - began < 60)
  }

  /// Appending does not copy the existing data.
  @Test func referencesAreAppendedWithoutCopies() throws {
    let piece = CMReadOnlyDataBlockBuffer(Data([1, 2]))
    var all = CMReadOnlyDataBlockBuffer()
    let began = processorSeconds()
    let count = 40_000
    for _ in 0..<count { all += piece }
    #expect(processorSeconds() - began < 2)
    #expect(all.count == 2 * count && all[2 * count - 1] == 2)
    // Values, all the same.
    let before = all
    all += before
    #expect(before.count == 2 * count && all.count == 4 * count && piece.count == 2)
    var twice = piece
    twice.append(referenceOf: twice)
    twice += CMReadOnlyDataBlockBuffer()
    #expect(
      Array(twice) == [1, 2, 1, 2] && Array(piece) == [1, 2] && Array(piece + twice) == [1, 2, 1, 2, 1, 2])
  }

  /// Each key is looked up, not compared with all others.
  @Test func keysOfMetadataAreLookedUpQuickly() throws {
    func entries(_ range: Range<UInt32>) -> [MetadataKeyTable.Entry] {
      range.map { number in
        var key = Data(repeating: 7, count: 100)
        key.append(bigEndian: number)
        return MetadataKeyTable.Entry(localID: number + 1, namespace: 1, key: key)
      }
    }
    let count: UInt32 = 15_000
    let table = try #require(MetadataKeyTable(entries(0..<count)))
    let began = processorSeconds()
    // Those that are there already, under whatever identifier, and others twice.
    let added = try #require(table.adding(entries(count / 2..<count * 2) + entries(count..<count * 2)))
    #expect(processorSeconds() - began < 2)
    #expect(added.entries.count == Int(count) * 2 && added.entries.map(\.localID) == Array(1...count * 2))
    #expect(added.entries == entries(0..<count * 2))
  }

  /// Each part has the bytes at its place, whatever the sizes before it are.
  @Test func partsAreWhereTheyWere() throws {
    let sizes = [3, 0, 5, 1, 7]
    let buffer = try sample(count: 5, bytes: 16, sizes: sizes)
    try buffer.dataBuffer?.withUnsafeMutableBytes { bytes in
      for index in bytes.indices { bytes[index] = UInt8(index) }
    }
    var found: [[UInt8]] = []
    let status = CMSampleBufferCallBlockForEachSample(buffer) { part, _ in
      found.append((try? part.dataBuffer?.dataBytes()).map(Array.init) ?? [])
      return noErr
    }
    #expect(status == noErr)
    #expect(found == [[0, 1, 2], [], [3, 4, 5, 6, 7], [8], Array(9..<16)])
  }

  @Test func sizesThatAddUpBeyondIntAreClamped() throws {
    var queue: CMBufferQueue?
    CMBufferQueueCreate(
      allocator: nil, capacity: 0, callbacks: CMBufferQueueGetCallbacksForUnsortedSampleBuffers(),
      queueOut: &queue)
    let made = try #require(queue)
    for size in [Int.max, Int.max, 5] {
      let buffer = try CMSampleBuffer(
        dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [], sampleSizes: [size])
      #expect(CMBufferQueueEnqueue(made, buffer: buffer) == noErr)
    }
    #expect(CMBufferQueueGetTotalSize(made) == Int.max)
    _ = CMBufferQueueDequeue(made)
    #expect(CMBufferQueueGetTotalSize(made) == Int.max)
    _ = CMBufferQueueDequeue(made)
    #expect(CMBufferQueueGetTotalSize(made) == 5)
  }

  private func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (Int(fields[1]) ?? 0) * 4096
  }

  @Test func aQueueForBillionsTakesNoMemoryInAdvance() throws {
    let before = try residentBytes()
    var out: CMSimpleQueue?
    #expect(CMSimpleQueueCreate(allocator: nil, capacity: .max, queueOut: &out) == noErr)
    let queue = try #require(out)
    #expect(CMSimpleQueueGetCapacity(queue) == .max)
    #expect(try residentBytes() - before < 1 << 29)
    // First in, first out, while the ring grows in all of its states.
    var (next, expected) = (1, 1)
    for round in 0..<200 {
      for _ in 0..<(round % 13 + 3) {
        #expect(
          CMSimpleQueueEnqueue(queue, element: try #require(UnsafeRawPointer(bitPattern: next))) == noErr)
        next += 1
      }
      for _ in 0..<(round % 7 + 1) {
        #expect(CMSimpleQueueDequeue(queue) == UnsafeRawPointer(bitPattern: expected))
        expected += 1
      }
    }
    #expect(Int(CMSimpleQueueGetCount(queue)) == next - expected)
    var small: CMSimpleQueue?
    CMSimpleQueueCreate(allocator: nil, capacity: 17, queueOut: &small)
    let limited = try #require(small)
    let element = try #require(UnsafeRawPointer(bitPattern: 1))
    for _ in 0..<17 { #expect(CMSimpleQueueEnqueue(limited, element: element) == noErr) }
    #expect(CMSimpleQueueEnqueue(limited, element: element) == kCMSimpleQueueError_QueueIsFull)
  }

  // MARK: - Relations

  /// Has two threads do something at the same moment, again and again.
  private func atOnce(_ rounds: Int, _ body: @escaping @Sendable (_ round: Int, _ thread: Int) -> Void) {
    let arrived = Arrivals()
    let done = DispatchGroup()
    for thread in 0..<2 {
      done.enter()
      Thread.detachNewThread {
        for round in 0..<rounds {
          arrived.wait(for: 2 * (round + 1))
          body(round, thread)
        }
        done.leave()
      }
    }
    done.wait()
  }

  private final class Arrivals: Sendable {
    private let count = Atomic<Int>(0)
    func wait(for number: Int) {
      count.add(1, ordering: .sequentiallyConsistent)
      while count.load(ordering: .sequentiallyConsistent) < number { sched_yield() }
    }
  }

  /// Two at a time, of which only one may go.
  private func onlyOneMayGo<T>(
    _ pairs: [[T]], refusal: OSStatus, _ body: @escaping @Sendable (_ follower: T, _ leader: T) -> OSStatus
  ) {
    nonisolated(unsafe) let pairs = pairs
    nonisolated(unsafe) var results = [OSStatus](repeating: 1, count: 2 * pairs.count)
    let lock = NSLock()
    atOnce(pairs.count) { round, thread in
      let status = body(pairs[round][thread], pairs[round][1 - thread])
      lock.withLock { results[2 * round + thread] = status }
    }
    let wrong = pairs.indices.filter {
      Set(results[2 * $0..<2 * $0 + 2]) != [refusal, noErr]
    }
    #expect(wrong.isEmpty)
  }

  @Test func timebasesThatFollowEachOtherAreRefused() throws {
    let pairs = try (0..<3000).map { _ in
      try (0..<2).map { _ in try CMTimebase(sourceClock: .hostTimeClock) }
    }
    onlyOneMayGo(pairs, refusal: kCMTimebaseError_InvalidParameter) { CMTimebaseSetSourceTimebase($0, $1) }
    #expect(pairs.joined().allSatisfy { $0.effectiveRate == 0 })
  }

  @Test func sampleBuffersThatTrackEachOtherAreRefused() throws {
    let pairs = try (0..<3000).map { _ in try (0..<2).map { _ in try unready() } }
    onlyOneMayGo(pairs, refusal: kCMSampleBufferError_RequiredParameterMissing) {
      CMSampleBufferTrackDataReadiness($0, sampleBufferToTrack: $1)
    }
    #expect(pairs.joined().allSatisfy { !CMSampleBufferDataIsReady($0) })
  }

  private func unready() throws -> CMSampleBuffer {
    var made: CMSampleBuffer?
    CMSampleBufferCreate(
      allocator: nil, dataBuffer: nil, dataReady: false, makeDataReadyCallback: nil, refcon: nil,
      formatDescription: nil, sampleCount: 1, sampleTimingEntryCount: 0, sampleTimingArray: nil,
      sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &made)
    return try #require(made)
  }

  /// Deeper than a stack.
  @Test func chainsOfSampleBuffersDoNotOverflowTheStack() throws {
    let first = try unready()
    weak var last: CMSampleBuffer?
    do {
      var buffer = first
      for _ in 0..<300_000 {
        let next = try unready()
        #expect(CMSampleBufferTrackDataReadiness(buffer, sampleBufferToTrack: next) == noErr)
        buffer = next
      }
      last = buffer
    }
    #expect(!CMSampleBufferDataIsReady(first))
    #expect(CMSampleBufferMakeDataReady(first) == kCMSampleBufferError_BufferNotReady)
    if let last { #expect(CMSampleBufferSetDataReady(last) == noErr) }
    #expect(CMSampleBufferDataIsReady(first))
    CMSampleBufferInvalidate(first)
    #expect(last == nil)
  }

  /// Going through them takes the stack.
  @Test func chainsOfTimebasesDoNotOverflowTheStack() throws {
    let first = try CMTimebase(sourceClock: .hostTimeClock)
    var chain = [first]
    while chain.count < 100_000 {
      var next: CMTimebase?
      let status = CMTimebaseCreateWithSourceTimebase(
        allocator: nil, sourceTimebase: chain[chain.count - 1], timebaseOut: &next)
      guard let next else {
        #expect(status == kCMTimebaseError_InvalidParameter)
        break
      }
      #expect(CMTimebaseSetRate(next, rate: 1) == noErr)
      chain.append(next)
    }
    #expect(chain.count == 1000)
    // Another chain after it, or one more before it, is too much as well.
    let other = try CMTimebase(sourceClock: .hostTimeClock)
    let behind = try CMTimebase(sourceTimebase: other)
    #expect(CMTimebaseSetSourceTimebase(behind, chain[999]) == kCMTimebaseError_InvalidParameter)
    #expect(CMTimebaseSetSourceTimebase(first, behind) == kCMTimebaseError_InvalidParameter)
    #expect(CMTimebaseSetSourceTimebase(other, chain[998]) == kCMTimebaseError_InvalidParameter)
    #expect(CMTimebaseSetSourceTimebase(other, chain[997]) == noErr)
    #expect(CMTimebaseSetRate(first, rate: 2) == noErr)
    #expect(CMTimebaseGetEffectiveRate(chain[999]) == 2)
    chain.removeAll()
  }

  /// Observers on several threads, all of which wait for all posts.
  @Test func barriersInObserversDoNotBlock() throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let token = NotificationCenter.default.addObserver(
      forName: NSNotification.Name(kCMTimebaseNotification_TimeJumped as String), object: timebase, queue: nil
    ) { _ in
      letOthersRun(turns: 1000)
      CMTimebaseNotificationBarrier(timebase)
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let done = DispatchSemaphore(value: 0)
    for thread in 0..<4 {
      Thread.detachNewThread {
        for round in 0..<20 {
          CMTimebaseSetTime(timebase, time: CMTime(value: Int64(thread * 100 + round), timescale: 1))
        }
        done.signal()
      }
    }
    for _ in 0..<4 { #expect(waitForSignal(done)) }
  }
}
