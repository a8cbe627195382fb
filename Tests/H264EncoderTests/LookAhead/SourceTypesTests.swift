// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Sources that were compressed before, as libavcodec decodes them.
@Suite struct SourceTypesTests {
  private static let (width, height, count) = (320, 192, 44)

  /// A texture with noise that moves by fractions of a sample.
  private static func content(_ n: Int) -> PlanarFrame {
    func lattice(_ x: Int, _ y: Int) -> Int {
      Int(SyntheticContent.hash(UInt64(bitPattern: Int64(x)), UInt64(bitPattern: Int64(y)), 7) & 127)
    }
    var frame = PlanarFrame(width: width, height: height, y: [], u: [], v: [])
    // In quarters of a sample; the texture has a knot every 4 samples.
    let (left, top) = (n * 7, n * 5)
    for y in 0..<height {
      for x in 0..<width {
        let (u, v) = (x * 4 + left, y * 4 + top)
        let (i, j, a, b) = (u >> 4, v >> 4, u & 15, v & 15)
        let above = lattice(i, j) * (16 - a) + lattice(i + 1, j) * a
        let below = lattice(i, j + 1) * (16 - a) + lattice(i + 1, j + 1) * a
        let noise = Int(SyntheticContent.hash(UInt64(n), UInt64(y << 16 | x), 9) % 9) - 4
        frame.y.append(UInt8(64 + (above * (16 - b) + below * b) / 256 + noise))
      }
    }
    frame.u = [UInt8](repeating: 128, count: width * height / 4)
    frame.v = frame.u
    return frame
  }

  private static func encode(
    bidirectional: Int, quality: Double, _ content: (Int) -> PlanarFrame
  ) throws -> LookAheadRun {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.effort = 3
    c.maximumReferences = 3
    c.lookAhead.maximumBidirectional = bidirectional
    // Three B pictures in a row, none of which is a reference.
    c.lookAhead.usesPyramid = quality == 20
    c.lookAhead.rate = .quality(quality)
    return try LookAheadRun(c, count: count, content: content)
  }

  /// Which pictures are B pictures, by the order of input: a later one was decoded before them.
  private static func types(_ run: LookAheadRun) -> String {
    var newest: UInt64 = 0
    var types = [Character](repeating: "P", count: run.frames.count)
    for frame in run.frames {
      if frame.properties.index < newest { types[Int(frame.properties.index)] = "B" }
      newest = max(newest, frame.properties.index)
    }
    return String(types)
  }

  @Test(
    "P and B pictures of a source that was compressed before remain what they were", arguments: [0, 1, 3])
  func typesRemain(bidirectional: Int) throws {
    let first = try Self.encode(bidirectional: bidirectional, quality: 26, Self.content)
    let decoded = try first.decoded()
    let second = try Self.encode(bidirectional: 3, quality: 20) { decoded[$0] }
    try second.check(count: Self.count)
    // The last pictures have too few after them that would tell, and one in ten others matches too
    // little.
    let (a, b) = (Self.types(second).dropLast(4), Self.types(first).dropLast(4))
    #expect(zip(a, b).count { $0 != $1 } <= 4, "\(a) in place of \(b)")
  }

  @Test("A source that was not compressed has as many B pictures as are allowed")
  func otherSourcesAreNotChanged() throws {
    let run = try Self.encode(bidirectional: 3, quality: 20, Self.content)
    #expect(Self.types(run) == "P" + String(repeating: "BBBP", count: 10) + "BBP")
  }
}
