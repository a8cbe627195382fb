// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport

/// Measures the effect of threads, for the table "Threads" in docs/measurements/h264-encoder.md.
@main
struct ThreadBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thread-bench",
    abstract: "Measures H264Encoder by the clock and by processor time, with one thread and with several.",
    discussion: """
      Cases are a mode, a level and its value: files:4:2000 is a look-ahead and an average rate in kb/s, qp:4:27 a \
      look-ahead and a constant QP, calls:4:2000 the low-latency face with a delay of half a second.
      """)

  @Argument(help: "The clip.")
  var clip: String

  @Option(help: ArgumentHelp("What to measure.", valueName: "mode:level:value"))
  var cases: [Case] = [
    Case(.files, 4, 2000), Case(.files, 2, 2000), Case(.qp, 4, 27), Case(.qp, 2, 27), Case(.calls, 5, 2000),
    Case(.calls, 4, 2000),
  ]

  @Option(parsing: .upToNextOption, help: "Numbers of threads, the first one to compare with.")
  var threads: [Int] = [1, 2]

  @Option(help: "Frames of the clip.")
  var frames: Int = 90

  @Option(help: "How often these are coded one after another, as one stream.")
  var loops: Int = 1

  @Option(help: "Turns; medians are given.")
  var turns: Int = 5

  @Flag(help: "Print each turn.")
  var raw = false

  func validate() throws {
    guard turns > 0, frames > 0, loops > 0 else {
      throw ValidationError("--turns, --frames and --loops are 1 or more.")
    }
    guard !cases.isEmpty, !threads.isEmpty, threads.allSatisfy({ (1...64).contains($0) }) else {
      throw ValidationError("--threads are numbers from 1 to 64, and there is at least one case.")
    }
  }

  func run() throws {
    let clip = try RawClip(path: clip, frames: frames)
    defer { clip.remove() }
    let stream = try MappedClip(clip, loops: loops)
    var runs = [[[Run]]](repeating: [[Run]](repeating: [], count: threads.count), count: cases.count)
    for turn in 0..<turns {
      for (c, item) in cases.enumerated() {
        for (t, count) in threads.enumerated() {
          let run = try item.run(stream, threads: count)
          runs[c][t].append(run)
          if raw {
            print(
              "turn", turn, item.description, count, run.wall.formatted(4), run.processor.formatted(4),
              run.waited.formatted(4),
              String(run.hash, radix: 16))
          }
        }
      }
    }
    print("| \(clip.name), \(stream.count) frames | threads | ms | processor | waits | times |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for (c, item) in cases.enumerated() {
      let base = runs[c][0].map(\.wall).median
      for (t, count) in threads.enumerated() {
        let wall = runs[c][t].map(\.wall).median
        let scale = 1000 / Double(stream.count)
        print(
          "| \(item) | \(count) | \((wall * scale).formatted(2)) | "
            + "\((runs[c][t].map(\.processor).median * scale).formatted(2)) | "
            + "\((runs[c][t].map(\.share).median * 100).formatted(1)) % | \((base / wall).formatted(2)) |")
      }
    }
  }
}

extension Run {
  /// The fraction of the total time of all threads in which they waited.
  var share: Double { waited / (wall * Double(threads)) }
}

extension [Double] {
  var median: Double { sorted()[count / 2] }
}

extension Double {
  func formatted(_ places: Int) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let whole = Int((self * scale).rounded())
    let rest = String(whole % Int(scale))
    return "\(whole / Int(scale))." + String(repeating: "0", count: places - rest.count) + rest
  }
}
