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
      coder.reusesMemory = mostInFlight == 1
    }
    let flight = PictureInFlight(
      coder, place: scheduler?.place(flights.count),
      output: AccessUnit(
        pool: framePool, framing: configuration.framing == .lengths ? .length : .startCode))
    flights.append(flight)
    return flight
  }

  /// Begins to code the first settled picture of the queue, once fewer pictures are in flight than
  /// allowed.
  /// - Parameters:
  ///   - isEnding: whether the stream ends with the pictures in the queue.
  ///   - output: receives the frames that are completed to make room.
  func begin(isEnding: Bool, _ output: (consuming H264EncodedFrame) -> Void) {
    while inFlight.count >= flightLimit { output(finishFirst()) }
    // `output` may have called the encoder and emptied the queue.
    guard queue.count > 0 else { return }
    let settling = DispatchTime.now().uptimeNanoseconds
    // Settling does not depend on the sizes of pictures in flight, so threads go on with those
    // meanwhile.
    queue.settle(settings, propagates: usesMacroblockTree)
    let settled = DispatchTime.now().uptimeNanoseconds
    learn(isEnding: isEnding)
    // The encoding time excludes the wait for pictures in flight.
    let start = DispatchTime.now().uptimeNanoseconds &- (settled &- settling)
    let flight = idleFlight()
    let coder = flight.coder
    if let place = flight.place { scheduler?.clear(place) }
    coder.effort = effortControl.effort
    coder.estimatesSamples = estimatesSamples
    let isExact = isConstantQP
    forecasts.removeAll(keepingCapacity: true)
    // The bits of the pictures in flight are not accounted for yet, so they count as pictures to
    // come.
    for flight in inFlight where !flight.isAccounted {
      if let picture = flight.picture { forecasts.append(picture.forecast) }
    }
    for picture in queue.settled { forecasts.append(picture.forecast) }
    for (n, picture) in queue.pictures.enumerated() {
      forecasts.append(picture.forecast(of: n, typicalRun: queue.typicalRun))
    }
    let referred = queue.settled.first { !$0.kind.isBidirectional } ?? queue.settled.first
    let planned = rateControl.plan(
      forecasts, intra: referred?.finalIntraResidual(coder.geometry.macroblockCount) ?? ResidualHistogram(),
      isEnding: isEnding)
    intervals.removeAll(keepingCapacity: true)
    for n in forecasts.indices {
      intervals.append(queue.decodeInterval(place: codedCount + UInt64(n), depth: reorderingDepth).seconds)
    }
    let room = rateControl.room(forecasts, intervals: intervals)
    let picture = queue.removeFirst()
    flight.room = room
    flight.isLast = isEnding && queue.count == 0
    let isIntra = picture.kind.isKey
    let isB = picture.kind.isBidirectional

    var plan = PicturePlan()
    plan.isIDR = picture.kind == .idr
    plan.isOpenKeyFrame = picture.kind == .openKey
    plan.isReference = picture.kind != .bidirectional
    var offset = 0.0
    var cascaded = 0.0
    if !isExact {
      offset = LookAheadRateControl.offsets[picture.forecast.kind.rawValue]
      if picture.kind == .bidirectionalReference { offset -= 0.5 }
      if isIntra { cascade.restart() }
      if configuration.bidirectionalLimit == 0, !isIntra { cascaded = cascade.next() }
      offset += cascaded
    }
    let qp = picture.request.qp.map(Double.init) ?? planned + offset
    setQP(&plan, qp, picture, flight.qpOffsets, isExact: isExact || picture.request.qp != nil)
    if !isB {
      // Where there are B pictures, they refer to the key frames and P pictures around them, so all
      // of those count as pictures of raised quality.
      plan.hasRaisedQuality = isIntra || cascaded < -1 || configuration.bidirectionalLimit > 0
    }

    let source = picture.source
    order.selectReferences(picture.kind, index: picture.index, most: max(1, coder.referencesSearched))
    weights?.weigh(&plan, picture.brightnessRead, index: picture.index, order, coder)
    for (i, entry) in order.wanted.enumerated() { coder.setReference(i, pool[entry.picture]) }
    for (i, entry) in order.wantedL1.enumerated() { coder.setReferenceL1(i, pool[entry.picture]) }
    plan.header.deblocking = H264SliceHeader.Deblocking(
      disableIDC: coder.configuration.deblocking ? 0 : 1,
      alphaOffset: coder.configuration.deblockingAlphaOffset,
      betaOffset: coder.configuration.deblockingBetaOffset)
    flight.references = order.wanted.count + order.wantedL1.count
    flight.target = order.prepare(&plan, picture.kind, index: picture.index, uses: uses)
    if plan.isReference { weights?.store(slot: flight.target) }
    if isB {
      directChoice.choose(&plan, configuration.lookAhead.directPrediction, order)
      flight.directKind = directChoice.kind
    }
    flight.output.pointee.removeAll()
    writeLeadingUnits(plan, picture, &flight.output.pointee)
    flight.leading = (flight.output.pointee.units.count, flight.output.pointee.count)
    coder.qpOffsets = UnsafePointer(flight.qpOffsets)

    flight.pins.removeAll(keepingCapacity: true)
    flight.pins.append(flight.target)
    for entry in order.wanted { flight.pins.append(entry.picture) }
    for entry in order.wantedL1 { flight.pins.append(entry.picture) }
    for i in flight.pins { uses[i] += 1 }
    (flight.qp, flight.offset, flight.cascaded) = (qp, offset, cascaded)
    (flight.isExact, flight.isLimited) = (isExact, rateControl.isLimited)
    (flight.isAccounted, flight.results) = (false, nil)
    launch(flight, &plan, source, isPredicted: !isB && !isIntra)
    flight.plan = plan
    flight.picture = picture
    if !isB { lastAnchor = flight }
    inFlight.append(flight)
    flight.time = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
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
    let first = isPredicted ? order.wanted.first.map { pool[$0.picture] } : nil
    let limit = sps.verticalMotion - 16
    if let scheduler, let place = flight.place {
      guard
        let job = flight.coder.begin(plan, source: source, into: pool[flight.target], output: flight.output)
      else { return }
      let anchor = isPredicted ? lastAnchor : nil
      let needs = inFlight.lazy.filter { $0 === anchor || flight.pins.contains($0.target) }
      job.scrollSearch = first.map { (flight.scrollDetector, source, $0, limit) }
      scheduler.begin(job, at: place, needs: needs.compactMap(\.place), isReference: plan.isReference)
      return
    }
    if let first { plan.scroll = flight.scrollDetector.distance(source, from: first.luma, limit: limit) }
    flight.coder.code(plan, source: source, into: pool[flight.target], output: &flight.output.pointee)
    flight.results = (flight.coder.statistics, flight.coder.directCosts)
  }

  /// Whether all pictures have the configured QP, without offsets.
  var isConstantQP: Bool {
    if case .constantQP = configuration.lookAhead.rate { return true }
    return false
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
    plan.qp = min(max(Int(qp.rounded()), configuration.minimumQP), configuration.maximumQP)
    let count = coder.geometry.macroblockCount
    if isExact {
      qpOffsets.update(repeating: 0, count: count)
      return
    }
    let rest = Float(min(max(qp, 0), 51)) - Float(plan.qp)
    for m in 0..<count {
      qpOffsets[m] = Int8(max(-30, min(30, (picture.offsets[m] + rest).rounded())))
    }
  }
}
