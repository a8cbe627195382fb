// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Macroblocks whose partitions cost about as much as one vector for all of it are coded both ways,
/// and nothing of what was tried may be left in the picture.
@Suite struct CloseChoiceTests {
  /// A texture that lies still, in which an 8x8 block of some macroblocks moves or gets a little
  /// lighter: the macroblock's own vector stays that of P_Skip, and partitions are not much better.
  /// Chroma of some moves or changes by so little that its levels are a matter of their cost.
  private static func frame(_ n: Int, ground: PlanarFrame, seed: UInt64) -> PlanarFrame {
    var frame = ground
    var random = TestRandom(seed &* 1000 &+ UInt64(n))
    for my in 0..<frame.height / 16 {
      for mx in 0..<frame.width / 16 {
        let kind = random.next() % 4
        let (x0, y0) = (mx * 16 + Int(random.next() % 2) * 8, my * 16 + Int(random.next() % 2) * 8)
        let (dx, dy) = (Int(random.next() % 5) - 2, Int(random.next() % 5) - 2)
        let shade = Int(random.next() % 25) - 12
        let tint = (Int(random.next() % 9) - 4, Int(random.next() % 9) - 4)
        for y in my * 8..<my * 8 + 8 {
          for x in mx * 8..<mx * 8 + 8 {
            let at = y * frame.width / 2 + x
            frame.u[at] = UInt8(clamping: Int(frame.u[at]) + tint.0)
            frame.v[at] = UInt8(clamping: Int(frame.v[at]) + (x + y) % 3 * tint.1)
          }
        }
        guard kind < 3 else { continue }
        for y in y0..<y0 + 8 {
          for x in x0..<x0 + 8 {
            let from =
              kind < 2
              ? min(max(y + dy, 0), frame.height - 1) * frame.width + min(max(x + dx, 0), frame.width - 1)
              : y * frame.width + x
            frame.y[y * frame.width + x] = UInt8(clamping: Int(ground.y[from]) + (kind < 2 ? 0 : shade))
          }
        }
      }
    }
    return frame
  }

  @Test(
    "What is coded to compare leaves nothing behind", arguments: 4...9,
    Array(stride(from: 14, through: 44, by: 2)))
  func whatIsCodedToCompareLeavesNothingBehind(effort: Int, qp: Int) throws {
    let (width, height) = (192, 128)
    var c = H264EncoderConfiguration(width: width, height: height)
    c.effort = effort
    c.maximumReferences = 3
    c.lowLatency.rateControl = .constantQP(qp)
    let encoder = try LowLatencyEncoder(configuration: c)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    let ground = SyntheticContent(
      kind: qp % 4 == 0 ? .motion : .mixed, width: width, height: height, seed: UInt64(qp)
    ).frame(0)
    var reconstructions: [PlanarFrame] = []
    var shown = 0
    func compare(_ frame: PlanarFrame) {
      #expect(reconstructions[shown].firstDifference(frame) == nil, "frame \(shown)")
      shown += 1
    }
    for n in 0..<20 {
      let data = try Self.frame(n, ground: ground, seed: UInt64(qp)).withSource(planar: true, padding: 0) {
        try encoder.encode($0).data
      }
      reconstructions.append(try #require(encoder.reconstruction(width: width, height: height)))
      if let frame = try decoder.decode(data) { compare(frame) }
    }
    while let frame = try decoder.drain() { compare(frame) }
    #expect(shown == 20)
  }
}
