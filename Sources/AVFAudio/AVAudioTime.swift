// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// A moment, as host time, as a number of frames at a sample rate, or as both. Never changes.
open class AVAudioTime: NSObject, @unchecked Sendable {
  // Sendable: constant.
  private let stamp: AudioTimeStamp
  private let rate: Double

  /// A moment that a time stamp tells.
  /// - Parameters:
  ///   - ts: Its flags say which of host time and sample time it has.
  ///   - sampleRate: Of the sample time, in hertz.
  public init(audioTimeStamp ts: UnsafePointer<AudioTimeStamp>, sampleRate: Double) {
    stamp = ts.pointee
    rate = sampleRate
    super.init()
  }

  /// A host time, in units of `mach_absolute_time()`.
  public init(hostTime: UInt64) {
    var stamp = AudioTimeStamp()
    stamp.mHostTime = hostTime
    stamp.mFlags = .hostTimeValid
    self.stamp = stamp
    rate = 0
    super.init()
  }

  /// A number of frames, at a sample rate in hertz.
  public init(sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    var stamp = AudioTimeStamp()
    stamp.mSampleTime = Double(sampleTime)
    stamp.mFlags = .sampleTimeValid
    self.stamp = stamp
    rate = sampleRate
    super.init()
  }

  /// A host time and the number of frames at that moment, at a sample rate in hertz.
  public init(hostTime: UInt64, sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
    var stamp = AudioTimeStamp()
    stamp.mHostTime = hostTime
    stamp.mSampleTime = Double(sampleTime)
    stamp.mFlags = .sampleHostTimeValid
    self.stamp = stamp
    rate = sampleRate
    super.init()
  }

  /// Units of host time in so many seconds: nanoseconds. 0 for less than none.
  open class func hostTime(forSeconds seconds: TimeInterval) -> UInt64 {
    let units = (seconds * 1e9).rounded()
    return units > 0 ? UInt64(exactly: units) ?? .max : 0
  }

  /// Seconds of so many units of host time.
  open class func seconds(forHostTime hostTime: UInt64) -> TimeInterval { Double(hostTime) / 1e9 }

  /// The same moment with both times, by a moment that has both.
  ///
  /// - Parameter anchorTime: A moment with host time and sample time.
  /// - Returns: This moment with the time that it has, and the other reckoned at the anchor's sample rate; itself where
  ///   it has both; nil if the anchor has not both, this has neither, or a sample rate is missing or of another sound.
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
  /// 0 unless it is valid.
  open var hostTime: UInt64 { isHostTimeValid ? stamp.mHostTime : 0 }

  /// In frames; 0 unless it is valid.
  open var sampleTime: AVAudioFramePosition {
    guard isSampleTimeValid else { return 0 }
    return AVAudioFramePosition(exactly: stamp.mSampleTime.rounded(.down)) ?? 0
  }

  /// In hertz; 0 for a host time alone.
  open var sampleRate: Double { rate }
  open var audioTimeStamp: AudioTimeStamp { stamp }

  open override var description: String {
    let host = isHostTimeValid ? " mach=\(hostTime)" : ""
    let sample = isSampleTimeValid ? " audio=\(sampleTime) @ \(sampleRate) Hz" : ""
    return "<AVAudioTime:\(host)\(sample)>"
  }
}
