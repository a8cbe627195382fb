// SPDX-License-Identifier: Apache-2.0

/// Chooses spatial or temporal direct prediction for each B picture.
struct DirectChoice {
  /// Classes of B pictures with similar colocated pictures: B pictures that others refer to; those
  /// that none refers to whose first reference of list 1 is a B picture; and those where it is not.
  enum Kind: Int { case reference, beforeB, beforeP }

  /// For each class, the costs with either prediction, by `Kind.rawValue`: a sum in which each
  /// further picture halves the weight of the earlier ones.
  private var costs = [DirectCosts](repeating: DirectCosts(), count: 3)
  /// The class of the picture that `choose` was last called for; only set where the choice is
  /// automatic.
  private(set) var kind = Kind.reference
  /// The number of pictures with temporal direct prediction; for tests.
  private(set) var temporalPictures = 0

  /// Temporal prediction is chosen where its cost is below this percentage of that of spatial
  /// prediction. At equal cost spatial prediction is better, since its references and vectors suit
  /// the motion search of neighbouring macroblocks (it takes 0.2 % more bits with 100 than with
  /// 97).
  private static let margin = 97

  /// Sets direct_spatial_mv_pred_flag in the slice header of a B picture.
  /// - Parameters:
  ///   - plan: the plan of the picture.
  ///   - way: the configured direct prediction.
  ///   - order: the decoding order, with the picture's references selected.
  mutating func choose(
    _ plan: inout PicturePlan, _ way: H264EncoderConfiguration.LookAhead.DirectPrediction,
    _ order: StreamOrder
  ) {
    switch way {
    case .spatial: plan.header.usesSpatialDirect = true
    case .temporal: plan.header.usesSpatialDirect = false
    case .automatic:
      let follows = order.list1.first?.isBidirectional ?? false
      kind = plan.isReference ? .reference : follows ? .beforeB : .beforeP
      let known = costs[kind.rawValue]
      plan.header.usesSpatialDirect = known.temporal * 100 >= known.spatial * DirectChoice.margin
      plan.comparesDirect = true
    }
    if !plan.header.usesSpatialDirect { temporalPictures += 1 }
  }

  /// Adds the costs of a coded picture to those of its class.
  /// - Parameters:
  ///   - new: the costs of the picture with either prediction.
  ///   - kind: its class; nil: that of the picture that `choose` was last called for.
  mutating func add(_ new: DirectCosts, of kind: Kind? = nil) {
    let kind = kind ?? self.kind
    costs[kind.rawValue].spatial = costs[kind.rawValue].spatial / 2 + new.spatial
    costs[kind.rawValue].temporal = costs[kind.rawValue].temporal / 2 + new.temporal
  }
}
