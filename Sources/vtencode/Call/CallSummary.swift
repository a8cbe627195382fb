// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The figures of a call, as lines of text and as rows of the report.
struct CallSummary {
  struct Section {
    var title: String
    var rows: [(name: String, value: String)]
  }

  let title: String
  let sections: [Section]

  init(_ record: CallRecord, plan: CallPlan, movie: String) {
    title =
      "\(movie): \(plan.width)x\(plan.height), \(TextFormat.fixed(plan.frameRate, 2)) fps, "
      + "\(TextFormat.fixed(record.duration, 1)) s, recovery by \(plan.recovery.rawValue)"
      + (plan.retransmits && plan.recovery.usesFeedback ? " and retransmission" : "") + ", seed \(plan.seed)"
    sections =
      [Self.sender(record)] + record.receivers.map { Self.receiver($0, record) }
  }

  var text: String {
    var lines = [title]
    for section in sections {
      lines.append(section.title)
      for row in section.rows {
        lines.append("  \(row.name.padding(toLength: 18, withPad: " ", startingAt: 0))\(row.value)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func sender(_ record: CallRecord) -> Section {
    let dropped = record.frames.count { $0.isDropped }
    let keyFrames = record.frames.count { $0.isKeyFrame }
    let asked = record.frames.reduce(0) { $0 + Double($1.rate) } / Double(max(record.frames.count, 1))
    var rows = [
      ("encoder", record.encoderID),
      (
        "frames",
        "\(TextFormat.grouped(record.frames.count)), \(TextFormat.plural(keyFrames, "key frame"))"
          + (dropped > 0 ? ", \(dropped) left out" : "")
      ), ("rate", "\(TextFormat.bitRate(record.rate)), asked for \(TextFormat.bitRate(asked))"),
    ]
    if !record.repairs.isEmpty {
      let size = Double(record.repairBits) / 8 / Double(record.repairs.count)
      let fraction = Double(record.repairBits) / Double(max(record.bits, 1)) * 100
      rows.append(
        (
          "repair",
          "\(TextFormat.plural(record.repairs.count, "frame")) of \(TextFormat.bytes(Int(size))) on average "
            + "(others: \(TextFormat.bytes(Int(record.typicalSize)))), \(TextFormat.fixed(fraction, 1)) % of all bits"
        ))
    }
    if record.frames.contains(where: { $0.layer > 0 }) {
      let base = record.frames.reduce(0) { $0 + ($1.layer == 0 ? $1.bytes : 0) } * 8
      rows.append(
        (
          "base layer",
          "\(TextFormat.fixed(Double(base) / Double(max(record.bits, 1)) * 100, 1)) % of all bits"
        ))
    }
    return Section(title: "sender", rows: rows.map { (name: $0.0, value: $0.1) })
  }

  private static func receiver(_ receiver: CallRecord.Receiver, _ record: CallRecord) -> Section {
    let freezes = record.freezes(of: receiver)
    let frozen = freezes.reduce(0) { $0 + $1.length }
    let longest = freezes.map(\.length).max() ?? 0
    let delays = record.delays(of: receiver)
    let queueing = receiver.shown.map(\.queueingDelay)
    func milliseconds(_ fraction: Double, _ values: [Double]) -> String {
      CallRecord.quantile(fraction, of: values).map { TextFormat.fixed($0 * 1000, 0) } ?? "-"
    }
    let dropped = receiver.shown.count { $0.isDroppedForLink }
    let damaged = receiver.shown.count { $0.isDamaged }
    var rows = [
      (
        "packets",
        "\(TextFormat.grouped(receiver.packets)) came, \(receiver.lostPackets) lost, "
          + "\(receiver.droppedPackets) dropped before the line"
      ),
      (
        "frames",
        "\(TextFormat.grouped(receiver.decoded)) decoded, \(receiver.incomplete) incomplete, \(receiver.unusable) of no use"
          + (dropped > 0 ? ", \(dropped) dropped for the link" : "")
      ),
      (
        "mismatches",
        "\(damaged) pictures are not what the encoder made, \(receiver.decodeErrors) decoding errors"
      ),
      (
        "freezes",
        freezes.isEmpty
          ? "none"
          : "\(freezes.count), \(TextFormat.fixed(frozen, 2)) s in all, the longest \(TextFormat.fixed(longest, 2)) s"
      ),
      (
        "end-to-end delay",
        "\(milliseconds(0.5, delays)) ms p50, \(milliseconds(0.95, delays)) ms p95, \(milliseconds(0.99, delays)) ms p99"
      ),
      (
        "queueing delay",
        "\(milliseconds(0.5, queueing)) ms p50, \(milliseconds(0.95, queueing)) ms p95, \(milliseconds(1, queueing)) ms at most"
      ),
      (
        "feedback",
        "\(TextFormat.plural(receiver.requests, "request")), \(TextFormat.plural(receiver.acknowledgements, "acknowledgement"))"
      ),
    ]
    if receiver.requestedPackets > 0 {
      let fraction = Double(receiver.resentBytes * 8) / Double(max(record.bits, 1)) * 100
      rows.append(
        (
          "retransmission",
          "\(receiver.resentPackets) packets sent again, \(receiver.recoveredPackets) came, "
            + "\(TextFormat.fixed(fraction, 1)) % of the frames' bits"
        ))
    }
    if let quality = record.quality(of: receiver) {
      rows.insert(("PSNR shown", "\(TextFormat.fixed(quality, 2)) dB (luma)"), at: 4)
    }
    return Section(title: receiver.name, rows: rows.map { (name: $0.0, value: $0.1) })
  }
}
