// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

extension H264EncoderConfiguration {
  /// Parameter sets of a stream with look-ahead. The level is the one that the target needs, and that the buffer needs if
  /// it is to decide.
  /// - Throws: `H264EncoderError.levelExceeded` if the stream does not fit the level, or any.
  func makeReorderedParameterSets() throws -> (H264SequenceParameterSet, H264PictureParameterSet) {
    var wider = targetRate
    if level == nil, let buffer = lookAhead.buffer, buffer.decidesLevel {
      wider = min(max(buffer.maximumRate, targetRate ?? 0), 2_000_000_000)
    }
    // A peak that no level allows is no reason to refuse: `fitBuffer` lowers it.
    var (sps, pps) =
      try (try? makeParameterSets(bitRate: wider)) ?? makeParameterSets(bitRate: targetRate)
    if bidirectionalLimit > 0 {
      sps.pictureOrderCountType = 0
      sps.vui?.restriction?.maxReorderFrames = reorderingDepth
      pps.weightedBipredIDC = lookAhead.usesOnePictureSet && pps.hasWeightedPrediction ? 1 : 0
    }
    if lookAhead.writesBufferTiming {
      var fitting = self
      fitting.fitBuffer(to: sps)
      if let buffer = fitting.lookAhead.buffer {
        sps.vui?.nalHRD = H264HypotheticalDecoder(
          bitRate: buffer.maximumRate, cpb: BufferTiming.size(of: buffer), isConstantBitRate: isConstantRate)
      }
    }
    return (sps, pps)
  }

  /// All picture parameter sets of the stream: with weights one for each way that B pictures are weighted in, or one whose B
  /// pictures have a table, which may say nothing.
  func makePictureSets(_ first: H264PictureParameterSet) -> [H264PictureParameterSet] {
    guard bidirectionalLimit > 0, first.hasWeightedPrediction, !lookAhead.usesOnePictureSet else {
      return [first]
    }
    return (0...2).map { way in
      var set = first
      set.id = way
      set.weightedBipredIDC = way
      return set
    }
  }

  /// Keeps the buffer within MaxBR and MaxCPB of the stream's level.
  mutating func fitBuffer(to sps: H264SequenceParameterSet) {
    guard let level = sps.level, var fitting = lookAhead.buffer else { return }
    let profile = demands.profile
    fitting.maximumRate = min(fitting.maximumRate, level.vclBitRate(profile: profile))
    fitting.size = min(fitting.size, level.vclCPB(profile: profile))
    if lookAhead.writesBufferTiming {
      // As the parameter sets can say it: in 64 bits a second, and with room for the rounding of times.
      fitting.maximumRate &= ~63
      let most = level.vclCPB(profile: profile)
      if BufferTiming.size(of: fitting) > most {
        fitting.size = max(most - fitting.maximumRate / 90_000 - 32, 1)
      }
    }
    lookAhead.buffer = fitting
  }
}
