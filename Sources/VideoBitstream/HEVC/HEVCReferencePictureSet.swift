// SPDX-License-Identifier: Apache-2.0
/// st_ref_pic_set() of HEVC (7.3.7): which pictures close by are kept, and which of them are referred to.
package struct HEVCReferencePictureSet: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    /// delta_poc_minus1 + 1 to the entry before it, or to the current picture; 1...32768.
    package var distance = 1
    /// used_by_curr_pic_flag
    package var isUsed = true

    package init(distance: Int = 1, isUsed: Bool = true) {
      self.distance = distance
      self.isUsed = isUsed
    }
  }

  /// inter_ref_pic_set_prediction_flag: the set follows from another.
  package struct Prediction: Equatable, Sendable {
    /// delta_idx_minus1 + 1: how many sets before it, in slice headers; else 1.
    package var indexDelta = 1
    /// delta_rps_sign
    package var isNegative = false
    /// abs_delta_rps_minus1 + 1
    package var absoluteDelta = 1
    /// used_by_curr_pic_flag and use_delta_flag, for each of the other set's pictures and the one it belongs to.
    package var flags: [Flags] = []

    package struct Flags: Equatable, Sendable {
      package var isUsed: Bool
      /// Kept, at least.
      package var isKept: Bool

      package init(isUsed: Bool = false, isKept: Bool = true) {
        self.isUsed = isUsed
        self.isKept = isKept
      }
    }

    package init() {}
  }

  /// Pictures before and after the current one in output order, the closest first.
  package var negative: [Entry] = []
  package var positive: [Entry] = []
  /// In place of both.
  package var prediction: Prediction?

  package init() {}

  /// NumDeltaPocs
  package var count: Int {
    prediction.map { $0.flags.reduce(0) { $0 + ($1.isKept ? 1 : 0) } } ?? (negative.count + positive.count)
  }

  /// How many the current picture may refer to.
  package var usedCount: Int {
    prediction.map { $0.flags.reduce(0) { $0 + ($1.isUsed ? 1 : 0) } }
      ?? (negative + positive).reduce(0) { $0 + ($1.isUsed ? 1 : 0) }
  }

  private static let mostPictures = 16

  /// - Parameters:
  ///   - index: Among the sets of the sequence parameter set; their number for the set of a slice header.
  ///   - sets: Those of the sequence parameter set, up to `index` at least.
  mutating func code<Coder: SyntaxCoder>(
    _ c: inout Coder, index: Int, sets: [HEVCReferencePictureSet], isInSlice: Bool
  ) {
    var isPredicted = prediction != nil
    if index > 0 { c.flag(&isPredicted) }
    guard c.failure == nil else { return }
    if isPredicted, index > 0 {
      var value = prediction ?? Prediction()
      if isInSlice { c.ue(&value.indexDelta, 1...index) }
      let reference = index - value.indexDelta
      guard sets.indices.contains(reference) else { return c.fail(.invalid) }
      c.flag(&value.isNegative)
      c.ue(&value.absoluteDelta, 1...32768)
      c.list(&value.flags, count: sets[reference].count + 1, Prediction.Flags()) {
        $0.flag(&$1.isUsed)
        if $1.isUsed { $1.isKept = true } else { $0.flag(&$1.isKept) }
      }
      prediction = value
      if count > Self.mostPictures { c.fail(.invalid) }
    } else {
      var (negatives, positives) = (negative.count, positive.count)
      c.ue(&negatives, 0...Self.mostPictures)
      c.ue(&positives, 0...Self.mostPictures)
      guard negatives + positives <= Self.mostPictures else { return c.fail(.invalid) }
      Self.code(&negative, &c, negatives)
      Self.code(&positive, &c, positives)
    }
  }

  private static func code<Coder: SyntaxCoder>(_ entries: inout [Entry], _ c: inout Coder, _ count: Int) {
    c.list(&entries, count: count, Entry()) {
      $0.ue(&$1.distance, 1...32768)
      $0.flag(&$1.isUsed)
    }
  }
}
