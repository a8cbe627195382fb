/// What a speed level tries for each macroblock.
struct SpeedTools {
  /// References searched for 16x16 at most.
  var references = 1
  /// Half- and quarter-sample refinement by SATD, else by SAD.
  var refineBySATD = true
  /// With that, the half-sample positions still by SAD: only the best of them is compared by SATD.
  var halfSamplesBySAD = false
  /// Rounds of the half-sample and of the quarter-sample diamond.
  var halfRounds = 1
  var quarterRounds = 1
  /// Largest number of steps of the full-sample descent.
  var fullSteps = 16
  /// 16x8, 8x16 and 8x8 partitions are tried when a 16x16 vector costs more than this many lambda.
  var partitionThreshold: Int32 = Int32.max / 2048
  /// Intra is tried when inter costs more than this many lambda.
  var intraThreshold: Int32 = 4
  /// Score of levels (`keepScore`) that P_Skip may leave out unseen.
  var skipScore = 0
  /// P_Skip without a search where it is all but sure to win.
  var skipsEarly = false
  /// Intra 4x4 and 8x8 in P pictures.
  var smallIntraInP = true
  /// Transform size and skip decided by coding both and comparing squared error and bits.
  var rateDistortion = true
  /// The 8x8 transform is not tried where the 4x4 one leaves nothing worth coding.
  var transform8x8OnlyIfCoded = false
  /// Levels chosen by their cost in bits (rate-distortion optimised quantisation).
  var optimisedLevels = true
}

extension SpeedTools {
  /// 0 is best, `EncoderConfiguration.fastestSpeed` fastest.
  init(speed: Int) {
    switch speed {
    case 6...:
      rateDistortion = false
      optimisedLevels = false
      refineBySATD = false
      intraThreshold = 32
      skipScore = 3
      fullSteps = 8
    case 5:
      optimisedLevels = false
      refineBySATD = false
      transform8x8OnlyIfCoded = true
      skipsEarly = true
      smallIntraInP = false
      intraThreshold = 16
      fullSteps = 8
    case 4:
      optimisedLevels = false
      halfSamplesBySAD = true
      transform8x8OnlyIfCoded = true
      skipsEarly = true
      intraThreshold = 8
    case 3:
      break
    case 2:
      partitionThreshold = 24
    case 1:
      references = 2
      halfRounds = 2
      quarterRounds = 2
      partitionThreshold = 8
    default:
      references = 4
      halfRounds = 3
      quarterRounds = 3
      partitionThreshold = 4
    }
  }
}
