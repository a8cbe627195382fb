// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A page of charts of a run, complete in itself.
struct ReportPage {
  private let contents: FrameLog.Contents

  init(_ contents: FrameLog.Contents) { self.contents = contents }

  func write(to path: String) throws {
    do {
      try Data(html.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw Failure("cannot write the report '\(path)': \(error.localizedDescription)")
    }
  }

  private var entries: [FrameLog.Entry] { contents.entries }
  private var coded: [FrameLog.Entry] { entries.filter { !$0.isDropped } }

  var html: String {
    ReportHTML.page(
      title: contents.title, tab: "vtencode conferencing",
      body: ReportHTML.table(summary) + "\n"
        + ReportHTML.heading("Bits of each frame")
        + ReportHTML.legend(
          layerKeys + [("#2a8a4a", "key frame")]
            + (entries.contains(where: \.isDropped) ? [("#c03030", "dropped")] : []))
        + bitsChart + ReportHTML.heading("Rate over the last second against what was asked")
        + ReportHTML.legend([("#3366aa", "rate"), ("#c03030", "asked")]) + rateChart
        + ReportHTML.heading("Mean QP of each frame") + ReportHTML.legend(layerKeys) + qpChart
        + ReportHTML.heading("Time from EncodeFrame to the output") + delayChart)
  }

  private var layerKeys: [(color: String, text: String)] {
    entries.contains { $0.layer > 0 }
      ? [("#3366aa", "base layer"), ("#e0903a", "enhancement layer")] : [("#3366aa", "frame")]
  }

  // MARK: - Figures

  private var summary: [(name: String, value: String)] {
    let seconds = max(duration, 0.001)
    let bits = entries.reduce(0) { $0 + $1.bits }
    let base = entries.filter { $0.layer == 0 }.reduce(0) { $0 + $1.bits }
    let delays = coded.map { $0.delay * 1000 }.sorted()
    func quantile(_ q: Double) -> String {
      delays.isEmpty ? "-" : Wording.fixed(delays[min(Int(q * Double(delays.count)), delays.count - 1)], 1)
    }
    var rows = [
      ("Frames", "\(entries.count), \(entries.count - coded.count) dropped"),
      ("Key frames", "\(coded.count { $0.isKeyFrame })"),
      ("Rate", Wording.bitRate(Double(bits) / seconds)),
      ("Time to output", "\(quantile(0.5)) ms in the middle, \(quantile(0.99)) ms for 99 of 100"),
    ]
    if entries.contains(where: { $0.layer > 0 }), bits > 0 {
      rows.append(("Base layer", "\(Wording.fixed(Double(base) / Double(bits) * 100, 1)) % of the bits"))
    }
    return rows.map { (name: $0.0, value: $0.1) }
  }

  private var interval: Double {
    guard let first = entries.first, let last = entries.last, entries.count > 1 else { return 1.0 / 30 }
    return (last.time - first.time) / Double(entries.count - 1)
  }
  private var duration: Double { (entries.last?.time ?? 0) + interval }

  // MARK: - Charts

  private var bitsChart: String {
    let most = Double(entries.map(\.bits).max() ?? 1) / 1000
    var chart = SVGChart(seconds: duration, most: most, unit: "kbit")
    for entry in entries {
      if entry.isDropped {
        chart.cross(at: entry.time, color: "#c03030")
      } else {
        let color = entry.isKeyFrame ? "#2a8a4a" : entry.layer == 0 ? "#3366aa" : "#e0903a"
        chart.bar(at: entry.time, width: interval, height: Double(entry.bits) / 1000, color: color)
      }
    }
    return chart.svg
  }

  private var rateChart: String {
    var points: [(Double, Double)] = []
    var first = 0
    var sum = 0
    for entry in entries {
      sum += entry.bits
      while entry.time - entries[first].time >= 1 - interval / 2 {
        sum -= entries[first].bits
        first += 1
      }
      let seconds = max(entry.time - entries[first].time + interval, 0.25)
      points.append((entry.time, Double(sum) / seconds / 1000))
    }
    let asked = entries.map { ($0.time, Double($0.rate) / 1000) }
    let most = (points + asked).map(\.1).max() ?? 1
    var chart = SVGChart(seconds: duration, most: most, unit: "kb/s")
    chart.line(points, color: "#3366aa")
    chart.line(asked, color: "#c03030", isStepped: true)
    return chart.svg
  }

  private var qpChart: String {
    var chart = SVGChart(seconds: duration, most: 51, unit: "QP")
    for entry in coded {
      guard let qp = entry.averageQP else { continue }
      chart.dot(at: entry.time, height: qp, color: entry.layer == 0 ? "#3366aa" : "#e0903a")
    }
    return chart.svg
  }

  private var delayChart: String {
    let most = (coded.map(\.delay).max() ?? 0.001) * 1000
    var chart = SVGChart(seconds: duration, most: most, unit: "ms")
    for entry in coded {
      chart.bar(at: entry.time, width: interval, height: entry.delay * 1000, color: "#3366aa")
    }
    return chart.svg
  }
}
