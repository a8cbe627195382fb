// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import SessionSupport

/// Measures the fraction of the bits that the base layer has.
enum LayerTable {
  static func table(_ clips: [TableClip]) throws -> ResultTable {
    var table = ResultTable(
      "Share of the bits that the base layer takes: once through the clip, and over ten seconds of it back and forth",
      ["clip", "rate", "asked", "frames", "once through", "10 s", "rate error, 10 s"])
    for clip in clips {
      let once = clip.pictures.count
      let tenSeconds = Int(clip.frameRate * 10)
      for (rate, share) in [(clip.rate, 0.6), (clip.rate / 3, 0.6), (clip.rate, 0.7), (clip.rate, 0.8)] {
        var configuration = LowLatencySession.Configuration(rate: rate)
        configuration.hasLayers = true
        configuration.baseLayerBitRateFraction = share
        let frames = try clip.encode(configuration, count: max(once, tenSeconds))
        let bits = frames.prefix(tenSeconds).reduce(0) { $0 + ($1?.bits ?? 0) }
        let error = Double(bits) / (Double(tenSeconds) / clip.frameRate * Double(rate)) - 1
        table.add([
          clip.name, Figure.kilobits(rate), Figure.fixed(share, 2), "\(once)",
          Figure.fixed(baseShare(frames.prefix(once)), 3),
          Figure.fixed(baseShare(frames.prefix(tenSeconds)), 3), Figure.percent(error),
        ])
      }
    }
    return table
  }

  private static func baseShare(_ frames: ArraySlice<CodedFrame?>) -> Double {
    let all = frames.reduce(0) { $0 + ($1?.bits ?? 0) }
    let base = frames.reduce(0) { $0 + ($1?.layer == 0 ? $1?.bits ?? 0 : 0) }
    return Double(base) / Double(max(all, 1))
  }
}

/// Decodes what remains when enhancement frames are removed, with libavcodec.
enum SubsetTable {
  private static let frames = 24

  static func table(_ clips: [TableClip], count: Int) throws -> ResultTable {
    var table = ResultTable(
      "Random subsets of the enhancement frames thrown away, the rest decoded and compared with the whole stream's "
        + "decoding",
      ["clip", "subsets", "frames decoded", "errors", "differences", "base layer alone"])
    var generator = SeededGenerator(seed: 9)
    for clip in clips {
      var configuration = LowLatencySession.Configuration(rate: clip.rate)
      configuration.hasLayers = true
      let stream = try clip.encode(configuration, count: frames).compactMap { $0 }
      let whole = try decode(stream, Array(stream.indices), clip)
      let subsets = max(count / clips.count, 1)
      var (decoded, errors, differences, baseAlone) = (0, 0, stream.count - whole.count, 0)
      for round in 0..<subsets {
        // The first round has only the base layer. The others have random parts of the enhancement
        // layer.
        let keep = round == 0 ? 0 : Double.random(in: 0..<1, using: &generator)
        let kept = stream.indices.filter {
          stream[$0].layer == 0 || Double.random(in: 0..<1, using: &generator) < keep
        }
        let shown = try decode(stream, kept, clip)
        for place in kept {
          guard let picture = shown[place] else {
            errors += 1
            continue
          }
          decoded += 1
          if let expected = whole[place], picture != expected { differences += 1 }
        }
        if round == 0 { baseAlone = shown.count }
      }
      table.add([
        clip.name, "\(subsets)", "\(decoded)", "\(errors)", "\(differences)",
        "\(baseAlone) of \(stream.count) frames",
      ])
    }
    return table
  }

  /// Decodes the frames at `places`, and returns their samples with their indices in the stream.
  private static func decode(_ stream: [CodedFrame], _ places: [Int], _ clip: TableClip) throws -> [Int:
    [UInt8]]
  {
    let decoder = try StreamDecoding()
    var pictures: [Int: [UInt8]] = [:]
    func receive() throws {
      while let picture = try decoder.receive() {
        pictures[picture.index] = picture.samples(
          width: clip.pictures.width, height: clip.pictures.height)
      }
    }
    for place in places {
      try stream[place].stream.withUnsafeBufferPointer { try decoder.send($0, index: place) }
      try receive()
    }
    decoder.finish()
    try receive()
    return pictures
  }
}

/// A random number generator (splitmix64) that gives the same numbers on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
