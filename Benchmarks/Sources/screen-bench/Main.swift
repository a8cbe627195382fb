// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport
import Foundation

/// Measures how soon a change of a desktop is sharp, without delay at low rates.
@main
struct ScreenBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "screen-bench",
    abstract: "Measures how soon a change of a desktop is sharp (38 dB) behind a link of the bit rate.",
    discussion: """
      The clips are those of scripts/render-desktops, with their events next to them. Those for tuning are measured at \
      the rates for tuning, those for validation at rates of their own.
      """)

  @Argument(help: "Clips of scripts/render-desktops, or folders of such files.")
  var clips: [String]

  @OptionGroup var results: ResultOptions

  @Option(help: ArgumentHelp("Encoders, separated by commas.", valueName: "list"))
  var encoders = "effort-1,effort-3,effort-5,x264-superfast,x264-veryfast,x264-medium,openh264-screen"

  @Option(help: ArgumentHelp("Bit rates in kb/s for the clips for tuning.", valueName: "list"))
  var rates = "150,400,1500"

  @Option(help: ArgumentHelp("Bit rates in kb/s for the clips for validation.", valueName: "list"))
  var validationRates = "250,800"

  @Option(help: ArgumentHelp("The bound of the queue in seconds.", valueName: "s"))
  var delay = 0.5

  @Option(help: ArgumentHelp("Write bits, wait and PSNR of every frame.", valueName: "file"))
  var trace: String?

  @Flag(help: "Print each event.")
  var events = false

  func run() throws {
    let chosen = try encoders.split(separator: ",").map {
      guard let encoder = EncoderChoice(name: String($0)) else {
        throw ValidationError("No encoder is called \($0).")
      }
      return encoder
    }
    guard delay.isFinite, (0.02...10).contains(delay) else {
      throw ValidationError("--delay must be from 0.02 to 10.")
    }
    let (tuning, validation) = (try Self.numbers(rates), try Self.numbers(validationRates))
    var report = ScreenReport(traces: trace != nil)
    for path in try clips.flatMap(ClipFiles.list) where !path.hasSuffix(".json") {
      let desktop = try Desktop(path: path)
      for rate in desktop.isForValidation ? validation : tuning {
        for encoder in chosen {
          let units = try encoder.encode(desktop, rate: rate * 1000, delay: delay)
          report.add(
            try Response(units, of: desktop, rate: rate * 1000), desktop, encoder, kilobits: rate)
        }
      }
    }
    let printer = ResultPrinter(results)
    for table in report.tables(encoders: chosen, events: events) { try printer.add(table) }
    if let trace { try report.trace.write(toFile: trace, atomically: true, encoding: .utf8) }
  }

  private static func numbers(_ list: String) throws -> [Int] {
    try list.split(separator: ",").map {
      guard let number = Int($0), (1...1_000_000).contains(number) else {
        throw ValidationError("\($0) is not a bit rate of 1 to 1000000 kb/s.")
      }
      return number
    }
  }
}
