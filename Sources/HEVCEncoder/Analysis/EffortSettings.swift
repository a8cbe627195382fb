// SPDX-License-Identifier: Apache-2.0

/// What an effort tries for each coding unit.
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
  /// The rounds at half and quarter samples.
  var halfRounds = 1
  var quarterRounds = 1
  /// The luma modes of an intra unit that are coded, of those whose SATD is the least.
  var intraModes = 1
  /// Whether chroma modes other than that of luma are tried.
  var triesChromaModes = false
  /// Whether units of two parts are tried.
  var triesPartitions = false
  /// A unit is not divided where its cost for each sample is below this many 16ths of lambda.
  var splitThreshold = 24
  /// Intra prediction is tried in P and B pictures where its least SATD is below that of inter prediction
  /// times this, in 16ths.
  var intraMargin = 16

  /// The settings of an effort, 0 (fastest) to 9 (best).
  init(effort: Int) {
    splitThreshold = 20
    if effort >= 1 {
      smallestInter = 3
      partsThreshold = 48
      splitThreshold = 16
    }
    if effort >= 2 {
      mergeCandidates = 5
      splitThreshold = 10
    }
    if effort >= 3 {
      splitThreshold = 6
      searchSteps = 12
    }
    if effort >= 4 {
      references = 2
      intraMargin = 18
    }
    if effort >= 5 {
      intraModes = 2
      partsThreshold = 0
      splitThreshold = 4
      halfRounds = 2
    }
    if effort >= 6 {
      triesPartitions = true
      quarterRounds = 2
    }
    if effort >= 7 {
      triesChromaModes = true
      references = 3
      splitThreshold = 2
      searchSteps = 16
    }
    if effort >= 8 {
      intraModes = 3
      references = 4
      splitThreshold = 1
    }
    if effort >= 9 {
      intraModes = 5
      intraMargin = 32
      splitThreshold = 0
      searchSteps = 24
    }
  }
}
