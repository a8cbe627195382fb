// SPDX-License-Identifier: Apache-2.0
/// What a speed level tries for each macroblock.
struct SpeedTools {
  /// References searched for 16x16 at most; all but the first only if the best vector costs more than so many lambda.
  var references = 1
  var referenceThreshold: Int32 = 0
  /// In low-latency streams so many instead, where pictures refer to others than the first for so much of what they code (`ReferenceUse`).
  var referencesByUse = (count: 1, least: 0.0)
  /// Half- and quarter-sample refinement by SATD, else by SAD.
  var refineBySATD = true
  /// With that, the half-sample positions still by SAD: only the best of them is compared by SATD.
  var halfSamplesBySAD = false
  /// Rounds of the half-sample and of the quarter-sample diamond.
  var halfRounds = 1
  var quarterRounds = 1
  /// In P pictures chroma counts among the quarter-sample positions of 16x16, and between references.
  var chromaMotion = false
  /// Chroma's levels are chosen by errors and bits too, where luma's are.
  var usesChromaRDOQ = false
  // In B pictures:

  /// As `skipError`, `partitionThreshold` and `intraThreshold`.
  var skipErrorB = 12
  var partitionThresholdB: Int32 = Int32.max / 2048
  var intraThresholdB: Int32 = 4
  /// B_Skip without a search where its error is worth no more than so many bits.
  var earlySkipBitsB = 0
  /// Lambda of the residual's bits, in percent of that of squared errors: in pictures that others refer to, and in those
  /// that none does.
  var residualLambdaB = 100
  var residualLambdaNonReference = 100
  /// Lambda of levels' bits in the latter.
  var rdoqLambdaNonReference = 500
  /// Lambda of vectors' bits, in percent.
  var motionLambdaB = 100
  /// Bits that direct is taken to cost, and how much more than the best direct may cost (in percent of that) to be
  /// coded and compared.
  var directBits: Int32 = 2
  var directMargin = 0
  /// Rounds in which the vectors of a prediction from both lists are moved together.
  var jointRounds = 0
  /// Largest number of steps of the full-sample descent.
  var fullSteps = 16
  /// 16x8, 8x16 and 8x8 partitions are tried when a 16x16 vector costs more than this many lambda.
  var partitionThreshold: Int32 = Int32.max / 2048
  /// And then only where a neighbour is intra, or has a vector more than so many quarter samples away from it; -1: everywhere. (Where all
  /// around moves alike, what is left is seldom left by the motion.)
  var partitionDistance = -1
  /// On screens, blocks that were shown before (`RepeatTable`) are looked for when a vector costs more than this many lambda.
  var repeatThreshold: Int32 = 24
  /// Intra is tried when inter costs more than this many lambda: also where little is left, since what a flat place
  /// predicts from its neighbours is free of the noise of the reference.
  var intraThreshold: Int32 = 2
  /// Lambda of vectors, modes and the thresholds in lambdas here, in percent.
  var searchLambda: Int32 = 100
  /// In P pictures 8x8 and 4x4 intra prediction are tried where 16x16 costs less than so many percent of inter prediction:
  /// where no neighbour is intra, where one is, where more are. (What one motion does not predict comes in patches.)
  var intraMargin = (alone: 100, besideOne: 200, besideMore: 300)
  /// Percent of inter prediction's cost by which intra prediction has to be cheaper, in P pictures.
  var intraHandicap: Int32 = 3
  /// The size of intra prediction chosen by errors and bits of what was coded with each. Only with CABAC.
  var intraByCost = false
  /// One vector for the whole macroblock is coded and compared where it costs less than so many percent of partitions; in
  /// B pictures.
  var wholeMacroblockMargin = 0
  var wholeMacroblockMarginB = 0
  /// P_Skip without a search where nothing is left to code: only if its error is at most so many percent of the
  /// noise of quantisation.
  var skipError = 1_000_000
  /// P_Skip without a search where its error is worth no more than so many bits: of what stands still as do the neighbours to the left and
  /// above, and of what may move, which by less than a sample leaves little of it in this picture and all of it in those that follow.
  var earlySkipBits = (still: 0, moving: 0)
  /// Intra 4x4 and 8x8 in P pictures beside so many intra macroblocks at least; 0: everywhere.
  var smallIntraNeighbours = 0
  /// Transform size and skip decided by coding both and comparing squared error and bits.
  var rateDistortion = true
  /// Which transform of the luma residual is tried first; the other one only where that leaves something worth coding, unless both are
  /// always tried.
  enum TransformOrder { case both, fourFirst, eightFirst }
  var transformOrder = TransformOrder.both
  /// Where levels are not optimised, residuals of inter macroblocks are rounded as those of intra ones are: up from two
  /// thirds of a step, not only from five sixths.
  var roundsFinely = false
  /// Percent by which P_Skip is preferred to a residual that costs the same.
  var skipPreference = 0
  /// Levels chosen by their cost in bits (rate-distortion optimised quantisation).
  var usesRDOQ = true
}

extension SpeedTools {
  /// 0 is best, `EncoderConfiguration.fastestSpeed` fastest.
  init(speed: Int) {
    switch speed {
    case 7...:
      usesRDOQ = false
      refineBySATD = false
      roundsFinely = true
      searchLambda = 80
      transformOrder = .eightFirst
      skipError = 15
      earlySkipBits = (45, 18)
      skipErrorB = 100
      earlySkipBitsB = 30
      smallIntraNeighbours = 1
      intraThreshold = 8
      intraThresholdB = 32
      fullSteps = 8
    case 5, 6:
      usesRDOQ = false
      halfSamplesBySAD = true
      referencesByUse = (2, speed == 6 ? 0.3 : 0.2)
      referenceThreshold = speed == 6 ? 16 : 12
      partitionThreshold = 32
      partitionDistance = speed == 6 ? 4 : 1
      roundsFinely = true
      searchLambda = 80
      transformOrder = speed == 6 ? .eightFirst : .fourFirst
      skipError = 15
      earlySkipBits = (speed == 6 ? 45 : 18, 18)
      skipErrorB = 100
      earlySkipBitsB = 30
      smallIntraNeighbours = speed == 6 ? 1 : 0
      intraThreshold = speed == 6 ? 6 : 4
      intraThresholdB = 16
      fullSteps = 8
    case 4:
      partitionThresholdB = 48
      intraThresholdB = 8
      skipErrorB = 40
      earlySkipBitsB = 20
      references = 2
      referencesByUse = (2, 0.1)
      referenceThreshold = 12
      partitionThreshold = 24
      skipError = 8
      earlySkipBits = (18, 18)
      searchLambda = 80
      roundsFinely = true
      usesRDOQ = false
      halfSamplesBySAD = true
      transformOrder = .fourFirst
    case 3:
      partitionThresholdB = 24
      skipErrorB = 20
      earlySkipBitsB = 10
      references = 2
      referencesByUse = (2, 0.1)
      referenceThreshold = 8
      searchLambda = 80
      partitionThreshold = 24
      skipError = 8
      skipPreference = 5
      jointRounds = 1
    case 2:
      chromaMotion = true
      usesChromaRDOQ = true
      intraByCost = true
      intraMargin.alone = 150
      intraHandicap = 0
      wholeMacroblockMargin = 115
      wholeMacroblockMarginB = 115
      directMargin = 115
      partitionThresholdB = 12
      references = 3
      referencesByUse = (3, 0.1)
      referenceThreshold = 6
      quarterRounds = 2
      partitionThreshold = 12
      skipError = 8
      jointRounds = 1
    case 1:
      chromaMotion = true
      usesChromaRDOQ = true
      intraByCost = true
      intraMargin.alone = 150
      intraHandicap = 0
      wholeMacroblockMargin = 130
      wholeMacroblockMarginB = 130
      directMargin = 115
      partitionThresholdB = 8
      references = 3
      halfRounds = 2
      quarterRounds = 2
      partitionThreshold = 8
      jointRounds = 1
      skipError = 6
    default:
      chromaMotion = true
      usesChromaRDOQ = true
      intraByCost = true
      intraMargin.alone = 150
      intraHandicap = 0
      wholeMacroblockMargin = 150
      wholeMacroblockMarginB = 150
      partitionThresholdB = 4
      directMargin = 130
      references = 4
      halfRounds = 3
      quarterRounds = 3
      partitionThreshold = 4
      jointRounds = 3
      skipError = 6
    }
  }
}

extension SpeedTools {
  /// The same for screens, where most macroblocks are P_Skip and the others are sharp: what takes time elsewhere takes
  /// little here, and gains more. The fastest level stays as it is.
  var forScreens: SpeedTools {
    guard refineBySATD else { return self }
    var tools = self
    tools.usesRDOQ = true
    tools.roundsFinely = false
    tools.transformOrder = .both
    tools.smallIntraNeighbours = 0
    tools.intraByCost = true
    return tools
  }
}

extension EncoderConfiguration {
  /// Reference pictures that a speed level makes use of: worth keeping as `maximumReferences`, where memory allows.
  public static func referencesUsed(speed: Int) -> Int {
    let tools = SpeedTools(speed: speed)
    return max(tools.references, tools.referencesByUse.count)
  }
}
