// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// How a picture becomes the work of threads: what all of them read, and the job that they do.
extension PictureCoder {
  /// Sets what all threads need to know of a picture.
  /// - Parameters:
  ///   - plan: what was decided for it.
  ///   - source: the picture.
  ///   - picture: gets the reconstruction.
  ///   - alone: whether one thread codes it again.
  /// - Returns: the arrays that its macroblocks are stored in, and the number of the reference
  ///   picture that the memory of `picture` still holds (0: none).
  func prepare(
    _ plan: PicturePlan, source: SourcePicture, _ picture: PicturePlanes, alone: Bool
  ) -> (syntax: PictureSyntax, heldPicture: UInt64) {
    statisticsMemory.pointee = PictureStatistics()
    if plan.isReference && !alone { lastNumber += 1 }
    let follows =
      reusesMemory && plan.isReference && plan.referenceCount > 0 && !plan.isBidirectional
      && lists.entries[0].number == lastNumber - 1
      && !plan.isWeighted
    if plan.isReference && !follows { still.setAllChanged(lastNumber) }
    let heldPicture = follows && !alone ? picture.number.pointee : 0
    picture.number.pointee = 0
    picture.orderCount.pointee = Int32(truncatingIfNeeded: plan.orderCount)
    let syntax = plan.isBidirectional ? bidirectionalSyntax : history.syntax
    if plan.isReference, let stored = picture.storedMotion { lists.storeOrderCounts(plan, in: stored) }
    let hasImplicitWeights =
      plan.isBidirectional && lists.deriveBidirectional(plan, plan.parameterSet ?? pps)
    let context = PictureContext(
      plan, source: source, planes: picture, syntax: syntax, history: history,
      settings: plan.displacements.isScreen ? screenSettings : settings,
      hasImplicitWeights: hasImplicitWeights,
      heldPicture: heldPicture)
    for i in 0..<threads {
      coders[i].picture = context
      coders[i].directCosts = DirectCosts()
    }
    return (syntax, heldPicture)
  }

  /// The job of a picture.
  /// - Parameters:
  ///   - plan: what was decided for the picture.
  ///   - picture: gets the reconstruction.
  ///   - syntax: the arrays that its macroblocks are stored in.
  ///   - heldPicture: the number of the reference picture that the memory of `picture` still holds;
  ///     0: none.
  ///   - writer: the entropy coder.
  ///   - output: gets the slices.
  func job<Writer: EntropyCoder>(
    _ plan: PicturePlan, _ picture: PicturePlanes, _ syntax: PictureSyntax, _ heldPicture: UInt64,
    _ writer: UnsafeMutablePointer<Writer>, _ output: UnsafeMutablePointer<AccessUnitWriter>
  ) -> PictureJob<Writer> {
    let kernels = UnsafePointer(kernels)
    return PictureJob(
      plan: plan, geometry: geometry, configuration: configuration, sps: sps,
      pps: plan.parameterSet ?? pps, syntax: syntax,
      deblocking: DeblockingFilter(
        k: kernels, geometry: geometry, picture: picture, syntax: syntax, codedBlocks: codedBlocks,
        offsetA: configuration.deblockingAlphaOffset * 2, offsetB: configuration.deblockingBetaOffset * 2,
        withinSlices: false, is444: configuration.is444,
        pictureIdentities: plan.isBidirectional ? UnsafePointer(lists.pictureIdentities) : nil),
      referenceRows: ReferenceRows(
        k: kernels, geometry: geometry, components: configuration.is444 ? 3 : 1, picture: picture,
        scratch: halfSampleScratch, syntax: syntax,
        reference: plan.referenceCount > 0 && !plan.isWeighted && !plan.isBidirectional
          ? lists.entries[0] : nil,
        still: still, number: lastNumber, heldPicture: heldPicture),
      storedMotion: plan.isReference ? picture.storedMotion : nil,
      qpOffsets: qpOffsets, payload: payload, payloadCapacity: payloadCapacity, writer: writer,
      output: output, leading: (output.pointee.units.count, output.pointee.count),
      statistics: statisticsMemory, rowQP: rowQP, rowBits: rowBits, pcm: pcm,
      estimatesSamples: estimatesSamples)
  }

  /// Runs a job with all threads or, where `alone`, with one.
  func run<Writer: EntropyCoder>(
    _ job: PictureJob<Writer>, _ alone: Bool, _ shareable: (PictureJob<Writer>) -> ThreadedPicture.Job
  ) {
    if !alone, let shared, let workers {
      shared.progress.reset()
      shared.job = shareable(job)
      workers.run()
      job.finishRows(shared.progress, shared.ring)
      shared.job = .none
    } else {
      job.run(coders)
    }
  }
}
