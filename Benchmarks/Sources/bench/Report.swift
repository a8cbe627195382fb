import Foundation

/// The tables: one for each clip and thread count, one over all clips.
struct Report {
  let results: [Result]

  private static let columns = [
    "encoder", "fps", "x openh264-0", "x superfast", "BD PSNR", "BD SSIM", "BD PSNR vs openh264-0",
    "rate error", "worst", "p50 ms", "p99 ms", "peak MB",
  ]

  /// What one encoder did on one clip with one number of threads.
  private struct Row {
    var encoder: EncoderName
    var fps: Double
    var versusOpenH264: Double?
    var versusSuperfast: Double?
    var bdPSNR: Double?
    var bdSSIM: Double?
    var bdOpenH264: Double?
    var rateError: Double
    var worstRateError: Double
    var median: Double
    var p99: Double
    var peak: Double

    var cells: [String] {
      func percent(_ value: Double?) -> String { value.map { String(format: "%+.1f %%", $0) } ?? "-" }
      func times(_ value: Double?) -> String { value.map { String(format: "%.2f", $0) } ?? "-" }
      return [
        encoder.name, String(format: "%.0f", fps), times(versusOpenH264), times(versusSuperfast),
        percent(bdPSNR),
        percent(bdSSIM), percent(bdOpenH264), percent(rateError), percent(worstRateError),
        String(format: "%.2f", median), String(format: "%.2f", p99), String(format: "%.1f", peak),
      ]
    }
  }

  private struct Table {
    var title: String
    var rows: [Row]
  }

  private var tables: [Table] {
    var tables: [Table] = []
    for threads in Set(results.map(\.threads)).sorted() {
      var ofClips: [[Row]] = []
      var clips: [String] = []
      for result in results where result.threads == threads && !clips.contains(result.clip) {
        clips.append(result.clip)
      }
      for clip in clips {
        let runs = results.filter { $0.clip == clip && $0.threads == threads }
        let rows = Self.rows(runs)
        ofClips.append(rows)
        let rates = Set(runs.map(\.bitRate)).sorted().map { "\($0 / 1000)" }.joined(separator: ", ")
        tables.append(
          Table(
            title:
              "\(clip), \(runs[0].frames) frames, \(threads) thread\(threads > 1 ? "s" : ""), \(rates) kb/s",
            rows: rows))
      }
      if clips.count > 1 {
        tables.append(
          Table(
            title: "all \(clips.count) clips, \(threads) thread\(threads > 1 ? "s" : "")",
            rows: Self.mean(ofClips)))
      }
    }
    return tables
  }

  private static func rows(_ runs: [Result]) -> [Row] {
    var encoders: [EncoderName] = []
    for run in runs where !encoders.contains(run.encoder) { encoders.append(run.encoder) }
    func of(_ encoder: EncoderName) -> [Result] { runs.filter { $0.encoder == encoder } }
    func fps(_ encoder: EncoderName) -> Double? {
      let runs = of(encoder)
      if runs.isEmpty { return nil }
      return runs.reduce(0.0) { $0 + Double($1.frames) } / runs.reduce(0.0) { $0 + $1.seconds }
    }
    func psnr(_ encoder: EncoderName) -> [BDRate.Point] { of(encoder).map { ($0.actualBitRate, $0.psnr) } }
    func ssim(_ encoder: EncoderName) -> [BDRate.Point] {
      of(encoder).map { ($0.actualBitRate, -10 * log10(max(1e-9, 1 - $0.ssim))) }
    }
    let superfast = EncoderName.x264(preset: "superfast")
    let openH264 = EncoderName.openH264(complexity: 0)
    return encoders.map { encoder in
      let runs = of(encoder)
      let speed = fps(encoder) ?? 0
      let errors = runs.map { ($0.actualBitRate / Double($0.bitRate) - 1) * 100 }
      return Row(
        encoder: encoder, fps: speed, versusOpenH264: fps(openH264).map { speed / $0 },
        versusSuperfast: fps(superfast).map { speed / $0 },
        bdPSNR: BDRate.percent(psnr(encoder), against: psnr(superfast)),
        bdSSIM: BDRate.percent(ssim(encoder), against: ssim(superfast)),
        bdOpenH264: BDRate.percent(psnr(encoder), against: psnr(openH264)),
        rateError: errors.reduce(0, +) / Double(errors.count),
        worstRateError: errors.max { abs($0) < abs($1) } ?? 0,
        median: runs.reduce(0.0) { $0 + $1.median } / Double(runs.count),
        p99: runs.map(\.p99).max() ?? 0, peak: Double(runs.map(\.peakBytes).max() ?? 0) / 1_000_000)
    }
  }

  /// Mean of percentages, geometric mean of speeds.
  private static func mean(_ clips: [[Row]]) -> [Row] {
    guard let first = clips.first else { return [] }
    return first.map { row in
      let rows = clips.compactMap { $0.first { $0.encoder == row.encoder } }
      func mean(_ values: [Double?]) -> Double? {
        let known = values.compactMap { $0 }
        return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
      }
      func geometric(_ values: [Double?]) -> Double? {
        mean(values.map { $0.map { log($0) } }).map { exp($0) }
      }
      return Row(
        encoder: row.encoder, fps: geometric(rows.map(\.fps)) ?? 0,
        versusOpenH264: geometric(rows.map(\.versusOpenH264)),
        versusSuperfast: geometric(rows.map(\.versusSuperfast)), bdPSNR: mean(rows.map(\.bdPSNR)),
        bdSSIM: mean(rows.map(\.bdSSIM)), bdOpenH264: mean(rows.map(\.bdOpenH264)),
        rateError: mean(rows.map(\.rateError)) ?? 0,
        worstRateError: rows.map(\.worstRateError).max { abs($0) < abs($1) } ?? 0,
        median: mean(rows.map(\.median)) ?? 0, p99: rows.map(\.p99).max() ?? 0,
        peak: rows.map(\.peak).max() ?? 0)
    }
  }

  var text: String {
    tables.map { table in
      let cells = [Self.columns] + table.rows.map(\.cells)
      let widths = Self.columns.indices.map { i in cells.map { $0[i].count }.max() ?? 0 }
      let lines = cells.map { line in
        line.enumerated().map { i, cell in
          let space = String(repeating: " ", count: widths[i] - cell.count)
          return i == 0 ? cell + space : space + cell
        }.joined(separator: "  ")
      }
      return "\n\(table.title)\n" + lines.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  var markdown: String {
    tables.map { table in
      let head =
        "| " + Self.columns.joined(separator: " | ") + " |\n|---|"
        + Self.columns.dropFirst().map { _ in "---:|" }.joined()
      let lines = table.rows.map { "| " + $0.cells.joined(separator: " | ") + " |" }
      return "### \(table.title)\n\n\(head)\n" + lines.joined(separator: "\n") + "\n"
    }.joined(separator: "\n")
  }

  var csv: String {
    "clip,frames,encoder,threads,asked_bps,bps,psnr_y,ssim_y,fps,p50_ms,p99_ms,peak_bytes\n"
      + results.map {
        "\($0.clip),\($0.frames),\($0.encoder.name),\($0.threads),\($0.bitRate),\(Int($0.actualBitRate)),"
          + String(
            format: "%.4f,%.6f,%.2f,%.3f,%.3f,%d\n", $0.psnr, $0.ssim, $0.framesPerSecond, $0.median, $0.p99,
            $0.peakBytes)
      }.joined()
  }
}
