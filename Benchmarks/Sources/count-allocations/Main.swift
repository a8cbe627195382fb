// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport
import CAllocationCounter

/// Encodes synthetic video in many configurations, and counts the allocations for each frame after
/// the first second.
@main
struct CountAllocations: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count-allocations",
    abstract: "Counts the allocations for each frame in the steady state.",
    discussion: "Fails if a figure is above its threshold (Benchmarks/Thresholds/allocations.json).")

  @OptionGroup var results: ResultOptions

  @Option(help: ArgumentHelp("Most that each figure may be, as JSON.", valueName: "file"))
  var thresholds: String?

  @Flag(help: "Stop at the first allocation of the engine after the first second, for a debugger.")
  var trap = false

  func run() throws {
    let clip = try MadeUpClip.pictures()
    let printer = ResultPrinter(results)
    var figures: [String: Double] = [:]
    var engine = ResultTable(
      "Allocations of H264Encoder", ["configuration", "first second", "later", "frames with any", "kbit/s"])
    for test in EngineCase.all {
      let count = try test.count(clip, traps: trap)
      figures["engine, allocations a frame"] = max(
        figures["engine, allocations a frame"] ?? 0, Double(count.later) / Double(count.laterFrames))
      engine.add([
        test.name, "\(count.first)", "\(count.later)", "\(count.framesWithAny) of \(count.laterFrames)",
        Figure.fixed(count.kilobits, 0),
      ])
    }
    try printer.add(engine)
    var sessions = ResultTable(
      "Allocations of a compression session, from EncodeFrame to its output's end",
      ["session", "a frame, later"])
    for test in SessionCase.allCases {
      let mean = try test.allocationsPerFrame(clip)
      figures["\(test.rawValue) session, allocations a frame"] = mean
      sessions.add([test.rawValue, Figure.fixed(mean, 2)])
    }
    try printer.add(sessions)
    guard let thresholds else { return }
    let complaints = try Thresholds(path: thresholds).complaints(about: figures)
    if !complaints.isEmpty { throw BenchmarkError(description: complaints.joined(separator: "\n")) }
    print("\nEvery figure is within its threshold.")
  }
}

/// The clip that both kinds of cases encode.
enum MadeUpClip {
  static let (width, height, frameRate, seconds) = (320, 192, 30, 5)

  /// A moving texture with scene changes and some noise. The chroma is also a texture, and can be
  /// read as separate planes or as interleaved pairs.
  static func pictures() throws -> ClipPictures {
    try ClipPictures(
      name: "made up", width: width, height: height, frameRate: Double(frameRate), count: frameRate * seconds
    ) { n, memory in
      var noise = UInt32(truncatingIfNeeded: n &* 2_654_435_761)
      let scene = n / 40
      for y in 0..<(height * 3 / 2) {
        for x in 0..<width {
          noise = noise &* 1_664_525 &+ 1_013_904_223
          memory[y * width + x] = Texture.sample(x: x, y: y, frame: n, scene: scene, noise: noise >> 28)
        }
      }
    }
  }
}
