// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoEncoding

@testable import HEVCEncoder

@Suite("Weighted prediction")
struct WeightedPredictionTests {
  /// Random weights of the reference pictures of a stream, all with the same denominators.
  static func weights(seed: UInt64) -> (_ list: Int, _ index: Int) -> ReferenceWeight {
    var g = SeededGenerator(seed: seed)
    let lumaShift = Int32.random(in: 0...7, using: &g)
    let chromaShift = Int32.random(in: 0...7, using: &g)
    func component(_ shift: Int32) -> ReferenceWeight.Component {
      // The whole range, or around 1, where pictures resemble their references.
      let isWide = Int.random(in: 0..<3, using: &g) == 0
      let delta = isWide ? Int32.random(in: -128...127, using: &g) : .random(in: -3...3, using: &g)
      let offset = isWide ? Int32.random(in: -128...127, using: &g) : .random(in: -9...9, using: &g)
      return .init(weight: 1 << shift + delta, offset: offset)
    }
    /// A weight and an offset whose delta_chroma_offset is in its range, -512...511 (7.4.7.3).
    func chromaComponent() -> ReferenceWeight.Component {
      while true {
        let made = component(chromaShift)
        if (-512...511).contains(made.offset - 128 + (128 * made.weight) >> chromaShift) { return made }
      }
    }
    return { _, _ in
      var weight = ReferenceWeight(lumaShift: lumaShift, chromaShift: chromaShift)
      if Bool.random(using: &g) { weight.luma = component(lumaShift) }
      if Bool.random(using: &g) { weight.cb = chromaComponent() }
      if Bool.random(using: &g) { weight.cr = chromaComponent() }
      return weight
    }
  }

  /// The number of random streams of each mode.
  private static let streams = RandomStreamTests.streams / 2

  @Test("libavcodec decodes P pictures with random weights bit for bit", arguments: 0..<(streams + 9) / 10)
  func randomWithoutDelay(part: Int) throws {
    for seed in part * 10..<min(part * 10 + 10, Self.streams) {
      var stream = RandomStream(seed: UInt64(seed))
      let encoder = try HEVCEncoder(configuration: stream.configuration)
      encoder.chooseWeights(Self.weights(seed: UInt64(seed)))
      let decoder = try #require(ReferenceDecoder())
      for n in 0..<8 {
        let options = stream.options(n, available: encoder.availableReferences)
        let data = try stream.content.withSource(n) { try encoder.encode($0, options: options).data }
        guard let data, !data.isEmpty else { continue }
        let decoded = try decoder.decode(data)
        #expect(decoded == RandomStreamTests.reconstruction(encoder), "seed \(seed), frame \(n)")
      }
    }
  }

  @Test("libavcodec decodes B pictures with random weights bit for bit", arguments: 0..<(streams + 9) / 10)
  func randomWithLookAhead(part: Int) throws {
    var weighted = 0
    for seed in part * 10..<min(part * 10 + 10, Self.streams) {
      var stream = RandomLookAhead(seed: UInt64(seed))
      let encoding = try LookAheadStreamTests.Encoding(
        stream.configuration, stream.content, pictures: stream.pictures,
        options: { _ in stream.options() },
        prepare: { $0.chooseWeights(Self.weights(seed: UInt64(seed))) })
      #expect(try encoding.isShownRight(), "seed \(seed)")
      weighted += encoding.weightedPictures
    }
    #expect(weighted > 0)
  }

  @Test("Fades take fewer bits with weights, in both modes", arguments: [false, true], [8, 10])
  func fades(looksAhead: Bool, depth: Int) throws {
    var configuration = HEVCEncoderConfiguration(width: 160, height: 96)
    if depth == 10 { configuration.profile = .main10 }
    configuration.maximumReferences = looksAhead ? 3 : 1
    if looksAhead {
      configuration.lookAhead = HEVCEncoderConfiguration.LookAhead()
      configuration.lookAhead.rate = .constantQP(28)
      configuration.lookAhead.frames = 12
    }
    let content = Content(kind: .fade, width: 160, height: 96, seed: 3, depth: depth)
    func bits(_ isWeighted: Bool) throws -> Int {
      var configuration = configuration
      configuration.allowsWeightedPrediction = isWeighted
      let encoding = try LookAheadStreamTests.Encoding(configuration, content, pictures: 20)
      #expect((encoding.weightedPictures > 10) == isWeighted)
      if isWeighted, looksAhead { #expect(try encoding.isShownRight()) }
      return encoding.frames.reduce(0) { $0 + $1.data.count * 8 }
    }
    let (plain, weighted) = (try bits(false), try bits(true))
    #expect(Double(weighted) < Double(plain) * 0.95, "\(weighted) of \(plain)")
  }
}
