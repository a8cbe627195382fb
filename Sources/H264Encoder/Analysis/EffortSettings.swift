// SPDX-License-Identifier: Apache-2.0

/// The encoding tools and search limits of an effort, 0 (fastest) to 9 (best), grouped by the step
/// of coding that they belong to.
///
/// The defaults are those of effort 3; `init(effort:)` says how the other efforts differ from it.
/// Lambda is the Lagrange multiplier that converts bits to distortion (SAD or SATD). Thresholds of
/// a cost are in units of 16 lambda, the cost of 16 bits: a threshold of 24 is the cost of 384
/// bits.
struct EffortSettings {
  /// The settings of motion search.
  var motion = Motion()
  /// The settings of partitions.
  var partitions = Partitions()
  /// The settings of intra prediction.
  var intra = Intra()
  /// The settings of skipped and direct macroblocks.
  var skip = Skip()
  /// The settings of transform and quantisation.
  var residual = Residual()

  /// Limits and measures of motion search.
  struct Motion {
    /// The largest number of reference pictures in which 16x16 blocks are searched.
    var references = 2
    /// Reference pictures after the first one are searched only where the best vector so far costs
    /// more than this, in units of 16 lambda.
    var referenceThreshold: Int32 = 8
    /// In low-latency streams, where `count` is above 1, a picture has `count` reference pictures
    /// instead of `references` if recent pictures have predicted at least the share `least` (0 to
    /// 1) of their coded inter macroblocks from another reference than the first (`ReferenceUse`),
    /// and one reference picture otherwise.
    var referencesByUse = (count: 2, least: 0.1)
    /// The largest number of steps, of one luma sample each, of the full-sample diamond search.
    var fullSampleSteps = 16
    /// The largest of the rings, four luma samples apart, that are searched around the best
    /// full-sample vector of a macroblock; 0: none.
    var widestRing = 0
    /// The largest number of rounds of the half-sample diamond.
    var halfSampleRounds = 1
    /// The largest number of rounds of the quarter-sample diamond.
    var quarterSampleRounds = 1
    /// Whether fractional positions are compared by SATD; by SAD otherwise.
    var usesSATD = true
    /// Whether, although `usesSATD` is set, half-sample positions are compared by SAD and only the
    /// best of them is measured by SATD.
    var usesSADForHalfSamples = false
    /// Whether, in P pictures, the SATD of chroma counts in the comparison of quarter-sample
    /// positions of 16x16 blocks and in that of reference pictures.
    var usesChroma = false
    /// In B pictures, the largest number of rounds in which the two vectors of a biprediction are
    /// refined together by quarter samples.
    var bipredictionRounds = 1
    /// The share of lambda, in percent, that is in effect for vectors, modes and the thresholds in
    /// this structure.
    var lambdaPercent: Int32 = 80
  }

  /// Partitions of inter macroblocks (16x8, 8x16 and 8x8).
  struct Partitions {
    /// In P pictures, partitions are tried where the best 16x16 vector costs more than this, in
    /// units of 16 lambda.
    var threshold: Int32 = 24
    /// In B pictures, partitions are tried where the best 16x16 motion or direct prediction costs
    /// more than this, in units of 16 lambda.
    var thresholdB: Int32 = 24
    /// In P pictures, partitions are tried only where a neighbouring macroblock is intra, or where
    /// its vector differs by more than this many quarter samples in a component; -1 disables the
    /// condition. Where all neighbours move alike, different motion seldom explains what is left.
    var neighbourDistance = -1
    /// In P pictures, both the best partitions and the 16x16 vector are coded and compared by rate
    /// and distortion where the estimated cost of 16x16 is less than this percentage of that of the
    /// partitions; 0 disables this.
    var margin16x16 = 0
    /// The percentage for B pictures in place of `margin16x16`.
    var margin16x16B = 0
  }

  /// When intra prediction is tried in P and B pictures.
  struct Intra {
    /// In P pictures, intra prediction is tried where inter prediction costs more than this, in
    /// units of 16 lambda. The value is small because intra prediction of flat areas is free of the
    /// noise of the reference picture.
    var threshold: Int32 = 2
    /// In B pictures, intra prediction is tried where inter prediction costs more than this, in
    /// units of 16 lambda.
    var thresholdB: Int32 = 4
    /// In P pictures, intra macroblocks are considered where Intra_16x16 costs less than this
    /// percentage of inter prediction: without an intra neighbour, with one, and with more. Values
    /// above 100 give Intra_8x8 and Intra_4x4 a chance to be cheaper. The percentages rise because
    /// areas that motion does not predict are contiguous.
    var smallMargin = (alone: 100, besideOne: 200, besideMore: 300)
    /// Intra_8x8 and Intra_4x4 are tried in P pictures where at least this many of the neighbours
    /// A, B, C and D are intra macroblocks. Above 0 they are not tried in B pictures.
    var smallNeighbours = 0
    /// In P pictures, intra prediction has to be cheaper than inter prediction by this percentage.
    var handicap: Int32 = 3
    /// Whether the block size of intra prediction is chosen by the rate and distortion of each,
    /// after coding it. In effect with CABAC only.
    var choosesSizeByRate = false
  }

  /// Decisions on P_Skip, B_Skip and direct macroblocks.
  struct Skip {
    /// In P pictures, a macroblock becomes P_Skip without a search if its residual quantises to
    /// zero and its squared error is at most this percentage of the expected quantisation noise
    /// (step size squared / 12 a sample).
    var errorPercent = 8
    /// The percentage for B_Skip in place of `errorPercent`.
    var errorPercentB = 20
    /// A macroblock becomes P_Skip without a search if its squared error is at most lambda times
    /// this many bits: `still` where it and its neighbours A and B do not move, `moving` elsewhere.
    /// A displacement of less than a sample leaves a small error in this picture but adds up over
    /// the pictures that follow.
    var errorBits = (still: 0, moving: 0)
    /// A macroblock becomes B_Skip without a search if its squared error is at most lambda times
    /// this many bits.
    var errorBitsB = 10
    /// The percentage by which P_Skip or B_Skip may cost more than the coded macroblock and is
    /// chosen all the same.
    var preference = 5
    /// In B pictures, direct prediction is coded too and compared by rate and distortion where its
    /// estimated cost is less than this percentage of that of the best motion; 0 disables this.
    var directMargin = 0
  }

  /// Transform and quantisation; `transforms` and `roundsFinely` are for inter macroblocks.
  struct Residual {
    /// Which transforms of luma are tried: both always; or 4x4 or 8x8 first, and the other one only
    /// where the first leaves coded levels.
    enum TransformOrder { case both, fourFirst, eightFirst }
    /// The order in which the transforms are tried.
    var transforms = TransformOrder.both
    /// Whether luma levels are chosen by rate and distortion (`MacroblockCoder.optimiseLevels`).
    var usesRDOQ = true
    /// Whether chroma levels are, too, if `usesRDOQ` is set.
    var usesChromaRDOQ = false
    /// Whether, without RDOQ, the levels of inter macroblocks are rounded up from two thirds of a
    /// step, as those of intra macroblocks, instead of five sixths.
    var roundsFinely = false
  }
}

extension EffortSettings {
  /// Makes the settings of an effort.
  ///
  /// - Parameter effort: 0 (fastest) to `H264EncoderConfiguration.maxEffort` (best).
  init(effort: Int) {
    if effort > 3 { increase(to: effort) } else { reduce(to: effort) }
  }

  /// Sets efforts 0 to 3: below 3 there is no RDOQ, then fewer searches, then no partitions.
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

  /// Sets efforts 4 to 9: chroma and choices by rate and distortion are added, then more searches
  /// and wider margins for comparisons of what was coded.
  private mutating func increase(to effort: Int) {
    motion.references = 3
    motion.referenceThreshold = 6
    motion.referencesByUse.count = 3
    motion.quarterSampleRounds = 2
    motion.usesChroma = true
    motion.lambdaPercent = 100
    partitions = Partitions(threshold: 12, thresholdB: 12, margin16x16: 115, margin16x16B: 115)
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
      partitions = Partitions(threshold: 8, thresholdB: 8, margin16x16: 130, margin16x16B: 130)
      skip.errorPercent = 6
    }
    if effort >= 6 {
      motion.references = 4
      motion.halfSampleRounds = 3
      motion.quarterSampleRounds = 3
      motion.bipredictionRounds = 3
      partitions = Partitions(threshold: 4, thresholdB: 4, margin16x16: 150, margin16x16B: 150)
      skip.directMargin = 130
    }
    if effort >= 7 {
      motion.widestRing = 2
    }
    if effort >= 8 {
      motion.widestRing = 4
      motion.bipredictionRounds = 5
    }
    if effort >= 9 {
      motion.widestRing = 8
      motion.fullSampleSteps = 32
      motion.halfSampleRounds = 4
      motion.quarterSampleRounds = 4
      motion.bipredictionRounds = 8
    }
  }

  /// A threshold, in units of 16 lambda, that no cost exceeds; small enough that its product with
  /// lambda does not overflow.
  private static let never = Int32.max / 2048
}

extension EffortSettings {
  /// The settings for screen content (`Displacements.isScreen`). Most of its macroblocks are
  /// skipped and the others have sharp edges, so RDOQ, both transforms and all intra sizes take
  /// little time and save more bits than elsewhere. Effort 0 is not changed.
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
  /// The number of reference pictures that an effort searches. More need not be kept as
  /// `maximumReferences`.
  ///
  /// - Parameter effort: 0 (fastest) to `maxEffort` (best).
  /// - Returns: the number, 1 or more.
  public static func referencesUsed(effort: Int) -> Int {
    let motion = EffortSettings(effort: effort).motion
    return max(motion.references, motion.referencesByUse.count)
  }
}
