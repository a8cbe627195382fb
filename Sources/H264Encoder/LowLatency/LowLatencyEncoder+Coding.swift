// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// The steps of coding a picture, in their order.
extension LowLatencyEncoder {
  /// Finds what the rate control and the response to scene changes need to know of a picture, where
  /// the configuration has either, and the QP offsets of its macroblocks.
  /// - Returns: whether the pre-analysis has looked at the picture.
  func analyse(_ source: SourcePicture) -> Bool {
    if configuration.lowLatency.adaptiveQuantisation > 0 {
      activity.analyse(source, strength: configuration.lowLatency.adaptiveQuantisation)
    }
    let isAnalysed = rateControl.needsPreAnalysis || configuration.lowLatency.sceneChange != .none
    if isAnalysed { preAnalysis.analyse(source, with: coder, brightness: fadeDetector?.reading) }
    return isAnalysed
  }

  /// Finds the motion of large parts of a picture: a scroll, parts of a screen that were moved, and
  /// the motion of the camera.
  /// - Parameters:
  ///   - plan: receives the motion.
  ///   - source: the samples of the picture.
  ///   - isAnalysed: whether the pre-analysis has looked at the picture.
  /// - Returns: whether a new scene begins with the picture, which such motion does not explain.
  func findMotion(_ plan: inout PicturePlan, _ source: SourcePicture, isAnalysed: Bool) -> Bool {
    let isCut = isAnalysed && preAnalysis.isSceneChange
    if let first = list0.first, isCut || hasScrolled || displacementDetector.mayScroll(index: nextIndex) {
      plan.scroll = scrollDetector.distance(
        source, from: pool[first.picture].luma, limit: sps.verticalMotion - 16)
      hasScrolled = plan.scroll != 0
    }
    let refersToLast = list0.first.map { $0.index + 1 == nextIndex } ?? false
    plan.displacements = displacementDetector.displacements(
      source, index: nextIndex, isSceneChange: isCut, refersToLast: refersToLast,
      limit: sps.verticalMotion - 16)
    // The camera motion that the pre-analysis found is relative to the last picture.
    if isAnalysed, preAnalysis.camera.isKnown, refersToLast { plan.camera = preAnalysis.camera }
    return isCut && plan.scroll == 0 && !plan.displacements.explainMost
  }

  /// Sets the QP and the bits of a picture.
  func setQuality(
    _ plan: inout PicturePlan, _ decision: LowLatencyRateControl.Decision, _ options: H264FrameOptions
  ) {
    if plan.isIDR { keyFrameIsDue = false }
    plan.qp = decision.qp
    if configuration.lowLatency.cascadesQuality, case .constantQP = configuration.lowLatency.rateControl,
      options.qp == nil,
      plan.isReference, options.temporalLayer == 0
    {
      let qp = decision.qp + Int(plan.isIDR ? cascade.restart() : cascade.next())
      plan.qp = min(max(qp, configuration.minimumQP), configuration.maximumQP)
    }
    plan.hasRaisedQuality = plan.isIDR || plan.isReference && plan.qp <= lastReferenceQP - 2
    if plan.isReference { lastReferenceQP = plan.qp }
    plan.budget = decision.budget
  }

  /// Sets the references of a picture, their weights, and the syntax of its slice header.
  /// - Parameters:
  ///   - plan: receives them.
  ///   - source: the samples of the picture.
  ///   - options: what the caller wants of the frame.
  ///   - index: the index of the frame.
  ///   - isAnalysed: whether the pre-analysis has looked at the picture.
  ///   - isSceneChange: whether a new scene begins with the picture.
  /// - Returns: the index in `pool` of the memory for its reconstruction.
  func setReferences(
    _ plan: inout PicturePlan, _ source: SourcePicture, _ options: H264FrameOptions, index: UInt64,
    isAnalysed: Bool, isSceneChange: Bool
  ) -> Int {
    lastReferences.removeAll(keepingCapacity: true)
    for entry in list0 { lastReferences.append(entry.index) }
    if let fadeDetector {
      chooseWeights(&plan, fadeDetector, isAnalysed ? nil : source, isSceneChange: isSceneChange)
    }
    let target = prepare(&plan, list0, options, index)
    fadeDetector?.store(slot: target)
    return target
  }

  /// Codes the slices of a picture, again where it exceeds the bits that it may take.
  /// - Parameters:
  ///   - plan: the plan of the picture; receives a lower limit where hard limits need one.
  ///   - decision: the decision of the rate control.
  ///   - source: the samples of the picture.
  ///   - picture: receives the reconstruction.
  /// - Returns: whether it was coded again because of a hard limit.
  func code(
    _ plan: inout PicturePlan, _ decision: LowLatencyRateControl.Decision, _ source: SourcePicture,
    into picture: PicturePlanes
  ) -> Bool {
    let leading = (units: output.units.count, count: output.count)
    coder.code(plan, source: source, into: picture, output: &output)
    if coder.isThreaded, let maximum = decision.largest, Double(output.bits) > maximum {
      // With several threads a row begins before the bits of the rows above are known, and a noisy
      // picture can exceed the limit.
      output.truncate(units: leading.units, count: leading.count)
      coder.recodeAlone(plan, source: source, into: picture, output: &output)
    }
    guard let allowed = decision.allowed, Double(output.bits) > allowed else { return false }
    keepLimits(&plan, allowed, leading, source, into: picture)
    return true
  }

  /// Completes the properties of a coded frame, and updates the statistics of reference use.
  func complete(
    _ properties: inout H264FrameProperties, _ plan: PicturePlan, _ options: H264FrameOptions,
    _ source: SourcePicture,
    _ picture: PicturePlanes
  ) {
    coder.describe(&properties, plan, references: list0.count)
    if list0.count > 1 {
      let statistics = coder.statistics
      referenceUse.record(
        index: properties.index, inOtherReferences: statistics.inOtherReferences,
        inter: coder.geometry.macroblockCount - statistics.intra - statistics.skipped)
    }
    properties.bits = output.bits
    if configuration.measuresError { properties.meanSquaredError = coder.squaredError(source, picture) }
    properties.longTermSlot = plan.isReference ? options.longTermSlot : nil
  }

  /// Codes a picture again that exceeds the hard limits.
  ///
  /// A row budget reserves bits for skipped macroblocks at its end, but the last macroblock before
  /// these may take more than the budget has left.
  /// - Parameters:
  ///   - plan: the plan of the picture; receives the lower limit.
  ///   - allowed: the bits that the access unit may have.
  ///   - leading: the number of NAL units and bytes in `output` before the slices.
  ///   - source: the samples of the picture.
  ///   - picture: receives the reconstruction.
  func keepLimits(
    _ plan: inout PicturePlan, _ allowed: Double, _ leading: (units: Int, count: Int),
    _ source: SourcePicture, into picture: PicturePlanes
  ) {
    // The first attempt lowers the limit by the excess, the next ones by multiples of it and 512
    // bits more each, and the last one leaves bits for skipped macroblocks only.
    var limit = allowed
    for attempt in 1...4 {
      let over = Double(output.bits) - allowed
      limit = attempt == 4 ? 0 : max(limit - over * Double(attempt) - 512 * Double(attempt - 1), 0)
      plan.budget?.limit = limit
      output.truncate(units: leading.units, count: leading.count)
      coder.recodeAlone(plan, source: source, into: picture, output: &output)
      if Double(output.bits) <= allowed { return }
    }
  }

  /// Chooses the weights of the reference pictures, where the picture is darker or brighter than
  /// they are, and sets them in the slice header.
  ///
  /// - Parameters:
  ///   - plan: receives the weights.
  ///   - fadeDetector: compares the brightness of pictures.
  ///   - unread: the picture, if the pre-analysis has not measured its brightness; otherwise nil.
  ///   - isSceneChange: whether a new scene begins with the picture, which then has no weights.
  func chooseWeights(
    _ plan: inout PicturePlan, _ fadeDetector: FadeDetector, _ unread: SourcePicture?, isSceneChange: Bool
  ) {
    if let unread {
      for row in 0..<fadeDetector.reading.rows { fadeDetector.reading.read(unread, row: row) }
    }
    fadeDetector.take(fadeDetector.reading)
    guard let first = list0.first, !isSceneChange else { return }
    let shift = fadeDetector.shift(slot: first.picture)
    for i in list0.indices {
      fadeDetector.find(slot: list0[i].picture, shift: shift, &coder.weights[i])
      if !coder.weights[i].isDefault { plan.isWeighted = true }
    }
    guard plan.isWeighted else { return }
    weightedPictures += 1
    weightTable.log2LumaDenominator = Int(shift)
    weightTable.log2ChromaDenominator = Int(shift)
    weightTable.list0.removeAll(keepingCapacity: true)
    for i in list0.indices { weightTable.list0.append(coder.weights[i].entry) }
    plan.header.weights = weightTable
  }

  // MARK: - NAL units around the slices

  /// Appends the NAL units that precede the slices: access unit delimiter, parameter sets,
  /// recovery point and dynamic range, as configured.
  func writeLeadingUnits(_ plan: PicturePlan, _ options: H264FrameOptions) {
    output.appendLeadingUnits(plan, configuration, sps, CollectionOfOne(pps))
    if plan.startsRefresh {
      output.append(.sei) {
        H264RecoveryPoint(frameCount: configuration.lowLatency.intraRefreshPeriod - 1, isExact: true).write(
          to: &$0)
      }
    }
    output.appendDynamicRange(plan, configuration)
  }
}
