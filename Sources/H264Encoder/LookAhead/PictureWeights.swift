// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Chooses the weights of reference pictures where the picture is darker or brighter than they are.
///
/// P pictures have explicit weights or none. B pictures have explicit weights, implicit weights by
/// distance in time, or none; each of these has its own picture parameter set
/// (weighted_bipred_idc).
struct PictureWeights {
  /// Compares the brightness of pictures.
  private let detector: FadeDetector
  /// Scratch memory for pred_weight_table(), kept to avoid allocations.
  private var table = H264PredictionWeights()
  /// The picture parameter sets with weighted_bipred_idc 1 and 2. Both are nil without B pictures,
  /// and `implicit` is nil where the stream has a single picture parameter set.
  private let explicit: H264PictureParameterSet?
  private let implicit: H264PictureParameterSet?
  /// The number of B pictures with explicit and with implicit weights; for tests.
  private(set) var explicitPictures = 0
  private(set) var implicitPictures = 0

  /// Allocates the memory of the detector.
  /// - Parameters:
  ///   - geometry: the size of the pictures.
  ///   - slots: the number of pictures that may be referred to.
  ///   - sets: the stream's picture parameter sets.
  ///   - memory: owns the allocated memory.
  init(
    _ geometry: PictureGeometry, slots: Int, sets: [H264PictureParameterSet], memory: inout EncoderMemory
  ) {
    detector = FadeDetector(geometry, pictures: slots, memory: &memory)
    explicit = sets.first { $0.weightedBipredIDC == 1 }
    implicit = sets.first { $0.weightedBipredIDC == 2 }
    table.list0.reserveCapacity(16)
    table.list1.reserveCapacity(16)
  }

  /// Stores the brightness of the picture passed to `weigh` as that of slot `slot` of the picture
  /// pool.
  func store(slot: Int) { detector.store(slot: slot) }

  /// Decides on the weights of a picture's references and sets them in its slice header.
  /// - Parameters:
  ///   - plan: receives the weights and, for B pictures, the picture parameter set.
  ///   - reading: the brightness of the picture.
  ///   - index: its index in input order.
  ///   - order: the stream order; its reference lists are those of the picture.
  ///   - coder: receives the weights (`PictureCoder.weights`).
  mutating func chooseWeights(
    _ plan: inout PicturePlan, _ reading: BrightnessMeasurement, index: UInt64,
    _ order: borrowing StreamOrder,
    _ coder: PictureCoder
  ) {
    detector.take(reading)
    guard let first = order.list0.first else { return }
    if let second = order.list1.first {
      weightBidirectional(&plan, index, order.list0, order.list1, first, second, coder.weights)
      return
    }
    let shift = detector.shift(slot: first.picture)
    plan.isWeighted = computeWeights(order.list0, shift, coder.weights)
    if plan.isWeighted { setTable(&plan, shift, order.list0, [], coder.weights) }
  }

  /// Computes the weights of the pictures of a reference list.
  /// - Parameters:
  ///   - list: the reference list.
  ///   - shift: luma_log2_weight_denom and chroma_log2_weight_denom.
  ///   - weights: receives the weight of each picture.
  /// - Returns: whether any picture has other weights than the default.
  private func computeWeights(
    _ list: [DecodedPictureBuffer.Entry], _ shift: Int32, _ weights: UnsafeMutablePointer<PredictionWeight>
  ) -> Bool {
    var isWeighted = false
    for i in list.indices {
      detector.find(slot: list[i].picture, shift: shift, &weights[i])
      if !weights[i].isDefault { isWeighted = true }
    }
    return isWeighted
  }

  /// Copies the weights of both lists into the slice header (pred_weight_table, 7.3.3.2).
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

  /// The largest ratio of the error with explicit weights to the error without weights at which
  /// explicit weights are used. At a higher ratio, averaging two references without weights is
  /// better, because explicit weights are rounded.
  private static let maxResidualRatio = 0.2

  /// Decides between explicit, implicit and no weights for a B picture.
  /// - Parameters:
  ///   - plan: receives the weights and the picture parameter set.
  ///   - index: the picture's index in input order.
  ///   - list0: reference list 0.
  ///   - list1: reference list 1.
  ///   - first: the first picture of list 0.
  ///   - second: the first picture of list 1.
  ///   - weights: receives the weights of both lists.
  private mutating func weightBidirectional(
    _ plan: inout PicturePlan, _ index: UInt64, _ list0: [DecodedPictureBuffer.Entry],
    _ list1: [DecodedPictureBuffer.Entry], _ first: DecodedPictureBuffer.Entry,
    _ second: DecodedPictureBuffer.Entry, _ weights: UnsafeMutablePointer<PredictionWeight>
  ) {
    guard let explicit else { return }
    let weightsL1 = weights + ReferencePlanes.list1
    // A coarser denominator where the weights of both lists add up to more than the standard
    // allows.
    var shift: Int32 = 6
    var isWeighted = false
    while shift >= 5 {
      let (a, b) = (computeWeights(list0, shift, weights), computeWeights(list1, shift, weightsL1))
      isWeighted = (a || b) && Self.sumsAreAllowed(weights, list0.count, weightsL1, list1.count)
      if isWeighted || !a && !b { break }
      shift -= 1
    }
    let secondWeight = ImplicitWeights.weight(
      current: 0, 2 * (Int(first.index) - Int(index)), 2 * (Int(second.index) - Int(index)))
    guard
      let errors = detector.errors(
        (first.picture, weights[0]), (second.picture, weightsL1[0]), secondWeight: Double(secondWeight) / 64)
    else { return }
    // The sum for blocks predicted from either picture alone and from both.
    let plain = errors.alone + 2 * errors.mean
    let weighted = errors.weightedAlone + 2 * errors.weightedMean
    if isWeighted, weighted < plain * Self.maxResidualRatio {
      plan.isWeighted = true
      setTable(&plan, shift, list0, list1, weights)
      set(&plan, explicit)
      explicitPictures += 1
    } else if let implicit, errors.meanMatters, errors.implicit < errors.mean * FadeDetector.maxResidualRatio
    {
      set(&plan, implicit)
      implicitPictures += 1
    }
  }

  /// Makes a picture use a picture parameter set.
  private func set(_ plan: inout PicturePlan, _ parameterSet: H264PictureParameterSet) {
    plan.parameterSet = parameterSet
    plan.header.pictureParameterSetID = parameterSet.id
  }

  /// Whether the weights of every pair of list 0 and list 1 add up to a value that 7.4.3.2 allows:
  /// -128...128 with a denominator exponent below 7.
  /// - Parameters:
  ///   - list0: the weights of list 0.
  ///   - count0: their number.
  ///   - list1: the weights of list 1.
  ///   - count1: their number.
  private static func sumsAreAllowed(
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
