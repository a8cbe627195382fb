// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

@Suite struct PassStatisticsTests {
  private static func configuration(_ rate: Int) -> LookAheadConfiguration {
    var c = LookAheadConfiguration(width: 96, height: 80)
    c.stream.maximumReferences = 4
    c.stream.speed = 5
    c.lookAhead = 15
    c.rate = .average(rate)
    return c
  }

  private static func content(_ n: Int) -> PlanarFrame {
    let kinds: [SyntheticContent.Kind] = [.gradient, .motion, .screen, .mixed]
    return SyntheticContent(kind: kinds[n / 100 % 4], width: 96, height: 80, seed: UInt64(n / 100)).frame(n)
  }

  private static func pass(_ c: LookAheadConfiguration, _ known: PassStatistics?, count: Int) throws
    -> (bits: Int, statistics: PassStatistics)
  {
    let encoder = try LookAheadEncoder(configuration: c, pass: known)
    encoder.keepsStatistics = true
    var bits = 0
    for n in 0..<count {
      try content(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0) { bits += $0.facts.bits }
      }
    }
    encoder.flush { bits += $0.facts.bits }
    return (bits, encoder.statistics)
  }

  @Test("Statistics that are cut, damaged or of something else are refused")
  func damaged() throws {
    let bytes = try Self.pass(Self.configuration(100_000), nil, count: 12).statistics.bytes
    #expect(try PassStatistics(bytes: bytes).bytes == bytes)
    for cut in [0, 1, 14, 40, bytes.count / 2, bytes.count - 1] {
      #expect(throws: EncoderError.self) { try PassStatistics(bytes: Array(bytes[..<cut])) }
    }
    for at in stride(from: 0, to: bytes.count, by: 37) {
      var damaged = bytes
      damaged[at] ^= 0x41
      #expect(throws: EncoderError.self) { try PassStatistics(bytes: damaged) }
    }
    var other = Self.configuration(100_000)
    other.stream.width = 112
    let known = try PassStatistics(bytes: bytes)
    #expect(throws: EncoderError.self) { try LookAheadEncoder(configuration: other, pass: known) }
  }

  @Test("A stream that is longer or shorter than the pass was is coded all the same", arguments: [30, 120])
  func otherLength(_ count: Int) throws {
    let first = try Self.pass(Self.configuration(100_000), nil, count: 60)
    let second = try Self.pass(Self.configuration(100_000), first.statistics, count: count)
    #expect(second.statistics.count == count)
    #expect(second.bits > 0)
  }
}
