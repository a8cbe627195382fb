// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport
import Foundation
import VideoToolbox

/// Hours of frames into a frame silo, a part of them again in a second pass, and out again; beside a plain file.
@main
struct SiloBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "silo-bench", abstract: "Measures a frame silo: time for each frame, memory, size.",
    discussion: """
      Frames are 60 in a second of video, of random sizes and bytes; every 60th is ten times as large.
      """)

  @Option(help: "Hours of video.") var hours: Double = 2
  @Option(help: ArgumentHelp("Megabits for a second of video.", valueName: "mb")) var rate: Double = 2
  @Option(help: ArgumentHelp("Where the silo is.", valueName: "folder")) var folder: String?

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

    func row(_ name: String, _ count: Int, _ bytes: () -> Int, _ tenth: (Int) throws -> Void) throws {
      var memory: [String] = []
      let before = bytes()
      let usage = try Usage.of {
        for number in 0..<10 {
          try tenth(number)
          memory.append("\(ProcessMemory.resident >> 20)")
        }
      }
      table.add([
        name, "\(count)", Figure.fixed(usage.clock / Double(count) * 1e6, 1),
        Figure.fixed(Double(bytes() - before) / usage.clock / 1e6), memory.joined(separator: " "),
      ])
    }

    let share = frames / 10
    try row("first pass", share * 10, { source.written }) { tenth in
      for index in tenth * share..<(tenth + 1) * share { try source.add(index, to: silo) }
    }
    try row("second pass, a tenth of the frames", share / 10 * 10, { source.written }) { tenth in
      let range = CMTimeRange(
        start: source.time(tenth * share), duration: source.time(share / 10))
      try source.check(
        VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: [range]))
      for index in tenth * share..<tenth * share + share / 10 { try source.add(index, to: silo) }
    }
    var (read, count) = (0, 0)
    try row("reading", share * 10, { read }) { tenth in
      let range = CMTimeRange(start: source.time(tenth * share), duration: source.time(share))
      try source.check(
        VTFrameSiloCallBlockForEachSampleBuffer(silo, in: range) { sample in
          read += CMSampleBufferGetTotalSampleSize(sample)
          count += 1
          return noErr
        })
    }
    guard count == share * 10 else {
      throw BenchmarkError(description: "\(count) frames of \(share * 10) came back.")
    }
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0

    let plain = place.appendingPathComponent("bench-\(getpid()).bytes")
    guard FileManager.default.createFile(atPath: plain.path, contents: nil),
      let file = FileHandle(forWritingAtPath: plain.path)
    else { throw BenchmarkError(description: "\(plain.path) cannot be written.") }
    defer { try? FileManager.default.removeItem(at: plain) }
    var plainBytes = 0
    try row("the same bytes into a plain file", share * 10, { plainBytes }) { tenth in
      for index in tenth * share..<(tenth + 1) * share {
        plainBytes += try source.withBytes(index) { bytes in
          try file.write(contentsOf: Data(bytes))
          return bytes.count
        }
      }
    }
    try ResultPrinter(results).add(table)
    print("The silo's file: \(size >> 20) MB; the bytes of the frames: \(read >> 20) MB.")
  }
}
