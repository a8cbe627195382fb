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
    try configuration.checkChange(to: new, in: sps)
    var fixed = new
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
      effort: new.effort, timeFraction: new.encodeTimeShare, frameRate: new.frameRate)
    planner.reconfigure(fixed.lookAheadSettings)
  }

  /// Checks a picture and its options before anything changes.
  /// - Parameters:
  ///   - source: the picture.
  ///   - options: its options.
  /// - Throws: `H264EncoderError.invalidPicture` or `.invalidOption`.
  func check(_ source: SourcePicture, _ options: H264FrameOptions) throws {
    try configuration.check(source)
    var plain = H264FrameOptions()
    plain.isKeyFrame = options.isKeyFrame
    plain.qp = options.qp
    plain.duration = options.duration
    guard plain == options else {
      throw H264EncoderError.invalidOption(
        "With a look-ahead, only isKeyFrame, qp and duration of a frame's options may be set.")
    }
    try configuration.checkCommon(options)
  }
}
