// SPDX-License-Identifier: Apache-2.0
import Dispatch
import VideoEncoding

/// Completes coded pictures: passes their results to the rate control, and outputs their frames.
extension LookAheadEncoder {
  /// Waits until a picture is coded, codes it again if it does not fit into the buffer, and passes
  /// its bits to the rate control and to the statistics of the pass. Does nothing the second time.
  func account(_ flight: PictureInFlight) {
    guard !flight.isAccounted, let picture = flight.picture else { return }
    flight.isAccounted = true
    if let slot = flight.slot {
      scheduler?.complete(slot)
      flight.plan.scroll = flight.coder.end(flight.plan, pool[flight.target])
    }
    let codedQP = fit(flight, picture)
    if flight.plan.comparesDirect { directChoice.add(flight.directCosts, of: flight.directKind) }
    if flight.isExact { return }
    let bits = flight.output.pointee.bits
    let result = planner.finish(
      picture, bits: bits, qp: codedQP - flight.offset, cascaded: flight.cascaded)
    if keepsStatistics { statistics.append(result) }
  }

  /// Completes the first picture in flight and returns its frame.
  func finishFirst() -> H264EncodedFrame {
    let start = DispatchTime.now().uptimeNanoseconds
    let flight = inFlight[0]
    account(flight)
    inFlight.removeFirst()
    if lastAnchor === flight { lastAnchor = nil }
    for i in flight.requiredPictures { uses[i] -= 1 }
    if maxInFlight > 1 {
      if let lastPicture { uses[lastPicture] -= 1 }
      uses[flight.target] += 1
    }
    lastPicture = flight.target

    var properties = H264FrameProperties()
    coder.describe(&properties, flight.plan, references: flight.references, statistics: flight.statistics)
    properties.effort = flight.coder.effort
    if let picture = flight.picture {
      if configuration.measuresError {
        properties.meanSquaredError = coder.squaredError(picture.source, pool[flight.target])
      }
      properties.index = picture.index
    }
    let interval = queue.decodeInterval(codingIndex: codedCount, depth: reorderingDepth)
    codedCount += 1
    if flight.isLimited {
      properties.fillerBytes = fill(
        &flight.output.pointee, interval.seconds, isKnown: interval.isKnown, isLast: flight.isLast)
    }
    properties.bits = flight.output.pointee.bits
    if flight.isLimited { rateControl.remove(bits: Double(properties.bits), seconds: interval.seconds) }
    if flight.isLast { bufferMiss = rateControl.miss }
    properties.encodeTime = flight.time + Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    if let picture = flight.picture {
      effortControl.record(seconds: properties.encodeTime + preAnalysisTime, interval: picture.duration)
      queue.recycle(picture)
    }
    preAnalysisTime = 0
    flight.picture = nil
    return H264EncodedFrame(
      properties: properties, nalUnits: flight.output.pointee.units, byteCount: flight.output.pointee.count,
      memory: flight.output.pointee.takeMemory())
  }
}
