// SPDX-License-Identifier: Apache-2.0

extension LookAheadEncoder {
  /// Changes what may change in mid-stream: the rate, the buffer, the frame rate, the QP range, key frames, the effort
  /// and measurement. The next picture to be coded follows it.
  ///
  /// - Throws: `EncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream` if anything else
  ///   differs, `.levelExceeded` if the stream's level does not allow the rates; nothing changes then.
  public func reconfigure(_ new: LookAheadConfiguration) throws {
    try new.validate()
    var same = configuration
    same.rate = new.rate
    same.buffer = new.buffer
    same.keyFrameDuration = new.keyFrameDuration
    same.placesKeyFramesAtCuts = new.placesKeyFramesAtCuts
    same.usesOpenGOP = new.usesOpenGOP
    same.expectedDuration = new.expectedDuration
    same.stream.frameRate = new.stream.frameRate
    same.stream.rateControl = new.stream.rateControl
    same.stream.dataRateLimits = new.stream.dataRateLimits
    same.stream.maximumQueueDelay = new.stream.maximumQueueDelay
    same.stream.minimumQP = new.stream.minimumQP
    same.stream.maximumQP = new.stream.maximumQP
    same.stream.keyFrameInterval = new.stream.keyFrameInterval
    same.stream.measuresError = new.stream.measuresError
    same.stream.effort = new.stream.effort
    same.stream.encodeTimeShare = new.stream.encodeTimeShare
    guard same == new else {
      throw EncoderError.fixedInStream(
        "Only the rate, the buffer, the frame rate, the QP range, key frames, the effort and measurement may change "
          + "in mid-stream; make a new encoder for anything else.")
    }
    // The level is in the parameter sets already: what it allows cannot grow.
    var fixed = new
    fixed.stream.level = (sps.level?.number).map(Int.init)
    fixed.stream.raisesLevel = false
    _ = try fixed.makeParameterSets()
    try new.engineConfiguration.checkRates(against: sps.level)
    fixed = new
    fixed.fitBuffer(to: sps)
    guard timing == nil && !configuration.isJoined || fixed.buffer == configuration.buffer else {
      throw EncoderError.fixedInStream(
        "The buffer that the stream describes, or shares with others, cannot change in mid-stream.")
    }
    // What is being coded belongs to what was asked for before.
    for flight in inFlight { account(flight) }
    configuration = fixed
    coder.configuration = new.engineConfiguration
    for flight in flights { flight.coder.configuration = new.engineConfiguration }
    effortControl.reconfigure(new.engineConfiguration)
    rateControl.reconfigure(fixed)
  }

  func check(_ source: SourcePicture, _ options: FrameOptions) throws {
    let stream = configuration.stream
    guard source.width == stream.width, source.height == stream.height else {
      throw EncoderError.invalidPicture(
        "The picture is \(source.width)x\(source.height), the encoder is for \(stream.width)x\(stream.height)."
      )
    }
    guard source.isConsistent else {
      throw EncoderError.invalidPicture(
        "A plane's bytes per row are fewer than its width, or more than 2^31 - 1.")
    }
    var plain = FrameOptions()
    plain.isKeyFrame = options.isKeyFrame
    plain.qp = options.qp
    plain.duration = options.duration
    guard plain == options else {
      throw EncoderError.invalidOption(
        "With a look-ahead a frame takes a key frame, a QP and a duration, and no other option.")
    }
    if let qp = options.qp, !(0...51).contains(qp) {
      throw EncoderError.invalidOption("QP \(qp) is not in 0...51.")
    }
    if let duration = options.duration, !(duration > 0 && duration.isFinite) {
      throw EncoderError.invalidOption("A duration of \(duration) seconds is not above 0.")
    }
  }
}
