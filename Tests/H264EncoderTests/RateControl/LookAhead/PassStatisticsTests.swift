// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

@Suite struct PassStatisticsTests {
  private static func configuration(_ rate: Int) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: 96, height: 80)
    c.maximumReferences = 4
    c.effort = 1
    c.lookAhead.frames = 15
    c.lookAhead.rate = .average(rate)
    return c
  }

  private static func content(_ n: Int) -> PlanarFrame {
    let kinds: [SyntheticContent.Kind] = [.gradient, .motion, .screen, .mixed]
    return SyntheticContent(kind: kinds[n / 100 % 4], width: 96, height: 80, seed: UInt64(n / 100)).frame(n)
  }

  private static func pass(_ c: H264EncoderConfiguration, _ known: PassStatistics?, count: Int) throws
    -> (bits: Int, statistics: PassStatistics)
  {
    let encoder = try LookAheadEncoder(configuration: c, pass: known)
    encoder.keepsStatistics = true
    var bits = 0
    for n in 0..<count {
      try content(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0) { bits += $0.properties.bits }
      }
    }
    encoder.flush { bits += $0.properties.bits }
    return (bits, encoder.statistics)
  }

  @Test func partsJoinToTheWholeStatistics() throws {
    let whole = try Self.pass(Self.configuration(100_000), nil, count: 40).statistics
    var joined = whole.part(0..<13)
    joined.append(whole.part(13..<40))
    #expect(joined.count == 40 && joined.seconds == whole.seconds)
    #expect(Set(joined.pictures.map(\.index)) == Set(0..<40))
    #expect(joined.pictures.sorted { $0.index < $1.index } == whole.pictures.sorted { $0.index < $1.index })
  }

  /// The greatest numbers that are read: parts that are joined count on from there.
  @Test func partsCountOnFromTheGreatestNumbers() throws {
    let bytes = try Self.pass(Self.configuration(100_000), nil, count: 12).statistics.bytes
    var far = Array(bytes.dropLast(PassFormat.checksumSize))
    far.replaceSubrange(
      PassFormat.headerSize..<PassFormat.headerSize + 8, with: [255, 255, 255, 255, 255, 0, 0, 0])
    far += Self.checksum(far)
    let known = try PassStatistics(bytes: far)
    var joined = known
    for _ in 0..<3 { joined.append(known) }
    #expect(joined.count == 48 && joined.part(0..<12).count == 11)
    #expect(try Self.pass(Self.configuration(100_000), joined, count: 12).statistics.count == 12)
  }

  @Test("Statistics that are cut, damaged or of something else are refused")
  func damagedStatisticsAreRefused() throws {
    let bytes = try Self.pass(Self.configuration(100_000), nil, count: 12).statistics.bytes
    #expect(try PassStatistics(bytes: bytes).bytes == bytes)
    for cut in [0, 1, 14, 40, bytes.count / 2, bytes.count - 1] {
      #expect(throws: H264EncoderError.self) { try PassStatistics(bytes: Array(bytes[..<cut])) }
    }
    for at in stride(from: 0, to: bytes.count, by: 37) {
      var damaged = bytes
      damaged[at] ^= 0x41
      #expect(throws: H264EncoderError.self) { try PassStatistics(bytes: damaged) }
    }
    // Invalid statistics with a correct checksum: a picture's index, kind, bits,
    // QP and duration.
    let fields: [(at: Int, bytes: [UInt8])] =
      [
        (0, [UInt8](repeating: 255, count: 8)), (0, [0, 0, 0, 0, 0, 1, 0, 0]),
        (8, [3]), (8, [255]), (9, [0, 0, 0, 0, 0, 1, 0, 0]), (9, [UInt8](repeating: 255, count: 8)),
      ] + [Double.nan, .infinity, -1, 51.5].map { (17, Self.bytes($0)) }
      + [Double.nan, .infinity, -1, 0, 1e6, 1e300].map { (25, Self.bytes($0)) }
    for field in fields {
      var hostile = Array(bytes.dropLast(PassFormat.checksumSize))
      let at = PassFormat.headerSize + field.at
      hostile.replaceSubrange(at..<at + field.bytes.count, with: field.bytes)
      hostile += Self.checksum(hostile)
      #expect(throws: H264EncoderError.self, "\(field)") { try PassStatistics(bytes: hostile) }
    }
    var other = Self.configuration(100_000)
    other.width = 112
    let known = try PassStatistics(bytes: bytes)
    // Parts: together they are the whole, and their shares are what they take at a common quality.
    let (a, b) = (known.part(0..<5), known.part(5..<known.count))
    #expect(a.count == 5 && a.count + b.count == known.count)
    #expect(b.part(0..<b.count) == b && known.part(0..<known.count) == known)
    #expect(abs(a.seconds + b.seconds - known.seconds) < 1e-9)
    for bits in [1e3, 1e5, 1e7] {
      let shares = known.shares(of: [5..<known.count, 0..<5], bits: bits)
      #expect(abs(shares[0] + shares[1] - 1) < 1e-9 && shares.allSatisfy { $0 > 0 })
    }
    #expect(known.shares(of: [0..<known.count, 900..<901], bits: 1e5) == [1, 0])
    for bits in [Double.nan, .infinity, -.infinity, -1, 0, 1e300] {
      let shares = known.shares(of: [0..<5, 5..<known.count], bits: bits)
      #expect(abs(shares[0] + shares[1] - 1) < 1e-9, "\(bits)")
    }
    #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: other, pass: known) }
  }

  private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
    var sum = PassFormat.Checksum()
    sum.add(bytes[...])
    return sum.bytes
  }

  private static func bytes(_ value: Double) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt64($0))) }
  }

  @Test("A stream that is longer or shorter than the pass was is coded all the same", arguments: [30, 120])
  func aStreamOfAnotherLengthThanThePassIsCoded(_ count: Int) throws {
    let first = try Self.pass(Self.configuration(100_000), nil, count: 60)
    let second = try Self.pass(Self.configuration(100_000), first.statistics, count: count)
    #expect(second.statistics.count == count)
    #expect(second.bits > 0)
  }

  /// Static frames, and frames of noise.
  private static func uneven(_ n: Int, quiet: Range<Int>) -> PlanarFrame {
    quiet.contains(n)
      ? SyntheticContent(kind: .gradient, width: 96, height: 80, seed: 1).frame(0)
      : SyntheticContent(kind: .mixed, width: 96, height: 80, seed: UInt64(n / 7)).frame(n)
  }

  private static func unevenPass(_ c: H264EncoderConfiguration, quiet: Range<Int>) throws -> PassStatistics {
    let encoder = try LookAheadEncoder(configuration: c)
    encoder.keepsStatistics = true
    for n in 0..<200 {
      try uneven(n, quiet: quiet).withSource(planar: true, padding: 0) { try encoder.encode($0) { _ in } }
    }
    encoder.flush { _ in }
    return encoder.statistics
  }

  @Test("Parts get what a buffer carries, and what they leave goes to the others")
  func partsGetWhatABufferCarries() throws {
    let quiet = 0..<100
    let known = try Self.unevenPass(Self.configuration(200_000), quiet: quiet)
    let parts = [0..<100, 100..<200]
    let seconds = known.seconds / 2
    let buffer = H264EncoderConfiguration.LookAhead.Buffer(maximumRate: 90_000, size: 90_000)
    // Both could have all that comes in, but for the quiet one.
    let free = known.shares(of: parts, bits: 80_000 * known.seconds).map { $0 * 80_000 * known.seconds }
    let all = known.bits(of: parts, all: 60_000 * known.seconds, buffer: buffer)
    #expect(free[1] > 90_000 * seconds * 1.2)
    // The last one may leave the buffer empty.
    #expect(all[1] <= 90_000 * (seconds + 0.9) + 1 && all[0] <= 90_000 * seconds + 1)
    #expect(known.bits(of: parts.reversed(), all: 1e9, buffer: buffer)[0] <= 90_000 * seconds + 1)
    // With room for all, it is what their common quality takes.
    let wide = H264EncoderConfiguration.LookAhead.Buffer(maximumRate: 10_000_000, size: 10_000_000)
    let bits = 60_000 * known.seconds
    let wanted = known.shares(of: parts, bits: bits).map { $0 * bits }
    for (a, b) in zip(known.bits(of: parts, all: bits, buffer: wide), wanted) {
      #expect(abs(a - b) < bits * 0.002, "\(a) for \(b)")
    }
  }
}
