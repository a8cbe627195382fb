// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

@testable import H264Codec

/// Temporal layers: what may be thrown away on the way, and what becomes of the rest.
@Suite struct LayerTests {
  struct Case: CustomStringConvertible, Sendable {
    var fraction: Double
    var profile: CodecProfile
    var entropy: EntropyMode
    var sliceBytes: Int
    var longTerm: Bool
    var description: String { "\(fraction) \(profile) \(entropy) \(sliceBytes) \(longTerm)" }
  }

  static let cases: [Case] = [
    Case(fraction: 0.5, profile: .h264High, entropy: .cabac, sliceBytes: 0, longTerm: false),
    Case(fraction: 0.5, profile: .h264ConstrainedBaseline, entropy: .cavlc, sliceBytes: 150, longTerm: true),
    Case(fraction: 0.25, profile: .h264Main, entropy: .cabac, sliceBytes: 0, longTerm: true),
    Case(fraction: 0.25, profile: .h264ConstrainedHigh, entropy: .cavlc, sliceBytes: 200, longTerm: false),
  ]

  private func send(_ test: Case, frames: Int) throws -> [SentFrame] {
    let sender = try Sender(SmallClip(noise: 12)) {
      $0.profile = test.profile
      $0.entropyMode = test.entropy
      $0.maxSliceBytes = test.sliceBytes
      $0.lowLatency?.baseLayerFrameRateFraction = test.fraction
      $0.lowLatency?.enablesLongTermReferences = test.longTerm
    }
    return try (0..<frames).compactMap { index in
      var options = FrameRequest()
      // A key frame in the middle of the pattern.
      options.forcesKeyFrame = index == 17
      return try sender.send(options)
    }
  }

  @Test("The base layer comes at its rate, and nothing above it is a reference", arguments: cases)
  func pattern(_ test: Case) throws {
    let frames = try send(test, frames: 40)
    #expect(frames.count == 40)
    let period = Int(1 / test.fraction)
    for (index, frame) in frames.enumerated() {
      let position = index < 17 ? index : index - 17
      #expect((frame.properties.temporalLayer == 0) == (position % period == 0))
      #expect(frame.properties.isReference == (frame.properties.temporalLayer == 0))
      #expect(frame.properties.isKeyFrame == (index == 0 || index == 17))
      if frame.properties.longTermToken != nil { #expect(frame.properties.temporalLayer == 0) }
    }
  }

  @Test("1,000 random subsets of the enhancement frames are dropped, and the rest decodes exactly")
  func subsets() throws {
    var dice = Dice(4)
    for test in Self.cases {
      let frames = try send(test, frames: 32)
      for round in 0..<250 {
        // The base layer alone, all frames, and everything between.
        let keep = round == 0 ? 0 : round == 1 ? 1 : Double.random(in: 0...1, using: &dice)
        for kind in IndependentDecoder.Kind.allCases where kind == .libavcodec || round % 10 == 0 {
          guard let decoder = IndependentDecoder(kind) else { continue }
          var expected: [Planes] = []
          var shown: [Planes] = []
          for frame in frames {
            guard frame.properties.isReference || dice.chance(keep) else { continue }
            expected.append(frame.expected)
            shown += try decoder.decode(frame.annexB)
          }
          shown += try decoder.drain()
          let isEqual = shown == expected
          try #require(isEqual, "\(test) \(kind) round \(round)")
        }
      }
    }
  }
}
