// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

extension H264EncoderConfiguration {
  /// Makes the parameter sets of a stream with look-ahead. Where no level is configured, it is the
  /// lowest that allows the target bit rate and, with `Buffer.decidesLevel`, the rate of the
  /// buffer.
  /// - Returns: the sequence parameter set, and the picture parameter set with ID 0.
  /// - Throws: `H264EncoderError.levelExceeded` if the stream does not fit the configured level, or
  ///   any level.
  func makeReorderedParameterSets() throws -> (H264SequenceParameterSet, H264PictureParameterSet) {
    var levelRate = targetRate
    if level == nil, let buffer = lookAhead.buffer, buffer.decidesLevel {
      levelRate = min(max(buffer.maximumRate, targetRate ?? 0), 2_000_000_000)
    }
    // If no level allows the rate of the buffer, the level follows from the target rate alone, and
    // `fitBuffer` lowers the rate of the buffer.
    var (sps, pps) =
      try (try? makeParameterSets(bitRate: levelRate)) ?? makeParameterSets(bitRate: targetRate)
    if bidirectionalLimit > 0 {
      sps.pictureOrderCountType = 0
      sps.vui?.restriction?.maxReorderFrames = reorderingDepth
      pps.weightedBipredIDC = lookAhead.usesOnePictureSet && pps.hasWeightedPrediction ? 1 : 0
    }
    if lookAhead.writesBufferTiming {
      var fitting = self
      fitting.fitBuffer(to: sps)
      if let buffer = fitting.lookAhead.buffer {
        var hrd = H264HypotheticalDecoder(
          bitRate: buffer.maximumRate, cpb: BufferClock.size(of: buffer), isConstantBitRate: isConstantRate)
        // 13 hours of ticks. Longer delays are written modulo their length.
        (hrd.removalDelayLength, hrd.outputDelayLength) = (32, 32)
        sps.vui?.nalHRD = hrd
        sps.vui?.timing?.ticks = BufferClock.ticks(frameRate: frameRate)
      }
    }
    return (sps, pps)
  }

  /// Returns all picture parameter sets of the stream. With weighted B pictures there is one for
  /// each value of weighted_bipred_idc (0 to 2), unless the configuration wants a single one. The B
  /// pictures of a single one have explicit weights, which may all be default weights.
  /// - Parameter first: the picture parameter set with ID 0.
  func makePictureSets(_ first: H264PictureParameterSet) -> [H264PictureParameterSet] {
    guard bidirectionalLimit > 0, first.hasWeightedPrediction, !lookAhead.usesOnePictureSet else {
      return [first]
    }
    return (0...2).map { weightedBipredIDC in
      var set = first
      set.id = weightedBipredIDC
      set.weightedBipredIDC = weightedBipredIDC
      return set
    }
  }

  /// Lowers the rate and size of the buffer to MaxBR and MaxCPB of the stream's level (A.3.1).
  mutating func fitBuffer(to sps: H264SequenceParameterSet) {
    guard let level = sps.level, var fitting = lookAhead.buffer else { return }
    let profile = demands.profile
    fitting.maximumRate = min(fitting.maximumRate, level.vclBitRate(profile: profile))
    fitting.size = min(fitting.size, level.vclCPB(profile: profile))
    if lookAhead.writesBufferTiming {
      // The parameter sets give the rate in units of 64 bits per second, and the size in the stream
      // is larger to make up for the rounding of delays.
      fitting.maximumRate &= ~63
      let maximumSize = level.vclCPB(profile: profile)
      if BufferClock.size(of: fitting) > maximumSize {
        fitting.size = max(maximumSize - fitting.maximumRate / 90_000 - 32, 1)
      }
    }
    lookAhead.buffer = fitting
  }
}
