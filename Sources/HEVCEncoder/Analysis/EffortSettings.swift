// SPDX-License-Identifier: Apache-2.0

/// The coding tools that an effort tries for each coding unit.
struct EffortSettings: BitwiseCopyable, Equatable {
  /// log2 of the smallest inter and of the smallest intra unit that are tried in P and B pictures.
  var smallestInter = 4
  var smallestIntra = 3
  /// An intra unit of 8x8 is tried in four parts where it takes more bits than this: in P and B
  /// pictures text and graphics, seldom film.
  var partsThreshold = 80
  /// The most merge candidates that are compared.
  var mergeCandidates = 3
  /// The most reference pictures.
  var references = 1
  /// The most steps of the search at whole samples.
  var searchSteps = 8
  /// The first stride of the search at whole samples where no larger unit was searched.
  var searchStride = 8
  /// The merge candidates that are coded, of those with the least SATD.
  var codedMerges = 1
  /// Whether a searched vector is coded even where a merge candidate seems to be better.
  var codesEveryVector = false
  /// The rounds at half and quarter samples.
  var halfRounds = 1
  var quarterRounds = 1
  /// The luma modes of an intra unit that are coded, of those whose SATD is the least.
  var intraModes = 1
  /// Whether chroma modes other than that of luma are tried.
  var triesChromaModes = false
  /// Whether units of two parts are tried.
  var triesPartitions = false
  /// Whether levels are chosen by rate and distortion (`LevelDecision`).
  var optimisesLevels = false
  /// Whether transform blocks of 32x32 have the 16x16 coefficients of the lowest frequencies alone
  /// where the others have little energy; never with a look-ahead.
  var limitsFrequencies = true
  /// A unit is not divided where its cost for each sample is below this many 16ths of lambda.
  var splitThreshold = 6
  /// Intra prediction is tried in P and B pictures where its least SATD is below that of inter
  /// prediction times this, in 16ths.
  var intraMargin = 16

  /// The settings of an effort, 0 (fastest) to 9 (best).
  init(effort: Int) {
    if effort >= 1 {
      smallestInter = 3
      partsThreshold = 48
      mergeCandidates = 5
      intraModes = 2
      intraMargin = 20
    }
    if effort >= 2 {
      searchSteps = 12
      splitThreshold = 4
    }
    if effort >= 3 {
      optimisesLevels = true
      partsThreshold = 0
      intraMargin = 24
    }
    if effort >= 4 {
      splitThreshold = 2
    }
    if effort >= 5 {
      references = 2
      halfRounds = 2
      intraMargin = 32
    }
    if effort >= 6 {
      codedMerges = 2
      quarterRounds = 2
      splitThreshold = 0
    }
    if effort >= 7 {
      intraModes = 3
      references = 3
      searchSteps = 16
      limitsFrequencies = false
    }
    if effort >= 8 {
      triesChromaModes = true
      codesEveryVector = true
      references = 4
    }
    if effort >= 9 {
      triesPartitions = true
      intraModes = 5
      codedMerges = 3
      searchSteps = 24
    }
  }
}

extension EffortSettings {
  /// The settings for screen content, most of which is skipped and the rest of which has sharp
  /// edges. Effort 0 is not changed.
  var forScreens: EffortSettings {
    guard smallestInter == 3 else { return self }
    var settings = self
    settings.optimisesLevels = true
    settings.partsThreshold = 0
    settings.splitThreshold = min(splitThreshold, 2)
    settings.intraMargin = max(intraMargin, 32)
    return settings
  }
}
