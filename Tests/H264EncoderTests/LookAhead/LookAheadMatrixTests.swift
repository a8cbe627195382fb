// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import H264Encoder

/// Random streams with a look-ahead (B pictures, pyramids, open groups of pictures, weights,
/// buffers, rates), each decoded by libavcodec to exactly the encoder's reconstruction, in the
/// order of presentation. `MatrixTests` says what sets how many.
@Suite struct LookAheadMatrixTests {
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  @Test("libavcodec gives the encoder's reconstruction of reordered streams, frame by frame")
  func libavcodecGivesTheEncodersReconstructionOfReorderedStreams() async throws {
    let count = Self.number("OVT_MATRIX_STREAMS") ?? 24
    let first = Self.number("OVT_MATRIX_SEED") ?? 1
    let workers = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
    let total = await withTaskGroup(of: Coverage.self) { group in
      for worker in 0..<workers {
        group.addTask {
          var sum = Coverage()
          for seed in stride(from: first + worker, to: first + count, by: workers) {
            let stream = LookAheadMatrixStream(seed: UInt64(seed))
            do {
              sum.add(try stream.verify())
            } catch {
              Issue.record("\(stream): \(error)")
            }
          }
          return sum
        }
      }
      return await group.reduce(into: Coverage()) { $0.add($1) }
    }
    print(
      "matrix with look-ahead: \(count) streams from seed \(first), \(total.frames) frames, \(total.keys) key"
        + " frames (\(total.open) open), \(total.reordered) shown after one that comes later,"
        + " \(total.droppable) that nothing refers to, \(total.recoded) coded again,"
        + " \(total.explicit) B pictures with a table of weights, \(total.implicit) weighted by distance,"
        + " \(total.temporal) with temporal direct")
    // The matrix reaches what it is for.
    #expect(total.keys >= count)
    if count >= 24 {
      #expect(total.reordered > count)
      #expect(total.droppable > count)
      #expect(total.open > count / 16)
      #expect(total.temporal > count)
    }
  }

  struct Coverage: Sendable {
    var frames = 0
    var keys = 0
    var open = 0
    var reordered = 0
    var droppable = 0
    var recoded = 0
    /// B pictures with weights of their own, and by distance.
    var explicit = 0
    var implicit = 0
    /// B pictures with temporal direct.
    var temporal = 0

    mutating func add(_ other: Coverage) {
      frames += other.frames
      keys += other.keys
      open += other.open
      reordered += other.reordered
      droppable += other.droppable
      recoded += other.recoded
      explicit += other.explicit
      implicit += other.implicit
      temporal += other.temporal
    }
  }
}

/// One of them: everything follows from the seed.
private struct LookAheadMatrixStream: CustomStringConvertible {
  let seed: UInt64
  let configuration: H264EncoderConfiguration
  let content: SyntheticContent
  let frames: Int
  private let options: [H264FrameOptions]

  init(seed: UInt64) {
    self.seed = seed
    var r = TestRandom(seed &+ 0x10_0000)
    let width = 16 + 2 * r.int(0...(r.chance(30) ? 90 : 40))
    let height = 16 + 2 * r.int(0...(r.chance(30) ? 70 : 32))
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.profile = r.chance(70) ? .high : r.chance(60) ? .main : .constrainedBaseline
    if c.profile != .constrainedBaseline, r.chance(30) { c.entropyCoding = .cavlc }
    c.frameRate = [15, 24, 29.97, 30, 60].randomElement(using: &r) ?? 30
    c.minimumQP = 0
    c.effort = r.int(0...H264EncoderConfiguration.maxEffort)
    c.threads = r.chance(50) ? 1 : r.int(2...4)
    c.slices = r.chance(25) ? r.int(1...min((height + 15) / 16, 4)) : 1
    c.maximumReferences = r.int(1...6)
    c.allowsTransform8x8 = r.chance(80)
    c.deblocking = r.chance(85)
    if r.chance(30) {
      c.deblockingAlphaOffset = r.int(-6...6)
      c.deblockingBetaOffset = r.int(-6...6)
    }
    c.allowsWeightedPrediction = r.chance(85)
    c.writesAccessUnitDelimiters = r.chance(30)
    if r.chance(40) { c.keyFrameInterval = r.chance(50) ? 4 * r.int(1...3) : r.int(1...12) }
    c.lookAhead.usesOpenGOP = r.chance(60)
    if r.chance(20) { c.lookAhead.keyFrameDuration = Double(r.int(1...8)) / 10 }
    c.lookAhead.placesKeyFramesAtCuts = r.chance(80)
    c.lookAhead.frames = r.chance(20) ? r.int(0...3) : r.int(4...24)
    c.lookAhead.maximumBidirectional = r.int(0...3)
    c.lookAhead.usesPyramid = r.chance(75)
    c.lookAhead.usesMacroblockTree = r.chance(80)
    c.lookAhead.adaptiveQuantisation = r.chance(50) ? 0 : Double(r.int(0...20)) / 10
    let bits = r.int(20...2000) * 1000
    switch r.int(0...3) {
    case 0: c.lookAhead.rate = .constantQP(r.int(0...51))
    case 1: c.lookAhead.rate = .quality(Double(r.int(0...510)) / 10)
    case 2: c.lookAhead.rate = .average(bits)
    default:
      c.lookAhead.rate = .constant(bits)
      c.lookAhead.buffer = .init(maximumRate: bits, size: bits / r.int(1...5))
    }
    if c.lookAhead.buffer == nil, r.chance(25) {
      let maximum = r.int(50...3000) * 1000
      c.lookAhead.buffer = .init(maximumRate: maximum, size: maximum / r.int(1...4))
    }
    c.lookAhead.writesBufferTiming = c.lookAhead.buffer != nil && r.chance(50)
    if case .constant = c.lookAhead.rate { c.lookAhead.frames = max(c.lookAhead.frames, 1) }
    var direct = TestRandom(seed &+ 0xD1_2EC7)
    c.lookAhead.directPrediction = direct.chance(20) ? .spatial : direct.chance(60) ? .temporal : .automatic
    configuration = c
    content = SyntheticContent(
      kind: SyntheticContent.Kind.allCases.randomElement(using: &r) ?? .motion, width: width,
      height: height, seed: seed)
    frames = r.int(2...30)
    let wishes = r.chance(60) ? 0 : r.int(3...20)
    options = (0..<frames).map { _ in
      var o = H264FrameOptions()
      o.isKeyFrame = r.chance(wishes)
      if r.chance(wishes) { o.qp = r.int(0...51) }
      if r.chance(wishes) { o.duration = Double(r.int(1...30)) / 60 }
      return o
    }
  }

  var description: String {
    let c = configuration
    return "seed \(seed): \(c.width)x\(c.height) \(c.profile) \(c.lookAhead.rate)"
      + " effort \(c.effort) threads \(c.threads) slices \(c.slices)"
      + " references \(c.maximumReferences) look-ahead \(c.lookAhead.frames) B \(c.lookAhead.maximumBidirectional)"
      + " direct \(c.lookAhead.directPrediction)"
      + " pyramid \(c.lookAhead.usesPyramid) open \(c.lookAhead.usesOpenGOP) \(frames) frames \(content.kind)"
  }

  func verify() throws -> LookAheadMatrixTests.Coverage {
    let run = try LookAheadRun(configuration, count: frames, options: { options[$0] }) { content.frame($0) }
    try run.check(count: frames, description)
    var coverage = LookAheadMatrixTests.Coverage()
    coverage.frames = frames
    coverage.recoded = run.encoder.recodedPictures
    coverage.explicit = run.encoder.weights?.explicitPictures ?? 0
    coverage.implicit = run.encoder.weights?.implicitPictures ?? 0
    coverage.temporal = run.encoder.temporalPictures
    var latest: UInt64 = 0
    for (n, frame) in run.frames.enumerated() {
      if frame.properties.isKeyFrame { coverage.keys += 1 }
      if frame.properties.isOpenGOP { coverage.open += 1 }
      if !frame.properties.isReference { coverage.droppable += 1 }
      if n > 0, frame.properties.index < latest { coverage.reordered += 1 }
      latest = max(latest, frame.properties.index)
    }
    return coverage
  }
}
