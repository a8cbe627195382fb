// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Weights of what a picture refers to, where it has grown darker or brighter: a table in P pictures; in B pictures a
/// table, weights by distance in time, or none, each of which has a picture parameter set (weighted_bipred_idc).
struct PictureWeights {
  private let detector: FadeDetector
  private var table = H264PredictionWeights()
  /// With weighted_bipred_idc 1 and 2; nil without B pictures, and without the latter.
  private let explicit: H264PictureParameterSet?
  private let implicit: H264PictureParameterSet?
  /// B pictures with a table, and with weights by distance; for tests.
  private(set) var explicitPictures = 0
  private(set) var implicitPictures = 0

  /// - Parameters:
  ///   - slots: pictures that may be referred to.
  ///   - sets: the stream's picture parameter sets.
  init(
    _ geometry: PictureGeometry, slots: Int, sets: [H264PictureParameterSet], memory: inout EncoderMemory
  ) {
    detector = FadeDetector(geometry, pictures: slots, memory: &memory)
    explicit = sets.first { $0.weightedBipredIDC == 1 }
    implicit = sets.first { $0.weightedBipredIDC == 2 }
    table.list0.reserveCapacity(16)
    table.list1.reserveCapacity(16)
  }

  /// The picture that was weighed is now the one in a slot.
  func store(slot: Int) { detector.store(slot: slot) }

  /// Takes what was read of a picture, and decides on the weights of its references, those of `order`.
  mutating func weigh(
    _ plan: inout PicturePlan, _ reading: FadeReading, index: UInt64, _ order: borrowing StreamOrder,
    _ coder: PictureCoder
  ) {
    detector.take(reading)
    guard let first = order.wanted.first else { return }
    if let second = order.wantedL1.first {
      weightBidirectional(&plan, index, order.wanted, order.wantedL1, first, second, coder.weights)
      return
    }
    let shift = detector.shift(slot: first.picture)
    plan.isWeighted = find(order.wanted, shift, coder.weights)
    if plan.isWeighted { setTable(&plan, shift, order.wanted, [], coder.weights) }
  }

  /// Finds the weights of a list's pictures. Returns whether there are any.
  private func find(
    _ list: [DecodedPictureBuffer.Entry], _ shift: Int32, _ weights: UnsafeMutablePointer<PredictionWeight>
  ) -> Bool {
    var isWeighted = false
    for i in list.indices {
      detector.find(slot: list[i].picture, shift: shift, &weights[i])
      if !weights[i].isDefault { isWeighted = true }
    }
    return isWeighted
  }

  private mutating func setTable(
    _ plan: inout PicturePlan, _ shift: Int32, _ list0: [DecodedPictureBuffer.Entry],
    _ list1: [DecodedPictureBuffer.Entry], _ weights: UnsafeMutablePointer<PredictionWeight>
  ) {
    table.log2LumaDenominator = Int(shift)
    table.log2ChromaDenominator = Int(shift)
    table.list0.removeAll(keepingCapacity: true)
    table.list1.removeAll(keepingCapacity: true)
    for i in list0.indices { table.list0.append(weights[i].entry) }
    for i in list1.indices { table.list1.append(weights[ReferencePlanes.list1 + i].entry) }
    plan.header.weights = table
  }

  // MARK: - B pictures

  /// Part of the errors that a table may leave. Where it leaves more, the mean of two pictures is better than what both
  /// weights are rounded to.
  private static let mostLeft = 0.2

  private mutating func weightBidirectional(
    _ plan: inout PicturePlan, _ index: UInt64, _ list0: [DecodedPictureBuffer.Entry],
    _ list1: [DecodedPictureBuffer.Entry], _ first: DecodedPictureBuffer.Entry,
    _ second: DecodedPictureBuffer.Entry, _ weights: UnsafeMutablePointer<PredictionWeight>
  ) {
    guard let explicit else { return }
    let weightsL1 = weights + ReferencePlanes.list1
    // Coarser weights where finer ones of both lists together exceed what they may be.
    var shift: Int32 = 6
    var isWeighted = false
    while shift >= 5 {
      let (a, b) = (find(list0, shift, weights), find(list1, shift, weightsL1))
      isWeighted = (a || b) && Self.mayJoin(weights, list0.count, weightsL1, list1.count)
      if isWeighted || !a && !b { break }
      shift -= 1
    }
    let share = ImplicitWeights.weight(
      current: 0, 2 * (Int(first.index) - Int(index)), 2 * (Int(second.index) - Int(index)))
    guard
      let errors = detector.errors(
        (first.picture, weights[0]), (second.picture, weightsL1[0]), share: Double(share) / 64)
    else { return }
    // A block may take either picture, or both.
    let plain = errors.alone + 2 * errors.mean
    let weighted = errors.weightedAlone + 2 * errors.weightedMean
    if isWeighted, weighted < plain * Self.mostLeft {
      plan.isWeighted = true
      setTable(&plan, shift, list0, list1, weights)
      set(&plan, explicit)
      explicitPictures += 1
    } else if let implicit, errors.meanMatters, errors.implicit < errors.mean * FadeDetector.mostLeft {
      set(&plan, implicit)
      implicitPictures += 1
    }
  }

  private func set(_ plan: inout PicturePlan, _ parameterSet: H264PictureParameterSet) {
    plan.parameterSet = parameterSet
    plan.header.pictureParameterSetID = parameterSet.id
  }

  /// Whether the weights of each two pictures add up to what they may (7.4.3.2): -128...128 with a shift below 7.
  private static func mayJoin(
    _ list0: UnsafePointer<PredictionWeight>, _ count0: Int, _ list1: UnsafePointer<PredictionWeight>,
    _ count1: Int
  ) -> Bool {
    for i in 0..<count0 {
      for j in 0..<count1 {
        let (a, b) = (list0[i], list1[j])
        let range: ClosedRange<Int32> = -128...128
        guard range.contains(a.luma.weight + b.luma.weight), range.contains(a.cb.weight + b.cb.weight),
          range.contains(a.cr.weight + b.cr.weight)
        else { return false }
      }
    }
    return true
  }
}
