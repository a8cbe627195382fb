// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport
import VideoToolbox

/// Compares a decompression session with libavcodec alone: the same movie, the same number of
/// threads, alternately and in one process.
@main
struct DecodeBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode-bench",
    abstract: "Compares a decompression session with bare libavcodec.",
    discussion: """
      The ratio of processor times counts, as the clock also measures what else the machine is doing; 1.000 is no \
      overhead, less is overhead.
      """)

  @Argument(help: "A movie file with H.264 or HEVC.")
  var movie: String

  @Option(help: ArgumentHelp("Rounds of each; the fastest counts.", valueName: "n"))
  var rounds: Int = 5

  @OptionGroup var results: ResultOptions

  private struct Case {
    var name: String
    var threads: Int
    var flags: VTDecodeFrameFlags
    var format: OSType?
  }

  private static let cases = [
    Case(name: "planar", threads: 1, flags: [], format: kCVPixelFormatType_420YpCbCr8Planar),
    Case(name: "default format", threads: 1, flags: [], format: nil),
    Case(
      name: "presentation order, planar", threads: 2, flags: [._EnableTemporalProcessing],
      format: kCVPixelFormatType_420YpCbCr8Planar),
    Case(
      name: "presentation order, default format", threads: 2, flags: [._EnableTemporalProcessing], format: nil
    ),
    Case(
      name: "asynchronous, planar", threads: 2, flags: [._EnableAsynchronousDecompression],
      format: kCVPixelFormatType_420YpCbCr8Planar),
  ]

  func validate() throws {
    guard rounds >= 1 else { throw ValidationError("--rounds must be 1 or more.") }
  }

  func run() throws {
    let movie = try CodedMovie(movie)
    let printer = ResultPrinter(results)
    var table = ResultTable(
      "\(movie.width)x\(movie.height), \(movie.count) frames, best of \(rounds) rounds: speed of the session against "
        + "bare libavcodec",
      ["session", "threads", "by processor time", "by the clock", "bare fps", "session fps"])
    for item in Self.cases {
      var bare: [Usage] = []
      var session: [Usage] = []
      for _ in 0...rounds {
        bare.append(try Usage.of { try movie.decodeBare(threads: item.threads) })
        session.append(
          try Usage.of { try movie.decode(threads: item.threads, item.flags, pixelFormat: item.format) })
      }
      // The first round is a warm-up and not counted.
      let a = Usage.best(bare.dropFirst())
      let b = Usage.best(session.dropFirst())
      let frames = Double(movie.count)
      table.add([
        item.name, "\(item.threads)", Figure.fixed(a.processor / b.processor, 3),
        Figure.fixed(a.clock / b.clock, 3), Figure.fixed(frames / a.clock), Figure.fixed(frames / b.clock),
      ])
    }
    try printer.add(table)
  }
}
