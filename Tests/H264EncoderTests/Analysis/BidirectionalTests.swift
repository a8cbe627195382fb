// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Pictures predicted from both directions.
@Suite struct BidirectionalTests {
  @Test("libavcodec shows the encoder's reconstruction of random streams", arguments: 0..<8)
  func libavcodecShowsTheEncodersReconstructionOfRandomStreams(part: Int) throws {
    var coverage = ReorderedStream.Coverage()
    for seed in 0..<30 {
      let stream = ReorderedStream(seed: UInt64(part * 1000 + seed))
      do {
        coverage += try stream.verify()
      } catch let failure as ReorderedStream.Failure { Issue.record("\(failure)") }
    }
    let types = coverage.types
    #expect(types[Int(MacroblockType.skip)] > 0 && types[Int(MacroblockType.direct)] > 0)
    #expect(types[Int(MacroblockType.inter16x16)] > 0 && types[0...3].reduce(0, +) > 0)
    let temporal = coverage.temporalTypes
    #expect(temporal[Int(MacroblockType.skip)] > 0 && temporal[Int(MacroblockType.direct)] > 0)
    #expect(coverage.temporalBlocks > 0)
  }
}

extension BidirectionalTests {
  @Test("Temporal direct divides the colocated vector by time")
  func temporalDirectDividesTheColocatedVectorByTime() {
    // Half of the way, a quarter, three quarters; rounded as the standard does.
    #expect(TemporalDirect.scale(current: 4, 0, 8) == 128)
    #expect(TemporalDirect.scale(current: 2, 0, 8) == 64)
    #expect(TemporalDirect.scale(current: 6, 0, 8) == 192)
    #expect(TemporalDirect.scale(current: 2, 0, 6) == 85)
    // Beyond both, before both, and the same time.
    #expect(TemporalDirect.scale(current: 6, 0, 4) == 384)
    #expect(TemporalDirect.scale(current: 0, 2, 4) == -256)
    #expect(TemporalDirect.scale(current: 100, 0, 2) == 1023)
    #expect(TemporalDirect.scale(current: 4, 2, 2) == TemporalDirect.unscaled)
  }

  @Test("Implicit weights follow the distances in time")
  func implicitWeightsFollowTheDistancesInTime() {
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
