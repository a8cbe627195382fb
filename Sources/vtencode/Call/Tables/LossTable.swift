import CallTransport
import Foundation
import VideoToolbox

/// The same losses, repaired in different ways.
enum LossTable {
  private static let conditions: [(name: String, model: LossModel)] = [
    ("1 %", .random(0.01)), ("5 %", .random(0.05)), ("10 %", .random(0.1)),
    ("5 % in bursts of 8", .bursts(rate: 0.05, length: 8)),
  ]

  static func markdown(_ sources: [MovieSource], limit: Int, seeds: Int) throws -> String {
    var table = MarkdownTable(
      "Ways to get over losses: ten seconds, means of \(seeds) seeds, 50 ms each way",
      [
        "movie", "packets lost", "recovery", "repairs", "bits for repair", "a repair", "a usual frame",
        "frozen",
        "freezes", "shown", "PSNR shown", "delay p95", "mismatches",
      ])
    var all: [String: [CallRecord]] = [:]
    for source in sources {
      let clip = try TableClip(source, limit: limit, height: 360)
      for condition in conditions {
        for mode in RecoveryMode.allCases {
          let calls = try (1...max(seeds, 1)).map { try call(clip, condition.model, mode, UInt64($0)) }
          table.add([clip.name, condition.name, mode.rawValue] + figures(calls, mode))
          all[condition.name + mode.rawValue, default: []] += calls
        }
      }
    }
    for condition in conditions where sources.count > 1 {
      for mode in RecoveryMode.allCases {
        let calls = all[condition.name + mode.rawValue] ?? []
        table.add(["all", condition.name, mode.rawValue] + figures(calls, mode))
      }
    }
    return table.text
  }

  private static func call(
    _ clip: TableClip, _ loss: LossModel, _ mode: RecoveryMode, _ seed: UInt64
  ) throws -> CallRecord {
    var link = NetworkLink.Configuration(bandwidth: .init(constant: Double(clip.rate) * 1.5))
    link.loss = loss
    var plan = CallPlan(width: clip.width, height: clip.height, frameRate: clip.frameRate, link: link)
    plan.bitRate = clip.rate
    plan.recovery = mode
    plan.frameLimit = Int(clip.frameRate * 10)
    plan.feedbackLoss = .random(loss.meanRate)
    plan.seed = seed
    plan.chooseReferenceCount()
    return try CallSimulation(plan, pictures: clip.pictures).run()
  }

  private static func figures(_ calls: [CallRecord], _ mode: RecoveryMode) -> [String] {
    func mean(_ value: (CallRecord) -> Double?) -> Double {
      let values = calls.compactMap(value)
      return values.reduce(0, +) / Double(max(values.count, 1))
    }
    let repairs = calls.reduce(0) { $0 + $1.repairs.count }
    let repairBytes = calls.reduce(0) { $0 + $1.repairBits } / 8
    let spreads = mode == .intraRefresh
    let first = { (call: CallRecord) in call.receivers[0] }
    let frozen = mean { call in call.freezes(of: first(call)).reduce(0) { $0 + $1.length } / call.duration }
    let shown = mean { call in
      Double(first(call).shown.count { $0.time != nil }) / Double(max(call.frames.count, 1))
    }
    // Where damage is shown until it has healed, it is counted there.
    let mismatches = calls.reduce(0) { $0 + first($1).shown.count { $0.isDamaged } + first($1).decodeErrors }
    return [
      spreads ? "-" : Wording.fixed(Double(repairs) / Double(calls.count), 1),
      spreads
        ? "spread"
        : Wording.percent(Double(repairBytes) * 8 / Double(max(calls.reduce(0) { $0 + $1.bits }, 1))),
      repairs == 0 ? "-" : Wording.bytes(repairBytes / repairs),
      Wording.bytes(Int(mean(\.usualSize))), Wording.percent(frozen),
      Wording.fixed(mean { Double($0.freezes(of: first($0)).count) }, 1), Wording.percent(shown),
      Wording.fixed(mean { $0.quality(of: first($0)) }, 2) + " dB",
      Wording.milliseconds(mean { CallRecord.quantile(0.95, of: $0.delays(of: first($0))) }) + " ms",
      spreads ? "\(mismatches) healing" : "\(mismatches)",
    ]
  }
}
