// SPDX-License-Identifier: Apache-2.0

/// Spatial or temporal direct for each B picture.
struct DirectChoice {
  /// B pictures whose colocated pictures are alike: those that others refer to, and of the last ones those before a B picture and
  /// those before another picture.
  enum Kind: Int { case reference, beforeB, beforeP }

  /// Of each kind, what the pictures so far have cost, older ones less and less.
  private var costs = [DirectCosts](repeating: DirectCosts(), count: 3)
  /// Of the picture that `choose` was called for last.
  private(set) var kind = Kind.reference
  /// Pictures that got temporal direct.
  private(set) var temporalPictures = 0

  /// Percent that temporal direct must be below. Where both cost the same, spatial direct is the better one: its references
  /// and vectors suit the neighbours that are searched for (0.2 % of bits with 100, none with 97).
  private static let margin = 97

  /// Sets the header of a B picture that refers to what `order` says.
  mutating func choose(
    _ plan: inout PicturePlan, _ way: H264EncoderConfiguration.LookAhead.DirectPrediction,
    _ order: StreamOrder
  ) {
    switch way {
    case .spatial: plan.header.usesSpatialDirect = true
    case .temporal: plan.header.usesSpatialDirect = false
    case .automatic:
      let follows = order.wantedL1.first?.isBidirectional ?? false
      kind = plan.isReference ? .reference : follows ? .beforeB : .beforeP
      let known = costs[kind.rawValue]
      plan.header.usesSpatialDirect = known.temporal * 100 >= known.spatial * DirectChoice.margin
      plan.comparesDirect = true
    }
    if !plan.header.usesSpatialDirect { temporalPictures += 1 }
  }

  /// Takes in what a picture has cost: one of that kind, or the one that `choose` was called for last.
  mutating func note(_ new: DirectCosts, of kind: Kind? = nil) {
    let kind = kind ?? self.kind
    costs[kind.rawValue].spatial = costs[kind.rawValue].spatial / 2 + new.spatial
    costs[kind.rawValue].temporal = costs[kind.rawValue].temporal / 2 + new.temporal
  }
}
