// SPDX-License-Identifier: Apache-2.0

/// The prediction syntax of coding units.
extension SliceWriter {
  mutating func mergeIndex(_ index: Int) {
    engine.encode(index > 0 ? 1 : 0, Contexts.mergeIndex)
    // MaxNumMergeCand is 5.
    if index > 0 {
      let ones = index &- 1
      let bins = ones == 3 ? 0b111 : ((1 &<< ones) &- 1) &<< 1
      engine.bypass(UInt32(truncatingIfNeeded: bins), min(ones &+ 1, 3))
    }
  }

  /// Writes prediction_unit() (7.3.8.6).
  /// - Parameters:
  ///   - unit: its syntax elements.
  ///   - depth: the depth of its coding unit in the coding quadtree (CtDepth).
  mutating func predictionUnit(_ unit: PredictionUnit, depth: Int) {
    engine.encode(unit.mergeIndex >= 0 ? 1 : 0, Contexts.mergeFlag)
    if unit.mergeIndex >= 0 {
      mergeIndex(Int(unit.mergeIndex))
      return
    }
    if kind == .b {
      // inter_pred_idc (9.3.3.7); no prediction block has 8x4 or 4x8 samples.
      let isBoth = unit.motion.isBidirectional
      engine.encode(isBoth ? 1 : 0, Contexts.interPrediction &+ depth)
      if !isBoth {
        engine.encode(unit.motion.first.reference >= 0 ? 0 : 1, Contexts.interPrediction &+ 4)
      }
    }
    if unit.motion.first.reference >= 0 { vector(unit.motion.first, unit.first, references.0) }
    if unit.motion.second.reference >= 0 { vector(unit.motion.second, unit.second, references.1) }
  }

  /// Writes ref_idx_lX, mvd_coding() and mvp_lX_flag of one list.
  private mutating func vector(_ motion: Motion, _ difference: VectorDifference, _ references: Int) {
    if references > 1 {
      let reference = Int(motion.reference)
      var i = 0
      while i < references &- 1 {
        let isMore: UInt32 = i < reference ? 1 : 0
        if i < 2 { engine.encode(isMore, Contexts.referenceIndex &+ i) } else { engine.bypass(isMore, 1) }
        if isMore == 0 { break }
        i &+= 1
      }
    }
    let (dx, dy) = (Int(difference.x), Int(difference.y))
    let (ax, ay) = (abs(dx), abs(dy))
    engine.encode(ax > 0 ? 1 : 0, Contexts.differenceGreater0)
    engine.encode(ay > 0 ? 1 : 0, Contexts.differenceGreater0)
    if ax > 0 { engine.encode(ax > 1 ? 1 : 0, Contexts.differenceGreater1) }
    if ay > 0 { engine.encode(ay > 1 ? 1 : 0, Contexts.differenceGreater1) }
    motionVectorDifferenceRemainder(ax, isNegative: dx < 0)
    motionVectorDifferenceRemainder(ay, isNegative: dy < 0)
    engine.encode(UInt32(difference.predictor), Contexts.vectorPredictor)
  }

  /// Writes abs_mvd_minus2 (EG1) and mvd_sign_flag of one component.
  mutating func motionVectorDifferenceRemainder(_ magnitude: Int, isNegative: Bool) {
    if magnitude > 1 { expGolomb(magnitude &- 2, 1) }
    if magnitude > 0 { engine.bypass(isNegative ? 1 : 0, 1) }
  }

  /// Writes a k-th order Exp-Golomb code in bypass bins (9.3.3.5).
  mutating func expGolomb(_ value: Int, _ order: Int) {
    var (rest, k) = (value, order)
    while rest >= 1 &<< k {
      engine.bypass(1, 1)
      rest &-= 1 &<< k
      k &+= 1
    }
    engine.bypass(0, 1)
    if k > 0 { engine.bypass(UInt32(truncatingIfNeeded: rest), k) }
  }

  /// The prediction modes of an intra unit.
  mutating func intraModes(_ unit: CodingUnit, _ x: Int, _ y: Int) {
    let parts = unit.isSplit ? 4 : 1
    let modes = (unit.lumaModes.0, unit.lumaModes.1, unit.lumaModes.2, unit.lumaModes.3)
    func mode(_ part: Int) -> Int {
      switch part {
      case 0: Int(modes.0)
      case 1: Int(modes.1)
      case 2: Int(modes.2)
      default: Int(modes.3)
      }
    }
    // prev_intra_luma_pred_flag of all parts comes before the modes.
    var codes = (0, 0, 0, 0)
    for part in 0..<parts {
      let candidates = MostProbableModes(
        map, x &+ (part & 1) &* 4, y &+ (part &>> 1) &* 4, partIndex: unit.isSplit ? part : 0)
      let code = candidates.code(mode(part))
      switch part {
      case 0: codes.0 = code
      case 1: codes.1 = code
      case 2: codes.2 = code
      default: codes.3 = code
      }
      engine.encode(code < 0 ? 1 : 0, Contexts.previousIntraMode)
    }
    for part in 0..<parts {
      let code = part == 0 ? codes.0 : part == 1 ? codes.1 : part == 2 ? codes.2 : codes.3
      switch code {
      case -1: engine.bypass(0, 1)
      case -2: engine.bypass(0b10, 2)
      case -3: engine.bypass(0b11, 2)
      default: engine.bypass(UInt32(truncatingIfNeeded: code), 5)
      }
    }
    engine.encode(unit.chromaMode == 4 ? 0 : 1, Contexts.chromaMode)
    if unit.chromaMode != 4 { engine.bypass(UInt32(unit.chromaMode), 2) }
  }
}
