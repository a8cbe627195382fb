// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder
import Testing

@Suite("Pictures that take more bits than there are at the highest QP")
struct CoarsePictureTests {
  private static let (width, height) = (320, 192)

  /// Blocks of 8x8 samples of random grey, which are others in each picture.
  private static func picture(_ n: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(n))
    var luma = [UInt8](repeating: 0, count: width * height)
    for y in stride(from: 0, to: height, by: 8) {
      for x in stride(from: 0, to: width, by: 8) {
        let level = UInt8(64 + generator.next() % 128)
        for line in y..<y + 8 { for column in x..<x + 8 { luma[line * width + column] = level } }
      }
    }
    return luma
  }

  @Test("Noise changes in all rows of coding tree units, and keeps to the rate", arguments: [1, 2])
  func noRowStandsStill(threads: Int) throws {
    let (width, height, rate) = (Self.width, Self.height, 30_000)
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.frameRate = 25
    configuration.effort = 1
    configuration.threads = threads
    configuration.lowLatency.rateControl = .averageBitRate(rate)
    let encoder = try HEVCEncoder(configuration: configuration)
    let chroma = [UInt8](repeating: 128, count: width * height / 2)
    var still = [Int](repeating: 0, count: height / 32)
    var last: [UInt8] = []
    var bits = 0
    let count = 60
    for n in 0..<count {
      let luma = Self.picture(n)
      try luma.withUnsafeBufferPointer { luma in
        try chroma.withUnsafeBufferPointer { chroma in
          let source = SourcePicture(
            width: width, height: height, luma: try #require(luma.baseAddress), lumaBytesPerRow: width,
            chroma: .interleaved(try #require(chroma.baseAddress), bytesPerRow: width))
          bits += try encoder.encode(source).data.count * 8
        }
      }
      let picture = try #require(
        encoder.withReconstruction { luma, _, _, stride, _ in
          (0..<height).flatMap { UnsafeBufferPointer(start: luma + $0 * stride, count: width) }
        })
      // The rate control learns from the first pictures.
      if n > 15 {
        for row in still.indices {
          let range = row * 32 * width..<(row + 1) * 32 * width
          if picture[range] == last[range] { still[row] += 1 }
        }
      }
      last = picture
    }
    #expect(still.allSatisfy { $0 < (count - 16) / 2 }, "\(still)")
    let taken = Double(bits) * 25 / Double(count)
    #expect(taken < 1.05 * Double(rate) && taken > 0.8 * Double(rate), "\(taken)")
  }
}
