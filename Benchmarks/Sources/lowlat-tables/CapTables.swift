// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import SessionSupport

/// Measures a maximum QP: how many frames are dropped because of it, and that it is respected.
enum CapTable {
  static func table(_ clips: [TableClip]) throws -> ResultTable {
    var table = ResultTable(
      "Cap on the QP, ten seconds back and forth: highest QP of any macroblock, rate up to the last coded frame, "
        + "frames dropped",
      [
        "clip", "rate", "cap", "highest", "rate error", "dropped", "two layers: rate error", "base dropped",
        "enhancement dropped",
      ])
    for clip in clips {
      let rate = clip.rate / 3
      let count = Int(clip.frameRate * 10)
      for cap in stride(from: 20, through: 40, by: 4) {
        var configuration = LowLatencySession.Configuration(rate: rate)
        configuration.maximumQP = cap
        let single = try clip.encode(configuration, count: count)
        configuration.hasLayers = true
        let layered = try clip.encode(configuration, count: count)
        let highest = (single + layered).compactMap { $0?.highestQP }.max() ?? 0
        let dropped = layers(layered)
        table.add([
          clip.name, Figure.kilobits(rate), "\(cap)", "\(highest)",
          Figure.percent(error(single, clip, rate)), "\(single.count { $0 == nil })",
          Figure.percent(error(layered, clip, rate)), "\(dropped.base)", "\(dropped.enhancement)",
        ])
      }
    }
    return table
  }

  /// The relative error of the bit rate from the first to the last coded frame. The frames before
  /// the last one have been sent by then.
  private static func error(_ frames: [CodedFrame?], _ clip: TableClip, _ rate: Int) -> Double {
    guard let last = frames.lastIndex(where: { $0 != nil }), last > 0 else { return 0 }
    let bits = frames[..<last].reduce(0) { $0 + ($1?.bits ?? 0) }
    return Double(bits) / (Double(last) / clip.frameRate * Double(rate)) - 1
  }

  /// A dropped base frame is replaced by the next frame. Therefore the frame after a coded base
  /// frame is always in the enhancement layer.
  private static func layers(_ frames: [CodedFrame?]) -> (base: Int, enhancement: Int) {
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

/// Measures whether screen content is readable at a low bit rate, with and without a maximum QP.
enum ReadableTable {
  static func table(_ clips: [TableClip]) throws -> ResultTable {
    var table = ResultTable(
      "What is shown at 300 kb/s over the clip: structural similarity of each coded frame to its picture",
      ["clip", "cap", "coded", "dropped", "SSIM mean", "SSIM lowest", "longest stand-still", "rate"])
    for clip in clips {
      for cap in [nil, 40, 36, 32, 28] as [Int?] {
        var configuration = LowLatencySession.Configuration(rate: 300_000)
        configuration.maximumQP = cap
        let count = max(clip.pictures.count, Int(clip.frameRate * 6))
        let frames = try clip.encode(configuration, count: count)
        let values = try similarities(frames, clip)
        var (last, longest) = (0, 0)
        for index in frames.indices where frames[index] != nil {
          longest = max(longest, index - last)
          last = index
        }
        longest = max(longest, frames.count - last)
        let bits = frames.reduce(0) { $0 + ($1?.bits ?? 0) }
        table.add([
          clip.name, cap.map { "\($0)" } ?? "none", "\(values.count)", "\(frames.count { $0 == nil })",
          Figure.fixed(values.reduce(0, +) / Double(max(values.count, 1)), 4),
          Figure.fixed(values.min() ?? 0, 4), Figure.fixed(Double(longest) / clip.frameRate, 2) + " s",
          Figure.kilobits(Int(Double(bits) / Double(count) * clip.frameRate)),
        ])
      }
    }
    return table
  }

  private static func similarities(_ frames: [CodedFrame?], _ clip: TableClip) throws -> [Double] {
    let decoder = try StreamDecoding()
    var values: [Double] = []
    func receive() throws {
      while let picture = try decoder.receive() {
        values.append(picture.similarity(to: clip.pictures, picture.index))
      }
    }
    for (index, frame) in frames.enumerated() {
      guard let frame else { continue }
      try frame.stream.withUnsafeBufferPointer { try decoder.send($0, index: index) }
      try receive()
    }
    decoder.finish()
    try receive()
    return values
  }
}
