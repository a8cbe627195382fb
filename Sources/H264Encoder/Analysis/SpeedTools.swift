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

extension SpeedTools {
  /// 0 is best, `EncoderConfiguration.fastestSpeed` fastest.
  init(speed: Int) {
    switch speed {
    case 5...:
      refineBySATD = false
      partitions = false
      smallIntraInP = false
      allIntraModes = false
      fullSteps = 8
    case 4:
      partitions = false
      allIntraModes = false
    case 3:
      allIntraModes = false
    case 2:
      rateDistortion = true
      halfRounds = 2
      quarterRounds = 2
    case 1:
      rateDistortion = true
      optimisedLevels = true
      halfRounds = 2
      quarterRounds = 2
      references = 2
    default:
      rateDistortion = true
      optimisedLevels = true
      halfRounds = 3
      quarterRounds = 3
      references = 4
    }
  }
}
