// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

extension H264EncoderConfiguration {
  /// Checks all values.
  /// - Throws: `H264EncoderError.invalidConfiguration` for the first value out of range.
  func validate() throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw H264EncoderError.invalidConfiguration(text()) }
    }
    try require(
      isOfValidSize,
      "A picture of \(width)x\(height) cannot be coded: both must be \(is444 ? "" : "even, ")from 16 to "
        + "\(H264EncoderConfiguration.largestSide).")
    try require(
      isVisible(outputWidth, of: width) && isVisible(outputHeight, of: height),
      "What is shown of a picture, \(outputWidth)x\(outputHeight), must \(is444 ? "" : "be even and ")reach into its last macroblocks."
    )
    try require(
      frameRate.isFinite && (0.01...1000).contains(frameRate),
      "A frame rate of \(frameRate) is not in 0.01...1000.")
    for limit in dataRateLimits {
      try require(
        limit.bytes > 0 && limit.seconds.isFinite && limit.seconds > 0 && limit.seconds < 1e6,
        "A data-rate limit of \(limit.bytes) bytes in \(limit.seconds) seconds is not above 0 and below 1,000,000 seconds."
      )
    }
    try require(
      (0...51).contains(minimumQP) && (0...51).contains(maximumQP) && minimumQP <= maximumQP,
      "QP \(minimumQP)...\(maximumQP) is not a range in 0...51.")
    try require(
      (0...H264EncoderConfiguration.maxEffort).contains(effort),
      "An effort of \(effort) is not in 0...\(H264EncoderConfiguration.maxEffort).")
    if let share = encodeTimeShare {
      try require(
        share.isFinite && (0.01...1).contains(share),
        "A share of \(share) of the frame interval is not in 0.01...1.")
    }
    try require((1...16).contains(threads), "\(threads) threads are not in 1...16.")
    let rows = (height + 15) / 16
    try require((1...rows).contains(slices), "\(slices) slices are not in 1...\(rows), the macroblock rows.")
    if let bytes = maximumSliceBytes {
      try require(bytes >= 100, "Slices of \(bytes) bytes are too small: 100 is the least.")
    }
    try require((1...16).contains(maximumReferences), "\(maximumReferences) references are not in 1...16.")
    try require(
      (-6...6).contains(deblockingAlphaOffset) && (-6...6).contains(deblockingBetaOffset),
      "Deblocking offsets are in -6...6.")
    if let interval = keyFrameInterval {
      try require(interval >= 1, "A key-frame interval of \(interval) is below 1.")
    }
    if profile == .constrainedBaseline {
      try require(entropyCoding != .cabac, "The Baseline profile has no CABAC.")
    }
    try require((masteringDisplay?.count ?? 24) == 24, "A mastering display has 24 bytes.")
    try require((contentLightLevel?.count ?? 4) == 4, "A content light level has 4 bytes.")
    try validateLossless()
    switch latency {
    case .zero(let options): try validateLowLatency(options)
    case .lookAhead(let options):
      try require(!is444, "Pictures of 4:4:4 are coded with zero latency only.")
      try validateLookAhead(options)
    }
    if let level {
      try require(
        H264Level.numbered(level) != nil, "There is no level \(level) (ten times its number; 9 is 1b).")
    }
  }

  /// Checks that nothing forbids coding without loss, where that is asked for.
  private func validateLossless() throws {
    guard isLossless else { return }
    func require(_ condition: Bool, _ text: String) throws {
      if !condition { throw H264EncoderError.invalidConfiguration(text) }
    }
    try require(is444, "Pictures are coded without loss in the High 4:4:4 Predictive profile only.")
    try require(
      lowLatency.rateControl == .constantQP(0) && maximumQP == 0,
      "Lossless coding requires a constant QP of 0 and a maximumQP of 0.")
    try require(dataRateLimits.isEmpty, "Coding without loss keeps no limits of the data rate.")
    try require(!deblocking, "Pictures without loss are not deblocked.")
  }

  /// Whether width and height are in the allowed range and, at 4:2:0, even.
  var isOfValidSize: Bool {
    [width, height].allSatisfy { (16...Self.largestSide).contains($0) && (is444 || $0 % 2 == 0) }
  }

  /// The width in luma samples that a decoder outputs.
  var outputWidth: Int { visibleWidth ?? width }
  /// The height in luma samples that a decoder outputs.
  var outputHeight: Int { visibleHeight ?? height }

  /// Whether frame cropping can reduce a side to a size: it crops pairs of samples at 4:2:0, and
  /// must not crop a whole macroblock.
  /// - Parameters:
  ///   - size: the size that a decoder outputs, in luma samples.
  ///   - side: the coded width or height in luma samples.
  private func isVisible(_ size: Int, of side: Int) -> Bool {
    (is444 || size % 2 == 0) && size <= side && size > (side - 1) / 16 * 16
  }

  private var streamProfile: H264Profile {
    switch profile {
    case .constrainedBaseline: .constrainedBaseline
    case .main: .main
    case .constrainedHigh: .constrainedHigh
    case .high: .high
    case .high444Predictive: .high444Predictive
    }
  }

  /// The bit rate that the rate control aims at, in bits per second; nil with a QP or a quality.
  private var demandedRate: Int? {
    switch latency {
    case .zero(let options): options.averageBitRate
    case .lookAhead: targetRate
    }
  }

  /// The requirements of the stream on its level.
  var demands: H264StreamDemands { demands(bitRate: demandedRate) }

  private func demands(bitRate: Int?) -> H264StreamDemands {
    var demands = H264StreamDemands(
      profile: streamProfile, widthInMbs: (width + 15) / 16, heightInMbs: (height + 15) / 16)
    demands.frameRate = frameRate
    demands.referenceFrames = maximumReferences
    if let bitRate { demands.bitRate = bitRate }
    if level == nil { demands.bitRate = max(demands.bitRate, levelBitRate, limitedRate ?? 0) }
    return demands
  }

  /// The bit rate that the tightest data rate limit allows over a long time, in bits per second:
  /// the level has to allow it. Nil if there is no limit, or it is above the rate of every level.
  private var limitedRate: Int? {
    guard let highest = H264Level.all.last?.vclBitRate(profile: streamProfile) else { return nil }
    let tightest = dataRateLimits.map { Double($0.bytes) * 8 / $0.seconds }.min()
    return tightest.flatMap { $0 <= Double(highest) ? Int($0) : nil }
  }

  /// Checks that a stream may continue with this configuration. A named level needs no check.
  /// - Parameter level: the level in the stream's parameter sets.
  /// - Throws: `H264EncoderError.levelExceeded` if the level does not allow it.
  func checkRates(against level: H264Level?) throws {
    guard self.level == nil, let level, let violation = level.violation(by: demands) else { return }
    throw H264EncoderError.levelExceeded("The stream's level does not allow this \(violation.text).")
  }

  /// Makes the sequence parameter set and the picture parameter set with ID 0.
  /// - Throws: `H264EncoderError.levelExceeded` if the stream does not fit the configured level, or
  ///   any level.
  func makeParameterSets() throws -> (H264SequenceParameterSet, H264PictureParameterSet) {
    switch latency {
    case .zero: try makeParameterSets(bitRate: demandedRate)
    case .lookAhead: try makeReorderedParameterSets()
    }
  }

  /// Makes parameter sets of a stream without reordering.
  /// - Parameter bitRate: the bit rate in bits per second that the level has to allow; nil: any.
  /// - Throws: `H264EncoderError.levelExceeded` if the stream does not fit the configured level, or
  ///   any level.
  func makeParameterSets(bitRate: Int?) throws -> (H264SequenceParameterSet, H264PictureParameterSet) {
    let demands = demands(bitRate: bitRate)
    let streamLevel: H264Level
    let fixed = level.flatMap(H264Level.numbered)
    let violation = fixed?.violation(by: demands)
    let isOfPictures = violation == .frameSize || violation == .macroblockRate || violation == .bitRate
    var still = demands
    (still.frameRate, still.bitRate) = (0, 0)
    if let fixed, violation == nil {
      streamLevel = fixed
    } else if let level, let violation, !(raisesLevel && isOfPictures) {
      throw H264EncoderError.levelExceeded("Level \(level) does not allow this \(violation.text).")
    } else if let lowest = H264Level.lowest(for: demands) {
      streamLevel = lowest
    } else if raisesLevel, let highest = H264Level.all.last, highest.violation(by: still) == nil {
      streamLevel = highest
    } else {
      throw H264EncoderError.levelExceeded(Self.levelError(of: demands))
    }

    var sps = H264SequenceParameterSet(
      profile: streamProfile, level: streamLevel, width: outputWidth, height: outputHeight)
    sps.isLosslessAtZero = isLossless
    sps.maxReferenceFrames = maximumReferences
    sps.gapsInFrameNumAllowed = lowLatency.allowsFrameNumberGaps
    sps.pictureOrderCountType = lowLatency.allowsNonReferenceFrames ? 0 : 2
    var vui = H264VideoUsability()
    vui.appearance.aspectRatio = sampleAspectRatio.map {
      SampleAspectRatio(width: Int($0.width), height: Int($0.height))
    }
    if fullRange || colour != nil { vui.appearance.signal = .init(isFullRange: fullRange, color: colour) }
    vui.timing = .init(
      ticks: VideoTicks(unitsInTick: 1000, timeScale: Int((frameRate * 2000).rounded())),
      isFixedFrameRate: false)
    var restriction = H264VideoUsability.Restriction()
    restriction.maxDecFrameBuffering = maximumReferences
    vui.restriction = restriction
    sps.vui = vui

    var pps = H264PictureParameterSet()
    pps.cabac = cabac
    pps.hasWeightedPrediction = weightedPrediction
    if transform8x8 { pps.high = .init(transform8x8: true) }
    pps.constrainedIntraPrediction = lowLatency.intraRefreshPeriod > 0
    return (sps, pps)
  }
}

extension H264EncoderConfiguration {
  /// The reason why no level allows the stream, as text of an error.
  fileprivate static func levelError(of demands: H264StreamDemands) -> String {
    guard let highest = H264Level.all.last, highest.violation(by: demands) == .frameSize else {
      return "No level of H.264 allows this size, rate and number of references."
    }
    return
      "Level 6.2, the highest, allows pictures of \(highest.frameSize) macroblocks, \(highest.largestSide) a side; "
      + "this one has \(demands.widthInMbs)x\(demands.heightInMbs)."
  }
}

extension H264LevelViolation {
  var text: String {
    switch self {
    case .frameSize: "frame size"
    case .macroblockRate: "frame size at this frame rate"
    case .bitRate: "bit rate"
    case .codedPictureBuffer: "coded picture buffer"
    case .decodedPictureBuffer: "number of references"
    }
  }
}
