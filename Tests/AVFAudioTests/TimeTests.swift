// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import CoreAudio
import Foundation
import Testing

@Suite struct TimeTests {
  @Test("A host time and a sample time are valid where they were set")
  func validity() {
    let host = AVAudioTime(hostTime: 5)
    #expect(host.isHostTimeValid && !host.isSampleTimeValid && host.hostTime == 5 && host.sampleRate == 0)
    let sample = AVAudioTime(sampleTime: -7, atRate: 48_000)
    #expect(!sample.isHostTimeValid && sample.isSampleTimeValid && sample.sampleTime == -7)
    var stamp = sample.audioTimeStamp
    #expect(stamp.mFlags == .sampleTimeValid && stamp.mSampleTime == -7)
    stamp.mHostTime = 9
    stamp.mFlags.insert(.hostTimeValid)
    let both = AVAudioTime(audioTimeStamp: &stamp, sampleRate: 8000)
    #expect(both.isHostTimeValid && both.hostTime == 9 && both.sampleRate == 8000)
    #expect(AVAudioTime(hostTime: 1, sampleTime: 2, atRate: 3).isSampleTimeValid)
  }

  @Test("Host time in seconds matches mach_absolute_time")
  func hostTimes() {
    #expect(AVAudioTime.hostTime(forSeconds: 1.5) == 1_500_000_000)
    #expect(AVAudioTime.seconds(forHostTime: 250_000_000) == 0.25)
    #expect(AVAudioTime.hostTime(forSeconds: -1) == 0 && AVAudioTime.hostTime(forSeconds: .nan) == 0)
    #expect(AVAudioTime.hostTime(forSeconds: .infinity) == .max)
    let before = mach_absolute_time()
    let now = AudioGetCurrentHostTime()
    #expect(now >= before && AudioConvertHostTimeToNanos(now) == now)
  }

  @Test("The other time is computed from an anchor with both times")
  func extrapolation() throws {
    let anchor = AVAudioTime(hostTime: 10_000_000_000, sampleTime: 1000, atRate: 48_000)
    let later = try #require(
      AVAudioTime(sampleTime: 49_000, atRate: 48_000).extrapolateTime(fromAnchor: anchor))
    #expect(later.hostTime == 11_000_000_000 && later.sampleTime == 49_000)
    let earlier = try #require(AVAudioTime(hostTime: 9_500_000_000).extrapolateTime(fromAnchor: anchor))
    #expect(earlier.sampleTime == 1000 - 24_000 && earlier.sampleRate == 48_000)
    // Before the anchor, at another rate, from an anchor with one time, and out of range.
    #expect(AVAudioTime(sampleTime: -600_000, atRate: 48_000).extrapolateTime(fromAnchor: anchor) == nil)
    #expect(AVAudioTime(sampleTime: 1, atRate: 44_100).extrapolateTime(fromAnchor: anchor) == nil)
    #expect(
      AVAudioTime(sampleTime: 1, atRate: 48_000).extrapolateTime(fromAnchor: AVAudioTime(hostTime: 1)) == nil)
    let far = AVAudioTime(hostTime: 0, sampleTime: .max - 5, atRate: 1e300)
    #expect(AVAudioTime(hostTime: .max).extrapolateTime(fromAnchor: far) == nil)
  }
}
