// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoBitstream
import VideoEncoding

/// Codes one picture at a time: rows of coding tree units in one slice, the deblocking filter, and
/// what later pictures need of a reference picture.
final class PictureCoder {
  /// The parameter sets of the stream.
  let sets: HEVCParameterSets
  let layout: PlaneLayout
  let kernels: UnsafeMutablePointer<OVTHEVCKernels8>
  let videoKernels: UnsafeMutablePointer<OVTVideoKernels>
  /// The reconstructed pictures: one more than there may be references.
  let pool: UnsafeMutablePointer<ReferencePicture>
  let poolCount: Int
  /// Reference list 0 of the present picture.
  let references: UnsafeMutablePointer<ReferencePicture>
  let identities: UnsafeMutablePointer<ReferenceIdentity>
  /// The bits of each row of 16 luma rows in the last picture, and the QP of its rows of coding tree
  /// units.
  let rowBits: UnsafeMutablePointer<Int32>
  private(set) var statistics = PictureStatistics()
  /// The effort of the next pictures.
  var effort: Int

  private let memory: EncoderMemory
  private let source: Planes
  private let map: PictureMap
  private let deblocking: Deblocking
  private let writer: UnsafeMutablePointer<SliceWriter>
  private let coder: UnsafeMutablePointer<CodingTreeCoder>
  private let payload: UnsafeMutablePointer<UInt8>
  private let payloadCapacity: Int
  private let hasDeblocking: Bool
  /// The rows and columns of 16x16 luma samples that the rate control counts: those of the
  /// configured size, of which less may be visible.
  private let blockRows: Int
  private let blockColumns: Int

  init(configuration: HEVCEncoderConfiguration, sets: HEVCParameterSets, cpu: Int32) {
    self.sets = sets
    effort = configuration.effort
    hasDeblocking = configuration.deblocking
    blockRows = (configuration.height + 15) / 16
    blockColumns = (configuration.width + 15) / 16
    layout = PlaneLayout(codedWidth: configuration.codedWidth, codedHeight: configuration.codedHeight)
    var memory = EncoderMemory()
    kernels = memory.allocate(OVTHEVCKernels8.self, count: 1)
    _ = ovt_hevc_kernels_init8(kernels, cpu)
    videoKernels = memory.allocate(OVTVideoKernels.self, count: 1)
    _ = ovt_video_kernels_init(videoKernels, cpu)
    poolCount = configuration.maximumReferences + 1
    pool = memory.allocate(ReferencePicture.self, count: poolCount)
    for i in 0..<poolCount { (pool + i).initialize(to: ReferencePicture(layout, memory: &memory)) }
    references = memory.allocate(ReferencePicture.self, count: 16)
    for i in 0..<16 { (references + i).initialize(to: pool[0]) }
    identities = memory.allocate(ReferenceIdentity.self, count: 16)
    source = Planes(layout, memory: &memory)
    map = PictureMap(
      codedWidth: configuration.codedWidth, codedHeight: configuration.codedHeight, memory: &memory)
    deblocking = Deblocking(kernels: kernels, layout: layout, map: map, memory: &memory)
    // A level takes less than four bytes, and there are one and a half for each luma sample.
    payloadCapacity = layout.width * layout.height * 6 + 65536
    payload = memory.allocate(UInt8.self, count: payloadCapacity)
    writer = memory.allocate(
      SliceWriter(
        map: map, width: layout.width, height: layout.height, payload: payload,
        capacity: payloadCapacity, kernels: ovt_hevc_residual8(kernels), memory: &memory))
    let context = PictureContext(
      source: source, target: pool[0], references: references, identities: identities)
    coder = memory.allocate(
      CodingTreeCoder(
        kernels: kernels, videoKernels: videoKernels, layout: layout, map: map, picture: context,
        effort: configuration.effort, memory: &memory))
    rowBits = memory.allocate(Int32.self, count: blockRows + 1)
    self.memory = memory
  }

  /// Codes a picture.
  /// - Parameters:
  ///   - plan: what was decided for it.
  ///   - picture: the picture.
  ///   - target: the index in `pool` of its reconstruction.
  ///   - output: gets the slice.
  func code(
    _ plan: PicturePlan, source picture: SourcePicture, into target: Int, output: inout AccessUnitWriter
  ) {
    source.copy(picture, layout, kernels: videoKernels)
    recode(plan, into: target, output: &output)
  }

  /// Codes the picture again that was coded last; the parameters are those of `code`.
  func recode(_ plan: PicturePlan, into target: Int, output: inout AccessUnitWriter) {
    var bits = BitWriter(payload, capacity: 1024)
    plan.header.write(to: &bits, sps: sets.sps, pps: sets.pps)
    bits.flush()
    let headerBytes = bits.next - payload
    let count = plan.isKeyFrame ? 0 : plan.header.activeReferences
    writer.pointee.begin(
      offset: headerBytes, isIntra: plan.isKeyFrame, references: count, qp: plan.qp)
    let result = pool[target]
    for i in 0..<count { result.references[i] = identities[i] }
    coder.pointee.settings = EffortSettings(effort: effort)
    coder.pointee.isIntraSlice = plan.isKeyFrame
    coder.pointee.motion.picture = PictureContext(
      source: source, target: result, references: references, identities: identities,
      referenceCount: count, order: Int32(truncatingIfNeeded: plan.order),
      hasTemporalMotion: plan.header.hasTemporalMotion)
    statistics = PictureStatistics()
    codeRows(plan, result)
    let size = writer.pointee.finish()
    output.append(plan.header.nal, payload: payload, count: size)
    summarise()
    if plan.isReference { result.finish(layout, kernels: kernels) }
  }

  /// Codes all rows of coding tree units, and filters each once the row below it is coded.
  private func codeRows(_ plan: PicturePlan, _ result: ReferencePicture) {
    let rows = (layout.height + 31) / 32
    let columns = (layout.width + 31) / 32
    var qp = plan.qp
    var before = 0
    for row in 0..<rows {
      if let budget = plan.budget {
        qp = budget.qp(
          row: min(row * 2, blockRows - 1), rows: blockRows, bits: row == 0 ? 0 : before, base: plan.qp,
          current: qp)
      }
      statistics.lowestQP = min(statistics.lowestQP, qp)
      statistics.highestQP = max(statistics.highestQP, qp)
      coder.pointee.setQP(qp)
      for column in 0..<columns {
        var isExhausted = false
        if let budget = plan.budget {
          let left = max((blockRows - row * 2) * blockColumns - column * 4, 0)
          let bits = writer.pointee.bitCount
          isExhausted = budget.isExhausted(bits: bits, left: left)
          if !isExhausted { statistics.lastNeeded = budget.needed(bits: bits, left: left) }
        }
        if isExhausted {
          coder.pointee.codeCheapest(x: column * 32, y: row * 32)
        } else {
          coder.pointee.code(x: column * 32, y: row * 32)
        }
        writer.pointee.write(
          x: column * 32, y: row * 32, qp: qp, units: coder.pointee.units, levels: coder.pointee.levels)
      }
      let bits = writer.pointee.bitCount
      // A row of coding tree units is two rows of 16 luma rows.
      let first = min(row * 2, blockRows - 1)
      let half = (bits - before) / (row * 2 + 1 < blockRows ? 2 : 1)
      rowBits[first] = Int32(truncatingIfNeeded: half)
      if row * 2 + 1 < blockRows { rowBits[first + 1] = Int32(truncatingIfNeeded: bits - before - half) }
      before = bits
      if hasDeblocking && row > 0 { deblocking.filter(row: row - 1, result.planes, result.motion) }
    }
    if hasDeblocking { deblocking.filter(row: rows - 1, result.planes, result.motion) }
  }

  /// Adds up the QP and the kinds of all blocks.
  private func summarise() {
    for i in 0..<map.width * map.height {
      statistics.qpSum += Int(map.qp[i])
      if map.kind[i] == UnitKind.intra.rawValue { statistics.intraBlocks += 1 }
      if map.kind[i] == UnitKind.skip.rawValue { statistics.skippedBlocks += 1 }
    }
  }

  /// Fills in the facts about the picture that was coded last.
  func describe(_ properties: inout HEVCFrameProperties, _ plan: PicturePlan, references: Int) {
    let count = Double(map.width * map.height)
    properties.isKeyFrame = plan.isKeyFrame
    properties.isReference = plan.isReference
    properties.temporalLayer = plan.temporalLayer
    properties.averageQP = Double(statistics.qpSum) / count
    properties.lowestQP = statistics.lowestQP
    properties.highestQP = statistics.highestQP
    properties.intraFraction = Double(statistics.intraBlocks) / count
    properties.skippedFraction = Double(statistics.skippedBlocks) / count
    properties.referenceCount = references
  }

  /// The mean squared error of the reconstruction over the picture, of luma, Cb and Cr.
  func squaredError(_ target: Int, width: Int, height: Int) -> (luma: Double, cb: Double, cr: Double) {
    func error(
      _ a: UnsafeMutablePointer<UInt8>, _ b: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int,
      _ height: Int
    ) -> Double {
      var sum: UInt64 = 0
      for y in 0..<height { sum += videoKernels.pointee.ssdRow(a + y * stride, b + y * stride, Int32(width)) }
      return Double(sum) / Double(width * height)
    }
    let planes = pool[target].planes
    return (
      error(source.luma, planes.luma, layout.lumaStride, width, height),
      error(source.cb, planes.cb, layout.chromaStride, width / 2, height / 2),
      error(source.cr, planes.cr, layout.chromaStride, width / 2, height / 2)
    )
  }
}
