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
  /// Reference list 0 of the present picture, and from `PictureContext.listSize` on list 1.
  let references: UnsafeMutablePointer<ReferencePicture>
  let identities: UnsafeMutablePointer<ReferenceIdentity>
  /// The bits of each row of 16 luma rows in the last picture.
  var rowBits: UnsafeMutablePointer<Int32> { rows.rowBits }
  var statistics: PictureStatistics { rows.statistics }
  /// The effort of the next pictures.
  var effort: Int

  private let memory: EncoderMemory
  private let source: Planes
  private let map: PictureMap
  private let writer: UnsafeMutablePointer<SliceWriter>
  /// Receives the slice header, and from `headerRoom` on the slice data.
  private let payload: UnsafeMutablePointer<UInt8>
  private let headerRoom: Int
  private let rows: PictureRows
  /// The threads; nil: the calling thread does everything.
  private let workers: WorkerThreads?

  init(configuration: HEVCEncoderConfiguration, sets: HEVCParameterSets, cpu: Int32) {
    self.sets = sets
    effort = configuration.effort
    layout = PlaneLayout(codedWidth: configuration.codedWidth, codedHeight: configuration.codedHeight)
    var memory = EncoderMemory()
    kernels = memory.allocate(OVTHEVCKernels8.self, count: 1)
    _ = ovt_hevc_kernels_init8(kernels, cpu)
    videoKernels = memory.allocate(OVTVideoKernels.self, count: 1)
    _ = ovt_video_kernels_init(videoKernels, cpu)
    poolCount = configuration.maximumReferences + 1
    let entries = 2 * PictureContext.listSize
    pool = memory.allocate(ReferencePicture.self, count: poolCount)
    for i in 0..<poolCount { (pool + i).initialize(to: ReferencePicture(layout, memory: &memory)) }
    references = memory.allocate(ReferencePicture.self, count: entries)
    for i in 0..<entries { (references + i).initialize(to: pool[0]) }
    identities = memory.allocate(ReferenceIdentity.self, count: entries)
    source = Planes(layout, memory: &memory)
    map = PictureMap(
      codedWidth: configuration.codedWidth, codedHeight: configuration.codedHeight, memory: &memory)
    // A level takes less than four bytes, and there are one and a half for each luma sample.
    let capacity = layout.width * layout.height * 6 + 65536
    // An entry point takes up to four bytes.
    headerRoom = 1024 + 4 * ((layout.height + 31) / 32)
    payload = memory.allocate(UInt8.self, count: headerRoom + capacity)
    writer = memory.allocate(
      SliceWriter(
        map: map, width: layout.width, height: layout.height,
        isSynchronised: configuration.usesWavefronts, log2Group: configuration.log2QuantisationGroup,
        payload: payload + headerRoom,
        capacity: capacity, kernels: ovt_hevc_residual8(kernels), memory: &memory))
    let context = PictureContext(
      source: source, target: pool[0], references: references, identities: identities)
    let rows = PictureRows(
      configuration: configuration, kernels: kernels, videoKernels: videoKernels, layout: layout,
      map: map, picture: context, writer: writer, memory: &memory)
    self.rows = rows
    workers =
      configuration.threads > 1
      ? WorkerThreads(count: configuration.threads) { rows.work(thread: $0) } : nil
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
    let count = plan.isKeyFrame ? 0 : plan.header.activeReferences
    let countL1 = plan.header.kind == .b ? plan.header.activeReferencesL1 : 0
    writer.pointee.begin(plan.header.kind, references: (count, countL1), qp: plan.qp)
    let result = pool[target]
    let list1 = PictureContext.listSize
    result.references.update(from: identities, count: count)
    (result.references + list1).update(from: identities + list1, count: countL1)
    let order = Int32(truncatingIfNeeded: plan.order)
    let later =
      (0..<count).contains { identities[$0].order > order }
      || (0..<countL1).contains { identities[list1 + $0].order > order }
    rows.headerBits = writeHeader(plan.header) * 8
    rows.begin(
      plan,
      PictureContext(
        source: source, target: result, references: references, identities: identities,
        referenceCount: count, referenceCountL1: countL1, order: order,
        hasTemporalMotion: plan.header.hasTemporalMotion,
        collocatedList: plan.header.collocated.isFromL0 ? 0 : 1, hasOnlyEarlierReferences: !later),
      settings: EffortSettings(effort: effort))
    run()
    let size = writer.pointee.finish()
    var header = plan.header
    header.entryPoints = writer.pointee.entryPoints
    let headerSize = writeHeader(header)
    // The header is put in front of the data, whose size it may tell.
    let start = payload + headerRoom - headerSize
    start.update(from: payload, count: headerSize)
    output.append(header.nal, payload: start, count: headerSize + size)
    rows.end()
    guard plan.isReference else { return }
    result.extend(layout)
    rows.beginHalfSamples()
    run()
  }

  /// Does the work of `rows` on all threads.
  private func run() {
    if let workers { workers.run() } else { rows.work(thread: 0) }
  }

  /// Writes a slice header to the start of `payload`.
  /// - Returns: its bytes.
  private func writeHeader(_ header: HEVCSliceHeader) -> Int {
    var header = header
    let largest = header.entryPoints.max() ?? 1
    header.entryPointLength = max(Int.bitWidth - (largest - 1).leadingZeroBitCount, 1)
    var bits = BitWriter(payload, capacity: headerRoom)
    header.write(to: &bits, sps: sets.sps, pps: sets.pps)
    bits.flush()
    return bits.next - payload
  }

  /// Fills in the facts about the picture that was coded last.
  func describe(_ properties: inout HEVCFrameProperties, _ plan: PicturePlan, references: Int) {
    let count = Double(map.width * map.height)
    properties.isKeyFrame = plan.isKeyFrame
    properties.isOpenGOP = plan.isOpenKeyFrame
    properties.isReference = plan.isReference
    properties.temporalLayer = plan.temporalLayer
    properties.averageQP = Double(statistics.qpSum) / count
    properties.lowestQP = statistics.lowestQP
    properties.highestQP = statistics.highestQP
    properties.intraFraction = Double(statistics.intraBlocks) / count
    properties.skippedFraction = Double(statistics.skippedBlocks) / count
    properties.referenceCount = references
  }

  /// Calls `body` with the planes of a picture of the pool; see `HEVCEncoder.withReconstruction`.
  func withPlanes<R>(
    _ index: Int,
    _ body: (
      _ luma: UnsafePointer<UInt8>, _ cb: UnsafePointer<UInt8>, _ cr: UnsafePointer<UInt8>,
      _ lumaBytesPerRow: Int, _ chromaBytesPerRow: Int
    ) throws -> R
  ) rethrows -> R {
    let planes = pool[index].planes
    return try body(planes.luma, planes.cb, planes.cr, layout.lumaStride, layout.chromaStride)
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
