// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// Reconfiguration, and the checks of pictures and options.
extension LookAheadEncoder {
  /// Changes what may change within a stream: the rate, the buffer, the frame rate, data rate
  /// limits, the QP range, key frames, the expected duration, the effort, and the measurement of
  /// the error. It applies from the next picture that is coded.
  ///
  /// - Parameter new: the new configuration.
  /// - Throws: `H264EncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream`
  ///   if anything else differs, `.levelExceeded` if the stream's level does not allow the rates;
  ///   nothing changes then.
  func reconfigure(_ new: H264EncoderConfiguration) throws {
    try new.validate()
    var same = configuration
    same.lookAhead.rate = new.lookAhead.rate
    same.lookAhead.buffer = new.lookAhead.buffer
    same.lookAhead.keyFrameDuration = new.lookAhead.keyFrameDuration
    same.lookAhead.placesKeyFramesAtCuts = new.lookAhead.placesKeyFramesAtCuts
    same.lookAhead.usesOpenGOP = new.lookAhead.usesOpenGOP
    same.lookAhead.expectedDuration = new.lookAhead.expectedDuration
    same.frameRate = new.frameRate
    same.dataRateLimits = new.dataRateLimits
    same.minimumQP = new.minimumQP
    same.maximumQP = new.maximumQP
    same.keyFrameInterval = new.keyFrameInterval
    same.measuresError = new.measuresError
    same.effort = new.effort
    same.encodeTimeShare = new.encodeTimeShare
    guard same == new else {
      throw H264EncoderError.fixedInStream(
        "Only the rate, the buffer, the frame rate, the QP range, key frames, the effort and measurement may change "
          + "in mid-stream; make a new encoder for anything else.")
    }
    // The parameter sets have been written, so the level cannot be raised.
    var fixed = new
    fixed.level = (sps.level?.number).map(Int.init)
    fixed.raisesLevel = false
    _ = try fixed.makeParameterSets()
    try new.checkRates(against: sps.level)
    fixed = new
    fixed.fitBuffer(to: sps)
    guard timing == nil && !configuration.isJoined || fixed.lookAhead.buffer == configuration.lookAhead.buffer
    else {
      throw H264EncoderError.fixedInStream(
        "The buffer that the stream describes, or shares with others, cannot change in mid-stream.")
    }
    // The rate control learns from the pictures in flight under the old configuration.
    for flight in inFlight { account(flight) }
    configuration = fixed
    coder.configuration = new
    for flight in flights { flight.coder.configuration = new }
    effortControl.reconfigure(
      effort: new.effort, share: new.encodeTimeShare, frameRate: new.frameRate)
    planner.reconfigure(fixed.lookAheadSettings)
  }

  /// Checks a picture and its options before anything changes.
  /// - Parameters:
  ///   - source: the picture.
  ///   - options: its options.
  /// - Throws: `H264EncoderError.invalidPicture` or `.invalidOption`.
  func check(_ source: SourcePicture, _ options: H264FrameOptions) throws {
    guard source.width == configuration.width, source.height == configuration.height else {
      throw H264EncoderError.invalidPicture(
        "The picture is \(source.width)x\(source.height), the encoder is for \(configuration.width)x\(configuration.height)."
      )
    }
    guard source.isConsistent else {
      throw H264EncoderError.invalidPicture(
        "A plane's bytes per row are fewer than its width, or more than 2^31 - 1.")
    }
    var plain = H264FrameOptions()
    plain.isKeyFrame = options.isKeyFrame
    plain.qp = options.qp
    plain.duration = options.duration
    guard plain == options else {
      throw H264EncoderError.invalidOption(
        "With a look-ahead a frame takes a key frame, a QP and a duration, and no other option.")
    }
    if let qp = options.qp, !(0...51).contains(qp) {
      throw H264EncoderError.invalidOption("QP \(qp) is not in 0...51.")
    }
    if let duration = options.duration, !(duration > 0 && duration.isFinite) {
      throw H264EncoderError.invalidOption("A duration of \(duration) seconds is not above 0.")
    }
  }
}
