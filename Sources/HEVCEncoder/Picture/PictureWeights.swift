// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Chooses the weights of reference pictures where a picture is darker or brighter than they are,
/// and sets them in the slice header. P and B pictures have explicit weights; those of 1 without an
/// offset predict as no weights do.
struct PictureWeights {
  /// Compares the brightness of pictures.
  private let detector: FadeDetector
  /// Receives the weights of a reference picture.
  private var found: PredictionWeight
  /// The number of pictures with other weights than the default; for tests.
  private(set) var weightedPictures = 0
  /// Replaces the choice; for tests. It gets the list and the index of a reference picture.
  var choice: ((_ list: Int, _ index: Int) -> ReferenceWeight)?

  /// - Parameters:
  ///   - geometry: the size of the pictures.
  ///   - slots: the number of pictures that may be referred to.
  ///   - memory: owns the allocated memory.
  init(_ geometry: PictureGeometry, slots: Int, memory: inout EncoderMemory) {
    detector = FadeDetector(geometry, pictures: slots, memory: &memory)
    found = PredictionWeight(inverse: memory.allocate(UInt8.self, count: 256))
  }

  /// Reads the brightness of a picture.
  func read(_ source: SourcePicture) -> BrightnessMeasurement {
    for row in 0..<detector.reading.rows { detector.reading.read(source, row: row) }
    return detector.reading
  }

  /// Keeps the brightness of the picture that `weigh` got last as that of a reference picture.
  /// - Parameter slot: its index in the pool of pictures.
  func store(slot: Int) { detector.store(slot: slot) }

  /// The share of the unweighted error up to which weights may leave error in a B picture, whose
  /// mean of two reference pictures follows a fade by itself.
  private static let mostLeft = 0.5

  /// Decides on the weights of a picture's references.
  /// - Parameters:
  ///   - plan: receives the weights in its slice header.
  ///   - reading: the brightness of the picture.
  ///   - list0: reference list 0; empty in key frames.
  ///   - list1: reference list 1; empty in P pictures.
  ///   - isAllowed: whether the picture may have weights.
  ///   - coder: receives the weights.
  mutating func chooseWeights(
    _ plan: inout PicturePlan, _ reading: BrightnessMeasurement, list0: [ReferenceBuffer.Entry],
    list1: [ReferenceBuffer.Entry], isAllowed: Bool, _ coder: AnyPictureCoder
  ) {
    detector.take(reading)
    guard !list0.isEmpty || !list1.isEmpty else { return }
    let lists = [list0, list1]
    var weights = lists.map { $0.map { _ in ReferenceWeight() } }
    if let choice {
      for list in 0..<2 { for i in lists[list].indices { weights[list][i] = choice(list, i) } }
    } else if isAllowed {
      let shift = list1.isEmpty ? list0.first.map { detector.shift(slot: $0.picture) } ?? 6 : 6
      for list in 0..<2 {
        for (i, entry) in lists[list].enumerated() {
          detector.find(slot: entry.picture, shift: shift, &found)
          weights[list][i] = ReferenceWeight(found)
        }
      }
      if let first = list0.first, let second = list1.first,
        !pays(first.picture, weights[0][0], second.picture, weights[1][0])
      {
        weights = lists.map { $0.map { _ in ReferenceWeight() } }
      }
    }
    let all = weights[0] + weights[1]
    plan.isWeighted = all.contains { !$0.isDefault }
    if plan.isWeighted {
      weightedPictures += 1
    } else {
      // The denominators of default weights take the fewest bits.
      weights = lists.map { $0.map { _ in ReferenceWeight() } }
    }
    var table = HEVCPredictionWeights()
    let (luma, chroma) = all.first.map { ($0.lumaShift, $0.chromaShift) } ?? (0, 0)
    if plan.isWeighted {
      table.log2LumaDenominator = Int(luma)
      table.deltaLog2ChromaDenominator = Int(chroma - luma)
    }
    table.list0 = weights[0].map(\.entry)
    table.list1 = weights[1].map(\.entry)
    plan.header.weights = table
    for list in 0..<2 {
      for (i, weight) in weights[list].enumerated() { coder.setWeight(i, list: list, weight) }
    }
  }

  /// Whether weights are better than none for blocks that are predicted from either picture alone
  /// and from both.
  private mutating func pays(
    _ first: Int, _ a: ReferenceWeight, _ second: Int, _ b: ReferenceWeight
  ) -> Bool {
    func weight(_ own: ReferenceWeight) -> PredictionWeight {
      var weight = found
      weight.shift = own.lumaShift
      weight.luma = own.luma
      return weight
    }
    guard
      let errors = detector.errors((first, weight(a)), (second, weight(b)), secondWeight: 0.5)
    else { return false }
    let plain = errors.alone + 2 * errors.mean
    return errors.weightedAlone + 2 * errors.weightedMean < plain * Self.mostLeft
  }
}
