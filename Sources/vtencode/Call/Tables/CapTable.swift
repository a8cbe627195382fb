import Foundation
import VideoToolbox

/// A cap on the QP: what it costs in frames, and that it holds.
enum CapTable {
  static func markdown(_ sources: [MovieSource], limit: Int) throws -> String {
    var table = MarkdownTable(
      "Cap on the QP, ten seconds back and forth: highest QP of any macroblock, rate up to the last coded frame, "
        + "frames dropped",
      [
        "movie", "rate", "cap", "highest", "rate error", "dropped", "two layers: rate error", "base dropped",
        "enhancement dropped",
      ])
    for source in sources {
      let clip = try TableClip(source, limit: limit)
      let rate = clip.rate / 3
      let count = Int(clip.frameRate * 10)
      for cap in stride(from: 20, through: 40, by: 4) {
        var plan = clip.plan(rate: rate)
        plan.maximumQP = cap
        let single = try clip.encode(plan, count: count)
        plan.hasLayers = true
        let layered = try clip.encode(plan, count: count)
        let highest = (single + layered).compactMap { $0?.highestQP }.max() ?? 0
        let droppedOf = layers(layered)
        table.add([
          clip.name, Wording.kilobits(rate), "\(cap)", "\(highest)",
          Wording.percent(error(single, clip, rate)),
          "\(single.count { $0 == nil })", Wording.percent(error(layered, clip, rate)), "\(droppedOf.base)",
          "\(droppedOf.enhancement)",
        ])
      }
    }
    return table.text
  }

  /// Of the rate, from the first frame until the last that was coded: until then the line has carried those before.
  private static func error(_ frames: [CallEncoder.Output?], _ clip: TableClip, _ rate: Int) -> Double {
    guard let last = frames.lastIndex(where: { $0 != nil }), last > 0 else { return 0 }
    let bits = frames[..<last].reduce(0) { $0 + ($1?.units.reduce(0) { $0 + $1.count } ?? 0) } * 8
    return Double(bits) / (Double(last) / clip.frameRate * Double(rate)) - 1
  }

  /// A base frame that is dropped is tried again: what follows a base frame is of the enhancement layer.
  private static func layers(_ frames: [CallEncoder.Output?]) -> (base: Int, enhancement: Int) {
    var (base, enhancement) = (0, 0)
    var isBaseNext = true
    for frame in frames {
      if frame == nil {
        if isBaseNext { base += 1 } else { enhancement += 1 }
        isBaseNext = true
      } else {
        isBaseNext = frame?.layer != 0
      }
    }
    return (base, enhancement)
  }
}

/// Whether what is shown at a poor rate can be read, with a cap and without.
enum ReadableTable {
  static func markdown(_ sources: [MovieSource], limit: Int) throws -> String {
    var table = MarkdownTable(
      "What is shown at 300 kb/s over the movie: structural similarity of each coded frame to its picture",
      ["movie", "cap", "coded", "dropped", "SSIM mean", "SSIM lowest", "longest stand-still", "rate"])
    for source in sources {
      let clip = try TableClip(source, limit: limit)
      for cap in [nil, 40, 36, 32, 28] as [Int?] {
        var plan = clip.plan(rate: 300_000)
        plan.maximumQP = cap
        let count = max(clip.pictures.buffers.count, Int(clip.frameRate * 6))
        let frames = try clip.encode(plan, count: count)
        let decoder = CallDecoder()
        var values: [Double] = []
        var (last, longest) = (0, 0)
        for (index, frame) in frames.enumerated() {
          longest = max(longest, index - last)
          guard let frame, let image = try decoder.decode(frame.units, time: Double(index)) else { continue }
          last = index
          values.append(PictureComparison.structuralSimilarity(clip.pictures.buffer(index), image))
        }
        longest = max(longest, frames.count - last)
        let bits = frames.reduce(0) { $0 + ($1?.units.reduce(0) { $0 + $1.count } ?? 0) } * 8
        table.add([
          clip.name, cap.map { "\($0)" } ?? "none", "\(values.count)", "\(frames.count { $0 == nil })",
          Wording.fixed(values.reduce(0, +) / Double(max(values.count, 1)), 4),
          Wording.fixed(values.min() ?? 0, 4), Wording.fixed(Double(longest) / clip.frameRate, 2) + " s",
          Wording.bitRate(Double(bits) / Double(count) * clip.frameRate),
        ])
      }
    }
    return table.text
  }
}
