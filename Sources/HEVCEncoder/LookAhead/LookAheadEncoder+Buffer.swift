// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Conformance to the hypothetical reference decoder (Annex C): keeps frames within the coded
/// picture buffer, writes its SEI messages, and adds filler data where the bit rate is constant.
extension LookAheadEncoder {
  /// Returns the buffering period and picture timing SEI messages of the next picture in decoding
  /// order; nil if the stream has none.
  func nextTiming(_ plan: PicturePlan, _ picture: QueuedPicture) -> BufferTiming.Messages? {
    guard var timing else { return nil }
    if codedCount > 0 {
      // The interval since the last access unit is final now, even if it was assumed when that was
      // coded.
      timing.advance(
        seconds: queue.decodeInterval(codingIndex: codedCount - 1, depth: reorderingDepth).seconds)
    }
    var lead = 0.0
    for index in 0..<reorderingDepth where codedCount == 0 {
      lead += queue.decodeInterval(codingIndex: UInt64(index), depth: reorderingDepth).seconds
    }
    let isLeading = plan.header.nal.type == .raslN || plan.header.nal.type == .raslR
    var messages = timing.next(
      BufferTiming.Picture(
        isKey: plan.isKeyFrame, isDiscardable: isLeading || !plan.isReference, shown: picture.shown,
        fullness: planner.rateControl.buffer?.fullness ?? 0), lead: lead)
    messages.isJoinable = codedCount == 0 && configuration.lookAhead.hasFramesBefore
    self.timing = timing
    return messages
  }

  /// Appends filler data for bits that arrive at a constant rate and would overflow the decoder's
  /// buffer.
  /// - Parameters:
  ///   - seconds: from the removal of the access unit from the buffer to that of the next.
  ///   - isKnown: whether that interval is final.
  ///   - isLast: whether it is the last access unit of the stream.
  /// - Returns: the bytes of the filler data NAL units, framing included; 0 if there is none.
  func fill(_ seconds: Double, isKnown: Bool, isLast: Bool) -> Int {
    guard planner.settings.isConstantRate, let buffer = planner.rateControl.buffer,
      let most = planner.rateControl.most(isLast: isLast, seconds: seconds)
    else { return 0 }
    let lost = buffer.excess(over: most, removing: Double(output.bits), seconds: seconds)
    if isLast, most < buffer.size {
      // The agreed fullness at a join is reached exactly, since it differs by whole bytes
      // (`JoinedBuffer`).
      let bytes = Int(min(max(lost, 0), buffer.size) / 8 + 0.5)
      return bytes < 8 ? 0 : appendFiller(bytes)
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
    return appendFiller(min(bytes, fitting))
  }

  /// Appends filler data NAL units.
  /// - Parameter bytes: their size with framing and headers, 8 or more.
  /// - Returns: the number of bytes appended.
  private func appendFiller(_ bytes: Int) -> Int {
    let before = output.count
    for size in FillerSizes(bytes) { output.appendFiller(bytes: size, temporalID: 0) }
    return output.count - before
  }

  /// Codes a picture again with a higher QP as long as it does not fit into the decoder's buffer or
  /// the hard limits.
  /// - Parameters:
  ///   - plan: its plan.
  ///   - planned: the picture, with the bits that are left for it.
  ///   - leading: the NAL units and bytes before its slice.
  ///   - target: the index in the pool of its reconstruction.
  /// - Returns: the QP that it was finally coded with.
  func fit(
    _ plan: inout PicturePlan, _ planned: LookAheadPlanner.PlannedPicture,
    _ leading: (units: Int, count: Int), _ target: Int
  ) -> Double {
    guard planner.rateControl.isLimited, let room = planned.room else { return planned.qp }
    var qp = planned.qp
    var attempts = 0
    // With a maximum QP below 51 the picture may stay too large, unless there are data rate limits,
    // the stream describes the buffer or other streams share it.
    let cap = Double(configuration.maximumQP)
    let mayExceedBuffer =
      cap < 51 && configuration.dataRateLimits.isEmpty && !configuration.mustConformToBuffer
    while Double(output.bits) > room, attempts < 5 {
      if mayExceedBuffer, qp >= cap { break }
      attempts += 1
      recodedPictures += 1
      let over = Double(output.bits) / max(room, 1)
      qp = min(qp + max(1.5, 7 * log2Approx(over) + 0.5), cap)
      if !mayExceedBuffer, attempts >= 4 || qp >= cap {
        // From the fourth attempt on, a row budget limits the bits of each coding tree unit. The
        // fifth attempt codes all of them with the fewest possible bits.
        attempts = max(attempts, 4)
        // The maximum QP is ignored here, because a coarsely quantised block has a smaller error
        // than a skipped one.
        plan.maximumQP = 51
        let left = max(room - Double(leading.count * 8), 64)
        let cheapest = HEVCEncoderConfiguration.cheapestBlock
        plan.budget = RowBudget(
          target: left * 0.9, maximum: left * 0.95, limit: attempts == 4 ? left - 64 : 0,
          cheapest: plan.isKeyFrame ? cheapest.keyFrame : cheapest.other,
          minQP: configuration.minimumQP,
          maxQP: plan.isKeyFrame ? 51 : LowLatencySettings.coarsestUsefulQP, shares: UnsafePointer(evenShares)
        )
      }
      setQP(&plan, qp, planned.picture, isExact: planned.isExact)
      plan.header.qp = plan.qp
      output.truncate(units: leading.units, count: leading.count)
      coder.recode(plan, into: target, output: &output)
    }
    return qp
  }
}
