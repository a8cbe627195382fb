// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream
import VideoEncoding

/// Reconfiguration, and the checks of pictures and options.
extension LowLatencyEncoder {
  /// Changes what may change within a stream: rates, limits, the frame rate, the QP range, frame
  /// dropping, the queue delay, the key-frame interval, the response to a new scene, the effort,
  /// and the measurement of the error. It applies from the next frame.
  ///
  /// - Parameter new: the new configuration.
  /// - Throws: `H264EncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream`
  ///   if anything else differs, `.levelExceeded` if the stream's level does not allow the rates;
  ///   nothing changes then.
  func reconfigure(_ new: H264EncoderConfiguration) throws {
    try configuration.checkChange(to: new, in: sps)
    configuration = new
    coder.configuration = new
    rateControl.reconfigure(new.lowLatencySettings)
    effortControl.reconfigure(
      effort: new.effort, timeFraction: new.encodeTimeShare, frameRate: new.frameRate)
  }

  /// Checks a picture and its options before anything changes.
  /// - Parameters:
  ///   - source: the picture.
  ///   - options: its options.
  /// - Throws: `H264EncoderError.invalidPicture` or `.invalidOption`.
  func check(_ source: SourcePicture, _ options: H264FrameOptions) throws {
    try configuration.check(source)
    try configuration.checkCommon(options)
    if let slot = options.longTermSlot {
      guard slot >= 0, slot < configuration.lowLatency.longTermReferences else {
        throw H264EncoderError.invalidOption(
          "Long-term slot \(slot) is not in 0..<\(configuration.lowLatency.longTermReferences).")
      }
      guard options.isReference else {
        throw H264EncoderError.invalidOption("A frame that is kept in a long-term slot must be a reference.")
      }
    }
    if !options.isReference && !configuration.lowLatency.allowsNonReferenceFrames {
      throw H264EncoderError.invalidOption(
        "Set allowsNonReferenceFrames in the configuration before coding frames that are not references.")
    }
    if options.startsIntraRefresh && configuration.lowLatency.intraRefreshPeriod == 0 {
      throw H264EncoderError.invalidOption(
        "Set intraRefreshPeriod in the configuration to have an intra refresh.")
    }
    if let bits = options.targetBits, bits <= 0 {
      throw H264EncoderError.invalidOption("A target of \(bits) bits is not above 0.")
    }
    guard options.budgetShare.isFinite, (0.01...16).contains(options.budgetShare) else {
      throw H264EncoderError.invalidOption("A budget share of \(options.budgetShare) is not in 0.01...16.")
    }
    guard (0...7).contains(options.temporalLayer) else {
      throw H264EncoderError.invalidOption("Temporal layer \(options.temporalLayer) is not in 0...7.")
    }
  }
}
