// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport

/// Measures the low-latency mode for the tables in the documentation.
@main
struct LowLatencyTables: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lowlat-tables",
    abstract: "Measures the low-latency mode: latency, layers, caps, repairs, losses, steps.")

  enum Table: String, CaseIterable, ExpressibleByArgument {
    case latency, layers, subsets, caps, readable, repairs, loss, steps
  }

  @OptionGroup var clips: ClipOptions
  @OptionGroup var results: ResultOptions

  @Option(help: "Only these tables.")
  var only: [Table] = []

  @Option(help: ArgumentHelp("Random subsets of enhancement frames, over all clips.", valueName: "n"))
  var subsets: Int = 1000

  @Option(help: ArgumentHelp("Seeds of the lossy calls to average over.", valueName: "n"))
  var seeds: Int = 3

  @Option(help: ArgumentHelp("The command line that simulates calls.", valueName: "file"))
  var vtencode: String = ".build/release/vtencode"

  func run() throws {
    let files = try clips.files()
    guard !files.isEmpty else { throw ValidationError("Give clips to measure on.") }
    let opened = try files.map { TableClip(try clips.pictures($0)) }
    let printer = ResultPrinter(results)
    let simulator = CallSimulator(program: vtencode)
    for table in only.isEmpty ? Table.allCases : only {
      switch table {
      case .latency: try printer.add(LatencyTable.table(opened))
      case .layers: try printer.add(LayerTable.table(opened))
      case .subsets: try printer.add(SubsetTable.table(opened, count: subsets))
      case .caps: try printer.add(CapTable.table(opened))
      case .readable: try printer.add(ReadableTable.table(opened))
      case .repairs: try printer.add(RepairTable.table(opened))
      case .loss:
        // Calls over paths with loss use small pictures.
        let small = try zip(files, opened).map { path, clip in
          let halves = clip.halvesToHeight(400)
          guard halves > 0 else { return clip }
          return TableClip(
            try ClipPictures(path: path, frames: clips.frames, halves: clips.halves + halves))
        }
        try printer.add(LossTable.table(small, simulator, seeds: seeds))
      case .steps: try printer.add(StepTable.table(opened, simulator))
      }
    }
  }
}
