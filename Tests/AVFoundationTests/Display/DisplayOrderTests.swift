// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
import Foundation
import Testing
import TestSupport

/// Samples that are late or just in time, stopped and jumping timebases, and clients that stop.
@Suite(.serialized) struct DisplayOrderTests {
  private static func movie() throws -> String {
    try Fixture.make(
      "reordered.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2.4", "-c:v", "libx264", "-bf", "3",
        "-b_strategy",
        "0", "-g", "30",
      ])
  }

  private static func samples() throws -> [CMSampleBuffer] {
    try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: movie())))
  }

  private static func layer(
    _ shown: DisplayTests.Shown, at rate: Double? = nil, of clock: CMClock = .hostTimeClock
  ) throws -> AVSampleBufferDisplayLayer {
    let layer = AVSampleBufferDisplayLayer()
    layer.frameHandler = { shown.add($0, $1) }
    guard let rate else { return layer }
    let timebase = try CMTimebase(sourceClock: clock)
    try timebase.setRate(rate)
    layer.controlTimebase = timebase
    return layer
  }

  /// Without a timebase all are late; with one each is enqueued at its decode time.
  @Test(arguments: [nil, 1.0]) func picturesNeverGoBack(rate: Double?) async throws {
    let samples = try Self.samples()
    try #require(samples.contains { $0.decodeTimeStamp < $0.presentationTimeStamp })
    var latest = CMTime.negativeInfinity
    let between = samples.map(\.presentationTimeStamp).filter { time in
      defer { latest = max(latest, time) }
      return time < latest
    }
    let last = try #require(samples.map(\.presentationTimeStamp).max())
    let shown = DisplayTests.Shown()
    let hand = HandClock()
    let layer = try Self.layer(shown, at: rate, of: hand.clock)
    // A picture waits for the next sample, which may be presented earlier, not for a time.
    layer.longestGap = .seconds(3600)
    let consumed = Heard(
      NSNotification.Name(kCMSampleBufferConsumerNotification_BufferConsumed as String), layer)
    for (index, sample) in samples.enumerated() {
      CMSetAttachment(
        sample, key: kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed, value: NSDictionary(),
        attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
      hand.time = max(hand.time, sample.decodeTimeStamp)
      layer.enqueue(sample)
      await waitUntil { consumed.count == index + 1 }
    }
    // While the time is stopped, nothing is waited for.
    hand.time = last
    CMTimebaseSetRate(layer.timebase, rate: 0)
    await waitUntil { shown.all.last?.time == last }
    let times = shown.all.map(\.time)
    #expect(times == times.sorted() && times.last == last)
    // Also those that come after one that is shown later: with nothing that waits for them none
    // would be seen.
    let seen = times.count { between.contains($0) }
    #expect(seen > between.count / 2, "\(seen) of \(between.count)")
  }

  @Test func jumpsOfATimeLineThatStandsShowThePictureThere() async throws {
    let shown = DisplayTests.Shown()
    let layer = try Self.layer(shown, at: 0)
    for sample in try Self.samples().prefix(20) { layer.enqueue(sample) }
    await waitUntil { shown.all.last?.time == .zero }
    for index in [1, 2, 3, 5, 9] {
      let time = CMTime(value: CMTimeValue(index), timescale: 25)
      CMTimebaseSetTime(layer.timebase, time: time)
      await waitUntil { shown.all.last?.time == time }
      #expect(shown.all.last?.time == time)
    }
  }

  private struct Held { weak var sample: CMSampleBuffer? }

  @Test func aFailedLayerKeepsNothing() async throws {
    let samples = try Self.samples()
    let layer = AVSampleBufferDisplayLayer()
    let second = try #require(samples.dropFirst().first)
    let noise = try CMBlockBuffer(length: 500, flags: .assureMemoryNow)
    try noise.fillDataBytes(with: 73)
    layer.enqueue(
      try CMSampleBuffer(
        dataBuffer: noise, formatDescription: second.formatDescription, numSamples: 1, sampleTimings: [],
        sampleSizes: [500]))
    await waitUntil { layer.status == .failed }
    try #require(layer.requiresFlushToResumeDecoding)
    var held: [Held] = []
    for _ in 0..<100 {
      let sample = try CMSampleBuffer(copying: second)
      layer.enqueue(sample)
      held.append(Held(sample: sample))
    }
    await waitUntil { held.allSatisfy { $0.sample == nil } }
    #expect(held.count { $0.sample != nil } == 0)
  }

  /// A client that stops on its request queue is not called again.
  @Test func nothingIsAskedAfterStopping() async throws {
    let queue = DispatchQueue(label: "client")
    let late = Gathered<Int>()
    for round in 0..<200 {
      let layer = AVSampleBufferDisplayLayer()
      let isFinished = Gathered<Bool>()
      layer.requestMediaDataWhenReady(on: queue) { if isFinished.count > 0 { late.add(round) } }
      queue.sync {
        layer.stopRequestingMediaData()
        isFinished.add(true)
      }
      queue.sync {}
    }
    #expect(late.count == 0)
  }
}
