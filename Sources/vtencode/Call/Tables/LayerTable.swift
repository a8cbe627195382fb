import CallTransport
import Foundation
import VideoToolbox

/// The base layer's share of the bits.
enum LayerTable {
  static func markdown(_ sources: [MovieSource], limit: Int) throws -> String {
    var table = MarkdownTable(
      "Share of the bits that the base layer takes: over the movie, and over ten seconds of it back and forth",
      ["movie", "rate", "asked", "frames", "over the movie", "over 10 s", "rate error over 10 s"])
    for source in sources {
      let clip = try TableClip(source, limit: limit)
      let once = clip.pictures.buffers.count
      let tenSeconds = Int(clip.frameRate * 10)
      for (rate, share) in [(clip.rate, 0.6), (clip.rate / 3, 0.6), (clip.rate, 0.7), (clip.rate, 0.8)] {
        var plan = clip.plan(rate: rate)
        plan.hasLayers = true
        plan.baseLayerBitRateFraction = share
        let frames = try clip.encode(plan, count: max(once, tenSeconds)).map { $0.map(Facts.init) }
        let bits = frames.prefix(tenSeconds).reduce(0) { $0 + ($1?.bits ?? 0) }
        let error = Double(bits) / (Double(tenSeconds) / clip.frameRate * Double(rate)) - 1
        table.add([
          clip.name, Wording.kilobits(rate), Wording.fixed(share, 2), "\(once)",
          Wording.fixed(Self.share(frames.prefix(once)), 3),
          Wording.fixed(Self.share(frames.prefix(tenSeconds)), 3),
          Wording.percent(error),
        ])
      }
    }
    return table.text
  }

  private struct Facts {
    var bits: Int
    var layer: Int
    init(_ output: CallEncoder.Output) {
      bits = output.units.reduce(0) { $0 + $1.count } * 8
      layer = output.layer
    }
  }

  private static func share(_ frames: ArraySlice<Facts?>) -> Double {
    let all = frames.reduce(0) { $0 + ($1?.bits ?? 0) }
    let base = frames.reduce(0) { $0 + ($1?.layer == 0 ? $1?.bits ?? 0 : 0) }
    return Double(base) / Double(max(all, 1))
  }
}

/// What is left when enhancement frames are thrown away, decoded.
enum SubsetTable {
  private static let frames = 24

  static func markdown(_ sources: [MovieSource], count: Int) throws -> String {
    var table = MarkdownTable(
      "Random subsets of the enhancement frames thrown away, the rest decoded and compared with the whole stream's decoding",
      ["movie", "subsets", "frames decoded", "errors", "differences", "base layer alone"])
    var generator = SeededGenerator(seed: 9)
    for source in sources {
      let clip = try TableClip(source, limit: frames)
      var plan = clip.plan(rate: clip.rate)
      plan.hasLayers = true
      let stream = try clip.encode(plan, count: frames).compactMap { $0 }
      let whole = try decode(stream)
      let subsets = max(count / sources.count, 1)
      var (decoded, errors, differences) = (0, 0, whole.count { $0 == nil })
      var baseAlone = 0
      for round in 0..<subsets {
        // The base layer alone first, then anything between it and the whole.
        let keep = round == 0 ? 0 : generator.unit()
        let kept = stream.indices.filter { stream[$0].layer == 0 || generator.unit() < keep }
        let shown = try decode(kept.map { stream[$0] })
        for (place, image) in zip(kept, shown) {
          guard let image else {
            errors += 1
            continue
          }
          decoded += 1
          if let expected = whole[place], !PictureComparison.isEqual(image, expected) { differences += 1 }
        }
        if round == 0 { baseAlone = shown.count { $0 != nil } }
      }
      table.add([
        clip.name, "\(subsets)", Wording.grouped(decoded), "\(errors)", "\(differences)",
        "\(baseAlone) of \(stream.count) frames",
      ])
    }
    return table.text
  }

  private static func decode(_ frames: [CallEncoder.Output]) throws -> [CVPixelBuffer?] {
    let decoder = CallDecoder()
    return try frames.enumerated().map { try decoder.decode($1.units, time: Double($0)) }
  }
}
