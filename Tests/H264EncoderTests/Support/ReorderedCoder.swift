// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

@testable import H264Encoder
@testable import VideoEncoding

/// One picture of a stream in decode order.
struct ReorderedPicture {
  /// Its place in display order.
  var display: Int
  var kind: H264SliceKind
  var isReference = true
  /// `PicturePlan.hasRaisedQuality`.
  var hasRaisedQuality = false
  var qp: Int
  /// Places in display order of what it refers to.
  var list0: [Int] = []
  var list1: [Int] = []
}

/// How pictures of a stream refer to each other. Each begins with an IDR picture.
enum ReorderedPattern: CaseIterable {
  /// P pictures only.
  case forward
  /// Two B pictures that are not references between P pictures.
  case ibbp
  /// Three B pictures, the middle one a reference.
  case pyramid4
  /// Seven B pictures in three levels.
  case pyramid8

  private var length: Int {
    switch self {
    case .forward: 1
    case .ibbp: 3
    case .pyramid4: 4
    case .pyramid8: 8
    }
  }

  /// Pictures in decode order, with their reference lists by nearness.
  /// - Parameters:
  ///   - offset: QP that B pictures have above `qp`, those of each level one more.
  ///   - maximum: entries in a list at most.
  func pictures(count: Int, qp: Int, offset: Int, maximum: Int = 1) -> [ReorderedPicture] {
    var result: [ReorderedPicture] = []
    var stored: [Int] = []
    func add(_ display: Int, _ kind: H264SliceKind, _ qp: Int, isReference: Bool = true) {
      let before = stored.filter { $0 < display }.sorted { $0 > $1 }
      let after = stored.filter { $0 > display }.sorted { $0 < $1 }
      var picture = ReorderedPicture(
        display: display, kind: kind, isReference: isReference, hasRaisedQuality: kind == .i, qp: min(qp, 51))
      if kind != .i { picture.list0 = Array((before + after).prefix(maximum)) }
      if kind == .b { picture.list1 = Array((after + before).prefix(maximum)) }
      result.append(picture)
      if isReference {
        stored.append(display)
        if stored.count > ReorderedCoder.capacity { stored.removeFirst() }
      }
    }
    func between(_ a: Int, _ b: Int, _ level: Int) {
      if b - a < 2 { return }
      if self == .ibbp {
        for i in a + 1..<b { add(i, .b, qp + offset, isReference: false) }
        return
      }
      let middle = (a + b) / 2
      add(middle, .b, qp + offset + level, isReference: b - a > 2)
      between(a, middle, level + 1)
      between(middle, b, level + 1)
    }
    add(0, .i, max(0, qp - 3))
    var last = 0
    while last < count - 1 {
      let next = min(last + length, count - 1)
      add(next, .p, qp)
      between(last, next, 0)
      last = next
    }
    return result
  }
}

/// Codes pictures in any order with `PictureCoder`, as an encoder that looks ahead would.
final class ReorderedCoder {
  static let capacity = 4
  let coder: PictureCoder
  let configuration: H264EncoderConfiguration
  private let sps: H264SequenceParameterSet
  private let pps: H264PictureParameterSet
  private let memory: EncoderMemory
  private var free: [PicturePlanes] = []
  private var stored: [(display: Int, frameNum: Int, planes: PicturePlanes)] = []
  private var output: AccessUnitWriter
  private var frameNum = 0
  private var lastWasReference = false
  /// The last picture's planes.
  private(set) var last: PicturePlanes?
  private let offsets: UnsafeMutablePointer<Int8>
  private let shares: UnsafeMutablePointer<Float>

  init(_ configuration: H264EncoderConfiguration, cpu: Int32, weightedBipredIDC: Int = 0) throws {
    self.configuration = configuration
    var (sps, pps) = try configuration.makeParameterSets()
    sps.pictureOrderCountType = 0
    sps.vui?.restriction?.maxReorderFrames = 3
    sps.vui?.restriction?.maxDecFrameBuffering = Self.capacity
    pps.weightedBipredIDC = weightedBipredIDC
    (self.sps, self.pps) = (sps, pps)
    coder = PictureCoder(configuration: configuration, sps: sps, pps: pps, cpu: cpu, bidirectional: true)
    var memory = EncoderMemory()
    for _ in 0...Self.capacity {
      free.append(PicturePlanes(coder.geometry, memory: &memory, storesMotion: true))
    }
    offsets = memory.allocate(Int8.self, count: coder.geometry.macroblockCount)
    shares = memory.allocate(Float.self, count: coder.geometry.heightInMbs)
    shares.update(repeating: 1 / Float(coder.geometry.heightInMbs), count: coder.geometry.heightInMbs)
    self.memory = memory
    output = AccessUnitWriter(pool: FrameMemoryPool(capacity: 65536), framing: .startCode)
  }

  /// QP offsets of the macroblocks of all pictures to come, again and again if there are too few.
  func setOffsets(_ values: [Int8]) {
    for m in 0..<coder.geometry.macroblockCount { offsets[m] = values[m % values.count] }
    coder.qpOffsets = UnsafePointer(offsets)
  }

  /// Codes a picture; returns its access unit, parameter sets before the first. `budget`: bits that
  /// it should take; `temporally`: a B picture with temporal direct.
  func code(
    _ picture: ReorderedPicture, _ source: SourcePicture, budget: Int? = nil, temporally: Bool = false
  ) -> [UInt8] {
    output.removeAll()
    if picture.kind == .i {
      free += stored.map(\.planes)
      stored.removeAll()
      frameNum = 0
      append(.sequenceParameterSet) { sps.write(to: &$0) }
      append(.pictureParameterSet) { pps.write(to: &$0) }
    } else if lastWasReference {
      frameNum = (frameNum + 1) & (1 << sps.log2MaxFrameNum - 1)
    }
    var plan = PicturePlan()
    plan.isIDR = picture.kind == .i
    plan.isReference = picture.isReference
    plan.hasRaisedQuality = picture.hasRaisedQuality
    plan.qp = picture.qp
    if let budget {
      let bits = Double(budget)
      plan.budget = RowBudget(
        target: bits, maximum: bits * 1.5, limit: bits * 2, cheapest: 2, minQP: 0, maxQP: 51,
        shares: UnsafePointer(shares))
    }
    plan.orderCount = picture.display * 2
    plan.referenceCount = picture.list0.count
    plan.referenceCountL1 = picture.list1.count
    plan.header.kind = picture.kind
    plan.header.isIDR = plan.isIDR
    plan.header.refIDC = picture.isReference ? 2 : 0
    plan.header.frameNum = frameNum
    plan.header.pictureOrderCountLSB = plan.orderCount & (1 << sps.log2MaxPictureOrderCountLSB - 1)
    plan.header.usesSpatialDirect = !temporally
    // It changes no bit.
    plan.comparesDirect = picture.display % 2 == 1
    plan.header.activeReferences = max(1, picture.list0.count)
    plan.header.activeReferencesL1 = max(1, picture.list1.count)
    plan.header.modifications = modifications(picture.list0)
    plan.header.modificationsL1 = modifications(picture.list1)
    plan.header.deblocking = H264SliceHeader.Deblocking(
      disableIDC: configuration.deblocking ? 0 : 1, alphaOffset: configuration.deblockingAlphaOffset,
      betaOffset: configuration.deblockingBetaOffset)
    for (i, display) in picture.list0.enumerated() {
      if let entry = stored.first(where: { $0.display == display }) { coder.setReference(i, entry.planes) }
    }
    for (i, display) in picture.list1.enumerated() {
      if let entry = stored.first(where: { $0.display == display }) { coder.setReferenceL1(i, entry.planes) }
    }
    let target = free.removeFirst()
    coder.code(plan, source: source, into: target, output: &output)
    last = target
    lastWasReference = picture.isReference
    if picture.isReference {
      if stored.count == Self.capacity { free.append(stored.removeFirst().planes) }
      stored.append((picture.display, frameNum, target))
    } else {
      free.append(target)
    }
    let frame = H264EncodedFrame(
      properties: H264FrameProperties(), nalUnits: output.units, byteCount: output.count,
      memory: output.takeMemory())
    return frame.data
  }

  /// Commands that name every entry of a list.
  private func modifications(_ list: [Int]) -> [H264ReferenceListModification] {
    let maximum = 1 << sps.log2MaxFrameNum
    var predicted = frameNum
    return list.compactMap { display in
      guard let entry = stored.first(where: { $0.display == display }) else { return nil }
      let number = entry.frameNum > frameNum ? entry.frameNum - maximum : entry.frameNum
      let difference = number - predicted
      predicted = number
      return .shortTerm(difference: difference == 0 ? -maximum : difference)
    }
  }

  private func append(_ type: H264NALUnitType, _ write: (inout BitWriter) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { scratch in
      guard let base = scratch.baseAddress else { return }
      var bits = BitWriter(base, capacity: 4096)
      write(&bits)
      output.append(type: type, refIDC: 3, payload: base, count: bits.bitCount / 8)
    }
  }

  /// The last picture as a decoder shows it.
  func reconstruction() -> PlanarFrame? {
    guard let last else { return nil }
    let (width, height, stride) = (configuration.width, configuration.height, coder.geometry.stride)
    var frame = PlanarFrame(width: width, height: height, y: [], u: [], v: [])
    frame.y.reserveCapacity(width * height)
    for row in 0..<height {
      frame.y.append(contentsOf: UnsafeBufferPointer(start: last.luma + row * stride, count: width))
    }
    for row in 0..<height / 2 {
      for x in 0..<width / 2 {
        frame.u.append(last.chroma[row * stride + 2 * x])
        frame.v.append(last.chroma[row * stride + 2 * x + 1])
      }
    }
    return frame
  }
}
