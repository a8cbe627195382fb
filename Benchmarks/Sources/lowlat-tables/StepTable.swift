// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport

/// A path whose bandwidth drops to a third and recovers, with this encoder and with libx264.
enum StepTable {
  private static let encoders: [(name: String, options: [String])] = [
    ("low latency", []),
    ("x264 zerolatency, VBV", ["--encoder", "org.openvideotoolbox.videoencoder.h264.x264"]),
  ]

  static func table(_ clips: [TableClip], _ simulator: CallSimulator) throws -> ResultTable {
    var table = ResultTable(
      "The line falls to a third at 3 s and comes back at 6 s; the encoder is notified 100 ms later and gets 0.85 of it",
      [
        "clip", "line", "encoder", "10 frames after down", "largest of them", "used after up", "queue p50",
        "queue p95",
        "queue most", "end to end p99", "rate error", "PSNR shown",
      ])
    for clip in clips {
      let high = Int(Double(clip.rate) * 1.5 / 0.85)
      let movie = try LoopedMovie(clip, seconds: 9)
      for encoder in encoders {
        let record = try simulator.call(
          movie,
          encoder.options + [
            "--bandwidth", "0s:\(high),3s:\(high / 3),6s:\(high)", "--queue", "5s", "--recovery", "keyframe",
          ])
        table.add(
          [
            clip.name, "\(Figure.kilobits(high)), \(Figure.kilobits(high / 3))", encoder.name,
          ] + figures(record, clip))
      }
    }
    return table
  }

  private static func figures(_ record: CallRecord, _ clip: TableClip) -> [String] {
    let frames = record.frames
    func bits(_ range: Range<Int>) -> Double {
      Double(frames[range.clamped(to: frames.indices)].reduce(0) { $0 + $1.bytes } * 8)
    }
    // The first frames after a change of the requested bit rate.
    let changes = frames.indices.dropFirst().filter { frames[$0].rate != frames[$0 - 1].rate }
    guard changes.count == 2 else { return [] }
    let (down, up) = (changes[0], changes[1])
    let low = Double(frames[down].rate) / clip.frameRate
    let high = Double(frames[up].rate) / clip.frameRate
    let largest = frames[down..<(down + 10)].map { Double($0.bytes * 8) }.max() ?? 0
    let used = (0..<60).first { bits((up + $0)..<(up + $0 + 5)) >= 0.9 * 5 * high }
    let queue = record.receivers[0].shown.map(\.queueingDelay)
    let asked = frames.reduce(0) { $0 + Double($1.rate) } / clip.frameRate
    return [
      Figure.percent(bits(down..<(down + 10)) / (10 * low), 0), Figure.fixed(largest / low, 2),
      used.map { "\($0) frames" } ?? "never", Figure.milliseconds(Figure.quantile(0.5, of: queue)),
      Figure.milliseconds(Figure.quantile(0.95, of: queue)), Figure.milliseconds(queue.max()),
      Figure.milliseconds(Figure.quantile(0.99, of: record.delays)) + " ms",
      Figure.percent(Double(record.bits) / asked - 1), Figure.fixed(record.quality ?? 0, 2) + " dB",
    ]
  }
}
