// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

/// Temporal layers: frames of the upper one can be left out on the way.
@Suite struct LayerTests {
  private func send(fraction: Double, longTerm: Bool, frames: Int) throws -> [SentFrame] {
    let sender = try Sender {
      $0.lowLatency?.baseLayerFrameRateFraction = fraction
      $0.lowLatency?.enablesLongTermReferences = longTerm
    }
    return try (0..<frames).compactMap { index in
      var request = FrameRequest()
      // A key frame in the middle of the pattern.
      request.forcesKeyFrame = index == 17
      return try sender.send(request)
    }
  }

  @Test(
    "The base layer comes at its rate, and nothing above it is a reference",
    arguments: [(0.5, false), (0.5, true), (0.25, true)])
  func pattern(fraction: Double, longTerm: Bool) throws {
    let frames = try send(fraction: fraction, longTerm: longTerm, frames: 40)
    #expect(frames.count == 40)
    let period = Int(1 / fraction)
    for (index, frame) in frames.enumerated() {
      let position = index < 17 ? index : index - 17
      #expect((frame.properties.temporalLayer == 0) == (position % period == 0))
      #expect(frame.properties.isReference == (frame.properties.temporalLayer == 0))
      #expect(frame.properties.isKeyFrame == (index == 0 || index == 17))
      #expect(frame.properties.longTermToken == nil || frame.properties.temporalLayer == 0)
    }
    #expect(frames.contains { $0.properties.longTermToken != nil } == longTerm)
  }

  @Test("Random subsets of the enhancement frames are dropped, and the rest decodes exactly")
  func subsets() throws {
    var generator = SeededGenerator(4)
    for (fraction, longTerm) in [(0.5, false), (0.25, true)] {
      let frames = try send(fraction: fraction, longTerm: longTerm, frames: 32)
      for round in 0..<60 {
        // The base layer alone, all frames, and everything between.
        let keep = round == 0 ? 0 : round == 1 ? 1 : Double.random(in: 0...1, using: &generator)
        let decoder = try IndependentDecoder()
        var expected: [Planes] = []
        var shown: [Planes] = []
        for frame in frames {
          guard frame.properties.isReference || generator.chance(keep) else { continue }
          expected.append(frame.expected)
          shown += try decoder.decode(frame.byteStream)
        }
        shown += try decoder.drain()
        let isEqual = shown == expected
        try #require(isEqual, "\(fraction) \(longTerm), round \(round)")
      }
    }
  }
}
