// SPDX-License-Identifier: Apache-2.0
import KernelTestSupport
import Testing

@testable import VideoEncoding

/// One bucket for decoders' buffers and for queues in front of a line, compared with sums over all
/// that came before (the reflection of a walk at a barrier): all numbers are whole multiples of
/// 1/1024, which a `Double` holds exactly.
@Suite struct LeakyBucketTests {
  private static let rate = 1_000 * 1_024

  /// Steps of a walk: bits that come or, below 0, go.
  private static func walk(_ seed: UInt64, count: Int) -> [(bits: Int, ticks: Int)] {
    var random = Random(seed)
    return (0..<count).map { _ in (random.int(0...60_000), random.int(0...60)) }
  }

  @Test(arguments: UInt64(1)...8)
  func aBufferThatFillsIsReflectedAtItsCapacity(seed: UInt64) {
    let (capacity, first) = (150_000, 60_000)
    var bucket = LeakyBucket(capacity: Double(capacity), rate: Double(Self.rate), fullness: Double(first))
    var parts = bucket
    var lost = 0.0
    var walk: [Int] = []
    for step in Self.walk(seed, count: 400) {
      let seconds = Double(step.ticks) / 1_024
      walk.append(1_000 * step.ticks - step.bits)
      lost += bucket.add(Double(Self.rate) * seconds - Double(step.bits))
      parts.remove(Double(step.bits))
      parts.fill(seconds: seconds)
      // Without the barrier, and from each moment at which it may have been full.
      let total = walk.reduce(first, +)
      var expected = total
      var since = 0
      for back in walk.reversed() {
        expected = min(expected, capacity + since)
        since += back
      }
      #expect(bucket.fullness == Double(expected) && parts.fullness == Double(expected))
      #expect(lost == Double(total - expected))
    }
    #expect(lost > 0)
  }

  @Test(arguments: UInt64(1)...8)
  func aQueueThatDrainsIsReflectedAtNothing(seed: UInt64) {
    var queue = LeakyBucket(rate: Double(Self.rate))
    var walk: [(step: Int, bits: Int)] = []
    var wasEmpty = false
    for step in Self.walk(seed, count: 400) {
      let bits = step.bits / 3
      queue.drain(seconds: Double(step.ticks) / 1_024)
      wasEmpty = wasEmpty || queue.fullness == 0
      #expect(queue.add(Double(bits)) == 0)
      walk.append((bits - 1_000 * step.ticks, bits))
      // Without the barrier, and from each moment at which it may have been empty, before the bits
      // of a step.
      var expected = walk.reduce(0) { $0 + $1.step }
      var since = 0
      for back in walk.reversed() {
        expected = max(expected, since + back.bits)
        since += back.step
      }
      #expect(queue.fullness == Double(expected))
    }
    #expect(wasEmpty && queue.fullness >= 0)
  }

  @Test func excessIsWhatWouldOverflow() {
    var bucket = LeakyBucket(capacity: 1_000, rate: 512, fullness: 900)
    #expect(bucket.excess(over: 1_000, removing: 100, seconds: 0.5) == 56)
    #expect(bucket.excess(over: 1_000, removing: 300, seconds: 0.5) == -144)
    #expect(bucket.add(512 * 0.5 - 100) == 56 && bucket.fullness == 1_000)
    bucket.clamp(to: 300)
    #expect(bucket.fullness == 300)
    #expect(LeakyBucket(capacity: 10, rate: 1, fullness: 30).fullness == 10)
  }
}
