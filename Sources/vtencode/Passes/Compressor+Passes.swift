// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

extension Compressor {
  /// Sets the storage for several passes.
  /// - Parameters:
  ///   - storage: the storage.
  ///   - isOnDemand: whether only necessary passes are made. An encoder without the property for
  ///     that makes one pass.
  /// - Returns: whether the encoder makes several passes.
  func attach(_ storage: VTMultiPassStorage, isOnDemand: Bool) -> Bool {
    if isOnDemand {
      let status = VTSessionSetProperty(
        session, key: kOVTCompressionPropertyKey_MakesPassesOnDemand, value: kCFBooleanTrue)
      guard status == noErr else { return false }
    }
    guard
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage) == noErr
    else { return false }
    // Of the built-in encoders, the package's own has this property.
    VTSessionSetProperty(
      session, key: kOVTCompressionPropertyKey_AllowsPartialPasses, value: kCFBooleanTrue)
    return true
  }

  /// The ranges of decode times that the next pass covers, after a pass that asked for another one.
  func rangesOfNextPass() throws -> [CMTimeRange] {
    var (count, list) = (0, UnsafePointer<CMTimeRange>?.none)
    let status = VTCompressionSessionGetTimeRangesForNextPass(
      session, timeRangeCountOut: &count, timeRangeArrayOut: &list)
    guard status == noErr, let list else {
      throw Failure("the encoder does not give the time ranges of the next pass (error \(status))")
    }
    return Array(UnsafeBufferPointer(start: list, count: count))
  }

  /// Begins a pass.
  /// - Parameters:
  ///   - isLast: whether it is the last one, so that the encoder need not collect statistics.
  ///   - rate: the pass's bit rate in bits a second; nil keeps the previous one.
  /// - Throws: a `Failure` if the encoder does not begin the pass.
  func beginPass(isLast: Bool, rate: Int? = nil) throws {
    try setRate(rate)
    let status = VTCompressionSessionBeginPass(session, flags: isLast ? .beginFinalPass : [], nil)
    guard status == noErr else { throw Failure("the encoder cannot begin a pass (error \(status))") }
  }

  /// Ends a pass, and returns when the output of every frame has been delivered.
  /// - Parameter rate: the bit rate in bits a second that the movie should have, if that of the
  ///   pass was another; nil if not.
  /// - Returns: whether the encoder asks for another pass.
  /// - Throws: a `Failure` if the encoder could not end the pass.
  func endPass(rate: Int? = nil) throws -> Bool {
    try setRate(rate)
    var wantsMore = DarwinBoolean(false)
    let status = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil)
    guard status == noErr else {
      // dskFulErr (-34) and ioErr (-36) come from the storage.
      throw Failure(
        "the encoder could not end a pass (error \(status)); is there room for its statistics, next to the "
          + "output and for temporary files?", lacksRoom: [-34, -36].contains(status))
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
