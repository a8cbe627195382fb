// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Checks during a stream that both modes share.
extension H264EncoderConfiguration {
  /// Checks that a configuration may replace this one in mid-stream: only what the encoder reads
  /// again with each picture may differ.
  /// - Parameters:
  ///   - new: the new configuration.
  ///   - sps: the sequence parameter set of the stream. It has been written, so the level cannot be
  ///     raised.
  /// - Throws: `H264EncoderError.invalidConfiguration` if a value of the new configuration is out
  ///   of range, `.fixedInStream` if anything else differs, `.levelExceeded` if the stream's level
  ///   does not allow the rates.
  func checkChange(to new: H264EncoderConfiguration, in sps: H264SequenceParameterSet) throws {
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
      same.lowLatency.maximumQueueDelay = new.lowLatency.maximumQueueDelay
      same.lowLatency.maximumStillPSNR = new.lowLatency.maximumStillPSNR
      changeable =
        "rates, limits, the frame rate, the QP range, frame dropping, the key-frame interval, the response "
        + "to a new scene, the effort and measurement"
    case .lookAhead:
      same.lookAhead.rate = new.lookAhead.rate
      same.lookAhead.buffer = new.lookAhead.buffer
      same.lookAhead.keyFrameDuration = new.lookAhead.keyFrameDuration
      same.lookAhead.placesKeyFramesAtCuts = new.lookAhead.placesKeyFramesAtCuts
      same.lookAhead.usesOpenGOP = new.lookAhead.usesOpenGOP
      same.lookAhead.expectedDuration = new.lookAhead.expectedDuration
      changeable =
        "the rate, the buffer, the frame rate, the QP range, key frames, the effort and measurement"
    }
    guard same == new else {
      throw H264EncoderError.fixedInStream(
        "Only \(changeable) may change in mid-stream; make a new encoder for anything else.")
    }
    var fixed = new
    fixed.level = (sps.level?.number).map(Int.init)
    fixed.raisesLevel = false
    _ = try fixed.makeParameterSets()
    try new.checkRates(against: sps.level)
  }

  /// Checks a picture.
  /// - Throws: `H264EncoderError.invalidPicture` if its size or strides do not fit.
  func check(_ source: SourcePicture) throws {
    guard source.width == width, source.height == height else {
      throw H264EncoderError.invalidPicture(
        "The picture is \(source.width)x\(source.height), but the encoder is configured for \(width)x\(height)."
      )
    }
    guard source.hasFullChroma == is444 else {
      throw H264EncoderError.invalidPicture(
        "The picture is \(source.hasFullChroma ? "4:4:4" : "4:2:0"), which is not that of the profile.")
    }
    guard source.isConsistent else {
      throw H264EncoderError.invalidPicture(
        "A plane's bytes per row are fewer than its width, or more than 2^31 - 1.")
    }
  }

  /// Checks the options of a frame that both modes read.
  /// - Throws: `H264EncoderError.invalidOption` for the first value out of range.
  func checkCommon(_ options: H264FrameOptions) throws {
    if let qp = options.qp, !(0...51).contains(qp) {
      throw H264EncoderError.invalidOption("QP \(qp) is not in 0...51.")
    }
    if isLossless && (options.qp ?? 0 != 0 || options.targetBits != nil) {
      throw H264EncoderError.invalidOption(
        "Without loss, a frame has no other QP than 0 and no target of bits.")
    }
    if let duration = options.duration, !(duration > 0 && duration.isFinite) {
      throw H264EncoderError.invalidOption("A duration of \(duration) seconds is not above 0.")
    }
  }
}
