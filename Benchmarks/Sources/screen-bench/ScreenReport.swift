// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport

/// The tables of `screen-bench`.
struct ScreenReport {
  private struct Entry {
    var desktop: String
    var isForValidation: Bool
    var encoder: EncoderChoice
    var kilobits: Int
    var response: Response
  }

  private var entries: [Entry] = []
  private let traces: Bool
  /// A line for each frame.
  private(set) var trace = "clip,encoder,kbps,frame,bits,wait_s,psnr_y\n"

  /// - Parameter traces: whether to keep the lines of `trace`.
  init(traces: Bool) { self.traces = traces }

  mutating func add(_ response: Response, _ desktop: Desktop, _ encoder: EncoderChoice, kilobits: Int) {
    entries.append(
      Entry(
        desktop: desktop.shortName, isForValidation: desktop.isForValidation, encoder: encoder,
        kilobits: kilobits, response: response))
    guard traces else { return }
    for (n, frame) in response.trace.enumerated() {
      trace += "\(desktop.name),\(encoder.name),\(kilobits),\(n),\(frame.bits),"
      trace += "\(Figure.fixed(frame.wait, 3)),\(Figure.fixed(frame.quality, 2))\n"
    }
  }

  /// A table for each set of clips, with a row for each rate and encoder, and if wanted one with
  /// all events.
  func tables(encoders: [EncoderChoice], events: Bool) -> [ResultTable] {
    var tables: [ResultTable] = []
    for isForValidation in [false, true] {
      let set = entries.filter { $0.isForValidation == isForValidation }
      if set.isEmpty { continue }
      let name = isForValidation ? "Desktops for validation" : "Desktops for tuning"
      var table = ResultTable(
        "\(name): time until a change is sharp",
        [
          "kb/s, encoder", "p50 ms", "p90 ms", "worst ms", "not sharp", "first 0.5 s dB", "clip dB", "rate",
          "wait ms",
        ])
      for rate in Array(Set(set.map(\.kilobits))).sorted() {
        for encoder in encoders {
          let some = set.filter { $0.kilobits == rate && $0.encoder == encoder }
          if !some.isEmpty { table.add(row("\(rate) \(encoder.name)", some)) }
        }
      }
      for encoder in encoders {
        let some = set.filter { $0.encoder == encoder }
        if !some.isEmpty { table.add(row("all \(encoder.name)", some)) }
      }
      tables.append(table)
    }
    if events { tables.append(eventTable(encoders)) }
    return tables
  }

  private func row(_ name: String, _ entries: [Entry]) -> [String] {
    let answers = entries.flatMap(\.response.answers)
    let times = answers.map(\.seconds)
    let count = Double(entries.count)
    let quality = entries.reduce(0) { $0 + $1.response.quality } / count
    let rate = entries.reduce(0) { $0 + $1.response.rate / Double($1.kilobits * 1000) } / count
    let first = answers.reduce(0) { $0 + $1.firstQuality } / Double(max(answers.count, 1))
    return [
      name, Figure.milliseconds(Figure.quantile(0.5, of: times)),
      Figure.milliseconds(Figure.quantile(0.9, of: times)), Figure.milliseconds(times.max()),
      "\(answers.count { !$0.isSharp }) of \(answers.count)", Figure.fixed(first), Figure.fixed(quality),
      Figure.percent(rate, 0), Figure.milliseconds(entries.map(\.response.longestWait).max()),
    ]
  }

  private func eventTable(_ encoders: [EncoderChoice]) -> ResultTable {
    var table = ResultTable(
      "Each event: ms until it is sharp (dB in the first half second)", ["event"] + encoders.map(\.name))
    var keys: [(String, Int)] = []
    for entry in entries where !keys.contains(where: { $0 == (entry.desktop, entry.kilobits) }) {
      keys.append((entry.desktop, entry.kilobits))
    }
    for (desktop, rate) in keys {
      let some = entries.filter { $0.desktop == desktop && $0.kilobits == rate }
      for i in some[0].response.answers.indices {
        let cells = encoders.map { encoder in
          guard let answer = some.first(where: { $0.encoder == encoder })?.response.answers[i] else {
            return "-"
          }
          let mark = answer.isSharp ? "" : ">"
          return mark + Figure.milliseconds(answer.seconds) + " (" + Figure.fixed(answer.firstQuality) + ")"
        }
        table.add(["\(desktop) \(rate): \(some[0].response.answers[i].event)"] + cells)
      }
    }
    return table
  }
}
