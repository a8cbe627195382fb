// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// The stream depends on the configuration and the pictures, never on the threads' timing.
@Suite struct DeterminismTests {
  private static func stream(_ c: H264EncoderConfiguration, frames: Int, kind: SyntheticContent.Kind) throws
    -> [[UInt8]]
  {
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: kind, width: c.width, height: c.height, seed: 17)
    return try (0..<frames).map { n in
      try content.frame(n).withSource(planar: n % 2 == 1, padding: n) { try encoder.encode($0).data }
    }
  }

  private static func configuration(_ width: Int, _ height: Int) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.maximumReferences = 3
    c.lowLatency.adaptiveQuantisation = 0.6
    return c
  }

  @Test("Repeated with 1, 2 and 3 threads, by constant QP", arguments: [1, 2, 3])
  func theStreamIsTheSameWithAConstantQPEachTime(threads: Int) throws {
    var c = Self.configuration(98, 130)
    c.threads = threads
    let first = try Self.stream(c, frames: 5, kind: .mixed)
    for _ in 0..<4 {
      let again = try Self.stream(c, frames: 5, kind: .mixed)
      #expect(again == first)
    }
  }

  @Test("Repeated with 1, 2 and 3 threads, within a rate", arguments: [1, 2, 3])
  func theStreamIsTheSameWithinARateEachTime(threads: Int) throws {
    var c = Self.configuration(98, 130)
    c.threads = threads
    c.effort = 0
    c.lowLatency.rateControl = .averageBitRate(150_000)
    c.dataRateLimits = [.init(bytes: 8000, seconds: 0.5)]
    c.lowLatency.allowsFrameDropping = true
    c.lowLatency.sceneChange = .keyFrame
    c.slices = 2
    let first = try Self.stream(c, frames: 12, kind: .cuts)
    for _ in 0..<4 {
      let again = try Self.stream(c, frames: 12, kind: .cuts)
      #expect(again == first)
    }
  }

  /// Without a rate to keep, threads only share the work.
  @Test("With a constant QP the number of threads does not change the stream's pictures")
  func theNumberOfThreadsChangesNoPictureAtAConstantQP() throws {
    var c = Self.configuration(66, 98)
    c.lowLatency.rateControl = .constantQP(30)
    let alone = try Self.stream(c, frames: 4, kind: .motion)
    for threads in [2, 3, 16] {
      c.threads = threads
      let again = try Self.stream(c, frames: 4, kind: .motion)
      #expect(again == alone, "\(threads) threads")
    }
  }
}
