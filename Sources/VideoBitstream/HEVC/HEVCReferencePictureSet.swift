// SPDX-License-Identifier: Apache-2.0
/// st_ref_pic_set() of HEVC (7.3.7): the short-term reference pictures that a decoder keeps, and
/// which of them the current picture may refer to.
package struct HEVCReferencePictureSet: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    /// delta_poc_s0_minus1 or delta_poc_s1_minus1 + 1: the difference of picture order count to the
    /// entry before, or to the current picture; 1...32768.
    package var distance = 1
    /// used_by_curr_pic_s0_flag or used_by_curr_pic_s1_flag: whether the current picture may refer
    /// to it.
    package var isUsed = true

    package init(distance: Int = 1, isUsed: Bool = true) {
      self.distance = distance
      self.isUsed = isUsed
    }
  }

  /// inter_ref_pic_set_prediction_flag: the set is predicted from another one.
  package struct Prediction: Equatable, Sendable {
    /// delta_idx_minus1 + 1: the distance to the index of the other set. In slice headers only; 1
    /// elsewhere.
    package var indexDelta = 1
    /// delta_rps_sign
    package var isNegative = false
    /// abs_delta_rps_minus1 + 1
    package var absoluteDelta = 1
    /// used_by_curr_pic_flag and use_delta_flag for each picture of the other set and for the
    /// picture that has that set.
    package var flags: [Flags] = []

    package struct Flags: Equatable, Sendable {
      package var isUsed: Bool
      /// Whether the picture is kept.
      package var isKept: Bool

      package init(isUsed: Bool = false, isKept: Bool = true) {
        self.isUsed = isUsed
        self.isKept = isKept
      }
    }

    package init() {}
  }

  /// The pictures before the current one in output order, the closest first.
  package var negative: [Entry] = []
  /// The pictures after the current one in output order, the closest first.
  package var positive: [Entry] = []
  /// The prediction from another set, which replaces both lists; nil: none.
  package var prediction: Prediction?

  package init() {}

  /// NumDeltaPocs: the number of pictures in the set.
  package var count: Int {
    prediction.map { $0.flags.reduce(0) { $0 + ($1.isKept ? 1 : 0) } } ?? (negative.count + positive.count)
  }

  /// The number of pictures in the set that the current picture may refer to.
  package var usedCount: Int {
    prediction.map { $0.flags.reduce(0) { $0 + ($1.isUsed ? 1 : 0) } }
      ?? (negative + positive).reduce(0) { $0 + ($1.isUsed ? 1 : 0) }
  }

  private static let maxPictures = 16

  /// Codes the structure.
  /// - Parameters:
  ///   - c: reads or writes it.
  ///   - index: the index of the set in the sequence parameter set; the number of sets there for
  ///     the set of a slice header.
  ///   - sets: the sets of the sequence parameter set, at least up to `index`.
  ///   - isInSlice: whether the set is in a slice header.
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
      if count > Self.maxPictures { c.fail(.invalid) }
    } else {
      var (negatives, positives) = (negative.count, positive.count)
      c.ue(&negatives, 0...Self.maxPictures)
      c.ue(&positives, 0...Self.maxPictures)
      guard negatives + positives <= Self.maxPictures else { return c.fail(.invalid) }
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
