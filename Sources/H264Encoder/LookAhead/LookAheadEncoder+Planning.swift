// SPDX-License-Identifier: Apache-2.0
import Dispatch
import VideoBitstream
import VideoEncoding

/// Plans each picture from what is known when its coding begins, and starts to code it.
extension LookAheadEncoder {
  /// Waits until the final sizes of all pictures in flight are known where the plan of the next
  /// picture needs them: with an average rate, in the first seconds and near the end of a stream.
  private func learn(isEnding: Bool) {
    guard case .average = configuration.lookAhead.rate, isEnding || rateControl.needsAllKnown else { return }
    for flight in inFlight { account(flight) }
  }

  /// Returns an idle `PictureInFlight`, or makes one.
  private func idleFlight() -> PictureInFlight {
    if let idle = flights.first(where: { $0.picture == nil }) { return idle }
    var coder = coder
    if scheduler != nil {
      if !flights.isEmpty {
        coder = PictureCoder(
          configuration: coder.configuration, sps: sps, pps: pps, cpu: cpu,
          bidirectional: reorderingDepth > 0, history: history)
      }
      coder.reusesMemory = maxInFlight == 1
    }
    let flight = PictureInFlight(
      coder, slot: scheduler?.slot(flights.count),
      output: AccessUnitWriter(
        pool: framePool, framing: configuration.framing == .lengths ? .length : .startCode))
    flights.append(flight)
    return flight
  }

  /// Begins to code the first picture of the queue in decoding order, once fewer pictures are in
  /// flight than allowed.
  /// - Parameters:
  ///   - isEnding: whether the stream ends with the pictures in the queue.
  ///   - output: receives the frames that are completed to make room.
  func begin(isEnding: Bool, _ output: (consuming H264EncodedFrame) -> Void) {
    while inFlight.count >= flightLimit { output(finishFirst()) }
    // `output` may have called the encoder and emptied the queue.
    guard queue.count > 0 else { return }
    let orderStart = DispatchTime.now().uptimeNanoseconds
    // The decoding order does not depend on the sizes of pictures in flight, so threads go on with
    // those meanwhile.
    queue.decideOrder(planner.settings, propagates: usesMacroblockTree)
    let orderEnd = DispatchTime.now().uptimeNanoseconds
    learn(isEnding: isEnding)
    // The encoding time excludes the wait for pictures in flight.
    let start = DispatchTime.now().uptimeNanoseconds &- (orderEnd &- orderStart)
    let flight = idleFlight()
    if let slot = flight.slot { scheduler?.clear(slot) }
    flight.coder.effort = effortControl.effort
    flight.coder.estimatesSamples = estimatesSamples
    let planned = planner.next(
      isEnding: isEnding, pending: inFlight.lazy.filter { !$0.isAccounted }.compactMap(\.picture),
      codingIndex: codedCount)
    let picture = planned.picture
    flight.room = planned.room
    flight.isLast = planned.isLast
    (flight.qp, flight.offset, flight.cascaded) = (planned.qp, planned.offset, planned.cascaded)
    (flight.isExact, flight.isLimited) = (planner.settings.isConstantQP, rateControl.isLimited)

    var plan = PicturePlan()
    plan.isIDR = picture.kind == .idr
    plan.isOpenKeyFrame = picture.kind == .openKey
    plan.isReference = picture.kind != .bidirectional
    plan.hasRaisedQuality = planned.hasRaisedQuality
    plan.header.deblocking = H264SliceHeader.Deblocking(
      disableIDC: configuration.deblocking ? 0 : 1,
      alphaOffset: configuration.deblockingAlphaOffset,
      betaOffset: configuration.deblockingBetaOffset)
    setQP(&plan, planned.qp, picture, flight.qpOffsets, isExact: planned.isExact)
    setReferences(&plan, picture, flight)
    flight.output.pointee.removeAll()
    writeLeadingUnits(plan, picture, &flight.output.pointee)
    flight.leading = (flight.output.pointee.units.count, flight.output.pointee.count)
    flight.coder.qpOffsets = UnsafePointer(flight.qpOffsets)
    (flight.isAccounted, flight.results) = (false, nil)
    launch(flight, &plan, picture.source, isPredicted: picture.kind == .predicted)
    flight.plan = plan
    flight.picture = picture
    if !picture.kind.isBidirectional { lastAnchor = flight }
    inFlight.append(flight)
    flight.time = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
  }

  /// Selects the reference pictures of a picture, their weights, and the memory of its
  /// reconstruction.
  /// - Parameters:
  ///   - plan: receives the syntax of the references.
  ///   - picture: the picture.
  ///   - flight: its coder receives the references; it receives the pictures that must be kept
  ///     until it is coded.
  private func setReferences(
    _ plan: inout PicturePlan, _ picture: QueuedPicture, _ flight: PictureInFlight
  ) {
    let coder = flight.coder
    order.selectReferences(picture.kind, index: picture.index, maximum: max(1, coder.referencesSearched))
    weights?.chooseWeights(&plan, picture.brightnessMeasurement, index: picture.index, order, coder)
    for (i, entry) in order.list0.enumerated() { coder.setReference(i, pool[entry.picture]) }
    for (i, entry) in order.list1.enumerated() { coder.setReferenceL1(i, pool[entry.picture]) }
    flight.references = order.list0.count + order.list1.count
    flight.target = order.prepare(&plan, picture.kind, index: picture.index, uses: uses)
    if plan.isReference { weights?.store(slot: flight.target) }
    if picture.kind.isBidirectional {
      directChoice.choose(&plan, configuration.lookAhead.directPrediction, order)
      flight.directKind = directChoice.kind
    }
    flight.requiredPictures.removeAll(keepingCapacity: true)
    flight.requiredPictures.append(flight.target)
    for entry in order.list0 { flight.requiredPictures.append(entry.picture) }
    for entry in order.list1 { flight.requiredPictures.append(entry.picture) }
    for i in flight.requiredPictures { uses[i] += 1 }
  }

  /// Starts a planned picture on the threads of the scheduler, or codes it at once where there is
  /// none.
  /// - Parameters:
  ///   - flight: the state of the picture.
  ///   - plan: its plan; receives the scroll distance where there is no scheduler.
  ///   - source: its samples.
  ///   - isPredicted: whether it is a P picture, in which a scroll is searched for.
  private func launch(
    _ flight: PictureInFlight, _ plan: inout PicturePlan, _ source: SourcePicture, isPredicted: Bool
  ) {
    let first = isPredicted ? order.list0.first.map { pool[$0.picture] } : nil
    let limit = sps.verticalMotion - 16
    if let scheduler, let slot = flight.slot {
      guard
        let job = flight.coder.begin(plan, source: source, into: pool[flight.target], output: flight.output)
      else { return }
      let anchor = isPredicted ? lastAnchor : nil
      let needs = inFlight.lazy.filter { $0 === anchor || flight.requiredPictures.contains($0.target) }
      job.scrollSearch = first.map { (flight.scrollDetector, source, $0, limit) }
      scheduler.begin(job, at: slot, needs: needs.compactMap(\.slot), isReference: plan.isReference)
      return
    }
    if let first { plan.scroll = flight.scrollDetector.distance(source, from: first.luma, limit: limit) }
    flight.coder.code(plan, source: source, into: pool[flight.target], output: &flight.output.pointee)
    flight.results = (flight.coder.statistics, flight.coder.directCosts)
  }

  /// Sets the QP of a picture to the nearest whole number within the configured range, and the QP
  /// offsets of its macroblocks to their own offsets plus the fraction that is left.
  /// - Parameters:
  ///   - plan: receives the QP.
  ///   - qp: the QP of the picture.
  ///   - picture: has the offsets of macroblocks (`QueuedPicture.offsets`).
  ///   - qpOffsets: receives the offset of each macroblock in QP steps.
  ///   - isExact: whether all offsets are 0.
  func setQP(
    _ plan: inout PicturePlan, _ qp: Double, _ picture: QueuedPicture,
    _ qpOffsets: UnsafeMutablePointer<Int8>,
    isExact: Bool
  ) {
    plan.qp = planner.wholeQP(qp, picture, isExact: isExact, blockOffsets: qpOffsets)
  }
}
