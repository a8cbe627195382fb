import Foundation
import H264Encoder

/// How well the rate control of H264Encoder keeps to what it is asked for: the tables of docs/rate-control.md.
///
///     rate-bench [--halves N] [--frames N] [--speed N] [--threads N] [--trace] MOVIE...
@main
enum Main {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("rate-bench: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    var bench = Bench()
    var paths: [String] = []
    var maximumFrames = 300
    var halves = 0
    var tables: Set<String> = []
    var rest = arguments[...]
    func number(_ option: String) throws -> Int {
      guard let text = rest.popFirst(), let value = Int(text) else {
        throw BenchError(text: "\(option) takes a number")
      }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--halves": halves = try number(argument)
      case "--frames": maximumFrames = try number(argument)
      case "--speed": bench.speed = try number(argument)
      case "--threads": bench.threads = try number(argument)
      case "--trace": bench.traces = true
      case "--average", "--pauses", "--steps", "--caps", "--layers": tables.insert(argument)
      default: paths.append(argument)
      }
    }
    bench.clips = try paths.map { try Clip.movie($0, maximumFrames: maximumFrames, halves: halves) }
    bench.clips.append(Clip.torture())
    if tables.isEmpty { tables = ["--average", "--pauses", "--steps", "--caps", "--layers"] }
    if tables.contains("--average") { try bench.average() }
    if tables.contains("--pauses") { try bench.pauses() }
    if tables.contains("--steps") { try bench.steps() }
    if tables.contains("--caps") { try bench.caps() }
    if tables.contains("--layers") { try bench.layers() }
  }
}
