// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import Testing

@Suite struct CompressedDataTests {
  private func bytes(_ data: borrowing CompressedData) -> [UInt8] {
    data.withBytes { $0.withUnsafeBufferPointer { [UInt8]($0) } }
  }

  @Test("Memory grows and keeps its bytes, filler ends with trailing bits")
  func appending() {
    var data = CompressedData(capacity: 1)
    var expected: [UInt8] = []
    for n in 0..<200 {
      let piece = (0..<n).map { UInt8(truncatingIfNeeded: $0 ^ n) }
      piece.withUnsafeBytes { data.append($0) }
      expected += piece
    }
    #expect(bytes(data) == expected)
    data.appendFiller(header: [0x4C, 1], fill: 5)
    expected += [0, 0, 0, 8, 0x4C, 1, 255, 255, 255, 255, 255, 0x80]
    #expect(bytes(data) == expected)
    #expect(data.count == expected.count)
  }

  @Test("Less than no filler is none, and more than a NAL unit should have is cut")
  func extremeFiller() {
    var data = CompressedData(capacity: 16)
    for fill in [-1, -5, .min] { data.appendFiller(header: [0x4C, 1], fill: fill) }
    #expect(data.count == 0)
    data.appendFiller(header: [0x4C, 1], fill: 1 << 40)
    #expect(data.count == 4 + 2 + (1 << 26) + 1)
    let (length, last) = data.withBytes { bytes in
      ((0..<4).reduce(0) { $0 << 8 | Int(bytes[$1]) }, bytes[bytes.count - 1])
    }
    #expect(length == data.count - 4 && last == 0x80)
  }

  /// Counts what comes back, and frees it.
  private final class Returns {
    var seen: [(Int, Int)] = []
  }

  private func adopted(_ returns: Returns, capacity: Int, count: Int) throws -> CompressedData {
    let memory = try #require(malloc(capacity))
    memset(memory, 9, capacity)
    return CompressedData(
      adopting: memory, count: count, capacity: capacity,
      context: Unmanaged.passUnretained(returns).toOpaque()
    ) { context, memory, capacity in
      guard let context else { return }
      Unmanaged<Returns>.fromOpaque(context).takeUnretainedValue().seen.append(
        (Int(bitPattern: memory), capacity))
      free(memory)
    }
  }

  @Test("Adopted memory is returned once: at the end, when it is too small, or by its receiver")
  func giveBack() throws {
    let returns = Returns()
    do {
      let data = try adopted(returns, capacity: 32, count: 3)
      #expect(bytes(data) == [9, 9, 9] && returns.seen.isEmpty)
    }
    #expect(returns.seen.map(\.1) == [32])
    do {
      var data = try adopted(returns, capacity: 8, count: 8)
      [UInt8](repeating: 1, count: 100).withUnsafeBytes { data.append($0) }
      #expect(bytes(data) == [UInt8](repeating: 9, count: 8) + [UInt8](repeating: 1, count: 100))
      #expect(returns.seen.map(\.1) == [32, 8])
    }
    #expect(returns.seen.count == 2)
    let released = try adopted(returns, capacity: 64, count: 5).release()
    #expect(returns.seen.count == 2 && released.count == 5 && released.capacity == 64)
    released.giveBack(released.context, released.memory, released.capacity)
    #expect(returns.seen.count == 3)
  }
}
