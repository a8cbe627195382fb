// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Synchronization
import Testing
import TestSupport

private func makePool(
  _ poolAttributes: [CFString: Any]? = nil, width: Int = 64, height: Int = 64
) throws -> CVPixelBufferPool {
  let attributes: [CFString: Any] = [
    kCVPixelBufferWidthKey: width, kCVPixelBufferHeightKey: height,
    kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
  ]
  var pool: CVPixelBufferPool?
  #expect(
    CVPixelBufferPoolCreate(nil, poolAttributes as CFDictionary?, attributes as CFDictionary, &pool)
      == kCVReturnSuccess)
  return try #require(pool)
}

private func take(_ pool: CVPixelBufferPool, threshold: Int? = nil) -> (CVReturn, CVPixelBuffer?) {
  var buffer: CVPixelBuffer?
  let auxiliary = threshold.map { [kCVPixelBufferPoolAllocationThresholdKey: $0] as CFDictionary }
  let status = CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(nil, pool, auxiliary, &buffer)
  return (status, buffer)
}

@Suite struct PoolTests {
  @Test func memoryComesBack() throws {
    let pool = try makePool()
    var first: CVPixelBuffer? = take(pool).1
    let address = try #require(first.flatMap { CVPixelBufferGetBaseAddress($0) })
    CVBufferSetAttachment(try #require(first), "note" as CFString, 1 as CFNumber, .shouldPropagate)
    first = nil
    let second = try #require(take(pool).1)
    #expect(CVPixelBufferGetBaseAddress(second) == address)
    #expect(!CVBufferHasAttachment(second, "note" as CFString))
    #expect(CVPixelBufferGetWidth(second) == 64)
    #expect(CVPixelBufferGetPixelFormatType(second) == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
  }

  @Test func theThresholdLimitsTheBuffersInUse() throws {
    let pool = try makePool()
    let reported = Atomic<Int>(0)
    let name = Notification.Name(kCVPixelBufferPoolFreeBufferNotification as String)
    let observer = NotificationCenter.default.addObserver(forName: name, object: pool, queue: nil) { _ in
      reported.add(1, ordering: .relaxed)
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    var held = (0..<3).compactMap { _ in take(pool, threshold: 3).1 }
    #expect(held.count == 3)
    #expect(take(pool, threshold: 3).0 == kCVReturnWouldExceedAllocationThreshold)
    #expect(take(pool, threshold: 3).1 == nil)
    // Without a threshold there is no limit; with one, a free buffer may still be used.
    #expect(reported.load(ordering: .relaxed) == 0)
    held.removeLast()
    #expect(reported.load(ordering: .relaxed) == 1)
    #expect(take(pool, threshold: 3).0 == kCVReturnSuccess)
    held.append(contentsOf: (0..<2).compactMap { _ in take(pool).1 })
    #expect(held.count == 4)
  }

  @Test func flushingAndAgeFreeBuffers() async throws {
    let pool = try makePool([
      kCVPixelBufferPoolMaximumBufferAgeKey: 0.0001, kCVPixelBufferPoolMinimumBufferCountKey: 1,
    ])
    do { _ = (0..<4).map { _ in take(pool).1 } }
    // All four are free: a threshold of five can take a fifth only once they are all in use.
    CVPixelBufferPoolFlush(pool, [])
    var held = (0..<4).compactMap { _ in take(pool, threshold: 4).1 }
    #expect(held.count == 4)
    held = []
    // Three are swept away by and by; one is kept, so that one more may be made below a threshold
    // of two.
    let areSwept = await waitUntil { (0..<3).compactMap { _ in take(pool, threshold: 2).1 }.count == 2 }
    #expect(areSwept)
    CVPixelBufferPoolFlush(pool, .excessBuffers)
    #expect(take(pool, threshold: 0).0 == kCVReturnWouldExceedAllocationThreshold)
  }

  @Test func buffersOutliveTheirPool() throws {
    var pool: CVPixelBufferPool? = try makePool()
    let buffer = try #require(take(pool!).1)
    pool = nil
    memset(CVPixelBufferGetBaseAddress(buffer)!, 1, CVPixelBufferGetDataSize(buffer))
  }

  @Test func poolsTellTheirAttributes() throws {
    let pool = try makePool([kCVPixelBufferPoolMinimumBufferCountKey: 3])
    #expect(
      (CVPixelBufferPoolGetAttributes(pool) as? [CFString: Any])?[kCVPixelBufferPoolMinimumBufferCountKey]
        as? Int == 3)
    let attributes = try #require(CVPixelBufferPoolGetPixelBufferAttributes(pool) as? [CFString: Any])
    #expect(attributes[kCVPixelBufferWidthKey] as? Int == 64)
    #expect(CFGetTypeID(pool) == CVPixelBufferPoolGetTypeID())
  }

  @Test func badAttributesAreRefused() {
    var pool: CVPixelBufferPool?
    func create(_ poolAttributes: [CFString: Any]?, _ attributes: [CFString: Any]) -> CVReturn {
      CVPixelBufferPoolCreate(nil, poolAttributes as CFDictionary?, attributes as CFDictionary, &pool)
    }
    var good: [CFString: Any] = [
      kCVPixelBufferWidthKey: 64, kCVPixelBufferHeightKey: 64,
      kCVPixelBufferPixelFormatTypeKey: [0x1234, 32],
    ]
    #expect(create(nil, good) == kCVReturnSuccess)
    #expect(create([kCVPixelBufferPoolMinimumBufferCountKey: "x"], good) == kCVReturnInvalidPoolAttributes)
    #expect(create([kCVPixelBufferPoolMaximumBufferAgeKey: -1], good) == kCVReturnInvalidPoolAttributes)
    good[kCVPixelBufferPixelFormatTypeKey] = 0x1234
    #expect(create(nil, good) == kCVReturnInvalidPixelFormat)
    good[kCVPixelBufferPixelFormatTypeKey] = nil
    #expect(create(nil, good) == kCVReturnInvalidPixelBufferAttributes)
    good = [kCVPixelBufferWidthKey: 0, kCVPixelBufferHeightKey: 64, kCVPixelBufferPixelFormatTypeKey: 32]
    #expect(create(nil, good) == kCVReturnInvalidPixelBufferAttributes)
    #expect(pool == nil)
  }

  @Test func manyThreadsNeverShareABuffer() throws {
    let pool = try makePool(nil, width: 32, height: 32)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for i in 0..<500 {
        guard let buffer = take(pool, threshold: 8).1 else { continue }
        let base = CVPixelBufferGetBaseAddress(buffer)!
        base.storeBytes(of: UInt64(thread * 1000 + i), as: UInt64.self)
        if i % 7 == 0 { CVPixelBufferPoolFlush(pool, .excessBuffers) }
        // Nobody else has this memory.
        #expect(base.load(as: UInt64.self) == UInt64(thread * 1000 + i))
      }
    }
  }
}
