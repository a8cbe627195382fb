// SPDX-License-Identifier: Apache-2.0

/// Frames that fit the decoder's buffer, and fill it where the rate is constant.
extension LookAheadEncoder {
  /// Codes the picture again, coarser, as long as it does not fit into the decoder's buffer.
  /// - Returns: the QP that it was coded with.
  func fit(_ flight: PictureInFlight, _ picture: QueuedPicture) -> Double {
    // No other picture is in flight then.
    guard flight.isLimited, let room = flight.room else { return flight.qp }
    let output = flight.output
    let leading = flight.leading
    var qp = flight.qp
    var attempts = 0
    // With a cap on the QP no macroblock is given up, unless others count on the limits: what it takes too much lacks later.
    let cap = Double(configuration.maximumQP)
    let givesWay = cap < 51 && !configuration.hasPromisedBuffer && configuration.dataRateLimits.isEmpty
    while Double(output.pointee.bits) > room, attempts < 5 {
      if givesWay, qp >= cap { break }
      attempts += 1
      recodedPictures += 1
      let over = Double(output.pointee.bits) / max(room, 1)
      qp = min(qp + max(1.5, 7 * log2Approx(over) + 0.5), cap)
      if !givesWay, attempts >= 4 || qp >= cap {
        // What is left is coded macroblock by macroblock within what there is; if that fails, as cheaply as can be.
        attempts = max(attempts, 4)
        let left = max(room - Double(leading.count * 8), 64)
        flight.plan.budget = RowBudget(
          target: left * 0.9, maximum: left * 0.95, limit: attempts == 4 ? left - 64 : 0,
          cheapest: RowBudget.cheapest(
            isKeyFrame: flight.plan.isKeyFrame, cabac: configuration.cabac),
          minQP: configuration.minimumQP, maxQP: 51, shares: UnsafePointer(evenShares))
        // All macroblocks can be skipped by their neighbours' motion.
        if flight.plan.isBidirectional { flight.plan.header.usesSpatialDirect = true }
        flight.plan.comparesDirect = false
      }
      setQP(&flight.plan, qp, picture, flight.qpOffsets, isExact: picture.options.qp != nil)
      output.pointee.truncate(units: leading.units, count: leading.count)
      flight.coder.recodeAlone(
        flight.plan, source: picture.source, into: pool[flight.target], output: &output.pointee)
      if flight.results != nil { flight.results = (flight.coder.statistics, flight.coder.directCosts) }
    }
    return qp
  }

  /// Bytes of filler in a frame.
  private static let mostFiller = 0x1p22

  /// Filler data for what a constant rate brings and the decoder's buffer has no room for.
  /// - Returns: its bytes, framing included.
  func fill(
    _ output: inout AccessUnit, _ seconds: Double, isKnown: Bool, isLast: Bool
  ) -> Int {
    guard case .constant = configuration.lookAhead.rate, let buffer = rateControl.buffer,
      let most = rateControl.most(isLast: isLast, seconds: seconds)
    else { return 0 }
    let lost = buffer.fullness + buffer.rate * seconds - Double(output.bits) - most
    if isLast, most < buffer.size {
      // Just that: what is agreed upon is whole bytes away.
      let bytes = Int(min(max(lost / 8, 0), LookAheadEncoder.mostFiller).rounded())
      return bytes < 8 ? 0 : addFiller(bytes, &output)
    }
    // Framing, header, a byte and the trailing bits: what is less than that is taken from the bits to come, and never the
    // other way: what stays below a byte would sum up over a stream.
    let bytes = max(Int(min(lost / 8, LookAheadEncoder.mostFiller)) + 1, 8)
    // The next picture may come earlier than it is thought to: something is left for it.
    let room = buffer.fullness * (isKnown ? 1 : 0.75) - Double(output.bits)
    let fitting = Int(min(max(room / 8, 0), LookAheadEncoder.mostFiller))
    guard lost > 0, fitting >= 8 else { return 0 }
    return addFiller(min(bytes, fitting), &output)
  }

  /// - Parameter bytes: framing and the header take five of them.
  private func addFiller(_ bytes: Int, _ output: inout AccessUnit) -> Int {
    let before = output.count
    output.appendFiller(bytes: bytes - 5)
    return output.count - before
  }
}
