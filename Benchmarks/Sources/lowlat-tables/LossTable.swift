// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport

/// Compares different ways of repair with the same losses.
enum LossTable {
  private static let conditions: [(name: String, options: [String], share: Double)] = [
    ("1 %", ["--loss", "1%"], 0.01), ("5 %", ["--loss", "5%"], 0.05), ("10 %", ["--loss", "10%"], 0.1),
    ("5 % in bursts of 8", ["--burst-loss", "5%:8"], 0.05),
  ]
  private static let modes = ["keyframe", "ltr", "invalidate", "intra-refresh"]

  static func table(_ clips: [TableClip], _ simulator: CallSimulator, seeds: Int) throws -> ResultTable {
    var table = ResultTable(
      "Ways to get over losses: ten seconds, means of \(seeds) seeds, 50 ms each way",
      [
        "clip", "packets lost", "recovery", "repairs", "bits for repair", "a repair", "a usual frame",
        "frozen",
        "freezes", "shown", "PSNR shown", "delay p95", "mismatches",
      ])
    var all: [String: [CallRecord]] = [:]
    for clip in clips {
      let movie = try LoopedMovie(clip, seconds: 10)
      for condition in conditions {
        for mode in modes {
          let calls = try (1...max(seeds, 1)).map { seed in
            try simulator.call(
              movie,
              condition.options + [
                "--recovery", mode, "--bandwidth", "\(clip.rate * 3 / 2)", "--bitrate", "\(clip.rate)",
                "--feedback-loss", "\(condition.share)", "--seed", "\(seed)",
              ])
          }
          table.add([clip.name, condition.name, mode] + figures(calls, mode))
          all[condition.name + mode, default: []] += calls
        }
      }
    }
    for condition in conditions where clips.count > 1 {
      for mode in modes {
        table.add(["all", condition.name, mode] + figures(all[condition.name + mode] ?? [], mode))
      }
    }
    return table
  }

  private static func figures(_ calls: [CallRecord], _ mode: String) -> [String] {
    func mean(_ value: (CallRecord) -> Double?) -> Double {
      let values = calls.compactMap(value)
      return values.reduce(0, +) / Double(max(values.count, 1))
    }
    let repairs = calls.reduce(0) { $0 + $1.repairs.count }
    let repairBytes = calls.reduce(0) { $0 + $1.repairs.reduce(0) { $0 + $1.bytes } }
    let bits = calls.reduce(0) { $0 + $1.bits }
    let spreads = mode == "intra-refresh"
    let first = { (call: CallRecord) in call.receivers[0] }
    let frozen = mean { call in first(call).freezes.reduce(0) { $0 + $1.length } / call.duration }
    let shown = mean { call in
      Double(first(call).shown.count { $0.time != nil }) / Double(max(call.frames.count, 1))
    }
    // With intra refresh, damaged frames are shown until the picture has recovered. They are
    // counted here.
    let mismatches = calls.reduce(0) { $0 + first($1).shown.count { $0.isDamaged } + first($1).decodeErrors }
    return [
      spreads ? "-" : Figure.fixed(Double(repairs) / Double(calls.count), 1),
      spreads ? "spread" : Figure.percent(Double(repairBytes) * 8 / Double(max(bits, 1))),
      repairs == 0 ? "-" : "\(repairBytes / repairs)", "\(Int(mean(\.typicalSize)))", Figure.percent(frozen),
      Figure.fixed(mean { Double(first($0).freezes.count) }, 1), Figure.percent(shown),
      Figure.fixed(mean(\.quality), 2) + " dB",
      Figure.milliseconds(mean { Figure.quantile(0.95, of: $0.delays) }) + " ms",
      spreads ? "\(mismatches) healing" : "\(mismatches)",
    ]
  }
}
