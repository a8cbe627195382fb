// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import VideoEncoding

/// The usual time between frames, as the rate control sees it.
@Suite struct TypicalFrameIntervalTests {
  private static func after(_ seconds: [Double], expecting frameRate: Double = 30) -> Double {
    var interval = TypicalFrameInterval(seconds: 1 / frameRate)
    for latest in seconds { interval.take(latest) }
    return interval.seconds
  }

  @Test(
    "Even times are what they are, as said from the first frame on, others soon", arguments: [1, 5, 25, 60.0])
  func evenTimesAreWhatTheyAre(_ frames: Double) {
    #expect(Self.after([1 / frames], expecting: frames) == 1 / frames)
    #expect(Self.after(Array(repeating: 1 / frames, count: 4)) == 1 / frames)
  }

  @Test("A pause is not a frame rate, how long it may be", arguments: [0.5, 120])
  func aPauseIsNoFrameRate(_ seconds: Double) {
    let even = Array(repeating: 1.0 / 30, count: 5)
    #expect(Self.after([seconds]) <= 2.0 / 30)
    #expect(Self.after(even + [seconds]) <= 1.2 / 30 + 1e-9)
    #expect(Self.after(even + [seconds, 1.0 / 30, seconds]) <= 1.4 / 30)
    #expect(Self.after(even + [seconds, 1.0 / 30, 1.0 / 30, 1.0 / 30]) == 1.0 / 30)
  }

  @Test("Jitter comes to its mean")
  func jitterComesToItsMean() {
    let times = (0..<60).map { $0 % 2 == 0 ? 1.0 / 60 : 3.0 / 60 }
    let typical = [Self.after(times), Self.after(times.dropLast())]
    #expect(typical.allSatisfy { abs($0 * 30 - 1) < 0.15 }, "\(typical)")
  }

  @Test("A burst after a slow stream counts for no more than four times its own times")
  func aBurstAfterASlowStreamCountsForAtMostFourTimesItsTimes() {
    #expect(Self.after([1, 1, 1, 1, 1.0 / 30]) <= 4.0 / 30)
    #expect(Self.after([1, 1, 1, 1, 1.0 / 30, 1.0 / 30, 1.0 / 30]) == 1.0 / 30)
  }
}
