// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The parameter sets of a stream.
struct HEVCParameterSets {
  var vps: HEVCVideoParameterSet
  var sps: HEVCSequenceParameterSet
  var pps: HEVCPictureParameterSet
  /// The level that the stream declares.
  var level: HEVCLevel
}

extension HEVCEncoderConfiguration {
  /// The width in luma samples as it is coded: a multiple of the smallest coding block, 8.
  var codedWidth: Int { (width + 7) & ~7 }
  /// The height in luma samples as it is coded.
  var codedHeight: Int { (height + 7) & ~7 }

  /// The bit rate that the level has to allow, in bits per second.
  private var demandedRate: Int {
    var rate = 0
    switch latency {
    case .zero(let options): rate = options.averageBitRate ?? 0
    case .lookAhead(let options):
      rate = lookAheadSettings.targetRate ?? 0
      if let buffer = options.buffer, buffer.decidesLevel, level == nil {
        rate = max(rate, buffer.maximumRate)
      }
    }
    return level == nil ? max(rate, levelBitRate) : rate
  }

  /// Limits the buffer to what the level allows (MaxBR and MaxCPB, A.4.1).
  mutating func fitBuffer(to sets: HEVCParameterSets) {
    guard case .lookAhead(var options) = latency, var buffer = options.buffer else { return }
    let isHighTier = sets.sps.profileTierLevel.profile.isHighTier
    let rates = isHighTier ? sets.level.high ?? sets.level.main : sets.level.main
    buffer.maximumRate = min(buffer.maximumRate, rates.bitRate * 1000)
    buffer.size = min(buffer.size, rates.cpb * 1000)
    if options.writesBufferTiming {
      // The parameter sets give the rate in units of 64 bits per second, and the size in the stream
      // is larger to make up for the rounding of delays.
      buffer.maximumRate = max(buffer.maximumRate & ~63, 1024)
      let longest = Double(buffer.maximumRate) * BufferClock.longestBuffer
      buffer.size = min(buffer.size, Int(longest))
      if BufferClock.size(of: buffer) > rates.cpb * 1000 {
        buffer.size = max(rates.cpb * 1000 - buffer.maximumRate / 90_000 - 32, 1)
      }
    }
    if case .constant = options.rate { options.rate = .constant(buffer.maximumRate) }
    options.buffer = buffer
    latency = .lookAhead(options)
  }

  /// MaxDpbSize of a level for the size of the pictures (A.4.2).
  private func decodedPictures(_ level: HEVCLevel) -> Int {
    let area = codedWidth * codedHeight
    let most = level.pictureSize
    if area <= most >> 2 { return 16 }
    if area <= most >> 1 { return 12 }
    if area <= (3 * most) >> 2 { return 8 }
    return 6
  }

  /// Returns an error message for the first property of the stream that a level does not allow; nil
  /// if it allows all of them.
  /// - Parameters:
  ///   - level: the level.
  ///   - isHighTier: whether the High tier counts, where the level has one.
  func violation(of level: HEVCLevel, isHighTier: Bool) -> String? {
    if !level.allows(width: codedWidth, height: codedHeight) { return "picture size" }
    if decodedPictureCount > decodedPictures(level) { return "number of references" }
    if Double(codedWidth * codedHeight) * frameRate > Double(level.sampleRate) {
      return "picture size at this frame rate"
    }
    let rates = isHighTier ? level.high ?? level.main : level.main
    return demandedRate > rates.bitRate * 1000 ? "bit rate" : nil
  }

  /// Chooses the level.
  /// - Returns: the level, and whether the stream is of the High tier.
  /// - Throws: `HEVCEncoderError.levelExceeded` if the stream does not fit the configured level, or
  ///   any level.
  private func chooseLevel() throws -> (HEVCLevel, Bool) {
    if let number = level, let fixed = HEVCLevel.numbered(number) {
      guard let violation = violation(of: fixed, isHighTier: false) else { return (fixed, false) }
      if !raisesLevel || violation == "number of references" {
        throw HEVCEncoderError.levelExceeded("Level \(number) does not allow this \(violation).")
      }
    }
    if let lowest = HEVCLevel.all.first(where: { violation(of: $0, isHighTier: false) == nil }) {
      return (lowest, false)
    }
    if let lowest = HEVCLevel.all.first(where: { violation(of: $0, isHighTier: true) == nil }) {
      return (lowest, true)
    }
    if raisesLevel, let highest = HEVCLevel.all.last,
      highest.allows(width: codedWidth, height: codedHeight),
      decodedPictureCount <= decodedPictures(highest)
    {
      return (highest, true)
    }
    throw HEVCEncoderError.levelExceeded(
      "No level of H.265 allows this size, rate and number of references.")
  }

  /// Makes the parameter sets.
  /// - Throws: `HEVCEncoderError.levelExceeded` if the stream does not fit the configured level, or
  ///   any level.
  func makeParameterSets() throws -> HEVCParameterSets {
    let (streamLevel, isHighTier) = try chooseLevel()
    var tier = HEVCProfileTierLevel()
    tier.profile.isHighTier = isHighTier
    // A Main stream is one of Main 10, too (A.3.3).
    tier.profile.idc = profile == .main ? 1 : 2
    tier.profile.compatibility = profile == .main ? 1 << 30 | 1 << 29 : 1 << 29
    // Progressive source, non-packed, frame-only.
    tier.profile.constraints = 0b1011 << 44
    tier.levelIDC = streamLevel.number * 3
    let layers = lowLatency.temporalLayers
    tier.subLayers = [HEVCProfileTierLevel.SubLayer](repeating: .init(), count: layers - 1)
    var ordering = HEVCSubLayerOrdering()
    ordering.limits = [
      .init(maxDecodedPictures: decodedPictureCount, maxReorderPictures: reorderingDepth)
    ]

    var vps = HEVCVideoParameterSet()
    vps.subLayerCount = layers
    vps.isTemporalNested = layers == 1
    vps.profileTierLevel = tier
    vps.ordering = ordering

    var sets = HEVCParameterSets(
      vps: vps, sps: makeSequenceParameterSet(tier, ordering), pps: makePictureParameterSet(),
      level: streamLevel)
    if lookAhead.writesBufferTiming {
      var fitting = self
      fitting.fitBuffer(to: sets)
      if let buffer = fitting.lookAhead.buffer {
        sets.sps.vui?.timing?.ticks = BufferClock.ticks(frameRate: frameRate)
        sets.sps.vui?.timing?.hrd = BufferTiming.parameters(
          buffer, isConstant: lookAheadSettings.isConstantRate)
      }
    }
    return sets
  }

  private func makeSequenceParameterSet(
    _ tier: HEVCProfileTierLevel, _ ordering: HEVCSubLayerOrdering
  ) -> HEVCSequenceParameterSet {
    var sps = HEVCSequenceParameterSet()
    sps.subLayerCount = lowLatency.temporalLayers
    sps.isTemporalNested = lowLatency.temporalLayers == 1
    sps.profileTierLevel = tier
    sps.codedWidth = codedWidth
    sps.codedHeight = codedHeight
    if codedWidth != shownWidth || codedHeight != shownHeight {
      sps.conformanceWindow = CropOffsets(
        left: 0, right: (codedWidth - shownWidth) / 2, top: 0, bottom: (codedHeight - shownHeight) / 2)
    }
    sps.bitDepthLuma = profile.bitDepth
    sps.bitDepthChroma = profile.bitDepth
    sps.log2MaxPictureOrderCountLSB = Self.log2MaxOrderCount
    sps.ordering = ordering
    sps.log2MinCodingBlock = 3
    sps.log2DiffMaxMinCodingBlock = 2
    sps.log2MinTransformBlock = 2
    sps.log2DiffMaxMinTransformBlock = 3
    if lowLatency.longTermReferences > 0 { sps.longTermReferences = [] }
    sps.hasTemporalMotion = true
    sps.hasSampleAdaptiveOffset = adaptiveOffset
    sps.hasStrongIntraSmoothing = true
    var vui = HEVCVideoUsability()
    vui.appearance.aspectRatio = sampleAspectRatio.map {
      SampleAspectRatio(width: Int($0.width), height: Int($0.height))
    }
    if fullRange || colour != nil {
      vui.appearance.signal = .init(isFullRange: fullRange, color: colour)
    }
    vui.timing = .init(
      ticks: VideoTicks(unitsInTick: 1000, timeScale: Int((frameRate * 1000).rounded())))
    sps.vui = vui
    return sps
  }

  private func makePictureParameterSet() -> HEVCPictureParameterSet {
    var pps = HEVCPictureParameterSet()
    pps.hidesSigns = true
    pps.allowsTransformSkip = true
    pps.qpDeltaDepth = 5 - log2QuantisationGroup
    pps.isSynchronised = usesWavefronts
    pps.isFilteredAcrossSlices = false
    if !deblocking {
      var control = HEVCPictureParameterSet.Deblocking()
      control.filter.isDisabled = true
      pps.deblocking = control
    }
    pps.allowsListModification = true
    pps.hasWeightedPrediction = allowsWeightedPrediction
    pps.hasWeightedBiprediction = allowsWeightedPrediction && bidirectionalLimit > 0
    return pps
  }

  /// The number of bits of slice_pic_order_cnt_lsb.
  static let log2MaxOrderCount = 16
}
