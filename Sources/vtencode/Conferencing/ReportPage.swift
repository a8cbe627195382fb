// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A page with charts of a run, without external resources.
struct ReportPage {
  private let contents: FrameLog.Contents

  init(_ contents: FrameLog.Contents) { self.contents = contents }

  private var entries: [FrameLog.Entry] { contents.entries }
  private var coded: [FrameLog.Entry] { entries.filter { !$0.isDropped } }

  var html: String {
    ReportHTML.page(
      title: contents.title, tab: "vtencode conferencing",
      body: ReportHTML.table(summary) + "\n"
        + ReportHTML.heading("Bits of each frame")
        + ReportHTML.legend(
          layerKeys + [(.key, "key frame")]
            + (entries.contains(where: \.isDropped) ? [(.alarm, "dropped")] : []))
        + bitsChart + ReportHTML.heading("Rate over the last second against what was asked")
        + ReportHTML.legend([(.first, "rate"), (.alarm, "asked")]) + rateChart + stepsTable
        + ReportHTML.heading("Wait of each frame before a line of the rate, until its last bit is sent")
        + waitChart
        + ReportHTML.heading("Mean QP of each frame") + ReportHTML.legend(layerKeys) + qpChart + qualityChart
        + ReportHTML.heading("Time from EncodeFrame to the output") + delayChart)
  }

  private var layerKeys: [(mark: ChartMark, text: String)] {
    entries.contains { $0.layer > 0 }
      ? [(.first, "base layer"), (.second, "enhancement layer")] : [(.first, "frame")]
  }

  // MARK: - Figures

  private var summary: [(name: String, value: String)] {
    let seconds = max(duration, 0.001)
    let bits = entries.reduce(0) { $0 + $1.bits }
    let base = entries.filter { $0.layer == 0 }.reduce(0) { $0 + $1.bits }
    let delays = coded.map { $0.delay * 1000 }.sorted()
    func quantile(_ q: Double) -> String {
      delays.isEmpty ? "-" : TextFormat.fixed(delays[min(Int(q * Double(delays.count)), delays.count - 1)], 1)
    }
    var rows = [
      ("Frames", "\(entries.count), \(entries.count - coded.count) dropped"),
      ("Key frames", "\(coded.count { $0.isKeyFrame })"),
      ("Rate", TextFormat.bitRate(Double(bits) / seconds)),
      ("Time to output", "\(quantile(0.5)) ms in the middle, \(quantile(0.99)) ms for 99 of 100"),
    ]
    let waits = waits.map { $0.seconds * 1000 }.sorted()
    if let longest = waits.last {
      let percentile95 = waits[waits.count * 95 / 100]
      rows.append(
        (
          "Wait before a line of the rate",
          "\(TextFormat.fixed(percentile95, 0)) ms for 95 of 100, \(TextFormat.fixed(longest, 0)) ms at most"
        ))
    }
    let qualities = qualities
    if !qualities.isEmpty {
      let mean = qualities.reduce(0) { $0 + $1.decibels } / Double(qualities.count)
      let minimum = qualities.map(\.decibels).min() ?? mean
      rows.append(
        (
          "PSNR of the luma",
          "\(TextFormat.fixed(mean, 2)) dB in the mean, \(TextFormat.fixed(minimum, 2)) dB at least"
        ))
    }
    if entries.contains(where: { $0.layer > 0 }), bits > 0 {
      rows.append(("Base layer", "\(TextFormat.fixed(Double(base) / Double(bits) * 100, 1)) % of the bits"))
    }
    return rows.map { (name: $0.0, value: $0.1) }
  }

  private var interval: Double {
    guard let first = entries.first, let last = entries.last, entries.count > 1 else { return 1.0 / 30 }
    return (last.time - first.time) / Double(entries.count - 1)
  }
  private var duration: Double { (entries.last?.time ?? 0) + interval }

  /// For each coded frame, the time in seconds until its last bit has been sent over a link of the
  /// target bit rate that is idle at first.
  private var waits: [(time: Double, seconds: Double)] {
    var free = 0.0
    return coded.map { entry in
      free = max(free, entry.time) + Double(entry.bits) / Double(max(entry.rate, 1))
      return (entry.time, free - entry.time)
    }
  }

  /// The luma PSNR of the coded frames whose error was measured, at most 100 dB.
  private var qualities: [(time: Double, decibels: Double)] {
    let square = contents.peak * contents.peak
    return coded.compactMap { entry in
      entry.meanSquaredError.map { (entry.time, min(10 * log10(square / max($0, 1e-9)), 100)) }
    }
  }

  // MARK: - Charts

  private var bitsChart: String {
    let maximum = Double(entries.map(\.bits).max() ?? 1) / 1000
    var chart = SVGChart(
      seconds: duration, maximum: maximum, unit: "kbit",
      label: "Bits of each of \(entries.count) frames; the largest has \(TextFormat.fixed(maximum, 0)) kbit.")
    for entry in entries {
      if entry.isDropped {
        chart.cross(at: entry.time, .alarm)
      } else {
        let mark = entry.isKeyFrame ? ChartMark.key : entry.layer == 0 ? .first : .second
        chart.bar(at: entry.time, width: interval, height: Double(entry.bits) / 1000, mark)
      }
    }
    return chart.svg
  }

  private var rateChart: String {
    var points: [(Double, Double)] = []
    var first = 0
    var sum = 0
    for (index, entry) in entries.enumerated() {
      sum += entry.bits
      while first < index, entry.time - entries[first].time >= 1 - interval / 2 {
        sum -= entries[first].bits
        first += 1
      }
      let seconds = max(entry.time - entries[first].time + interval, 0.25)
      points.append((entry.time, Double(sum) / seconds / 1000))
    }
    let asked = entries.map { ($0.time, Double($0.rate) / 1000) }
    let maximum = (points + asked).map(\.1).max() ?? 1
    var chart = SVGChart(
      seconds: duration, maximum: maximum, unit: "kb/s",
      label:
        "The rate over the last second and the rate that was asked for, up to \(TextFormat.fixed(maximum, 0)) kb/s."
    )
    chart.line(points, .first)
    chart.line(asked, .alarm, isStepped: true)
    return chart.svg
  }

  /// A table of the steps of the target bit rate, with the average rate during each step.
  private var stepsTable: String {
    var steps: [(from: Double, rate: Int, bits: Int)] = []
    for entry in entries {
      if steps.last?.rate != entry.rate { steps.append((entry.time, entry.rate, 0)) }
      steps[steps.count - 1].bits += entry.bits
    }
    guard steps.count > 1 else { return "" }
    let ends = steps.dropFirst().map(\.from) + [duration]
    return ReportHTML.heading("Each step of the rate against its own mean")
      + ReportHTML.table(
        zip(steps, ends).map { step, end in
          let mean = Double(step.bits) / max(end - step.from, 0.001)
          let off = (mean / Double(max(step.rate, 1)) - 1) * 100
          return (
            name: "\(TextFormat.fixed(step.from, 1)) to \(TextFormat.fixed(end, 1)) s",
            value: "\(TextFormat.bitRate(mean)) of \(TextFormat.bitRate(Double(step.rate))) asked "
              + "(\(off < 0 ? "-" : "+")\(TextFormat.fixed(abs(off), 1)) %)"
          )
        }) + "\n"
  }

  private var qpChart: String {
    var chart = SVGChart(
      seconds: duration, maximum: 51, unit: "QP",
      label: "The mean quantisation parameter of each frame, 0 to 51.")
    for entry in coded {
      guard let qp = entry.averageQP else { continue }
      chart.dot(at: entry.time, height: qp, entry.layer == 0 ? .first : .second)
    }
    return chart.svg
  }

  private var waitChart: String {
    let waits = waits
    let maximum = (waits.map(\.seconds).max() ?? 0.001) * 1000
    var chart = SVGChart(
      seconds: duration, maximum: maximum, unit: "ms",
      label:
        "How long each frame waits before a line of the rate; the longest is \(TextFormat.fixed(maximum, 0)) ms."
    )
    for wait in waits { chart.bar(at: wait.time, width: interval, height: wait.seconds * 1000, .first) }
    return chart.svg
  }

  private var qualityChart: String {
    let qualities = qualities
    guard let maximum = qualities.map(\.decibels).max() else { return "" }
    var chart = SVGChart(
      seconds: duration, maximum: maximum, unit: "dB",
      label: "The PSNR of each frame's luma; the best has \(TextFormat.fixed(maximum, 1)) dB.")
    for quality in qualities { chart.dot(at: quality.time, height: quality.decibels, .first) }
    return ReportHTML.heading("PSNR of each frame's luma") + chart.svg
  }

  private var delayChart: String {
    let maximum = (coded.map(\.delay).max() ?? 0.001) * 1000
    var chart = SVGChart(
      seconds: duration, maximum: maximum, unit: "ms",
      label: "The time that each frame took to encode; the longest is \(TextFormat.fixed(maximum, 1)) ms.")
    for entry in coded {
      chart.bar(at: entry.time, width: interval, height: entry.delay * 1000, .first)
    }
    return chart.svg
  }
}
