// SPDX-License-Identifier: Apache-2.0
#if Display
  import Foundation
  import OpenVideoToolboxDisplay
  import Testing
  import TestSupport

  /// SDL's `dummy` driver, which asks for audio as a device does.
  @Suite(.serialized) struct AudioDeviceTests {
    init() { setenv("SDL_AUDIODRIVER", "dummy", 0) }

    private final class Count: @unchecked Sendable {
      private let lock = NSLock()
      private var number = 0
      func add() { lock.withLock { number += 1 } }
      var value: Int { lock.withLock { number } }
    }

    /// Rates and channels that no device has: an error, and no request.
    @Test func audioThatNobodyPlays() async throws {
      let device = OVTAudioDevice()
      let count = Count()
      let rates: [Double] = [.nan, .infinity, -.infinity, -1, 0, 1e-300, 0.5, 1e7, 1e19, 1e300]
      let channels = [Int.min, -1, 0, 9, 255, 256, 1 << 40, .max]
      for (rate, channels) in rates.map({ ($0, 2) }) + channels.map({ (48_000, $0) }) {
        #expect(throws: OVTDisplayError.self, "\(rate) \(channels)") {
          try device.start(sampleRate: rate, channels: channels) { _, _ in count.add() }
        }
      }
      let played = Count()
      try device.start(sampleRate: 48_000, channels: 2) { samples, _ in
        samples.update(repeating: 0)
        played.add()
      }
      // While one is asked again and again, the others are not.
      #expect(await waitUntil { played.value >= 5 })
      device.stop()
      #expect(count.value == 0)
    }

    /// A renderer that starts takes the device from others: after a stop no callback is called any
    /// more.
    @Test(.timeLimit(.minutes(HangLimit.minutes))) func startsOfSeveralThreadsLeaveNoDeviceBehind()
      async throws
    {
      let device = OVTAudioDevice()
      let (asked, failed) = (Count(), Count())
      for round in 0..<4 {
        DispatchQueue.concurrentPerform(iterations: 4) { index in
          do {
            try device.start(sampleRate: 48_000, channels: 2) { samples, _ in
              samples.update(repeating: 0)
              asked.add()
            }
          } catch {
            failed.add()
          }
          if round % 2 == 1, index % 2 == 1 { device.stop() }
        }
        device.stop()
        let before = asked.value
        // Another device of the same driver is asked meanwhile.
        let (other, callbackCount) = (OVTAudioDevice(), Count())
        try other.start(sampleRate: 48_000, channels: 2) { samples, _ in
          samples.update(repeating: 0)
          callbackCount.add()
        }
        #expect(await waitUntil { callbackCount.value >= 4 })
        other.stop()
        #expect(asked.value == before)
      }
      #expect(failed.value == 0)
    }
  }
#endif
