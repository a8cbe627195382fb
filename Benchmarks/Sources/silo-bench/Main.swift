// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport
import Foundation
import VideoToolbox

/// Writes hours of frames to a frame silo, replaces a part of them in a second pass, and reads
/// them, in comparison with a plain file. It can also draw a chart of the memory use, which
/// includes two encoding passes over as many hours of small pictures.
@main
struct SiloBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "silo-bench", abstract: "Measures a frame silo: time for each frame, memory, size.",
    discussion: """
      Frames are 60 in a second of video, of random sizes and bytes; every 60th is ten times as large. --svg draws the \
      memory in use over the frames, and encodes as many hours of 25 small pictures a second in two passes, with a \
      multi-pass storage.
      """)

  @Option(help: "Hours of video.") var hours: Double = 2
  @Option(help: ArgumentHelp("Megabits for a second of video.", valueName: "mb")) var rate: Double = 2
  @Option(help: ArgumentHelp("Where the silo is.", valueName: "folder")) var folder: String?

  @Option(help: ArgumentHelp("Where to draw the memory in use.", valueName: "file")) var svg: String?

  @OptionGroup var results: ResultOptions

  func validate() throws {
    guard hours > 0, hours <= 1000, rate > 0, rate <= 1000 else {
      throw ValidationError("--hours and --rate must be over 0, and at most 1000.")
    }
  }

  func run() throws {
    let place = folder.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
    let url = place.appendingPathComponent("bench-\(getpid()).silo")
    let frames = max(100, Int(hours * 3600 * 60))
    let source = try SiloSource(meanSize: Int(rate * 1_000_000 / 8 / 60))
    let silo = try source.silo(at: url, frames: frames)
    var table = ResultTable(
      "\(frames) frames, \(hours) hours at \(rate) Mb/s",
      ["work", "frames", "microseconds a frame", "MB a second", "memory after each tenth, MB"])

    var curves: [MemoryCurve] = []

    /// - Parameter hundredth: does one hundredth of the work.
    func row(_ name: String, _ count: Int, _ bytes: () -> Int, _ hundredth: (Int) throws -> Void) throws {
      var curve = MemoryCurve(name: name)
      let before = bytes()
      let usage = try Usage.of {
        for number in 0..<100 {
          try hundredth(number)
          curve.resident.append(ProcessMemory.resident)
        }
      }
      curves.append(curve)
      let tenths = stride(from: 9, to: 100, by: 10).map { "\(curve.resident[$0] >> 20)" }
      table.add([
        name, "\(count)", Figure.fixed(usage.clock / Double(count) * 1e6, 1),
        Figure.fixed(Double(bytes() - before) / usage.clock / 1e6), tenths.joined(separator: " "),
      ])
    }

    let share = frames / 100
    try row("first pass", share * 100, { source.written }) { part in
      for index in part * share..<(part + 1) * share { try source.add(index, to: silo) }
    }
    // In ten time ranges, each of which is a separate pass.
    let again = share / 10
    try row("second pass, a tenth of the frames", again * 100, { source.written }) { part in
      let start = part / 10 * share * 10
      if part % 10 == 0 {
        let range = CMTimeRange(start: source.time(start), duration: source.time(again * 10))
        try source.check(
          VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: [range]))
      }
      let first = start + part % 10 * again
      for index in first..<first + again { try source.add(index, to: silo) }
    }
    var (read, count) = (0, 0)
    try row("reading", share * 100, { read }) { part in
      let range = CMTimeRange(start: source.time(part * share), duration: source.time(share))
      try source.check(
        VTFrameSiloCallBlockForEachSampleBuffer(silo, in: range) { sample in
          read += CMSampleBufferGetTotalSampleSize(sample)
          count += 1
          return noErr
        })
    }
    guard count == share * 100 else {
      throw BenchmarkError(description: "\(count) frames of \(share * 100) came back.")
    }
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0

    let plain = place.appendingPathComponent("bench-\(getpid()).bytes")
    guard FileManager.default.createFile(atPath: plain.path, contents: nil),
      let file = FileHandle(forWritingAtPath: plain.path)
    else { throw BenchmarkError(description: "\(plain.path) cannot be written.") }
    defer { try? FileManager.default.removeItem(at: plain) }
    var plainBytes = 0
    try row("the same bytes into a plain file", share * 100, { plainBytes }) { part in
      for index in part * share..<(part + 1) * share {
        plainBytes += try source.withBytes(index) { bytes in
          try file.write(contentsOf: Data(bytes))
          return bytes.count
        }
      }
    }
    if let svg {
      let passes = try StoragePasses(frames: max(100, Int(hours * 3600 * StoragePasses.frameRate)))
      for name in ["encoder, first pass", "encoder, second pass"] {
        try passes.begin()
        try row(name, passes.share * 100, { passes.bytes }) { try passes.encode($0) }
        try passes.end()
      }
      let title = "\(Figure.fixed(hours, 1)) hours of frames into a silo, and through two passes"
      // The plain file is not part of the chart, because it is not a silo.
      let drawn = curves.filter { !$0.name.hasPrefix("the same") }
      try MemoryChart(title: title, curves: drawn).svg.write(toFile: svg, atomically: true, encoding: .utf8)
    }
    try ResultPrinter(results).add(table)
    print("The silo's file: \(size >> 20) MB; the bytes of the frames: \(read >> 20) MB.")
  }
}
