// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

@testable import vtencode

/// Frames that come as a camera would deliver them.
@Suite struct PacerTests {
  @Test("No frame is let through before its time, which counts from the first frame on")
  func noFrameIsLetThroughBeforeItsTime() throws {
    let pacer = try Pacer()
    let clock = CMClock.hostTimeClock
    let first = CMTime(value: 5000, timescale: 1)
    let start = clock.time
    try pacer.wait(until: first)
    for frame in [1, 2, 3, 3, 2, 9] as [Int64] {
      let time = CMTime(value: frame, timescale: 30)
      try pacer.wait(until: first + time)
      #expect(clock.time - start >= time, "frame \(frame)")
    }
  }
}
