// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Pictures predicted from both directions.
@Suite struct BidirectionalTests {
  @Test("libavcodec shows the encoder's reconstruction of random streams", arguments: 0..<8)
  func matchesDecoder(part: Int) throws {
    var coverage = ReorderedStream.Coverage()
    for seed in 0..<30 {
      let stream = ReorderedStream(seed: UInt64(part * 1000 + seed))
      do {
        let reached = try stream.verify()
        coverage.frames += reached.frames
        for i in coverage.types.indices { coverage.types[i] += reached.types[i] }
      } catch let failure as ReorderedStream.Failure { Issue.record("\(failure)") }
    }
    let types = coverage.types
    #expect(types[Int(MacroblockType.skip)] > 0 && types[Int(MacroblockType.direct)] > 0)
    #expect(types[Int(MacroblockType.inter16x16)] > 0 && types[0...3].reduce(0, +) > 0)
  }
}

extension BidirectionalTests {
  @Test("Implicit weights follow the distances in time")
  func implicitWeights() {
    #expect(ImplicitWeights.weight(current: 4, 0, 8) == 32)
    // A third and two thirds of the way: the nearer picture weighs more.
    #expect(ImplicitWeights.weight(current: 2, 0, 6) == 21)
    #expect(ImplicitWeights.weight(current: 4, 0, 6) == 42)
    // Both earlier: beyond the later one.
    #expect(ImplicitWeights.weight(current: 6, 0, 4) == 96)
    // Too far beyond, and the same picture twice.
    #expect(ImplicitWeights.weight(current: 40, 0, 4) == 32)
    #expect(ImplicitWeights.weight(current: 4, 2, 2) == 32)
  }
}
