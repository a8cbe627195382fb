// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HEVCEncoder

/// A part of the random streams, which libavcodec decodes in other suites.
@Suite(
  "libde265 decodes streams to the reconstruction",
  .enabled(if: SecondDecoder.isInstalled, "libde265-dec265 is not installed"))
struct SecondDecoderTests {
  /// The number of streams of each kind.
  private static let streams = RandomStreamTests.streams / 2
  private static let parts = 0..<(streams + 9) / 10

  /// The seeds of a part.
  private static func seeds(_ part: Int) -> Range<Int> { part * 10..<min(part * 10 + 10, streams) }

  /// What libde265 shows that is not as expected; nil: nothing.
  private static func difference(
    _ stream: [UInt8], _ expected: [PlanarFrame], threads: Int
  ) throws -> String? {
    guard let first = expected.first else { return "there is no frame" }
    let shown: [PlanarFrame]
    switch try SecondDecoder.decode(stream, like: first, threads: threads) {
    case .failure(let error): return error.description
    case .success(let frames): shown = frames
    }
    if shown.count != expected.count { return "\(shown.count) of \(expected.count) frames" }
    return zip(shown, expected).enumerated().first { $0.element.0 != $0.element.1 }.map {
      "frame \($0.offset)"
    }
  }

  /// Encodes a stream without delay.
  /// - Returns: its bytes and the reconstruction of each coded frame.
  private static func encodeWithoutDelay(
    _ stream: RandomStream, prepare: (HEVCEncoder) -> Void = { _ in }
  ) throws -> (bytes: [UInt8], frames: [PlanarFrame]) {
    var stream = stream
    let encoder = try HEVCEncoder(configuration: stream.configuration)
    prepare(encoder)
    var bytes: [UInt8] = []
    var frames: [PlanarFrame] = []
    for n in 0..<10 {
      let options = stream.options(n, available: encoder.availableReferences)
      let data = try stream.content.withSource(n) { try encoder.encode($0, options: options).data }
      guard let data, !data.isEmpty, let frame = RandomStreamTests.reconstruction(encoder) else { continue }
      bytes += data
      frames.append(frame)
    }
    return (bytes, frames)
  }

  @Test("Streams without delay, half of them with random weights", arguments: parts)
  func withoutDelay(part: Int) throws {
    for seed in Self.seeds(part) {
      let stream = RandomStream(seed: UInt64(seed))
      let coded = try Self.encodeWithoutDelay(stream) {
        // Half of the streams of each depth.
        if seed % 4 < 2 { $0.chooseWeights(WeightedPredictionTests.weights(seed: UInt64(seed))) }
      }
      let difference = try Self.difference(coded.bytes, coded.frames, threads: seed % 3)
      #expect(difference == nil, "seed \(seed)")
    }
  }

  @Test("Streams with a look-ahead, half of them with random weights", arguments: parts)
  func withLookAhead(part: Int) throws {
    var bidirectional = 0
    for seed in Self.seeds(part) {
      var stream = RandomLookAhead(seed: UInt64(seed))
      let encoding = try LookAheadStreamTests.Encoding(
        stream.configuration, stream.content, pictures: stream.pictures, options: { _ in stream.options() },
        prepare: {
          if seed % 4 < 2 { $0.chooseWeights(WeightedPredictionTests.weights(seed: UInt64(seed))) }
        })
      let frames = encoding.frames.sorted { $0.properties.index < $1.properties.index }
      bidirectional += zip(encoding.frames, frames).count { $0.properties.index != $1.properties.index }
      let difference = try Self.difference(
        encoding.stream, frames.compactMap(\.reconstruction), threads: seed % 3)
      #expect(difference == nil, "seed \(seed)")
    }
    // A few streams may have none.
    #expect(bidirectional > 0 || Self.seeds(part).count < 10)
  }
}
