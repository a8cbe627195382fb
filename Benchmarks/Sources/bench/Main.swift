// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation

/// `bench`: compares H264Encoder, libx264 and libopenh264 with the same clips, threads and bit
/// rates in one table.
@main
enum Main {
  static func main() {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.first == Measurement.childFlag {
        try Measurement.runChild(arguments.dropFirst().first ?? "")
      } else {
        let options = try Options(arguments)
        if options.help { print(Options.usage) } else { try compare(options) }
      }
    } catch {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      exit(1)
    }
  }

  static func compare(_ options: Options) throws {
    let cache = try ResultStore<Result>(path: options.cache)
    var results: [Result] = []
    if let trace = options.trace {
      try Measurement.traceHeader.write(toFile: trace, atomically: true, encoding: .utf8)
    }
    for set in options.sets {
      try set.clips(options) { clip in
        let content = try clip.fingerprint()
        for mode in options.modes {
          let points =
            mode == .fixedQP ? [22, 27, 32, 37].prefix(options.points) : clip.bitRates(options.points)[...]
          for threads in options.threads {
            // All encoders measure one point before the next, so that a temporarily busy machine
            // affects all of them equally.
            for point in points {
              for encoder in options.encoders where mode.applies(to: encoder) {
                let measurement = Measurement(
                  clip: clip.name, content: content, set: set, rawPath: clip.rawPath, width: clip.width,
                  height: clip.height,
                  frameRate: clip.frameRate, frames: clip.frames, encoder: encoder, threads: threads,
                  mode: mode, point: point, wallClock: options.wallClock, trace: options.trace)
                results.append(try measure(measurement, options, cache))
              }
            }
          }
        }
      }
    }
    let report = Report(results: results)
    print(report.text)
    if let path = options.svg {
      for chart in report.charts {
        try chart.svg.write(toFile: "\(path)-\(chart.name).svg", atomically: true, encoding: .utf8)
      }
    }
    if let path = options.csv { try report.csv.write(toFile: path, atomically: true, encoding: .utf8) }
    if let path = options.markdown {
      try report.markdown.write(toFile: path, atomically: true, encoding: .utf8)
    }
  }

  private static func measure(_ m: Measurement, _ options: Options, _ cache: ResultStore<Result>) throws
    -> Result
  {
    if !m.encoder.isEngine, !options.fresh, let known = cache[m.key] { return known }
    var best = try m.run()
    for _ in 1..<options.repeats {
      let result = try m.run()
      if result.seconds < best.seconds { best = result }
    }
    if !m.encoder.isEngine { try cache.store(best) }
    progress(best)
    return best
  }

  private static func progress(_ r: Result) {
    let line = String(
      format: "%@ %@ x%d %@ %d: %.0f kb/s, %.2f dB, SSIM %.4f, %.0f fps\n", r.clip, r.encoder.name, r.threads,
      r.mode.name, r.point, r.actualBitRate / 1000, r.psnr, r.ssim, r.framesPerSecond)
    FileHandle.standardError.write(Data(line.utf8))
  }
}
