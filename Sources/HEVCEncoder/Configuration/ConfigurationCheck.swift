// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

extension HEVCEncoderConfiguration {
  /// The longest side of a picture in luma samples that is coded. Level 6.2 allows a little more,
  /// but not both sides of it (A.4.1).
  public static let largestSide = 8192
  /// The largest area of a picture in luma samples that any level allows (MaxLumaPs, Table A.8).
  public static var largestArea: Int { HEVCLevel.all.last?.pictureSize ?? 0 }

  /// The width in luma samples that a decoder outputs.
  var shownWidth: Int { visibleWidth ?? width }
  /// The height in luma samples that a decoder outputs.
  var shownHeight: Int { visibleHeight ?? height }

  /// Checks all values.
  /// - Throws: `HEVCEncoderError.invalidConfiguration` for the first value out of range.
  func validate() throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw HEVCEncoderError.invalidConfiguration(text()) }
    }
    try require(
      [width, height].allSatisfy { (8...Self.largestSide).contains($0) && $0 % 2 == 0 },
      "A picture of \(width)x\(height) cannot be coded: both must be even, from 8 to "
        + "\(Self.largestSide).")
    try require(
      shownWidth % 2 == 0 && (2...width).contains(shownWidth) && shownHeight % 2 == 0
        && (2...height).contains(shownHeight),
      "A visible part of \(shownWidth)x\(shownHeight) is not even, or not within the picture.")
    try require(
      frameRate.isFinite && (0.01...1000).contains(frameRate),
      "A frame rate of \(frameRate) is not in 0.01...1000.")
    for limit in dataRateLimits {
      try require(
        limit.bytes > 0 && limit.seconds.isFinite && limit.seconds > 0 && limit.seconds < 1e6,
        "A data-rate limit of \(limit.bytes) bytes in \(limit.seconds) seconds is not above 0 and "
          + "below 1,000,000 seconds.")
    }
    try require(
      (0...51).contains(minimumQP) && (0...51).contains(maximumQP) && minimumQP <= maximumQP,
      "QP \(minimumQP)...\(maximumQP) is not a range in 0...51.")
    try require(
      (0...Self.maxEffort).contains(effort), "An effort of \(effort) is not in 0...\(Self.maxEffort).")
    try require((1...16).contains(threads), "\(threads) threads are not in 1...16.")
    if let share = encodeTimeShare {
      try require(
        share.isFinite && (0.01...1).contains(share),
        "A share of \(share) of the frame interval is not in 0.01...1.")
    }
    try require(
      (1...15).contains(maximumReferences), "\(maximumReferences) references are not in 1...15.")
    if let interval = keyFrameInterval {
      try require(interval >= 1, "A key-frame interval of \(interval) is below 1.")
    }
    if let level {
      try require(
        HEVCLevel.numbered(level) != nil, "There is no level \(level) (ten times its number).")
    }
    try require(
      (0...2_000_000_000).contains(levelBitRate),
      "A bit rate of \(levelBitRate) for the level is not in 0...2,000,000,000.")
    try require((masteringDisplay?.count ?? 24) == 24, "A mastering display has 24 bytes.")
    try require((contentLightLevel?.count ?? 4) == 4, "A content light level has 4 bytes.")
    switch latency {
    case .zero(let options): try validateLowLatency(options)
    case .lookAhead(let options): try validateLookAhead(options)
    }
  }

  /// Checks the options of the low-latency mode.
  /// - Throws: `HEVCEncoderError.invalidConfiguration` for the first value out of range.
  private func validateLowLatency(_ options: LowLatency) throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw HEVCEncoderError.invalidConfiguration(text()) }
    }
    switch options.rateControl {
    case .constantQP(let qp):
      try require((0...51).contains(qp), "QP \(qp) is not in 0...51.")
    case .averageBitRate(let rate):
      try require(
        (1000...2_000_000_000).contains(rate), "A bit rate of \(rate) is not in 1,000...2,000,000,000.")
    }
    try require(
      options.maximumQueueDelay.isFinite && (0.02...10).contains(options.maximumQueueDelay),
      "A queue of \(options.maximumQueueDelay) seconds is not in 0.02...10.")
    try require(
      options.maximumStillPSNR.isFinite && (30...100).contains(options.maximumStillPSNR),
      "A quality of still pictures of \(options.maximumStillPSNR) dB is not in 30...100.")
    try require(
      options.adaptiveQuantisation.isFinite && (0...2).contains(options.adaptiveQuantisation),
      "A strength of adaptive quantisation of \(options.adaptiveQuantisation) is not in 0...2.")
    try require(
      options.longTermReferences >= 0 && options.longTermReferences < maximumReferences,
      "\(options.longTermReferences) long-term references are not in 0..<\(maximumReferences) "
        + "(maximumReferences).")
    try require(
      (0...1000).contains(options.intraRefreshPeriod), "An intra refresh takes 0...1000 frames.")
    try require(
      options.sceneChange != .intraRefresh || options.intraRefreshPeriod > 0,
      "To answer a scene change by an intra refresh, set intraRefreshPeriod.")
    try require(
      (1...7).contains(options.temporalLayers),
      "\(options.temporalLayers) temporal layers are not in 1...7.")
  }

  /// Checks that a configuration may replace this one in mid-stream.
  /// - Parameters:
  ///   - new: the new configuration.
  ///   - level: the level of the stream, which has been written.
  ///   - isHighTier: whether the stream is of the High tier.
  /// - Throws: `HEVCEncoderError.invalidConfiguration` if a value of the new configuration is out
  ///   of range, `.fixedInStream` if anything else differs, `.levelExceeded` if the stream's level
  ///   does not allow the rates.
  func checkChange(
    to new: HEVCEncoderConfiguration, in level: HEVCLevel, isHighTier: Bool
  ) throws {
    try new.validate()
    var same = self
    same.frameRate = new.frameRate
    same.dataRateLimits = new.dataRateLimits
    same.minimumQP = new.minimumQP
    same.maximumQP = new.maximumQP
    same.keyFrameInterval = new.keyFrameInterval
    same.measuresError = new.measuresError
    same.effort = new.effort
    same.encodeTimeShare = new.encodeTimeShare
    let changeable: String
    switch latency {
    case .zero:
      same.lowLatency.rateControl = new.lowLatency.rateControl
      same.lowLatency.allowsFrameDropping = new.lowLatency.allowsFrameDropping
      same.lowLatency.sceneChange = new.lowLatency.sceneChange
      same.lowLatency.intraRefreshPeriod = new.lowLatency.intraRefreshPeriod
      same.lowLatency.refreshesContinuously = new.lowLatency.refreshesContinuously
      same.lowLatency.maximumQueueDelay = new.lowLatency.maximumQueueDelay
      same.lowLatency.adaptiveQuantisation = new.lowLatency.adaptiveQuantisation
      same.lowLatency.maximumStillPSNR = new.lowLatency.maximumStillPSNR
      changeable =
        "rates, limits, the frame rate, the QP range, frame dropping, the key-frame interval, the "
        + "response to a new scene, intra refresh, the effort and measurement"
    case .lookAhead:
      same.lookAhead.rate = new.lookAhead.rate
      // The HRD parameters in the stream cannot change, nor what joined streams agree upon: neither
      // the buffer nor whether its rate is constant.
      if !mustConformToBuffer {
        same.lookAhead.buffer = new.lookAhead.buffer
      } else if lookAheadSettings.isConstantRate || new.lookAheadSettings.isConstantRate {
        same.lookAhead.rate = lookAhead.rate
      }
      same.lookAhead.keyFrameDuration = new.lookAhead.keyFrameDuration
      same.lookAhead.placesKeyFramesAtCuts = new.lookAhead.placesKeyFramesAtCuts
      same.lookAhead.usesOpenGOP = new.lookAhead.usesOpenGOP
      same.lookAhead.expectedDuration = new.lookAhead.expectedDuration
      changeable =
        "the rate, the buffer, the frame rate, the QP range, key frames, the effort and measurement"
    }
    // The sizes of quantisation groups are those of the parameter sets.
    guard same == new, log2QuantisationGroup == new.log2QuantisationGroup else {
      throw HEVCEncoderError.fixedInStream(
        "Only \(changeable) may change in mid-stream; make a new encoder for anything else.")
    }
    try new.checkLevel(level, isHighTier: isHighTier)
  }

  /// Checks that the level of a stream allows this configuration.
  /// - Throws: `HEVCEncoderError.levelExceeded` if it does not.
  func checkLevel(_ level: HEVCLevel, isHighTier: Bool) throws {
    // With `raisesLevel` the highest level is used for rates that no level allows.
    if raisesLevel && isHighTier && level == HEVCLevel.all.last { return }
    if let violation = violation(of: level, isHighTier: isHighTier) {
      throw HEVCEncoderError.levelExceeded("The stream's level does not allow this \(violation).")
    }
  }

  /// Checks a picture.
  /// - Throws: `HEVCEncoderError.invalidPicture` if its size or strides do not fit.
  func check(_ source: HEVCSource) throws {
    guard source.width == width, source.height == height else {
      throw HEVCEncoderError.invalidPicture(
        "The picture is \(source.width)x\(source.height), but the encoder is configured for \(width)x\(height)."
      )
    }
    if case .eightBits(let picture) = source, picture.hasFullChroma {
      throw HEVCEncoderError.invalidPicture("The picture is 4:4:4, and the profile 4:2:0.")
    }
    guard source.isConsistent else {
      throw HEVCEncoderError.invalidPicture(
        "A plane's bytes per row are fewer than its width, or more than 2^31 - 1.")
    }
  }

  /// Checks the options of a frame.
  /// - Throws: `HEVCEncoderError.invalidOption` for the first value out of range.
  func check(_ options: HEVCFrameOptions) throws {
    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw HEVCEncoderError.invalidOption(text()) }
    }
    if let qp = options.qp { try require((0...51).contains(qp), "QP \(qp) is not in 0...51.") }
    if let duration = options.duration {
      try require(
        duration > 0 && duration.isFinite, "A duration of \(duration) seconds is not above 0.")
    }
    if let slot = options.longTermSlot {
      try require(
        slot >= 0 && slot < lowLatency.longTermReferences,
        "Long-term slot \(slot) is not in 0..<\(lowLatency.longTermReferences).")
      try require(options.isReference, "A frame that is kept in a long-term slot must be a reference.")
      try require(
        options.temporalLayer == 0, "A frame that is kept in a long-term slot must be of layer 0.")
    }
    try require(
      options.isReference || lowLatency.allowsNonReferenceFrames,
      "Set allowsNonReferenceFrames in the configuration before coding frames that are not references."
    )
    try require(
      !options.startsIntraRefresh || lowLatency.intraRefreshPeriod > 0,
      "Set intraRefreshPeriod in the configuration to have an intra refresh.")
    if let bits = options.targetBits { try require(bits > 0, "A target of \(bits) bits is not above 0.") }
    try require(
      options.budgetShare.isFinite && (0.01...16).contains(options.budgetShare),
      "A budget share of \(options.budgetShare) is not in 0.01...16.")
    try require(
      options.temporalLayer >= 0 && options.temporalLayer < lowLatency.temporalLayers,
      "Temporal layer \(options.temporalLayer) is not in 0..<\(lowLatency.temporalLayers) "
        + "(temporalLayers).")
  }
}
