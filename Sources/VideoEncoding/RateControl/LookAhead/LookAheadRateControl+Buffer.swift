// SPDX-License-Identifier: Apache-2.0

/// The decoder's buffer and the hard limits: the QP at which the pictures to come fit them.
extension LookAheadRateControl {
  /// Bits that a constant rate aims to leave in the decoder's buffer after the look-ahead: usually
  /// `constantRateFullness` of its size, as room for larger and smaller pictures. Towards the end
  /// of a stream whose duration is known, the fullness that the buffer began with, so that the size
  /// of the stream corresponds to the rate.
  func wantedFullness(_ buffer: BufferState, isEnding: Bool) -> Double {
    if isEnding, let joined, joined.hasFramesAfter { return joined.wanted(buffer) }
    let middle = buffer.size * LookAheadRateControl.constantRateFullness
    guard joined?.hasFramesAfter != true, let left = secondsLeft else { return middle }
    let share = max(1 - left * buffer.rate / (LookAheadRateControl.fullnessReturnTime * buffer.size), 0)
    return middle + (buffer.agreedFullness - middle) * share
  }
  /// The time within which the fullness returns to its initial value, as a multiple of the time
  /// that the buffer takes to fill.
  static let fullnessReturnTime = 4.0

  /// The lowest QP, from `wanted` upwards, at which no picture of the look-ahead empties the
  /// buffer. Where the rest of the stream needs all bits that the buffer lets through, `filling`
  /// may lower it again.
  /// - Parameters:
  ///   - wanted: the QP that the bit rate or the quality asks for.
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - buffer: the buffer's state before the first of them.
  ///   - isEnding: whether the stream ends with them.
  package mutating func fitting(
    _ wanted: Double, _ upcoming: [PictureForecast], _ buffer: BufferState, isEnding: Bool
  ) -> Double {
    let end = endFullness(buffer, seconds: upcoming.reduce(0) { $0 + $1.duration }, isEnding: isEnding)
    var qp = wanted
    while qp < 51, !fits(upcoming, buffer, qp: qp, end: end) { qp += 0.5 }
    qp = min(qp, 51)
    guard remaining?.expected(0, qp: qp) != nil else { return qp }
    // Where all bits that arrive are needed, half a step too much would waste some of them.
    for step in [0.25, 0.125] where qp - step > wanted && fits(upcoming, buffer, qp: qp - step, end: end) {
      qp -= step
    }
    return needsAllBufferBits ? filling(qp, upcoming, buffer) : qp
  }

  /// Whether the pictures of the look-ahead fit into the buffer at a QP.
  ///
  /// After a picture that leaves the buffer full, what fits does not depend on the pictures before
  /// it: their bits could not be kept. Those pictures are planned when they are nearer.
  /// - Parameters:
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - buffer: the buffer's state before the first of them.
  ///   - qp: the QP without the offset of the picture type.
  ///   - end: the bits that have to be in the buffer after them; nil: any number.
  package mutating func fits(
    _ upcoming: [PictureForecast], _ buffer: BufferState, qp: Double, end: Double?
  ) -> Bool {
    let margin = buffer.size * LookAheadRateControl.margin
    var state = buffer
    foresee(upcoming, qp: qp)
    var isFull = false
    for (n, picture) in upcoming.enumerated() {
      let taken = forecast.bits[n]
      // For later pictures the QP can still be raised: half the margin is enough.
      let least = n == 0 ? min(margin, state.fullness * 0.3) : margin * 0.5
      if taken > state.fullness - least { return isFull }
      if state.remove(bits: taken, seconds: picture.duration) > 0 { isFull = true }
    }
    return end.map { state.fullness >= $0 } ?? true
  }

  /// Lowers the QP of the first picture so that it also uses the bits that would overflow the
  /// buffer during the next pictures.
  /// - Parameters:
  ///   - planned: the QP to start from.
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - buffer: the buffer's state before the first of them.
  /// - Returns: `planned` or less, at least 0.5.
  mutating func filling(_ planned: Double, _ upcoming: [PictureForecast], _ buffer: BufferState)
    -> Double
  {
    foresee(upcoming, qp: planned)
    var state = buffer
    var lost = 0.0
    for (n, picture) in upcoming.prefix(PassForecast.smoothingRadius).enumerated() {
      lost += state.remove(bits: forecast.bits[n], seconds: picture.duration)
    }
    guard lost > 0, let first = forecast.bits.first, first > 0 else { return planned }
    let wanted = min(first + lost, buffer.fullness * 0.5)
    var qp = planned
    while qp > max(planned - LookAheadRateControl.maxQPReduction, 0.5), forecast.bits[0] < wanted {
      qp -= 0.5
      foresee(upcoming, qp: qp)
    }
    return qp
  }

  /// The most QP steps by which `filling` lowers the QP.
  static let maxQPReduction = 4.0

  /// The lowest QP, from `wanted` upwards, at which the pictures of the look-ahead keep to the hard
  /// limits; 51 if there is none.
  package mutating func allowed(_ wanted: Double, _ upcoming: [PictureForecast]) -> Double {
    var qp = wanted
    while qp < 51 {
      limitForecast.removeAll(keepingCapacity: true)
      foresee(upcoming, qp: qp)
      for (n, picture) in upcoming.enumerated() { limitForecast.append((forecast.bits[n], picture.duration)) }
      let fits = limits.allow(
        limitForecast, margin: LookAheadRateControl.limitMargin, reserve: LookAheadRateControl.limitReserve,
        expected: expectedBehind(qp))
      if fits { return qp }
      qp += 0.5
    }
    return 51
  }

  /// The bits per second that hard limits leave for the content after the look-ahead at a QP, and
  /// for how many seconds. Without them a scene would begin as finely as its first seconds fit into
  /// an empty window, and starve until those seconds have left it.
  func expectedBehind(_ qp: Double) -> (rate: Double, seconds: Double) {
    guard case .average = settings.rate, remaining == nil, !isNearEnd else { return (0, 0) }
    return (contentRate(qp, horizon: 1) * LookAheadRateControl.limitExpectation, secondsLeft ?? .infinity)
  }
  /// The share of the expected bits of the content after the look-ahead that hard limits leave for
  /// it: the expectation is rather too high than too low.
  static let limitExpectation = 0.8

  /// Bits that have to be in the buffer after the look-ahead, where another stream follows in the
  /// same buffer.
  ///
  /// That is the agreed fullness less what the rest of this stream lets arrive. Where the duration
  /// is not known, it is the agreed fullness itself, as long as the look-ahead is too short to fill
  /// the buffer that far by itself.
  /// - Parameters:
  ///   - buffer: the buffer's state.
  ///   - seconds: the duration of the look-ahead.
  ///   - isEnding: whether the stream ends with the look-ahead.
  /// - Returns: nil where there is no such demand.
  func endFullness(_ buffer: BufferState, seconds: Double, isEnding: Bool) -> Double? {
    guard let joined, joined.hasFramesAfter else { return nil }
    let end = joined.wanted(buffer)
    if isEnding { return end }
    var left: Double?
    if let remaining, !remaining.isFinished {
      left = remaining.seconds - seconds
    } else if let expected = settings.expectedDuration {
      left = expected - elapsed - seconds
    }
    guard let left else { return seconds * buffer.rate < 2 * end ? end : nil }
    let needed = end - max(left, 0) * buffer.rate * LookAheadRateControl.refill
    return needed > 0 ? needed : nil
  }

  /// The share of the bits arriving after the look-ahead that may count towards the agreed
  /// fullness; pictures take the rest.
  static let refill = 0.5

  // MARK: - Results

  /// The bits that the first of the given pictures may take.
  /// - Parameters:
  ///   - upcoming: the pictures not coded yet, in decoding order.
  ///   - intervals: seconds from the removal of each of them from the buffer to that of the next.
  /// - Returns: nil where there is neither a buffer nor a hard limit.
  package func room(_ upcoming: [PictureForecast], intervals: [Double]) -> Double? {
    let left = limits.room(duration: intervals.first ?? 0, reserve: LookAheadRateControl.limitReserve)
    guard let buffer else { return left }
    return min(joined?.room(upcoming, intervals: intervals, buffer) ?? buffer.fullness, left ?? .infinity)
  }

  /// The bits that the buffer may hold when the next picture is removed; filler data takes the
  /// rest.
  /// - Parameters:
  ///   - isLast: whether the picture just coded is the last one of the stream.
  ///   - seconds: from its removal to the next one.
  /// - Returns: the size of the buffer, or the agreed fullness after the last picture of a constant
  ///   rate that another stream follows; nil without a buffer.
  package func most(isLast: Bool, seconds: Double) -> Double? {
    guard let buffer else { return nil }
    guard isLast, var joined, joined.isConstant, joined.hasFramesAfter else { return buffer.size }
    joined.advance(seconds: seconds)
    return joined.joinFullness(buffer)
  }

  /// The bits by which the buffer's fullness after the last picture misses the agreed one. With an
  /// average rate only a lower fullness counts.
  package var miss: Double {
    guard let buffer, let joined, joined.hasFramesAfter else { return 0 }
    let over = buffer.fullness - joined.joinFullness(buffer)
    // Times are sums of floating-point numbers: less than half a bit is rounding.
    return abs(over) < 0.5 ? 0 : joined.isConstant ? abs(over) : max(-over, 0)
  }
}
