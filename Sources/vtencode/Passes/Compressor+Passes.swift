// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

extension Compressor {
  /// Whether the session's encoder makes several passes; it has the storage then.
  /// - Parameter isOnDemand: no more of them than are needed; an encoder that cannot tell makes one then.
  func attach(_ storage: VTMultiPassStorage, isOnDemand: Bool) -> Bool {
    if isOnDemand {
      let status = VTSessionSetProperty(
        session, key: kOVTCompressionPropertyKey_MakesPassesOnDemand, value: kCFBooleanTrue)
      guard status == noErr else { return false }
    }
    guard
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage) == noErr
    else { return false }
    // Of the encoders that are built in, the package's own.
    VTSessionSetProperty(
      session, key: kOVTCompressionPropertyKey_AllowsPartialPasses, value: kCFBooleanTrue)
    return true
  }

  /// The decode times that the next pass is over; after a pass that wants another.
  func rangesOfNextPass() throws -> [CMTimeRange] {
    var (count, list) = (0, UnsafePointer<CMTimeRange>?.none)
    let status = VTCompressionSessionGetTimeRangesForNextPass(
      session, timeRangeCountOut: &count, timeRangeArrayOut: &list)
    guard status == noErr, let list else {
      throw Failure("the encoder does not say what the next pass is over (error \(status))")
    }
    return Array(UnsafeBufferPointer(start: list, count: count))
  }

  /// - Parameters:
  ///   - isLast: nothing need be learnt any more.
  ///   - rate: bits a second of the pass; nil as before.
  func beginPass(isLast: Bool, rate: Int? = nil) throws {
    try setRate(rate)
    let status = VTCompressionSessionBeginPass(session, flags: isLast ? .beginFinalPass : [], nil)
    guard status == noErr else { throw Failure("the encoder cannot begin a pass (error \(status))") }
  }

  /// Returns when the output of every frame has been delivered.
  /// - Parameter rate: bits a second that the movie is to have, where the pass may have had another.
  /// - Returns: Whether the encoder asks for another pass.
  func endPass(rate: Int? = nil) throws -> Bool {
    try setRate(rate)
    var wantsMore = DarwinBoolean(false)
    let status = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil)
    guard status == noErr else {
      // dskFulErr and ioErr of the storage.
      throw Failure(
        "the encoder could not end a pass (error \(status)); is there room for what it learns, beside the output and "
          + "for temporary files?", lacksRoom: [-34, -36].contains(status))
    }
    return wantsMore.boolValue
  }

  private func setRate(_ rate: Int?) throws {
    guard let rate, rate != passRate else { return }
    let status = VTSessionSetProperty(
      session, key: rateKey, value: NSNumber(value: rate))
    guard status == noErr else {
      throw Failure("the encoder does not take another bit rate between passes (error \(status))")
    }
    passRate = rate
  }
}
