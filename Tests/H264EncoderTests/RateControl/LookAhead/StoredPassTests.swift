// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Statistics that stay in a file.
@Suite struct StoredPassTests {
  /// A file in memory that records what is read from it, and may break off.
  private final class MemoryPass {
    var bytes: [UInt8]
    var maximum = 0
    var end = Int.max

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func pass(_ frames: Range<Int>? = nil) throws -> StoredPass {
      try StoredPass(size: bytes.count, frames: frames) { offset, count in
        self.maximum = max(self.maximum, count)
        guard offset <= self.end, offset <= self.bytes.count else { return nil }
        return Array(self.bytes[offset..<min(offset + count, self.bytes.count, self.end)])
      }
    }
  }

  private static func configuration(_ rate: Int, buffer: Bool = false) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: 64, height: 48)
    c.maximumReferences = 2
    c.effort = 1
    c.lookAhead.frames = 8
    c.lookAhead.rate = .average(rate)
    if buffer { c.lookAhead.buffer = .init(maximumRate: rate * 3 / 2, size: rate) }
    return c
  }

  private static let count = 700

  private static func frame(_ n: Int) -> PlanarFrame {
    let kinds: [SyntheticContent.Kind] = [.gradient, .motion, .mixed]
    return SyntheticContent(kind: kinds[n / 90 % 3], width: 64, height: 48, seed: UInt64(n / 90)).frame(n)
  }

  /// The first pass, and what was drained from another encoder that did the same.
  private static let learned: (kept: PassStatistics, drained: [UInt8]) = {
    let made = { () throws -> (PassStatistics, [UInt8]) in
      let kept = try LookAheadEncoder(configuration: configuration(60_000))
      let drained = try LookAheadEncoder(configuration: configuration(60_000))
      kept.keepsStatistics = true
      drained.keepsStatistics = true
      var records: [UInt8] = []
      for n in 0..<count {
        try frame(n).withSource(planar: true, padding: 0) {
          try kept.encode($0) { _ in }
          try drained.encode($0) { _ in }
        }
        records += drained.takeStatistics().records
        if drained.statistics.count != 0 { records = [] }
      }
      kept.flush { _ in }
      drained.flush { _ in }
      records += drained.takeStatistics().records
      // As a file has them: residuals are rounded there.
      return (try PassStatistics(bytes: kept.statistics.bytes), records)
    }
    return (try? made()) ?? (PassStatistics(width: 64, height: 48), [])
  }()

  @Test("What is taken away as it comes is the same")
  func whatIsTakenAwayAsItComesIsTheSame() {
    #expect(Self.learned.kept.count == Self.count)
    #expect(Self.learned.kept.records == Self.learned.drained)
  }

  @Test(
    "The pictures of a part, as statistics in memory have them",
    arguments: [
      0..<700, 0..<1, 5..<5, 255..<257, 90..<300, 699..<700, 690..<5000, -3..<20, 1000..<2000,
    ])
  func aPartHasItsPicturesAsInMemory(_ frames: Range<Int>) throws {
    let kept = Self.learned.kept.part(frames)
    let memory = MemoryPass(Self.learned.kept.bytes)
    let stored = try memory.pass(frames)
    #expect(stored.count == kept.count && stored.seconds == kept.seconds)
    var (a, b) = (kept.cursor(), stored.cursor())
    for _ in 0..<kept.count { #expect(a.next() == b.next()) }
    #expect(b.next() == nil && !stored.hasFailed)
    // No matter how long the pass was.
    #expect(memory.maximum <= 256 * PassFormat.pictureSize)
  }

  @Test("An encoder makes the same bits from it", arguments: [false, true])
  func anEncoderMakesTheSameBitsFromStoredStatistics(buffer: Bool) throws {
    let memory = MemoryPass(Self.learned.kept.bytes)
    let c = Self.configuration(60_000, buffer: buffer)
    let kept = try LookAheadEncoder(configuration: c, pass: Self.learned.kept)
    let stored = try LookAheadEncoder(configuration: c, pass: try memory.pass())
    let blind = try LookAheadEncoder(configuration: c)
    var bits: [[Int]] = [[], [], []]
    for n in 0..<Self.count {
      try Self.frame(n).withSource(planar: true, padding: 0) { source in
        for (at, encoder) in [kept, stored, blind].enumerated() {
          try encoder.encode(source) { bits[at].append($0.properties.bits) }
        }
      }
    }
    for (at, encoder) in [kept, stored, blind].enumerated() {
      encoder.flush { bits[at].append($0.properties.bits) }
    }
    #expect(bits[0].count == Self.count && bits[0] == bits[1] && bits[0] != bits[2])
  }

  @Test("What statistics in memory refuse is refused, and what breaks off while it is read is an end")
  func whatStatisticsInMemoryRefuseIsRefused() throws {
    let bytes = Self.learned.kept.bytes
    for cut in [0, 14, 45, bytes.count / 2, bytes.count - 1] {
      #expect(throws: H264EncoderError.self) { try MemoryPass(Array(bytes[..<cut])).pass() }
    }
    for at in stride(from: 0, to: bytes.count, by: 997) {
      var damaged = bytes
      damaged[at] ^= 0x10
      #expect(throws: H264EncoderError.self) { try MemoryPass(damaged).pass() }
    }
    // Shorter than its size says.
    let short = MemoryPass(bytes)
    short.end = bytes.count - 1
    #expect(throws: H264EncoderError.self) { try short.pass() }
    short.end = 20_000
    #expect(throws: H264EncoderError.self) { try short.pass() }

    let memory = MemoryPass(bytes)
    let pass = try memory.pass()
    memory.end = PassFormat.headerSize + 300 * PassFormat.pictureSize + 7
    #expect(!pass.hasFailed)
    var cursor = pass.cursor()
    var read = 0
    while cursor.next() != nil { read += 1 }
    #expect(read == 300 && pass.hasFailed)
    let encoder = try LookAheadEncoder(configuration: Self.configuration(60_000), pass: pass)
    var frames = 0
    for n in 0..<400 {
      try Self.frame(n).withSource(planar: true, padding: 0) { try encoder.encode($0) { _ in frames += 1 } }
    }
    encoder.flush { _ in frames += 1 }
    #expect(frames == 400)

    // Somebody writes what no encoder does, in the middle of it.
    let other = MemoryPass(bytes)
    let changed = try other.pass()
    let at = PassFormat.headerSize + 270 * PassFormat.pictureSize
    other.bytes.replaceSubrange(at..<at + 60, with: [UInt8](repeating: 255, count: 60))
    var broken = changed.cursor()
    read = 0
    while broken.next() != nil { read += 1 }
    #expect(read == 256 && changed.hasFailed)
  }
}
