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
