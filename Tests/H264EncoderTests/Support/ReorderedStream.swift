// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

@testable import H264Encoder

/// One random stream with B pictures: everything follows from the seed.
struct ReorderedStream: CustomStringConvertible {
  let seed: UInt64
  let configuration: H264EncoderConfiguration
  let content: SyntheticContent
  let pattern: ReorderedPattern
  let pictures: [ReorderedPicture]
  let weightedBipredIDC: Int
  /// QP offsets of the macroblocks.
  let offsets: [Int8]?
  /// Bits that each picture should take.
  let budget: Int?
  /// Whether each picture, if it is a B picture, has temporal direct.
  let temporal: [Bool]

  struct Failure: Error, CustomStringConvertible { var description: String }

  init(seed: UInt64) {
    self.seed = seed
    var r = TestRandom(seed &+ 0xB1D1)
    let big = r.chance(10)
    let width = 16 + 2 * r.int(0...(big ? 150 : 40))
    let height = 16 + 2 * r.int(0...(big ? 100 : 30))
    var c = H264EncoderConfiguration(width: width, height: height)
    c.profile = r.chance(70) ? .high : .main
    c.entropyCoding = r.chance(40) ? .cavlc : .cabac
    c.minimumQP = 0
    c.effort = r.int(0...H264EncoderConfiguration.maxEffort)
    c.threads = r.chance(50) ? 1 : 2
    let rows = (height + 15) / 16
    if r.chance(40) { c.slices = r.int(1...min(rows, 4)) }
    let slicesBySize = r.chance(10)
    let bytes = [150, 400, 1000].randomElement(using: &r)!
    // libavcodec complains of more than 31 slices.
    if slicesBySize && rows * ((width + 15) / 16) < 32 { c.maximumSliceBytes = bytes }
    c.maximumReferences = ReorderedCoder.capacity
    c.lowLatency.allowsNonReferenceFrames = true
    c.allowsTransform8x8 = r.chance(70)
    c.allowsWeightedPrediction = false
    c.deblocking = r.chance(85)
    if r.chance(40) {
      c.deblockingAlphaOffset = r.int(-6...6)
      c.deblockingBetaOffset = r.int(-6...6)
    }
    configuration = c
    content = SyntheticContent(
      kind: SyntheticContent.Kind.allCases.randomElement(using: &r)!, width: width, height: height, seed: seed
    )
    pattern = [.ibbp, .pyramid4, .pyramid8].randomElement(using: &r)!
    let qp = r.chance(20) ? [0, 1, 2, 50].randomElement(using: &r)! : r.int(0...51)
    var pictures = pattern.pictures(
      count: r.int(3...14), qp: qp, offset: r.int(0...4), maximum: r.chance(50) ? 1 : r.int(2...4))
    // Lists in an order that makes no sense are allowed too.
    if r.chance(30) {
      for i in pictures.indices where pictures[i].kind == .b && r.chance(50) {
        pictures[i].list0.shuffle(using: &r)
        pictures[i].list1.shuffle(using: &r)
        if r.chance(30) {
          (pictures[i].list0, pictures[i].list1) = (pictures[i].list1, pictures[i].list0)
        }
      }
    }
    self.pictures = pictures
    // Explicit weights (1) stay at their defaults.
    weightedBipredIDC = r.int(0...2)
    offsets = r.chance(30) ? (0..<4096).map { _ in Int8(r.int(-6...6)) } : nil
    budget = r.chance(20) ? r.int(200...20_000) : nil
    let share = r.chance(20) ? 0 : r.int(20...100)
    temporal = pictures.map { _ in r.chance(share) }
  }

  var description: String {
    let c = configuration
    return
      "seed \(seed): \(c.width)x\(c.height) \(c.profile) \(c.cabac ? "CABAC" : "CAVLC") QP \(pictures[0].qp)"
      + " effort \(c.effort) threads \(c.threads) slices \(c.slices) sliceBytes \(c.maximumSliceBytes ?? 0)"
      + " 8x8 \(c.allowsTransform8x8) deblocking \(c.deblocking) \(pattern) weights \(weightedBipredIDC)"
      + " \(content.kind)"
  }

  /// The coverage of the streams.
  struct Coverage {
    var frames = 0
    /// Macroblocks of B pictures by `MacroblockType`.
    var types = [Int](repeating: 0, count: 10)
    /// Those in pictures with temporal direct, and macroblocks of 8x8 with direct blocks there.
    var temporalTypes = [Int](repeating: 0, count: 10)
    var temporalBlocks = 0

    static func += (a: inout Coverage, b: Coverage) {
      a.frames += b.frames
      for i in a.types.indices {
        a.types[i] += b.types[i]
        a.temporalTypes[i] += b.temporalTypes[i]
      }
      a.temporalBlocks += b.temporalBlocks
    }
  }

  /// Codes the stream and decodes it with libavcodec; every frame must be the reconstruction to the
  /// bit.
  func verify() throws -> Coverage {
    guard let decoder = ReferenceDecoder(.libavcodec) else { throw Failure(description: "no decoder") }
    let coder = try ReorderedCoder(configuration, cpu: ovt_cpu_detect(), weightedBipredIDC: weightedBipredIDC)
    if let offsets { coder.setOffsets(offsets) }
    var expected: [Int: PlanarFrame] = [:]
    var shown = 0
    func compare(_ frame: PlanarFrame) throws {
      // Decoders give pictures in display order.
      guard let picture = expected.removeValue(forKey: shown) else {
        throw Failure(description: "\(self): picture \(shown) came too early")
      }
      if let difference = picture.firstDifference(frame) {
        let kind = pictures.first { $0.display == shown }?.kind
        throw Failure(description: "\(self) picture \(shown) \(kind.map { "\($0)" } ?? ""): \(difference)")
      }
      shown += 1
    }
    var coverage = Coverage()
    for (picture, temporally) in zip(pictures, temporal) {
      let unit = content.frame(picture.display).withSource(planar: seed % 2 == 0, padding: 3) {
        coder.code(picture, $0, budget: budget, temporally: temporally)
      }
      expected[picture.display] = coder.reconstruction()
      if picture.kind == .b {
        for m in 0..<coder.coder.geometry.macroblockCount {
          let info = coder.coder.lastBidirectional.info[m]
          coverage.types[Int(info.type)] += 1
          guard temporally else { continue }
          coverage.temporalTypes[Int(info.type)] += 1
          if info.type == MacroblockType.inter8x8, info.directBlocks != 0 { coverage.temporalBlocks += 1 }
        }
      }
      do {
        if let frame = try decoder.decode(unit) { try compare(frame) }
      } catch let error as DecodingError { throw Failure(description: "\(self): \(error)") }
    }
    while let frame = try decoder.drain() { try compare(frame) }
    if shown != pictures.count {
      throw Failure(description: "\(self): \(shown) of \(pictures.count) pictures came")
    }
    coverage.frames = shown
    return coverage
  }
}
