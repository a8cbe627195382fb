// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import TestSupport
import Testing

/// Pictures and audio against the time of day.
@Suite(.serialized, .enabled(if: runsWallClockTests)) struct DisplayWallClockTests {
  /// A quarter of the speed leaves time for nearly every picture.
  @Test func picturesComeAtTheirTimeOfTheClock() async throws {
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
    let layer = AVSampleBufferDisplayLayer()
    let shown = Mutex<[(time: CMTime, at: Date)]>([])
    layer.frameHandler = { _, time in shown.withLock { $0.append((time, Date())) } }
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    layer.controlTimebase = timebase
    let feed = DispatchQueue(label: "feed")
    let next = Mutex(0)
    let source = samples
    layer.requestMediaDataWhenReady(on: feed) {
      while layer.isReadyForMoreMediaData {
        let index = next.withLock { number in
          defer { number += 1 }
          return number
        }
        guard index < source.count else { return layer.stopRequestingMediaData() }
        layer.enqueue(source[index])
      }
    }
    await waitUntil { shown.withLock { $0.count } == 1 }
    let start = Date()
    CMTimebaseSetRate(timebase, rate: 0.25)
    let last = CMTime(value: 59 * 1001, timescale: 30000)
    await waitUntil { shown.withLock { $0.last?.time } == last }
    let all = shown.withLock { $0 }
    #expect(all.count > 40)
    // A timer may be a few milliseconds early, and a machine late.
    let delays = all.dropFirst().map { $0.at.timeIntervalSince(start) - $0.time.seconds * 4 }
    #expect(delays.allSatisfy { (-0.02...0.25).contains($0) }, "\(delays)")
  }

  /// A periodic observer is called ten times a second, not more often and not less.
  @Test func observersAreCalledAtTheirInterval() async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let calls = Mutex(0)
    let observer = synchronizer.addPeriodicTimeObserver(
      forInterval: CMTime(value: 1, timescale: 10), queue: DispatchQueue(label: "observer")
    ) { _ in calls.withLock { $0 += 1 } }
    synchronizer.rate = 1
    try await Task.sleep(for: .seconds(2))
    synchronizer.removeTimeObserver(observer)
    #expect((18...24).contains(calls.withLock { $0 }))
  }
}
