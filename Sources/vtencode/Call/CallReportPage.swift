// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A page with charts of a call, without external resources.
struct CallReportPage {
  private let record: CallRecord
  private let summary: CallSummary
  private let plan: CallPlan
  private static let marks = [ChartMark.first, .second]

  init(_ record: CallRecord, plan: CallPlan, summary: CallSummary) {
    self.record = record
    self.plan = plan
    self.summary = summary
  }

  var html: String {
    ReportHTML.page(
      title: summary.title, tab: "vtencode call",
      body: tables + "\n" + sentChart + rateChart + delayChart + queueChart + qualityChart)
  }

  private var tables: String {
    summary.sections.map { section in
      ReportHTML.heading(section.title) + ReportHTML.table(section.rows)
    }.joined(separator: "\n")
  }

  private var seconds: Double {
    max(record.duration, record.receivers.flatMap { $0.shown.compactMap(\.time) }.max() ?? 0)
  }
  private var interval: Double { 1 / record.frameRate }

  private func legendOfReceivers(_ more: [(ChartMark, String)] = []) -> String {
    let names = record.receivers.enumerated().map { (Self.marks[$0.offset % 2], $0.element.name) }
    return ReportHTML.legend((names.count > 1 || !more.isEmpty ? names : []) + more)
  }

  // MARK: - Charts

  private var sentChart: String {
    let maximum = Double(record.frames.map(\.bytes).max() ?? 1) * 8 / 1000
    var chart = SVGChart(
      seconds: seconds, maximum: maximum, unit: "kbit",
      label:
        "Bits of each of \(record.frames.count) frames; the largest has \(TextFormat.fixed(maximum, 0)) kbit."
    )
    for frame in record.frames {
      if frame.isDropped {
        chart.cross(at: frame.time, .alarm)
        continue
      }
      let mark =
        frame.isKeyFrame ? ChartMark.key : frame.isRepair ? .repair : Self.marks[min(frame.layer, 1)]
      chart.bar(at: frame.time, width: interval, height: Double(frame.bytes) * 8 / 1000, mark)
    }
    var items = [(ChartMark.first, "base layer"), (.second, "enhancement layer")]
    if !record.frames.contains(where: { $0.layer > 0 }) { items = [(.first, "frame")] }
    items.append((.key, "key frame"))
    if record.frames.contains(where: { $0.isRepair && !$0.isKeyFrame }) {
      items.append((.repair, "repair without a key frame"))
    }
    if record.frames.contains(where: \.isDropped) {
      items.append((.alarm, "dropped by rate control"))
    }
    return ReportHTML.heading("Bits of each frame") + ReportHTML.legend(items) + chart.svg
  }

  private var rateChart: String {
    var points: [(Double, Double)] = []
    var first = 0
    var sum = 0
    for (index, frame) in record.frames.enumerated() {
      sum += frame.bytes * 8
      while first < index, frame.time - record.frames[first].time >= 0.5 - interval / 2 {
        sum -= record.frames[first].bytes * 8
        first += 1
      }
      let length = max(frame.time - record.frames[first].time + interval, 0.25)
      points.append((frame.time, Double(sum) / length / 1000))
    }
    let asked = record.frames.map { ($0.time, Double($0.rate) / 1000) }
    let lines = record.receivers.map { receiver in
      record.frames.map { ($0.time, receiver.bandwidth.rate(at: $0.time) / 1000) }
    }
    var chart = SVGChart(
      seconds: seconds, maximum: (points + asked + lines.flatMap { $0 }).map(\.1).max() ?? 1, unit: "kb/s",
      label:
        "What was sent over the last half second, what was asked of the encoder, and what the line carries.")
    for line in lines { chart.line(line, .line, isStepped: true) }
    chart.line(asked, .alarm, isStepped: true)
    chart.line(points, .first)
    return ReportHTML.heading("Rate over the last half second")
      + ReportHTML.legend([
        (.first, "sent"), (.alarm, "asked of the encoder"),
        (.line, lines.count > 1 ? "the lines" : "the line"),
      ]) + chart.svg
  }

  private var delayChart: String {
    let maximum = record.receivers.flatMap { record.delays(of: $0) }.max() ?? 0.1
    var chart = SVGChart(
      seconds: seconds, maximum: maximum * 1000, unit: "ms",
      label:
        "From the capture of each picture to its appearance; the longest is \(TextFormat.fixed(maximum * 1000, 0)) ms."
    )
    for (index, receiver) in record.receivers.enumerated() where index == 0 {
      for freeze in record.freezes(of: receiver) {
        chart.band(from: freeze.start, to: freeze.end, .freeze)
      }
    }
    for (index, receiver) in record.receivers.enumerated() {
      for (frame, shown) in zip(record.frames, receiver.shown) {
        if let time = shown.time {
          chart.dot(at: frame.time, height: (time - frame.time) * 1000, Self.marks[index % 2])
        } else if index == 0 {
          chart.cross(at: frame.time, .alarm)
        }
      }
    }
    let whose = record.receivers.count > 1 ? " (first receiver)" : ""
    return ReportHTML.heading("From the capture of a picture to its appearance")
      + legendOfReceivers([(.alarm, "never shown" + whose), (.freeze, "freeze" + whose)])
      + chart.svg
  }

  private var queueChart: String {
    let maximum = record.receivers.flatMap { $0.shown.map(\.queueingDelay) }.max() ?? 0.1
    var chart = SVGChart(
      seconds: seconds, maximum: maximum * 1000, unit: "ms",
      label:
        "How long each frame's last packet waits before the line; at most \(TextFormat.fixed(maximum * 1000, 0)) ms."
    )
    for (index, receiver) in record.receivers.enumerated() {
      chart.line(
        zip(record.frames, receiver.shown).map { ($0.time, $1.queueingDelay * 1000) },
        Self.marks[index % 2])
    }
    return ReportHTML.heading("Wait of a frame's last packet before the line") + legendOfReceivers()
      + chart.svg
  }

  private var qualityChart: String {
    let values = record.receivers.flatMap { $0.shown.compactMap(\.quality) }
    guard let maximum = values.max() else { return "" }
    var chart = SVGChart(
      seconds: seconds, maximum: maximum, unit: "dB",
      label: "The quality of what is shown, up to \(TextFormat.fixed(maximum, 1)) dB.")
    for (index, receiver) in record.receivers.enumerated() {
      chart.line(
        zip(record.frames, receiver.shown).compactMap { frame, shown in shown.quality.map { (frame.time, $0) }
        },
        Self.marks[index % 2])
    }
    return ReportHTML.heading("PSNR (luma) of what is shown against each picture sent") + legendOfReceivers()
      + chart.svg
  }
}
