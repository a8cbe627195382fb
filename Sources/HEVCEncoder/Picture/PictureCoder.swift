// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoBitstream
import VideoEncoding

/// Codes one picture at a time: rows of coding tree units in one slice, the deblocking filter, and
/// what later pictures need of a reference picture.
final class PictureCoder<Sample: HEVCSample> {
  /// The parameter sets of the stream.
  let sets: HEVCParameterSets
  let layout: PlaneLayout
  let videoKernels: UnsafeMutablePointer<OVTVideoKernels>
  /// The reconstructed pictures: one more than there may be references.
  private let pool: UnsafeMutablePointer<ReferencePicture<Sample>>
  let poolCount: Int
  /// Reference list 0 of the present picture, and from `PictureContext.listSize` on list 1.
  private let references: UnsafeMutablePointer<ReferencePicture<Sample>>
  private let identities: UnsafeMutablePointer<ReferenceIdentity>
  /// The weights of the same pictures.
  private let weights: UnsafeMutablePointer<ReferenceWeight>
  private var weightedPlanes: WeightedPlanes<Sample>
  private let kernels: UnsafePointer<Sample.Kernels>
  /// The bits of each row of 16 luma rows in the last picture.
  var rowBits: UnsafeMutablePointer<Int32> { rows.rowBits }
  var statistics: PictureStatistics { rows.statistics }
  /// The effort of the next pictures.
  var effort: Int

  private var memory: EncoderMemory
  /// The picture that is coded.
  private var source: Planes<Sample>
  /// The pictures that `keep` has copied, by number, and planes for the next ones.
  private var keptSources: [UInt64: Planes<Sample>] = [:]
  private var spareSources: [Planes<Sample>] = []
  private let map: PictureMap
  private let writer: UnsafeMutablePointer<SliceWriter>
  /// Receives the slice header, and from `headerRoom` on the slice data.
  private let payload: UnsafeMutablePointer<UInt8>
  private let headerRoom: Int
  private let rows: PictureRows<Sample>
  /// The threads; nil: the calling thread does everything.
  private let workers: WorkerThreads?

  init(configuration: HEVCEncoderConfiguration, sets: HEVCParameterSets, cpu: Int32) {
    self.sets = sets
    effort = configuration.effort
    layout = PlaneLayout(
      codedWidth: configuration.codedWidth, codedHeight: configuration.codedHeight,
      sampleBytes: MemoryLayout<Sample>.size)
    var memory = EncoderMemory()
    let kernels = Sample.Kernels.make(&memory, cpu: cpu)
    videoKernels = memory.allocate(OVTVideoKernels.self, count: 1)
    _ = ovt_video_kernels_init(videoKernels, cpu)
    poolCount = configuration.maximumReferences + 1
    let entries = 2 * PictureContext.listSize
    pool = memory.allocate(ReferencePicture<Sample>.self, count: poolCount)
    for i in 0..<poolCount { (pool + i).initialize(to: ReferencePicture<Sample>(layout, memory: &memory)) }
    references = memory.allocate(ReferencePicture<Sample>.self, count: entries)
    for i in 0..<entries { (references + i).initialize(to: pool[0]) }
    identities = memory.allocate(ReferenceIdentity.self, count: entries)
    weights = memory.allocate(ReferenceWeight.self, count: entries)
    weights.initialize(repeating: ReferenceWeight(), count: entries)
    weightedPlanes = WeightedPlanes(layout, memory: &memory)
    self.kernels = UnsafePointer(kernels)
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
        largestOffset: Sample.largestOffset, payload: payload + headerRoom, capacity: capacity,
        kernels: Sample.Kernels.residual(kernels), memory: &memory))
    let rows = PictureRows(
      configuration: configuration, kernels: kernels, layout: layout, map: map,
      picture: PictureContext(
        target: pool[0].field, collocated: pool[0].field, identities: identities, weights: weights),
      pixels: PictureSamples(source: source, target: pool[0], references: references), writer: writer,
      memory: &memory)
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
  ///   - index: its number, if `keep` may have copied it.
  ///   - target: the index in `pool` of its reconstruction.
  ///   - output: gets the slice.
  func code(
    _ plan: PicturePlan, source picture: HEVCSource, index: UInt64? = nil, into target: Int,
    output: inout AccessUnitWriter
  ) {
    if let index, let kept = keptSources.removeValue(forKey: index) {
      spareSources.append(source)
      source = kept
    } else {
      source.copy(picture, layout, kernels: videoKernels)
    }
    recode(plan, into: target, output: &output)
  }

  /// Copies a picture that is coded later.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - index: its number, with which it is coded.
  func keep(_ picture: HEVCSource, index: UInt64) {
    let planes = spareSources.popLast() ?? Planes(layout, memory: &memory)
    planes.copy(picture, layout, kernels: videoKernels)
    keptSources[index] = planes
  }

  /// Sets a reference picture of the next picture.
  /// - Parameters:
  ///   - index: the index in a list.
  ///   - list: the list, 0 or 1.
  ///   - picture: the index in the pool of its planes.
  ///   - identity: its PicOrderCntVal and kind.
  func setReference(_ index: Int, list: Int, picture: Int, _ identity: ReferenceIdentity) {
    references[list * PictureContext.listSize + index] = pool[picture]
    identities[list * PictureContext.listSize + index] = identity
  }

  /// Sets the weights of a reference picture of the next picture, which was set before.
  /// - Parameters:
  ///   - index: the index in a list.
  ///   - list: the list, 0 or 1.
  ///   - weight: the weights.
  func setWeight(_ index: Int, list: Int, _ weight: ReferenceWeight) {
    let entry = list * PictureContext.listSize + index
    weights[entry] = weight
    guard !weight.isDefault(0) else { return }
    references[entry] = weightedPlanes.weigh(
      entry, references[entry], weight, kernels: kernels, memory: &memory)
  }

  /// Codes the picture again that was coded last; the parameters are those of `code`.
  func recode(_ plan: PicturePlan, into target: Int, output: inout AccessUnitWriter) {
    let count = plan.isKeyFrame ? 0 : plan.header.activeReferences
    let countL1 = plan.header.kind == .b ? plan.header.activeReferencesL1 : 0
    writer.pointee.begin(plan.header.kind, references: (count, countL1), qp: plan.qp)
    let result = pool[target]
    let list1 = PictureContext.listSize
    result.field.references.update(from: identities, count: count)
    (result.field.references + list1).update(from: identities + list1, count: countL1)
    let order = Int32(truncatingIfNeeded: plan.order)
    let settings = EffortSettings(effort: effort)
    let later =
      (0..<count).contains { identities[$0].order > order }
      || (0..<countL1).contains { identities[list1 + $0].order > order }
    rows.headerBits = writeHeader(plan.header) * 8
    let collocatedList = plan.header.collocated.isFromL0 ? 0 : 1
    rows.begin(
      plan,
      PictureContext(
        target: result.field, collocated: references[collocatedList * list1].field,
        identities: identities, weights: weights, isWeighted: plan.isWeighted, referenceCount: count,
        referenceCountL1: countL1, order: order,
        hasTemporalMotion: plan.header.hasTemporalMotion, collocatedList: collocatedList,
        hasOnlyEarlierReferences: !later),
      PictureSamples(source: source, target: result, references: references),
      settings: plan.screen.isScreen ? settings.forScreens : settings)
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
      _ luma: UnsafePointer<Sample>, _ cb: UnsafePointer<Sample>, _ cr: UnsafePointer<Sample>,
      _ lumaStride: Int, _ chromaStride: Int
    ) throws -> R
  ) rethrows -> R {
    let planes = pool[index].planes
    return try body(planes.luma, planes.cb, planes.cr, layout.lumaStride, layout.chromaStride)
  }

  /// The mean squared error of the reconstruction over the picture, of luma, Cb and Cr.
  func squaredError(_ target: Int, width: Int, height: Int) -> (luma: Double, cb: Double, cr: Double) {
    func error(
      _ a: UnsafeMutablePointer<Sample>, _ b: UnsafeMutablePointer<Sample>, _ stride: Int,
      _ width: Int, _ height: Int
    ) -> Double {
      var sum: UInt64 = 0
      for y in 0..<height {
        sum += Sample.squaredError(a + y * stride, b + y * stride, count: width, videoKernels)
      }
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
