// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// Keeps frames within the decoder's buffer, and adds filler data where the bit rate is constant.
extension LookAheadEncoder {
  /// Codes a picture again with a higher QP as long as it does not fit into the decoder's buffer or
  /// the hard limits.
  /// - Parameters:
  ///   - flight: the state of the picture, which has been coded.
  ///   - picture: the source picture.
  /// - Returns: the QP that it was finally coded with.
  func fit(_ flight: PictureInFlight, _ picture: QueuedPicture) -> Double {
    // A stream with a buffer or hard limits codes one picture at a time (`picturesInFlight`).
    guard flight.isLimited, let room = flight.room else { return flight.qp }
    let output = flight.output
    let leading = flight.leading
    var qp = flight.qp
    var attempts = 0
    // With a maximum QP below 51 the picture may stay too large, and the buffer runs short later.
    // That is not acceptable where the stream describes the buffer, joined streams share it, or
    // there are data rate limits; macroblocks are skipped instead there.
    let cap = Double(configuration.maximumQP)
    let mayExceedBuffer =
      cap < 51 && !configuration.mustConformToBuffer && configuration.dataRateLimits.isEmpty
    while Double(output.pointee.bits) > room, attempts < 5 {
      if mayExceedBuffer, qp >= cap { break }
      attempts += 1
      recodedPictures += 1
      let over = Double(output.pointee.bits) / max(room, 1)
      qp = min(qp + max(1.5, 7 * log2Approx(over) + 0.5), cap)
      if !mayExceedBuffer, attempts >= 4 || qp >= cap {
        // From here on each macroblock is coded within the bits that are left; if that fails, all
        // of them as cheaply as possible.
        attempts = max(attempts, 4)
        let left = max(room - Double(leading.count * 8), 64)
        flight.plan.budget = RowBudget(
          target: left * 0.9, maximum: left * 0.95, limit: attempts == 4 ? left - 64 : 0,
          cheapest: configuration.cheapestMacroblock(isKeyFrame: flight.plan.isKeyFrame),
          minQP: configuration.minimumQP,
          maxQP: flight.plan.isKeyFrame ? 51 : LowLatencySettings.coarsestUsefulQP,
          shares: UnsafePointer(evenShares))
        // Spatial direct prediction lets every macroblock be skipped with the motion of its
        // neighbours.
        if flight.plan.isBidirectional { flight.plan.header.usesSpatialDirect = true }
        flight.plan.comparesDirect = false
      }
      setQP(&flight.plan, qp, picture, flight.qpOffsets, isExact: picture.request.qp != nil)
      output.pointee.truncate(units: leading.units, count: leading.count)
      flight.coder.recodeAlone(
        flight.plan, source: picture.source, into: pool[flight.target], output: &output.pointee)
      if flight.results != nil { flight.results = (flight.coder.statistics, flight.coder.directCosts) }
    }
    return qp
  }

  /// Appends filler data for bits that arrive at a constant rate and would overflow the decoder's
  /// buffer.
  /// - Parameters:
  ///   - output: the access unit.
  ///   - seconds: from its removal from the buffer to that of the next.
  ///   - isKnown: whether that interval is final.
  ///   - isLast: whether it is the last access unit of the stream.
  /// - Returns: the bytes of the filler data NAL unit, framing included; 0 if there is none.
  func fill(
    _ output: inout AccessUnitWriter, _ seconds: Double, isKnown: Bool, isLast: Bool
  ) -> Int {
    guard case .constant = configuration.lookAhead.rate, let buffer = rateControl.buffer,
      let most = rateControl.most(isLast: isLast, seconds: seconds)
    else { return 0 }
    let lost = buffer.excess(over: most, removing: Double(output.bits), seconds: seconds)
    if isLast, most < buffer.size {
      // The agreed fullness at a join is reached exactly, since it differs by whole bytes
      // (`JoinedBuffer`).
      let bytes = Int(min(max(lost, 0), buffer.size) / 8 + 0.5)
      return bytes < 8 ? 0 : addFiller(bytes, &output)
    }
    // A filler data NAL unit has 8 bytes or more with framing, header, a byte of payload and the
    // trailing bits. Rounding up takes the difference from bits that arrive later. Rounding down
    // would let the fractions of a byte sum up over a stream and overflow the buffer.
    let bytes = max(Int(min(max(lost, 0), buffer.size) / 8) + 1, 8)
    // The next picture may be removed earlier than assumed, so a quarter of the fullness is kept
    // for it.
    let room = buffer.fullness * (isKnown ? 1 : 0.75) - Double(output.bits)
    let fitting = Int(max(room, 0) / 8)
    guard lost > 0, fitting >= 8 else { return 0 }
    return addFiller(min(bytes, fitting), &output)
  }

  /// Appends filler data NAL units.
  /// - Parameters:
  ///   - bytes: their size, 8 or more. Framing and header of each take five bytes.
  ///   - output: the access unit.
  /// - Returns: the number of bytes appended.
  private func addFiller(_ bytes: Int, _ output: inout AccessUnitWriter) -> Int {
    let before = output.count
    for size in FillerSizes(bytes) { output.appendFiller(bytes: size - 5) }
    return output.count - before
  }
}
