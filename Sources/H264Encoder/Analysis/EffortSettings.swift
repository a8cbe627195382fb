// SPDX-License-Identifier: Apache-2.0

/// What an effort tries for each macroblock, grouped by the step of coding that it belongs to.
///
/// The defaults are those of effort 3. `init(effort:)` says how each other effort differs from it. "Lambda" is the
/// Lagrange multiplier of vectors and modes, by which a sum of differences is compared with bits.
struct EffortSettings {
  var motion = Motion()
  var partitions = Partitions()
  var intra = Intra()
  var skip = Skip()
  var residual = Residual()

  /// Motion search.
  struct Motion {
    /// References searched for 16x16 blocks at most.
    var references = 2
    /// References after the first one are searched where the best vector costs more than so many lambda.
    var referenceThreshold: Int32 = 8
    /// In low-latency streams the number of references instead, where pictures refer to others than the first one for at
    /// least this share of what they code (`ReferenceUse`).
    var referencesByUse = (count: 2, least: 0.1)
    /// Steps of the full-sample descent at most.
    var fullSampleSteps = 16
    /// Rounds of the half-sample and of the quarter-sample diamond.
    var halfSampleRounds = 1
    var quarterSampleRounds = 1
    /// Positions between samples are compared by SATD, else by SAD.
    var usesSATD = true
    /// With that, half-sample positions are compared by SAD still, and only the best of them by SATD.
    var usesSADForHalfSamples = false
    /// In P pictures chroma counts among the quarter-sample positions of 16x16, and between references.
    var usesChroma = false
    /// In B pictures, rounds in which the two vectors of a biprediction are refined together.
    var bipredictionRounds = 1
    /// Percent of lambda that vectors, modes and the thresholds in lambdas here are weighed with.
    var lambdaPercent: Int32 = 80
  }

  /// Partitions of inter macroblocks.
  struct Partitions {
    /// 16x8, 8x16 and 8x8 are tried where a 16x16 vector costs more than so many lambda, in P and in B pictures.
    var threshold: Int32 = 24
    var thresholdB: Int32 = 24
    /// In P pictures they are tried only where a neighbour is intra, or its vector is farther away than so many quarter
    /// samples; -1: everywhere. Where all neighbours move alike, motion seldom explains what is left.
    var neighbourDistance = -1
    /// One vector for the macroblock is coded too and compared by rate and distortion where its cost is less than so many
    /// percent of that of partitions, in P and in B pictures; 0: never.
    var wholeMargin = 0
    var wholeMarginB = 0
  }

  /// Intra prediction in P and B pictures.
  struct Intra {
    /// It is tried where inter prediction costs more than so many lambda. In P pictures that is little: what a flat place
    /// predicts from its neighbours is free of the noise of the reference.
    var threshold: Int32 = 2
    var thresholdB: Int32 = 4
    /// In P pictures 8x8 and 4x4 intra prediction are tried where 16x16 costs less than so many percent of inter
    /// prediction: without intra neighbours, with one, and with more. What motion does not predict comes in patches.
    var smallMargin = (alone: 100, besideOne: 200, besideMore: 300)
    /// 8x8 and 4x4 are tried in P pictures beside so many intra macroblocks at least.
    var smallNeighbours = 0
    /// Percent of inter prediction's cost by which intra prediction has to be cheaper in P pictures.
    var handicap: Int32 = 3
    /// The block size is chosen by the rate and distortion of each. With CABAC alone.
    var choosesSizeByRate = false
  }

  /// P_Skip, B_Skip and direct macroblocks.
  struct Skip {
    /// Skipped without a search where nothing is left to code and the error is at most so many percent of the noise of
    /// quantisation, in P and in B pictures.
    var errorPercent = 8
    var errorPercentB = 20
    /// P_Skip without a search where its error is worth no more than so many bits: where the macroblock stands still as
    /// its left and upper neighbours do, and elsewhere. (What moves by less than a sample leaves little in this picture
    /// and all of it in those that follow.)
    var errorBits = (still: 0, moving: 0)
    /// B_Skip likewise.
    var errorBitsB = 10
    /// Percent by which P_Skip is preferred to a residual of the same cost.
    var preference = 5
    /// Direct is coded too and compared where it costs less than so many percent of the best; 0: never.
    var directMargin = 0
  }

  /// Transform and quantisation of inter macroblocks.
  struct Residual {
    /// The transforms of luma that are tried, the first one first: with both, the second is tried always, else only where
    /// the first leaves something worth coding.
    enum TransformOrder { case both, fourFirst, eightFirst }
    var transforms = TransformOrder.both
    /// Levels are chosen by their rate and distortion (RDOQ), those of chroma too.
    var usesRDOQ = true
    var usesChromaRDOQ = false
    /// Without RDOQ, levels are rounded up from two thirds of a step, as in intra macroblocks, in place of five sixths.
    var roundsFinely = false
  }
}

extension EffortSettings {
  /// - Parameter effort: 0 (fastest) to `H264EncoderConfiguration.mostEffort` (best).
  init(effort: Int) {
    if effort > 3 { increase(to: effort) } else { reduce(to: effort) }
  }

  /// The efforts below the default: no RDOQ, then fewer searches, then no partitions.
  private mutating func reduce(to effort: Int) {
    if effort <= 2 {
      motion.referenceThreshold = 12
      motion.usesSADForHalfSamples = true
      motion.bipredictionRounds = 0
      partitions.thresholdB = 48
      intra.thresholdB = 8
      skip.errorPercentB = 40
      skip.errorBits = (18, 18)
      skip.errorBitsB = 20
      skip.preference = 0
      residual.transforms = .fourFirst
      residual.usesRDOQ = false
      residual.roundsFinely = true
    }
    if effort <= 1 {
      motion.references = 1
      motion.referencesByUse.least = 0.2
      motion.fullSampleSteps = 8
      partitions.threshold = 32
      partitions.thresholdB = EffortSettings.never
      partitions.neighbourDistance = 1
      intra.threshold = 4
      intra.thresholdB = 16
      skip.errorPercent = 15
      skip.errorPercentB = 100
      skip.errorBitsB = 30
    }
    if effort <= 0 {
      motion.referenceThreshold = 0
      motion.referencesByUse = (1, 0)
      motion.usesSATD = false
      motion.usesSADForHalfSamples = false
      partitions.threshold = EffortSettings.never
      partitions.neighbourDistance = -1
      intra.threshold = 8
      intra.thresholdB = 32
      intra.smallNeighbours = 1
      skip.errorBits.still = 45
      residual.transforms = .eightFirst
    }
  }

  /// The efforts above the default: chroma, choices by rate and distortion, then more searches and closer comparisons.
  private mutating func increase(to effort: Int) {
    motion.references = 3
    motion.referenceThreshold = 6
    motion.referencesByUse.count = 3
    motion.quarterSampleRounds = 2
    motion.usesChroma = true
    motion.lambdaPercent = 100
    partitions = Partitions(threshold: 12, thresholdB: 12, wholeMargin: 115, wholeMarginB: 115)
    intra.smallMargin.alone = 150
    intra.handicap = 0
    intra.choosesSizeByRate = true
    skip.errorPercentB = 12
    skip.errorBitsB = 0
    skip.preference = 0
    skip.directMargin = 115
    residual.usesChromaRDOQ = true
    if effort >= 5 {
      motion.referenceThreshold = 0
      motion.referencesByUse = (1, 0)
      motion.halfSampleRounds = 2
      partitions = Partitions(threshold: 8, thresholdB: 8, wholeMargin: 130, wholeMarginB: 130)
      skip.errorPercent = 6
    }
    if effort >= 6 {
      motion.references = 4
      motion.halfSampleRounds = 3
      motion.quarterSampleRounds = 3
      motion.bipredictionRounds = 3
      partitions = Partitions(threshold: 4, thresholdB: 4, wholeMargin: 150, wholeMarginB: 150)
      skip.directMargin = 130
    }
    if effort >= 7 {
      partitions = Partitions(threshold: 2, thresholdB: 2, wholeMargin: 175, wholeMarginB: 175)
      skip.directMargin = 150
      motion.bipredictionRounds = 4
    }
    if effort >= 8 {
      motion.references = 6
      motion.fullSampleSteps = 32
      intra.smallMargin = (200, 300, 400)
    }
    if effort >= 9 {
      motion.references = 8
      motion.halfSampleRounds = 4
      motion.quarterSampleRounds = 4
      motion.bipredictionRounds = 6
      partitions = Partitions(threshold: 0, thresholdB: 0, wholeMargin: 250, wholeMarginB: 250)
      skip.directMargin = 200
    }
  }

  /// A threshold in lambdas that no cost reaches.
  private static let never = Int32.max / 2048
}

extension EffortSettings {
  /// The settings for pictures that are screens, where most macroblocks are skipped and the others are sharp: what takes
  /// time elsewhere takes little there, and gains more. Effort 0 stays as it is.
  var forScreens: EffortSettings {
    guard motion.usesSATD else { return self }
    var settings = self
    settings.residual.usesRDOQ = true
    settings.residual.roundsFinely = false
    settings.residual.transforms = .both
    settings.intra.smallNeighbours = 0
    settings.intra.choosesSizeByRate = true
    return settings
  }
}

extension H264EncoderConfiguration {
  /// The number of reference pictures that an effort makes use of, from 1 on: worth keeping as `maximumReferences`, where
  /// memory allows.
  ///
  /// - Parameter effort: 0 (fastest) to `mostEffort` (best).
  public static func referencesUsed(effort: Int) -> Int {
    let motion = EffortSettings(effort: effort).motion
    return max(motion.references, motion.referencesByUse.count)
  }
}
