/// What a speed level tries for each macroblock.
struct SpeedTools {
  /// References searched for 16x16 at most.
  var references = 1
  /// Half- and quarter-sample refinement by SATD, else by SAD.
  var refineBySATD = true
  /// Rounds of the half-sample and of the quarter-sample diamond.
  var halfRounds = 1
  var quarterRounds = 1
  /// Largest number of steps of the full-sample descent.
  var fullSteps = 16
  /// 16x8, 8x16 and 8x8 partitions.
  var partitions = true
  /// Intra 4x4 and 8x8 in P pictures.
  var smallIntraInP = true
  /// All nine modes of intra 4x4 and 8x8, else the likely ones.
  var allIntraModes = true
  /// Transform size and skip decided by coding both and comparing squared error and bits.
  var rateDistortion = false
  /// Levels chosen by their cost in bits (rate-distortion optimised quantisation).
  var optimisedLevels = false
}
