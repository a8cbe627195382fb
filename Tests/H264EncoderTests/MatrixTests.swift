// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import H264Encoder

/// Random streams, each decoded by independent decoders to exactly the encoder's reconstruction.
///
/// `OVT_MATRIX_STREAMS` says how many (the full matrix: 2000 and more, in a release build) and
/// `OVT_MATRIX_SEED` where to begin.
@Suite struct MatrixTests {
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  @Test("Decoders give the encoder's reconstruction, frame by frame", arguments: [false, true])
  func decodersGiveTheEncodersReconstructionFrameByFrame(is444: Bool) async throws {
    let count = Self.number("OVT_MATRIX_STREAMS") ?? 40
    let first = Self.number("OVT_MATRIX_SEED") ?? 1
    let workers = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
    let start = Date()
    let (total, failures) = await withTaskGroup(of: (MatrixStream.Coverage, [String]).self) { group in
      for worker in 0..<workers {
        group.addTask {
          var sum = MatrixStream.Coverage()
          var failures: [String] = []
          for seed in stride(from: first + worker, to: first + count, by: workers) {
            do {
              let coverage = try MatrixStream(seed: UInt64(seed), is444: is444).verify()
              sum.frames += coverage.frames
              sum.dropped += coverage.dropped
              sum.intra += coverage.intra
              sum.skipped += coverage.skipped
              sum.weighted += coverage.weighted
              sum.comparisons += coverage.comparisons
            } catch {
              failures.append("\(error)")
            }
          }
          return (sum, failures)
        }
      }
      var total = MatrixStream.Coverage()
      var failures: [String] = []
      for await (sum, failed) in group {
        total.frames += sum.frames
        total.dropped += sum.dropped
        total.intra += sum.intra
        total.skipped += sum.skipped
        total.weighted += sum.weighted
        total.comparisons += sum.comparisons
        failures += failed
      }
      return (total, failures)
    }
    for failure in failures { Issue.record(Comment(rawValue: failure)) }
    let coded = Double(max(1, total.frames - total.dropped))
    print(
      "matrix \(is444 ? "4:4:4" : "4:2:0"): \(count) streams from seed \(first), \(total.frames) frames (\(total.dropped) dropped),"
        + " \(total.comparisons) comparisons, \(failures.count) failures,"
        + String(
          format: " %.0f %% intra, %.0f %% skipped,", total.intra / coded * 100, total.skipped / coded * 100)
        + " \(total.weighted) pictures weighted,"
        // check-tests: printed, not compared
        + String(format: " %.0f s", Date().timeIntervalSince(start)))
    // One decoder alone knows 4:4:4, and not streams of very many slices.
    let fewest = (total.frames - total.dropped) * (is444 ? 9 : 10) / 10
    #expect(total.comparisons >= fewest || !failures.isEmpty)
  }
}
