// SPDX-License-Identifier: Apache-2.0

/// Plans the pictures of a stream that is encoded with a look-ahead: which picture is coded next,
/// as which type and with which QP.
///
/// It is the seam between the look-ahead and a codec. The codec adds source pictures to `queue`,
/// takes one planned picture after the other (`next`), codes it as its syntax allows, and passes on
/// how many bits that took (`finish`). Nothing here calls a codec, so that a codec is free to code
/// several pictures at the same time.
package struct LookAheadPlanner {
  /// A picture that is to be coded next.
  package struct PlannedPicture {
    /// The picture: its samples, its type and the QP offsets of its blocks.
    package let picture: QueuedPicture
    /// The QP, a fraction included.
    package let qp: Double
    /// The part of `qp` that is the offset of the picture's type and of the quality cascade.
    package let offset: Double
    /// The part of `offset` that is the quality cascade's.
    package let cascaded: Double
    /// Whether all blocks have the same QP, without offsets.
    package let isExact: Bool
    /// Whether the picture is coded better than those that refer to it.
    package let hasRaisedQuality: Bool
    /// The bits that the decoder's buffer and the hard limits leave for it; nil without either.
    package let room: Double?
    /// Whether it is the last picture of the stream.
    package let isLast: Bool
  }

  /// The settings of the stream.
  package private(set) var settings: LookAheadSettings
  /// The pictures between input and coding.
  package let queue: LookAheadQueue
  /// Chooses the QP of each picture.
  package var rateControl: LookAheadRateControl
  /// The QP offsets of successive P pictures in streams without B pictures.
  private var cascade = QualityCascade(.lookAhead)
  /// Scratch of `next`: the pictures not accounted for yet, in decoding order as far as it is
  /// decided, and the seconds from the removal of each from the buffer to that of the next.
  private var forecasts: [PictureForecast] = []
  private var intervals: [Double] = []

  /// Creates a planner.
  /// - Parameters:
  ///   - settings: the settings of the stream.
  ///   - frames: the length of the look-ahead in frames.
  ///   - queue: an empty queue.
  ///   - pass: the statistics of an earlier pass over the same pictures; nil for a single pass.
  ///   - joined: the agreement with streams before and after this one; nil without any.
  package init(
    _ settings: LookAheadSettings, frames: Int, queue: LookAheadQueue, pass: (any PassSource)? = nil,
    joined: JoinedBuffer? = nil
  ) {
    self.settings = settings
    self.queue = queue
    rateControl = LookAheadRateControl(settings, pass: pass, joined: joined)
    forecasts.reserveCapacity(frames + 1)
    intervals.reserveCapacity(frames + 1)
  }

  /// Changes the settings from the next picture on.
  package mutating func reconfigure(_ new: LookAheadSettings) {
    settings = new
    rateControl.reconfigure(new)
  }

  /// Plans the first picture of the queue in decoding order and removes it from there.
  /// `LookAheadQueue.decideOrder` must have been called since the last picture was removed, and the
  /// queue must not be empty.
  /// - Parameters:
  ///   - isEnding: whether the stream ends with the pictures in the queue.
  ///   - pending: the pictures that are being coded and have not been passed to `finish`, in
  ///     decoding order.
  ///   - codingIndex: the number of pictures before the first of `pending`, in decoding order.
  package mutating func next(
    isEnding: Bool, pending: some Sequence<QueuedPicture>, codingIndex: UInt64
  ) -> PlannedPicture {
    queue.fixLead(depth: settings.reorderingDepth, nominalDuration: 1 / settings.frameRate)
    let planned = planQP(isEnding: isEnding, pending: pending)
    let room = roomForNext(codingIndex: codingIndex)
    let picture = queue.removeFirst()
    var (offset, cascaded) = (0.0, 0.0)
    let isConstant = settings.isConstantQP
    if !isConstant {
      offset = LookAheadRateControl.offsets[picture.forecast.kind.rawValue]
      if picture.kind == .bidirectionalReference { offset -= 0.5 }
      if picture.kind.isKey { cascade.restart() }
      if settings.bidirectionalLimit == 0, !picture.kind.isKey { cascaded = cascade.next() }
      offset += cascaded
    }
    // Where there are B pictures, they refer to the key frames and P pictures around them, so all
    // of those count as pictures of raised quality.
    let isRaised = picture.kind.isKey || cascaded < -1 || settings.bidirectionalLimit > 0
    return PlannedPicture(
      picture: picture, qp: picture.request.qp.map(Double.init) ?? planned + offset, offset: offset,
      cascaded: cascaded, isExact: isConstant || picture.request.qp != nil,
      hasRaisedQuality: isRaised && !picture.kind.isBidirectional, room: room,
      isLast: isEnding && queue.count == 0)
  }

  /// Forecasts the pictures that are not accounted for yet, and plans the QP of the next one.
  /// - Returns: the QP without the offset of the picture's type.
  private mutating func planQP(isEnding: Bool, pending: some Sequence<QueuedPicture>) -> Double {
    forecasts.removeAll(keepingCapacity: true)
    // The bits of the pictures that are being coded are not accounted for yet, so they count as
    // pictures to come.
    for picture in pending { forecasts.append(picture.forecast) }
    for picture in queue.ordered { forecasts.append(picture.forecast) }
    for (n, picture) in queue.pictures.enumerated() {
      forecasts.append(picture.forecast(of: n, typicalRun: queue.typicalRun))
    }
    let referred = queue.ordered.first { !$0.kind.isBidirectional } ?? queue.ordered.first
    return rateControl.plan(
      forecasts,
      intra: referred?.finalIntraResidual(queue.geometry.macroblockCount) ?? ResidualHistogram(),
      isEnding: isEnding)
  }

  /// The bits that the decoder's buffer and the hard limits leave for the next picture, given
  /// `forecasts`; nil without either.
  private mutating func roomForNext(codingIndex: UInt64) -> Double? {
    intervals.removeAll(keepingCapacity: true)
    for n in forecasts.indices {
      intervals.append(
        queue.decodeInterval(codingIndex: codingIndex + UInt64(n), depth: settings.reorderingDepth).seconds)
    }
    return rateControl.room(forecasts, intervals: intervals)
  }

  /// The whole QP of a picture within the range of the settings, with the QP offsets of its blocks.
  /// - Parameters:
  ///   - qp: the QP of the picture, a fraction included.
  ///   - picture: has the offsets of blocks (`QueuedPicture.offsets`).
  ///   - isExact: whether all offsets are 0.
  ///   - blockOffsets: receives the offset of each block of 16x16 samples in QP steps: its own, and
  ///     the fraction of the QP that is left.
  package func wholeQP(
    _ qp: Double, _ picture: QueuedPicture, isExact: Bool,
    blockOffsets: UnsafeMutablePointer<Int8>
  ) -> Int {
    let integerQP = min(max(Int(qp.rounded()), settings.minimumQP), settings.maximumQP)
    let count = queue.geometry.macroblockCount
    if isExact {
      blockOffsets.update(repeating: 0, count: count)
      return integerQP
    }
    let rest = Float(min(max(qp, 0), 51)) - Float(integerQP)
    for m in 0..<count {
      blockOffsets[m] = Int8(max(-30, min(30, (picture.offsets[m] + rest).rounded())))
    }
    return integerQP
  }

  /// Passes on what a picture took. Pictures with a constant QP teach nothing and need not be
  /// passed.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - bits: the bits of its access unit.
  ///   - qp: the QP that it was finally coded with, less `PlannedPicture.offset`.
  ///   - cascaded: `PlannedPicture.cascaded`.
  /// - Returns: its statistics for a next pass.
  package mutating func finish(
    _ picture: QueuedPicture, bits: Int, qp: Double, cascaded: Double
  ) -> PassStatistics.Picture {
    let final = picture.finalResidual(queue.geometry.macroblockCount)
    rateControl.finish(
      bits: Double(bits), qp: qp, picture: picture.forecast, cascaded: cascaded, final: final)
    return PassStatistics.Picture(
      index: picture.index, kind: picture.forecast.kind, bits: bits, qp: min(max(qp, 0), 51),
      duration: picture.duration, residual: final)
  }
}
