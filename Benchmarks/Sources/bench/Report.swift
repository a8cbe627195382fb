// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The tables of the report: one for each clip, mode and number of threads, and one that summarizes
/// the clips of each set.
struct Report {
  let results: [Result]

  private static let columns = [
    "encoder", "longest wait", "fullest 2 s", "fps", "x openh264-0", "x superfast", "BD PSNR", "BD whole",
    "BD SSIM",
    "BD 6:1:1", "BD all", "BD chroma", "BD PSNR vs openh264-0",
    "rate error", "worst", "p50 ms", "p99 ms", "peak MB",
  ]

  /// The result of one encoder with one number of threads, for one clip or for several clips.
  struct Row {
    var encoder: EncoderName
    /// The maximum wait in seconds and the fullest two seconds as a fraction of the rate. Both are
    /// the worst values of all points and clips.
    var longestWait: Double?
    var fullestTwoSeconds: Double?
    var fps: Double
    var versusOpenH264: Double?
    var versusSuperfast: Double?
    var bdPSNR: Double?
    /// Calculated from the squared errors of the whole clip.
    var bdWhole: Double?
    var bdSSIM: Double?
    /// Calculated from the PSNR of luma and chroma weighted 6:1:1, of all samples, and of chroma
    /// only.
    var bd611: Double?
    var bdAll: Double?
    var bdChroma: Double?
    var bdOpenH264: Double?
    /// The mean and the worst error. Both are nil if no bit rate was requested.
    var rateError: Double?
    var worstRateError: Double?
    var median: Double
    var p99: Double
    var peak: Double
    /// The clip with the highest `bdPSNR`, if there are several clips.
    var worstClip: String?

    var cells: [String] {
      func percent(_ value: Double?) -> String { value.map { String(format: "%+.1f %%", $0) } ?? "-" }
      func times(_ value: Double?) -> String { value.map { String(format: "%.2f", $0) } ?? "-" }
      return [
        encoder.name, longestWait.map { String(format: "%.2f s", $0) } ?? "-",
        percent(fullestTwoSeconds.map { ($0 - 1) * 100 }), String(format: "%.0f", fps), times(versusOpenH264),
        times(versusSuperfast),
        percent(bdPSNR), percent(bdWhole), percent(bdSSIM), percent(bd611), percent(bdAll), percent(bdChroma),
        percent(bdOpenH264), percent(rateError), percent(worstRateError),
        String(format: "%.2f", median), String(format: "%.2f", p99), String(format: "%.1f", peak),
      ] + (worstClip.map { [$0] } ?? [])
    }
  }

  struct Table {
    var title: String
    /// The name of a chart, made of the mode and the set; nil for a single clip.
    var name: String?
    var rows: [Row]
  }

  private struct Group: Hashable {
    var mode: Mode
    var threads: Int
  }

  var tables: [Table] {
    var tables: [Table] = []
    var groups: [Group] = []
    for r in results where !groups.contains(Group(mode: r.mode, threads: r.threads)) {
      groups.append(Group(mode: r.mode, threads: r.threads))
    }
    for group in groups {
      let runs = results.filter { $0.mode == group.mode && $0.threads == group.threads }
      let terms = "\(group.mode.title), \(group.threads) thread\(group.threads > 1 ? "s" : "")"
      for set in ClipSet.allCases {
        var clips: [(name: String, rows: [Row])] = []
        for run in runs where run.set == set && !clips.contains(where: { $0.name == run.clip }) {
          let ofClip = runs.filter { $0.clip == run.clip }
          let rows = Self.rows(ofClip)
          clips.append((run.clip, rows))
          let points = Swift.Set(ofClip.map(\.point)).sorted()
          let values =
            group.mode == .fixedQP
            ? "QP " + points.map(String.init).joined(separator: ", ")
            : points.map { "\($0 / 1000)" }.joined(separator: ", ") + " kb/s"
          tables.append(
            Table(
              title: "\(run.clip) (\(set.rawValue)), \(run.frames) frames, \(terms), \(values)", rows: rows))
        }
        let filmed = clips.filter { !ClipSet.isScreen($0.name) }
        if filmed.count > 1 {
          tables.append(
            Table(
              title: "\(set.rawValue) set without screens, \(filmed.count) clips, \(terms)",
              name: "\(group.mode.name.replacing(":", with: "-"))-\(set.rawValue)-x\(group.threads)",
              rows: Self.mean(filmed)))
        }
        let screens = clips.filter { ClipSet.isScreen($0.name) }
        if screens.count > 1 {
          tables.append(
            Table(
              title: "screens of the \(set.rawValue) set, \(screens.count) clips, \(terms)",
              rows: Self.mean(screens)))
        }
        if clips.count > screens.count && !screens.isEmpty {
          tables.append(
            Table(
              title: "\(set.rawValue) set with screens, \(clips.count) clips, \(terms)",
              rows: Self.mean(clips)))
        }
      }
    }
    return tables
  }

  /// Charts of speed and bit rate for each set and mode.
  var charts: [Chart] {
    tables.compactMap { table in
      table.name.map { name in
        Chart(
          name: name, title: table.title,
          points: table.rows.compactMap { row in
            guard let x = row.versusSuperfast, let y = row.bdPSNR else { return nil }
            return Chart.Point(label: row.encoder.name, family: row.encoder.family, speed: x, bits: y)
          })
      }
    }
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
    func points(_ encoder: EncoderName, _ quality: KeyPath<Result, Double>) -> [BDRate.Point] {
      of(encoder).map { ($0.actualBitRate, $0[keyPath: quality]) }
    }
    func psnr(_ encoder: EncoderName) -> [BDRate.Point] { points(encoder, \.psnr) }
    func bits(_ encoder: EncoderName, _ quality: KeyPath<Result, Double>) -> Double? {
      BDRate.percent(points(encoder, quality), against: points(superfast, quality))
    }
    func ssim(_ encoder: EncoderName) -> [BDRate.Point] {
      of(encoder).map { ($0.actualBitRate, -10 * log10(max(1e-9, 1 - $0.ssim))) }
    }
    let superfast = EncoderName.x264(preset: "superfast")
    let openH264 = EncoderName.openH264(complexity: 0)
    return encoders.map { encoder in
      let runs = of(encoder)
      let speed = fps(encoder) ?? 0
      let errors =
        runs[0].mode == .fixedQP ? [] : runs.map { ($0.actualBitRate / Double($0.point) - 1) * 100 }
      return Row(
        encoder: encoder, longestWait: runs.compactMap { $0.line?.longestWait }.max(),
        fullestTwoSeconds: runs.compactMap { $0.line?.fullestTwoSeconds }.max(), fps: speed,
        versusOpenH264: fps(openH264).map { speed / $0 },
        versusSuperfast: fps(superfast).map { speed / $0 },
        bdPSNR: BDRate.percent(psnr(encoder), against: psnr(superfast)),
        bdWhole: bits(encoder, \.psnrWhole),
        bdSSIM: BDRate.percent(ssim(encoder), against: ssim(superfast)),
        bd611: bits(encoder, \.psnr611), bdAll: bits(encoder, \.psnrAll),
        bdChroma: bits(encoder, \.psnrChroma),
        bdOpenH264: BDRate.percent(psnr(encoder), against: psnr(openH264)),
        rateError: errors.isEmpty ? nil : errors.reduce(0, +) / Double(errors.count),
        worstRateError: errors.max { abs($0) < abs($1) },
        median: runs.reduce(0.0) { $0 + $1.median } / Double(runs.count),
        p99: runs.map(\.p99).max() ?? 0, peak: Double(runs.map(\.peakBytes).max() ?? 0) / 1_000_000)
    }
  }

  /// The geometric means of bit rates and speeds, with the name of the clip that has the worst
  /// result.
  private static func mean(_ clips: [(name: String, rows: [Row])]) -> [Row] {
    guard let first = clips.first?.rows else { return [] }
    return first.map { row in
      let rows = clips.compactMap { clip in
        clip.rows.first { $0.encoder == row.encoder }.map { (clip.name, $0) }
      }
      func mean(_ values: [Double?]) -> Double? {
        let known = values.compactMap { $0 }
        return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
      }
      func geometric(_ values: [Double?]) -> Double? {
        mean(values.map { $0.map { log($0) } }).map { exp($0) }
      }
      func bits(_ values: [Double?]) -> Double? {
        geometric(values.map { $0.map { 1 + $0 / 100 } }).map { ($0 - 1) * 100 }
      }
      let worst = rows.max { ($0.1.bdPSNR ?? -.infinity) < ($1.1.bdPSNR ?? -.infinity) }
      return Row(
        encoder: row.encoder, longestWait: rows.compactMap(\.1.longestWait).max(),
        fullestTwoSeconds: rows.compactMap(\.1.fullestTwoSeconds).max(),
        fps: geometric(rows.map(\.1.fps)) ?? 0,
        versusOpenH264: geometric(rows.map(\.1.versusOpenH264)),
        versusSuperfast: geometric(rows.map(\.1.versusSuperfast)), bdPSNR: bits(rows.map(\.1.bdPSNR)),
        bdWhole: bits(rows.map(\.1.bdWhole)), bdSSIM: bits(rows.map(\.1.bdSSIM)),
        bd611: bits(rows.map(\.1.bd611)),
        bdAll: bits(rows.map(\.1.bdAll)), bdChroma: bits(rows.map(\.1.bdChroma)),
        bdOpenH264: bits(rows.map(\.1.bdOpenH264)),
        rateError: mean(rows.map(\.1.rateError)),
        worstRateError: rows.compactMap(\.1.worstRateError).max { abs($0) < abs($1) },
        median: mean(rows.map(\.1.median)) ?? 0, p99: rows.map(\.1.p99).max() ?? 0,
        peak: rows.map(\.1.peak).max() ?? 0,
        worstClip: worst.map { name, row in row.bdPSNR.map { String(format: "%@ %+.1f %%", name, $0) } ?? "-"
        })
    }
  }

  private static func columns(of table: Table) -> [String] {
    columns + (table.rows.contains { $0.worstClip != nil } ? ["worst clip"] : [])
  }

  var text: String {
    tables.map { table in
      let cells = [Self.columns(of: table)] + table.rows.map(\.cells)
      let widths = cells[0].indices.map { i in cells.map { $0[i].count }.max() ?? 0 }
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
      let columns = Self.columns(of: table)
      let head =
        "| " + columns.joined(separator: " | ") + " |\n|---|"
        + columns.dropFirst().map { _ in "---:|" }.joined()
      let lines = table.rows.map { "| " + $0.cells.joined(separator: " | ") + " |" }
      return "### \(table.title)\n\n\(head)\n" + lines.joined(separator: "\n") + "\n"
    }.joined(separator: "\n")
  }

  var csv: String {
    "clip,set,frames,encoder,threads,mode,point,bps,psnr_y,psnr_cb,psnr_cr,psnr_all,psnr_whole,ssim_y,fps,p50_ms,p99_ms,peak_bytes,wait_s,"
      + "two_seconds\n"
      + results.map {
        "\($0.clip),\($0.set.rawValue),\($0.frames),\($0.encoder.name),\($0.threads),\($0.mode.name),\($0.point),"
          + String(
            format: "%d,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f,%.2f,%.3f,%.3f,%d,%.3f,%.4f\n", Int($0.actualBitRate),
            $0.psnr,
            $0.psnrCb, $0.psnrCr, $0.psnrAll, $0.psnrWhole, $0.ssim, $0.framesPerSecond, $0.median, $0.p99,
            $0.peakBytes,
            $0.line?.longestWait ?? 0,
            $0.line?.fullestTwoSeconds ?? 0)
      }.joined()
  }
}
