// SPDX-License-Identifier: Apache-2.0
#if Display
  import Testing

  @testable import OpenVideoToolboxDisplay

  /// The output time of a device, from requests that are late now and then.
  struct DeviceClockTests {
    /// Pseudo-random numbers from 0 to 1 with a fixed seed.
    private struct Chance {
      var state: UInt64 = 1
      mutating func next() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 40) / Double(1 << 24)
      }
    }

    /// A device whose clock runs at a rate of `pace`, and whose requests are up to `jitter` seconds
    /// late.
    @Test(arguments: [(1.0, 0.0), (1.00005, 0.004), (0.95, 0.001), (1.06, 0.002)])
    func aDevicesPaceIsFoundOut(pace: Double, jitter: Double) {
      var clock = DeviceClock(sampleRate: 48000)
      var chance = Chance()
      var worst = 0.0
      for request in 0..<2000 {
        let due = 100 + Double(request * 512) / 48000 / pace
        let reported = clock.request(at: due + chance.next() * jitter, frames: 512)
        // The mean delay is half of the jitter.
        if request > 500 { worst = max(worst, abs(reported - due - jitter / 2)) }
      }
      #expect(worst < 0.0005 + jitter / 8, "\(worst)")
    }

    /// After an underrun a device continues later by its duration; a late request alone changes
    /// nothing.
    @Test func whatRanDryGoesOnLater() {
      var clock = DeviceClock(sampleRate: 48000)
      var late = 0.0
      for request in 0..<1000 {
        if request == 600 { late = 0.035 }
        let due = 7 + Double(request) * 0.01 + late
        let reported = clock.request(at: due + (request == 500 ? 0.03 : 0), frames: 480)
        if (501..<600).contains(request) || request > 610 {
          #expect(abs(reported - due) < 0.002, "\(request)")
        }
      }
    }

    @Test func aPauseIsNoPace() {
      var clock = DeviceClock(sampleRate: 48000)
      var time = 5.0
      for _ in 0..<500 {
        _ = clock.request(at: time, frames: 480)
        time += 0.01
      }
      time += 2
      #expect(clock.request(at: time, frames: 480) == time)
      #expect(abs(clock.request(at: time + 0.013, frames: 480) - time - 0.01) < 1e-6)
    }
  }
#endif
