// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Pictures most of which lie still, with small parts that change for a while and then rest: what
/// of an older picture stays in memory is used again, and that must never show.
@Suite struct StillnessTests {
  /// A texture that does not move, and patches of it that are new every few frames.
  private struct Patches {
    let ground: PlanarFrame
    let seed: UInt64

    init(width: Int, height: Int, seed: UInt64) {
      ground = SyntheticContent(kind: .motion, width: width, height: height, seed: seed).frame(0)
      self.seed = seed
    }

    func frame(_ n: Int) -> PlanarFrame {
      var frame = ground
      for patch in 0..<4 {
        var random = TestRandom(seed &+ UInt64(patch) &* 977)
        let period = 1 + patch * 2
        // Each patch rests for a third of the time.
        if n / 12 % 3 == patch % 3 { continue }
        let step = n / period
        for _ in 0..<(step % 5) { _ = random.next() }
        let size = 4 + Int(random.next() % 28)
        let x0 = Int(random.next() % UInt64(max(frame.width - size, 1)))
        let y0 = Int(random.next() % UInt64(max(frame.height - size, 1)))
        let shade = UInt8(truncatingIfNeeded: random.next())
        for y in y0..<min(y0 + size, frame.height) {
          for x in x0..<min(x0 + size, frame.width) {
            frame.y[y * frame.width + x] = shade &+ UInt8(truncatingIfNeeded: (x ^ y) & 15)
            if (x | y) & 1 == 0 && x / 2 < frame.width / 2 && y / 2 < frame.height / 2 {
              frame.u[y / 2 * (frame.width / 2) + x / 2] = 255 - shade
            }
          }
        }
      }
      return frame
    }
  }

  private static func configuration(_ seed: Int, width: Int, height: Int) -> H264EncoderConfiguration {
    var random = TestRandom(UInt64(seed))
    func chance(_ n: UInt64) -> Bool { random.next() % n == 0 }
    var c = H264EncoderConfiguration(width: width, height: height)
    c.effort = seed % (H264EncoderConfiguration.maxEffort + 1)
    c.entropyCoding = chance(2) ? .cavlc : .cabac
    c.maximumReferences = 1 + Int(random.next() % 4)
    c.lowLatency.longTermReferences = c.maximumReferences > 1 && chance(2) ? 1 : 0
    c.lowLatency.allowsNonReferenceFrames = chance(3)
    c.threads = chance(3) ? 3 : 1
    // OpenH264 takes 32 slices of a picture at most.
    if chance(4) { c.maximumSliceBytes = 1200 } else if chance(3) { c.slices = 2 }
    c.deblocking = !chance(6)
    c.lowLatency.adaptiveQuantisation = chance(2) ? 1 : 0
    if chance(2) {
      c.lowLatency.rateControl = .averageBitRate(120_000)
      // Tight enough that pictures of several threads are coded again.
      if chance(2) { c.dataRateLimits = [.init(bytes: 6_000, seconds: 0.5)] }
    } else {
      c.lowLatency.rateControl = .constantQP(18 + Int(random.next() % 20))
    }
    if chance(5) { c.lowLatency.intraRefreshPeriod = 12 }
    return c
  }

  private static func options(_ n: Int, _ c: H264EncoderConfiguration, _ random: inout TestRandom)
    -> H264FrameOptions
  {
    var options = H264FrameOptions()
    options.isReference = !(c.lowLatency.allowsNonReferenceFrames && n % 2 == 1)
    options.isKeyFrame = random.next() % 40 == 0
    if options.isReference && c.lowLatency.longTermReferences > 0 && random.next() % 8 == 0 {
      options.longTermSlot = 0
    }
    return options
  }

  @Test("Memory used again: the stream is the same, and decodes to the reconstruction", arguments: 0..<42)
  func memoryUsedAgainDoesNotShow(seed: Int) throws {
    let (width, height) = seed % 3 == 0 ? (176, 144) : seed % 3 == 1 ? (210, 98) : (128, 64)
    let c = Self.configuration(seed, width: width, height: height)
    let encoder = try LowLatencyEncoder(configuration: c)
    let plain = try LowLatencyEncoder(configuration: c)
    plain.coder.reusesMemory = false
    let decoders = ReferenceDecoder.Kind.allCases.compactMap { ReferenceDecoder($0) }
    // A decoder may hold frames back.
    var reconstructions: [PlanarFrame] = []
    var shown = decoders.map { _ in 0 }
    func compare(_ i: Int, _ frame: PlanarFrame) {
      guard shown[i] < reconstructions.count else {
        Issue.record("\(decoders[i].kind) gives more frames than it got")
        return
      }
      #expect(
        reconstructions[shown[i]].firstDifference(frame) == nil, "\(decoders[i].kind), frame \(shown[i])")
      shown[i] += 1
    }
    let content = Patches(width: width, height: height, seed: UInt64(seed))
    var random = TestRandom(UInt64(seed) &+ 1000)
    for n in 0..<48 {
      let options = Self.options(n, c, &random)
      if n % 15 == 14, let lost = encoder.availableReferences.max(), encoder.availableReferences.count > 1 {
        encoder.invalidateReferences(from: lost)
        plain.invalidateReferences(from: lost)
      }
      let (unit, isDropped) = try content.frame(n).withSource(planar: n % 2 == 0, padding: 0) { source in
        let unit = try encoder.encode(source, options: options)
        #expect(unit.data == (try plain.encode(source, options: options).data), "frame \(n)")
        return (unit.data, unit.properties.isDropped)
      }
      if isDropped { continue }
      reconstructions.append(try #require(encoder.reconstruction(width: width, height: height)))
      for i in decoders.indices {
        if let frame = try decoders[i].decode(unit) { compare(i, frame) }
      }
    }
    for i in decoders.indices {
      while let frame = try decoders[i].drain() { compare(i, frame) }
      #expect(shown[i] == reconstructions.count, "\(decoders[i].kind)")
    }
  }
}
