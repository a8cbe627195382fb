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
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8"><title>vtencode conferencing</title>
    <style>
    body { font: 15px/1.4 sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222 }
    h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin: 1.6em 0 .3em }
    table { border-collapse: collapse } td { padding: .15em 1.2em .15em 0 }
    svg { width: 100%; height: auto } svg text { font: 12px sans-serif; fill: #444 }
    .key { display: inline-block; width: .8em; height: .8em; margin: 0 .4em 0 1em }
    </style></head><body>
    <h1>\(escaped(contents.title))</h1>
    \(summary)
    <h2>Bits of each frame</h2>
    \(legend([("#3366aa", "base layer"), ("#e0903a", "enhancement layer"), ("#2a8a4a", "key frame"), ("#c03030", "dropped")]))
    \(bitsChart)
    <h2>Rate over the last second against what was asked</h2>
    \(legend([("#3366aa", "rate"), ("#c03030", "asked")]))
    \(rateChart)
    <h2>Mean QP of each frame</h2>
    \(legend([("#3366aa", "base layer"), ("#e0903a", "enhancement layer")]))
    \(qpChart)
    <h2>Time from EncodeFrame to the output</h2>
    \(delayChart)
    </body></html>
    """
  }

  // MARK: - Figures

  private var summary: String {
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
    return "<table>" + rows.map { "<tr><td>\($0.0)</td><td>\(escaped($0.1))</td></tr>" }.joined() + "</table>"
  }

  private var interval: Double {
    guard let first = entries.first, let last = entries.last, entries.count > 1 else { return 1.0 / 30 }
    return (last.time - first.time) / Double(entries.count - 1)
  }
  private var duration: Double { (entries.last?.time ?? 0) + interval }

  private func legend(_ items: [(String, String)]) -> String {
    "<div>"
      + items.map { "<span class=\"key\" style=\"background:\($0.0)\"></span>\($0.1)" }.joined() + "</div>"
  }

  private func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;")
  }

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
