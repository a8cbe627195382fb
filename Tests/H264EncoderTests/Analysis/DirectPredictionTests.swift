// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Which way B pictures infer motion.
@Suite("Direct prediction") struct DirectPredictionTests {
  private static let (width, height) = (192, 128)

  /// Windows of 16x16, behind each of which a texture of its own passes steadily, in another
  /// direction than its neighbours'.
  private static func windows(_ n: Int) -> PlanarFrame {
    var frame = PlanarFrame(
      width: width, height: height, y: [UInt8](repeating: 0, count: width * height),
      u: [UInt8](repeating: 128, count: width / 2 * (height / 2)),
      v: [UInt8](repeating: 128, count: width / 2 * (height / 2)))
    for y in 0..<height {
      for x in 0..<width {
        let window = UInt64(y / 16 * 100 + x / 16)
        let h = SyntheticContent.hash(window, 1, 2)
        let (vx, vy) = (Int(h % 5) - 2, Int(h >> 8 % 5) - 2)
        // Smooth enough for a search to find it.
        var sum = 0
        for i in 0..<4 {
          let (u, v) = (x + vx * n + i % 2 * 2 + 4096, y + vy * n + i / 2 * 2 + 4096)
          sum += Int(SyntheticContent.hash(window, UInt64(u / 4), UInt64(v / 4)) & 127)
        }
        frame.y[y * width + x] = UInt8(40 + sum / 4)
      }
    }
    return frame
  }

  private static func run(
    _ way: H264EncoderConfiguration.LookAhead.DirectPrediction, threads: Int = 1,
    content: (Int) -> PlanarFrame
  ) throws -> LookAheadRun {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.lookAhead.rate = .quality(30)
    c.effort = 4
    c.threads = threads
    c.maximumReferences = 4
    c.lookAhead.adaptiveQuantisation = 0
    // Half of the way between two P pictures, temporal direct has all that it takes.
    c.lookAhead.maximumBidirectional = 1
    c.lookAhead.directPrediction = way
    return try LookAheadRun(c, count: 33, content: content)
  }

  @Test("Neighbours that move apart steadily: all ways decode to the same pictures, with any threads")
  func allDirectModesDecodeToTheSamePictures() throws {
    var bits: [Int] = []
    for way in [H264EncoderConfiguration.LookAhead.DirectPrediction.spatial, .temporal, .automatic] {
      let run = try Self.run(way, content: Self.windows)
      try run.check(count: 33, "\(way)")
      bits.append(run.bits)
      let shared = try Self.run(way, threads: 3, content: Self.windows)
      #expect(shared.frames.map(\.data) == run.frames.map(\.data), "\(way)")
      #expect((run.encoder.temporalPictures > 0) == (way == .temporal) || way == .automatic)
    }
    print("direct: spatial, temporal, automatic \(bits) bits")
    #expect(bits[1] * 100 <= bits[0] * 105)
    #expect(bits[2] * 100 <= bits[0] * 101)
  }

  @Test("Each kind of B picture goes the way that left less, if clearly less")
  func eachKindOfBPictureGoesTheWayThatLeftLess() {
    let order = StreamOrder(capacity: 4, maxFrameNum: 16)
    var choice = DirectChoice()
    func isTemporal(
      _ isReference: Bool, _ way: H264EncoderConfiguration.LookAhead.DirectPrediction = .automatic
    ) -> Bool {
      var plan = PicturePlan()
      plan.isReference = isReference
      choice.choose(&plan, way, order)
      #expect(plan.comparesDirect == (way == .automatic))
      return !plan.header.usesSpatialDirect
    }
    // Nothing is known.
    #expect(!isTemporal(true))
    choice.add(DirectCosts(spatial: 1000, temporal: 900))
    // Of others nothing still.
    #expect(isTemporal(true) && !isTemporal(false))
    choice.add(DirectCosts(spatial: 1000, temporal: 980))
    #expect(isTemporal(true) && !isTemporal(false))
    #expect(isTemporal(true))
    // Earlier values are halved: 0.5 * 1000 + 1000 and 0.5 * 900 + 1010.
    choice.add(DirectCosts(spatial: 1000, temporal: 1010))
    #expect(!isTemporal(true))
    #expect(isTemporal(true, .temporal) && !isTemporal(true, .spatial))
  }

  @Test("A camera's motion: the automatic choice loses nothing")
  func theAutomaticChoiceLosesNothingUnderCameraMotion() throws {
    let content = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 4)
    let spatial = try Self.run(.spatial) { content.frame($0) }
    let automatic = try Self.run(.automatic) { content.frame($0) }
    print("direct: spatial \(spatial.bits), automatic \(automatic.bits) bits")
    #expect(automatic.bits * 100 <= spatial.bits * 101)
  }

  @Test("Spatial direct is the default")
  func spatialDirectIsTheDefault() {
    #expect(H264EncoderConfiguration.lookAhead(width: 64, height: 64).lookAhead.directPrediction == .spatial)
  }
}
