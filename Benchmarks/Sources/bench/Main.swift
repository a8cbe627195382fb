import BenchmarkSupport
import Foundation

/// `bench`: H264Encoder, libx264 and libopenh264 on the same clips, threads and bit rates, in one table.
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
    for path in options.clips {
      let clip = try RawClip(path: path, frames: options.frames)
      defer { clip.remove() }
      for threads in options.threads {
        for encoder in options.encoders {
          for rate in clip.bitRates(options.points) {
            let measurement = Measurement(
              clip: clip.name, rawPath: clip.rawPath, width: clip.width, height: clip.height,
              frameRate: clip.frameRate, frames: clip.frames, encoder: encoder, threads: threads,
              bitRate: rate, wallClock: options.wallClock)
            if !encoder.isEngine, !options.fresh, let known = cache[measurement.key] {
              results.append(known)
              continue
            }
            var best: Result?
            for _ in 0..<options.repeats {
              let result = try measurement.run()
              if let fastest = best, fastest.seconds <= result.seconds { continue }
              best = result
            }
            guard let result = best else { continue }
            if !encoder.isEngine { try cache.store(result) }
            results.append(result)
            progress(result)
          }
        }
      }
    }
    let report = Report(results: results)
    print(report.text)
    if let path = options.csv { try report.csv.write(toFile: path, atomically: true, encoding: .utf8) }
    if let path = options.markdown {
      try report.markdown.write(toFile: path, atomically: true, encoding: .utf8)
    }
  }

  private static func progress(_ r: Result) {
    let line = String(
      format: "%@ %@ x%d: %.0f of %.0f kb/s, %.2f dB, SSIM %.4f, %.0f fps\n", r.clip, r.encoder.name,
      r.threads,
      r.actualBitRate / 1000, Double(r.bitRate) / 1000, r.psnr, r.ssim, r.framesPerSecond)
    FileHandle.standardError.write(Data(line.utf8))
  }
}
