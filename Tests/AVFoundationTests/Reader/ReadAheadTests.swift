// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import AVFoundation

/// Tests reading ahead: the number of samples is limited, their order is kept, and it ends at once
/// when it is stopped.
@Suite(.timeLimit(.minutes(HangLimit.minutes))) struct ReadAheadTests {
  /// A source of samples whose presentation times count from 0.
  final class Source: InterruptibleSource {
    struct State {
      /// The number of calls of `next()` that were not interrupted.
      var given = 0
      var isInterrupted = false
    }
    let state = Mutex(State())
    let count: Int
    /// Whether an error is thrown after the last sample.
    let fails: Bool
    /// The number of the first sample for which `next()` blocks until it is interrupted.
    let blocksAt: Int

    init(count: Int, fails: Bool = false, blocksAt: Int = .max) {
      self.count = count
      self.fails = fails
      self.blocksAt = blocksAt
    }

    func next() throws -> CMSampleBuffer? {
      blockUntil { state.withLock { $0.given < blocksAt || $0.isInterrupted } }
      let number = state.withLock { state in
        if state.isInterrupted { return -1 }
        defer { state.given += 1 }
        return state.given
      }
      guard number >= 0 else { return nil }
      guard number < count else {
        if fails { throw AVError(.decodeFailed, reason: "the end of the test") }
        return nil
      }
      var timing = CMSampleTimingInfo(
        duration: .invalid, presentationTimeStamp: CMTime(value: Int64(number), timescale: 1),
        decodeTimeStamp: .invalid)
      var made: CMSampleBuffer?
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: nil, formatDescription: nil, sampleCount: 0, sampleTimingEntryCount: 1,
        sampleTimingArray: &timing, sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &made)
      let sample: CMSampleBuffer = try #require(made)
      return sample
    }

    func seek(to range: CMTimeRange) throws { state.withLock { $0 = State() } }
    func stop() { interrupt() }
    func interrupt() { state.withLock { $0.isInterrupted = true } }
    var given: Int { state.withLock { $0.given } }
  }

  private let all = CMTimeRange(start: .zero, duration: .positiveInfinity)

  @Test func noMoreThanTheDepthIsReadAhead() throws {
    let source = Source(count: 20)
    let ahead = ReadAhead(source, depth: 3)
    try ahead.seek(to: all)
    #expect(blockUntil { source.given >= 3 })
    letOthersRun(turns: 50_000)
    // No more than three samples are read before one is taken.
    #expect(source.given == 3)
    var count = 0
    while try ahead.next() != nil {
      count += 1
      #expect(source.given <= count + 4)
    }
    #expect(count == 20)
    #expect(try ahead.next() == nil)
    try ahead.seek(to: all)
    #expect(try ahead.next() != nil)
  }

  @Test func errorsComeAfterWhatWasRead() throws {
    let ahead = ReadAhead(Source(count: 2, fails: true), depth: 3)
    try ahead.seek(to: all)
    #expect(try ahead.next() != nil)
    #expect(try ahead.next() != nil)
    #expect(throws: AVError.self) { try ahead.next() }
  }

  @Test func stoppingEndsACallThatWaits() throws {
    let ahead = ReadAhead(Source(count: 20, blocksAt: 1), depth: 3)
    try ahead.seek(to: all)
    #expect(try ahead.next() != nil)
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) let waiting = ahead
    DispatchQueue.global().async {
      _ = try? waiting.next()
      done.signal()
    }
    letOthersRun(turns: 20_000)
    ahead.stop()
    #expect(waitForSignal(done))
    #expect(try ahead.next() == nil)
  }

  @Test(arguments: [1, Int.max]) func theSourceIsReleased(blocksAt: Int) throws {
    weak var source: Source?
    do {
      let made = Source(count: 20, blocksAt: blocksAt)
      source = made
      let ahead = ReadAhead(made, depth: 3)
      try ahead.seek(to: all)
      #expect(try ahead.next() != nil)
    }
    #expect(blockUntil { source == nil })
  }

  /// A reader can be cancelled or released while its output is being read.
  @Test func readersEndInTheMiddle() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    for turn in 0..<12 {
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: [:])
      weak var gone: AVAssetReader?
      do {
        let reader = try AVAssetReader(asset: asset)
        gone = reader
        reader.add(output)
        #expect(reader.startReading())
        for _ in 0..<turn { #expect(output.copyNextSampleBuffer() != nil) }
        if turn % 2 == 0 { reader.cancelReading() }
      }
      #expect(blockUntil { gone == nil })
      #expect(output.copyNextSampleBuffer() == nil)
    }
  }

  /// As in Apple's sample code, one thread fills a queue of three samples, and a consumer takes
  /// whatever is in it.
  @Test func aFastConsumerGetsEveryFrame() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    for _ in 0..<3 {
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: [:])
      output.alwaysCopiesSampleData = false
      reader.add(output)
      #expect(reader.startReading())
      let reading = (reader, output)
      let free = DispatchSemaphore(value: 3)
      let filled = DispatchSemaphore(value: 0)
      let queue = Mutex<[CMTime?]>([])
      let thread = Thread {
        while reading.0.status == .reading {
          let sample = reading.1.copyNextSampleBuffer()
          free.wait()
          queue.withLock { $0.append(sample?.presentationTimeStamp) }
          filled.signal()
        }
      }
      thread.start()
      var times: [CMTime] = []
      while true {
        guard await onThread({ waitForSignal(filled) }) else { break }
        let time = queue.withLock { $0.removeFirst() }
        free.signal()
        guard let time else { break }
        times.append(time)
      }
      #expect(times.map(\.value) == (0..<60).map { $0 * 1001 })
      #expect(reader.status == .completed)
    }
  }
}
