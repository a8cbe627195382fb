// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

@Suite("Memory of coded frames")
struct FrameMemoryTests {
  @Test("Few frames that come back share roomy blocks, many get their own size")
  func fewFramesThatComeBackShareRoomyBlocks() {
    let pool = FrameMemoryPool(capacity: 4096)
    var addresses: Set<UnsafeMutableRawPointer> = []
    for _ in 0..<20 { addresses.insert(pool.take(100).address) }
    #expect(addresses.count == 1)
    var kept: [(UnsafeMutableRawPointer, Int, Unmanaged<FrameMemoryPool>)] = []
    for _ in 0..<20 { kept.append(pool.trim(pool.take(150), to: 100).release()) }
    #expect(kept.prefix(8).allSatisfy { $0.1 == 4096 })
    #expect(kept.dropFirst(8).allSatisfy { $0.1 == 150 || $0.1 == 100 })
    #expect(Set(kept.map(\.0)).count == 20)
    for (address, capacity, owner) in kept { FrameMemory.giveBack(address, capacity: capacity, pool: owner) }
    #expect(addresses.union(kept.prefix(8).map(\.0)).contains(pool.take(100).address))
  }

  @Test("Memory that grows keeps its bytes, and so does what is taken afterwards")
  func memoryThatGrowsKeepsItsBytes() {
    let pool = FrameMemoryPool(capacity: 4096)
    let small = pool.take(16)
    for i in 0..<4096 {
      small.address.storeBytes(of: UInt8(truncatingIfNeeded: i * 7), toByteOffset: i, as: UInt8.self)
    }
    let large = pool.grow(small, to: 100_000)
    #expect(large.capacity >= 100_000)
    let bytes = UnsafeRawBufferPointer(start: large.address, count: 4096)
    #expect(bytes.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0 * 7) })
    #expect(pool.take(16).capacity >= 100_000)
  }

  @Test("A unit of a larger frame is no way out of a smaller one")
  func aUnitOfALargerFrameIsNoWayOutOfASmallerOne() throws {
    var c = H264EncoderConfiguration(width: 64, height: 48)
    c.lowLatency.rateControl = .constantQP(20)
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .noise, width: 64, height: 48, seed: 4)
    let first = try content.frame(0).withSource(planar: true, padding: 0) { try encoder.encode($0) }
    let second = try content.frame(0).withSource(planar: true, padding: 0) { try encoder.encode($0) }
    let unit = try #require(first.nalUnits.last)
    #expect(first.data(of: unit) == Array(first.data[unit.range]))
    #expect(second.byteCount < unit.range.upperBound)
    #expect(second.data(of: unit).count == max(second.byteCount - unit.range.lowerBound, 0))
    #expect(second.withBytes(of: unit) { $0.count } <= second.byteCount)
  }

  @Test("A pool lives until the last of its memory is back")
  func aPoolLivesUntilTheLastOfItsMemoryIsBack() {
    weak var gone: FrameMemoryPool?
    do {
      let memory = Self.orphan(&gone)
      #expect(gone != nil)
      memory.address.storeBytes(of: 1, as: UInt8.self)
    }
    #expect(gone == nil)
  }

  private static func orphan(_ pool: inout FrameMemoryPool?) -> FrameMemory {
    let made = FrameMemoryPool(capacity: 64)
    pool = made
    return made.take(32)
  }

  @Test("Frames that are kept stay as they were, with start codes and with lengths")
  func framesThatAreKeptStayAsTheyWere() throws {
    var c = H264EncoderConfiguration(width: 64, height: 48)
    c.lowLatency.rateControl = .constantQP(20)
    c.slices = 3
    let plain = try LowLatencyEncoder(configuration: c)
    c.framing = .lengths
    let prefixed = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: 64, height: 48, seed: 3)
    var copies: [[UInt8]] = []
    var kept: [(memory: (UnsafeMutableRawPointer, Int, Unmanaged<FrameMemoryPool>), count: Int)] = []
    for n in 0..<24 {
      let units = try content.frame(n).withSource(planar: true, padding: 0) { source in
        let frame = try plain.encode(source)
        var expected: [UInt8] = []
        for unit in frame.nalUnits { expected += [0, 0, 0, 1] + frame.data(of: unit) }
        #expect(frame.data == expected)
        return frame.nalUnits.map { frame.data(of: $0) }
      }
      var expected: [UInt8] = []
      for unit in units {
        withUnsafeBytes(of: UInt32(unit.count).bigEndian) { expected += $0 }
        expected += unit
      }
      copies.append(expected)
      try content.frame(n).withSource(planar: true, padding: 0) { source in
        let frame = try prefixed.encode(source)
        #expect(frame.data == expected)
        let count = frame.byteCount
        if let memory = frame.takeMemory() { kept.append((memory.release(), count)) }
      }
    }
    #expect(kept.count == copies.count)
    for (taken, expected) in zip(kept, copies) {
      #expect([UInt8](UnsafeRawBufferPointer(start: taken.memory.0, count: taken.count)) == expected)
      FrameMemory.giveBack(taken.memory.0, capacity: taken.memory.1, pool: taken.memory.2)
    }
  }
}
