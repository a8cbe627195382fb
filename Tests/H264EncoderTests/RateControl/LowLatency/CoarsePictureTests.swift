// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Pictures that take more bits than there are at the highest QP.
@Suite struct CoarsePictureTests {
  @Test(
    "Noise that the highest QP does not make small enough changes in all rows, and keeps to the rate",
    arguments: [1, 3], [1, 2])
  func noRowStandsStill(effort: Int, threads: Int) throws {
    let (width, height, rate) = (320, 192, 150_000)
    var c = H264EncoderConfiguration(width: width, height: height)
    c.frameRate = 25
    c.effort = effort
    c.threads = threads
    c.lowLatency.rateControl = .averageBitRate(rate)
    let encoder = try H264Encoder(configuration: c)
    let content = BlockNoise(width: width, height: height)
    let count = 50
    var still = [Int](repeating: 0, count: height / 16)
    var last: [UInt8] = []
    var bits = 0
    for n in 0..<count {
      try content.frame(n, isNoisy: true).withSource(planar: true, padding: 0) { source in
        try encoder.encode(source, options: H264FrameOptions()) { bits += $0.properties.bits }
      }
      let luma = encoder.withReconstruction { luma, _, stride in
        (0..<height).flatMap { y in UnsafeBufferPointer(start: luma + y * stride, count: width) }
      }
      let picture = try #require(luma)
      // The first pictures are those from which the rate control learns.
      if n > 10 {
        for row in still.indices {
          let range = row * 16 * width..<(row + 1) * 16 * width
          if picture[range] == last[range] { still[row] += 1 }
        }
      }
      last = picture
    }
    #expect(still.allSatisfy { $0 < (count - 11) / 2 }, "\(still)")
    let taken = Double(bits) * 25 / Double(count)
    #expect(taken < 1.1 * Double(rate) && taken > 0.7 * Double(rate), "\(taken)")
  }
}
