// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport

/// Measures how closely the rate control of H264Encoder follows its settings, for the tables in
/// docs/rate-control.md.
@main
struct RateBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rate-bench",
    abstract: "Measures how H264Encoder's rate control keeps to rates, limits, steps, caps and shares.",
    discussion: "A made-up clip of what rate controls hate comes after the clips that are given.")

  enum Table: String, CaseIterable, ExpressibleByArgument { case average, pauses, steps, caps, layers }

  @OptionGroup var clips: ClipOptions
  @OptionGroup var results: ResultOptions

  @Option(help: "Only these tables.")
  var only: [Table] = []

  @Option(help: ArgumentHelp("Effort of the encoder, 0 (fastest) to 9 (best).", valueName: "n"))
  var effort: Int = 3

  @Option(help: ArgumentHelp("Threads of the encoder.", valueName: "n"))
  var threads: Int = 1

  @Flag(help: "Print the bits of each frame, in frames' budgets, and its QP.")
  var trace = false

  func run() throws {
    var bench = Bench()
    bench.effort = effort
    bench.threads = threads
    bench.traces = trace
    bench.clips = try clips.files().map(clips.pictures)
    bench.clips.append(try .torture())
    let printer = ResultPrinter(results)
    for table in only.isEmpty ? Table.allCases : only {
      switch table {
      case .average: try printer.add(bench.average())
      case .pauses: try printer.add(bench.pauses())
      case .steps: try printer.add(bench.steps())
      case .caps: try printer.add(bench.caps())
      case .layers: try printer.add(bench.layers())
      }
    }
  }
}
