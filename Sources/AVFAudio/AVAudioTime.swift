// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// A time, as a host time, as a number of frames at a sample rate, or as both. Immutable.
open class AVAudioTime: NSObject, @unchecked Sendable {
  // Sendable: constant.
  private let stamp: AudioTimeStamp
  private let rate: Double

  /// Creates the time of a time stamp.
  /// - Parameters:
  ///   - ts: The time stamp, whose flags tell whether host time and sample time are valid.
  ///   - sampleRate: The sample rate of the sample time, in hertz.
  public init(audioTimeStamp ts: UnsafePointer<AudioTimeStamp>, sampleRate: Double) {
    stamp = ts.pointee
    rate = sampleRate
    super.init()
  }

  /// Creates a time of a host time, in units of `mach_absolute_time()`.
  public init(hostTime: UInt64) {
    var stamp = AudioTimeStamp()
    stamp.mHostTime = hostTime
    stamp.mFlags = .hostTimeValid
    self.stamp = stamp
    rate = 0
    super.init()
  }

  /// Creates a time of a number of frames, at a sample rate in hertz.
  public init(sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    var stamp = AudioTimeStamp()
    stamp.mSampleTime = Double(sampleTime)
    stamp.mFlags = .sampleTimeValid
    self.stamp = stamp
    rate = sampleRate
    super.init()
  }

  /// Creates a time of a host time and the number of frames at that time, at a sample rate in
  /// hertz.
  public init(hostTime: UInt64, sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    var stamp = AudioTimeStamp()
    stamp.mHostTime = hostTime
    stamp.mSampleTime = Double(sampleTime)
    stamp.mFlags = .sampleHostTimeValid
    self.stamp = stamp
    rate = sampleRate
    super.init()
  }

  /// Converts seconds to units of host time, which are nanoseconds. The result is 0 for negative
  /// values.
  open class func hostTime(forSeconds seconds: TimeInterval) -> UInt64 {
    let units = (seconds * 1e9).rounded()
    return units > 0 ? UInt64(exactly: units) ?? .max : 0
  }

  /// Converts units of host time, which are nanoseconds, to seconds.
  open class func seconds(forHostTime hostTime: UInt64) -> TimeInterval { Double(hostTime) / 1e9 }

  /// Adds the missing host time or sample time, with the help of a time that has both.
  ///
  /// - Parameter anchorTime: A time with a host time and a sample time.
  /// - Returns: This time if it has both; otherwise this time with the missing value, computed with
  ///   the anchor's sample rate. Nil if the anchor does not have both, if this time has neither, or
  ///   if the sample rates differ or are invalid.
  open func extrapolateTime(fromAnchor anchorTime: AVAudioTime) -> AVAudioTime? {
    if isHostTimeValid, isSampleTimeValid { return self }
    let rate = anchorTime.sampleRate
    guard anchorTime.isHostTimeValid, anchorTime.isSampleTimeValid, rate > 0, rate.isFinite else {
      return nil
    }
    if isHostTimeValid {
      let past = hostTime >= anchorTime.hostTime
      let units = past ? hostTime - anchorTime.hostTime : anchorTime.hostTime - hostTime
      let frames = (Self.seconds(forHostTime: units) * rate).rounded()
      guard let distance = Int64(exactly: past ? frames : -frames) else { return nil }
      let (sample, overflow) = anchorTime.sampleTime.addingReportingOverflow(distance)
      return overflow ? nil : AVAudioTime(hostTime: hostTime, sampleTime: sample, atRate: rate)
    }
    guard isSampleTimeValid, sampleRate == rate else { return nil }
    let (frames, overflow) = sampleTime.subtractingReportingOverflow(anchorTime.sampleTime)
    guard !overflow else { return nil }
    let units = Self.hostTime(forSeconds: Double(frames.magnitude) / rate)
    let (host, isOut) =
      frames >= 0
      ? anchorTime.hostTime.addingReportingOverflow(units)
      : anchorTime.hostTime.subtractingReportingOverflow(units)
    return isOut ? nil : AVAudioTime(hostTime: host, sampleTime: sampleTime, atRate: rate)
  }

  open var isHostTimeValid: Bool { stamp.mFlags.contains(.hostTimeValid) }
  open var isSampleTimeValid: Bool { stamp.mFlags.contains(.sampleTimeValid) }
  /// The host time; 0 if it is not valid.
  open var hostTime: UInt64 { isHostTimeValid ? stamp.mHostTime : 0 }

  /// The sample time in frames; 0 if it is not valid.
  open var sampleTime: AVAudioFramePosition {
    guard isSampleTimeValid else { return 0 }
    return AVAudioFramePosition(exactly: stamp.mSampleTime.rounded(.down)) ?? 0
  }

  /// The sample rate in hertz; 0 for a time that only has a host time.
  open var sampleRate: Double { rate }
  open var audioTimeStamp: AudioTimeStamp { stamp }

  open override var description: String {
    let host = isHostTimeValid ? " mach=\(hostTime)" : ""
    let sample = isSampleTimeValid ? " audio=\(sampleTime) @ \(sampleRate) Hz" : ""
    return "<AVAudioTime:\(host)\(sample)>"
  }
}
