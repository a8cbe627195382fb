// SPDX-License-Identifier: Apache-2.0
import H264Encoder
import HEVCEncoder
import Testing
import VideoEncoding

@Suite("Picture types of sources that were compressed with H.264")
struct SourceTypesTests {
  private static let (width, height, count) = (320, 192, 48)

  /// A sample of a texture with noise that moves by fractions of a sample.
  private static func sample(_ x: Int, _ y: Int, _ n: Int, _ noise: inout SeededGenerator) -> UInt8 {
    func knot(_ x: Int, _ y: Int) -> Int {
      var generator = SeededGenerator(seed: UInt64(x) &* 0x9E37_79B9 &+ UInt64(y) &* 0xC2B2_AE3D)
      return Int(generator.next() >> 20 & 127)
    }
    // In quarters of a sample; the texture has a knot every 4 samples.
    let (u, v) = (x * 4 + n * 7, y * 4 + n * 5)
    let (i, j, a, b) = (u >> 4, v >> 4, u & 15, v & 15)
    let above = knot(i, j) * (16 - a) + knot(i + 1, j) * a
    let below = knot(i, j + 1) * (16 - a) + knot(i + 1, j + 1) * a
    return UInt8(64 + (above * (16 - b) + below * b) / 256 + Int(noise.next() % 9) - 4)
  }

  /// Pictures as a decoder of H.264 shows them, all of which were I or P pictures: luma, and chroma
  /// without colour.
  private static func source() throws -> [[UInt8]] {
    var configuration = H264EncoderConfiguration(width: width, height: height)
    configuration.effort = 3
    configuration.lowLatency.rateControl = .constantQP(26)
    let encoder = try H264Encoder(configuration: configuration)
    var noise = SeededGenerator(seed: 5)
    return try (0..<count).map { n in
      var luma: [UInt8] = []
      for y in 0..<height { for x in 0..<width { luma.append(sample(x, y, n, &noise)) } }
      try withPicture(luma) { _ = try encoder.encode($0) as H264EncodedFrame }
      return try #require(
        encoder.withReconstruction { luma, _, bytesPerRow in
          (0..<height).flatMap { y in (0..<width).map { luma[y * bytesPerRow + $0] } }
        })
    }
  }

  private static func withPicture(_ luma: [UInt8], _ body: (SourcePicture) throws -> Void) throws {
    let chroma = [UInt8](repeating: 128, count: width * height / 2)
    // An error that is thrown through these closures is caught first.
    let result = luma.withUnsafeBufferPointer { luma in
      chroma.withUnsafeBufferPointer { chroma in
        Result {
          guard let luma = luma.baseAddress, let chroma = chroma.baseAddress else { return }
          try body(
            SourcePicture(
              width: width, height: height, luma: luma, lumaBytesPerRow: width,
              chroma: .interleaved(chroma, bytesPerRow: width)))
        }
      }
    }
    try result.get()
  }

  /// The number of B pictures, by the order of input: a later picture was decoded before them.
  private static func bidirectionalCount(_ pictures: [[UInt8]], rate: LookAheadRate) throws -> Int {
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.effort = 1
    configuration.maximumReferences = 4
    configuration.minimumQP = 0
    configuration.lookAhead = HEVCEncoderConfiguration.LookAhead()
    configuration.lookAhead.rate = rate
    configuration.lookAhead.frames = 20
    let encoder = try HEVCEncoder(configuration: configuration)
    var order: [UInt64] = []
    func add(_ frame: consuming HEVCEncodedFrame) { order.append(frame.properties.index) }
    for picture in pictures { try withPicture(picture) { try encoder.encode($0, output: add) } }
    encoder.flush(output: add)
    var newest: UInt64 = 0
    return order.count { index in
      defer { newest = max(newest, index) }
      return index < newest
    }
  }

  @Test("At fine rates P pictures of the source remain P pictures, at coarse ones B pictures come")
  func rates() throws {
    let pictures = try Self.source()
    // The first pictures are coded before the QP and the types are known, and the last ones have
    // too few behind them.
    for rate in [LookAheadRate.average(8_000_000), .quality(20)] {
      let count = try Self.bidirectionalCount(pictures, rate: rate)
      #expect(count <= Self.count / 4, "\(rate): \(count)")
    }
    for rate in [LookAheadRate.average(150_000), .quality(30)] {
      let count = try Self.bidirectionalCount(pictures, rate: rate)
      #expect(count > Self.count / 2, "\(rate): \(count)")
    }
  }
}
