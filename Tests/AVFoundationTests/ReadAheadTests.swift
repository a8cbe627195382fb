// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import Synchronization
import Testing

@testable import AVFoundation

/// Reading ahead: bounded, in order, and over at once when it is to be over.
@Suite(.timeLimit(.minutes(5))) struct ReadAheadTests {
  final class Source: InterruptibleSource {
    struct State {
      var given = 0
      var isInterrupted = false
    }
    let state = Mutex(State())
    let count: Int
    let fails: Bool
    /// Blocks from this sample on, until interrupted.
    let blocksAt: Int

    init(count: Int, fails: Bool = false, blocksAt: Int = .max) {
      self.count = count
      self.fails = fails
      self.blocksAt = blocksAt
    }

    func next() throws -> CMSampleBuffer? {
      while state.withLock({ $0.given >= blocksAt && !$0.isInterrupted }) { usleep(500) }
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

  private func waitUntil(_ condition: () -> Bool) -> Bool {
    for _ in 0..<20_000 where !condition() { usleep(500) }
    return condition()
  }

  private let all = CMTimeRange(start: .zero, duration: .positiveInfinity)

  @Test func aheadByAFewAndNoMore() throws {
    let source = Source(count: 20)
    let ahead = ReadAhead(source, depth: 3)
    try ahead.seek(to: all)
    #expect(waitUntil { source.given >= 3 })
    usleep(50_000)
    // Three wait.
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

  @Test func stoppingFreesWhoeverWaits() throws {
    let ahead = ReadAhead(Source(count: 20, blocksAt: 1), depth: 3)
    try ahead.seek(to: all)
    #expect(try ahead.next() != nil)
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) let waiting = ahead
    DispatchQueue.global().async {
      _ = try? waiting.next()
      done.signal()
    }
    usleep(20_000)
    ahead.stop()
    #expect(done.wait(timeout: .now() + 20) == .success)
    #expect(try ahead.next() == nil)
  }

  @Test(arguments: [1, Int.max]) func nothingOutlivesIt(blocksAt: Int) throws {
    weak var source: Source?
    do {
      let made = Source(count: 20, blocksAt: blocksAt)
      source = made
      let ahead = ReadAhead(made, depth: 3)
      try ahead.seek(to: all)
      #expect(try ahead.next() != nil)
    }
    #expect(waitUntil { source == nil })
  }

  /// A reader that is cancelled, or let go of, while its output is being read.
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
      #expect(waitUntil { gone == nil })
      #expect(output.copyNextSampleBuffer() == nil)
    }
  }

  /// The shape of Apple's sample source: a task that fills a queue of three, and a consumer that takes whatever is
  /// there.
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
        guard filled.wait(timeout: .now() + 60) == .success else { break }
        let time = queue.withLock { $0.removeFirst() }
        free.signal()
        guard let time else { break }
        times.append(time)
      }
      #expect(times.map(\.value) == (0..<60).map { $0 * 1001 })
      #expect(reader.status == .completed)
    }
  }

  /// What reading ahead gives a loop that reads a picture and encodes it: run with `OVT_MEASURE` set to a movie.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["OVT_MEASURE"] != nil))
  func readEncodeLoop() throws {
    let path = try #require(ProcessInfo.processInfo.environment["OVT_MEASURE"])
    let facts = try AssetFile(url: URL(fileURLWithPath: path), frameRate: nil, restrictions: []).facts()
    let track = try #require(facts.video)
    let size = CMVideoFormatDescriptionGetDimensions(try #require(track.format))
    let settings = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar]
    func run(_ isAhead: Bool, waits: Bool) throws -> Double {
      let source = try PictureSource(
        Demuxer(again: facts.demuxer), track, PictureRequirements(settings), copies: false)
      let reader: any SampleSource = isAhead ? ReadAhead(source, depth: 3) : source
      try reader.seek(to: all)
      var made: VTCompressionSession?
      VTCompressionSessionCreate(
        allocator: nil, width: size.width, height: size.height, codecType: kCMVideoCodecType_H264,
        encoderSpecification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
          as NSDictionary,
        imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
        compressionSessionOut: &made)
      let session = try #require(made)
      let start = Date()
      var count = 0
      while count < 250, let sample = try reader.next(), let image = sample.imageBuffer {
        count += 1
        let status = VTCompressionSessionEncodeFrame(
          session, imageBuffer: image, presentationTimeStamp: sample.presentationTimeStamp,
          duration: .invalid, frameProperties: nil, infoFlagsOut: nil, outputHandler: { _, _, _ in })
        #expect(status == noErr)
        if waits {
          VTCompressionSessionCompleteFrames(
            session, untilPresentationTimeStamp: sample.presentationTimeStamp)
        }
      }
      VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
      return Date().timeIntervalSince(start) / Double(max(1, count)) * 1000
    }
    for waits in [false, true] {
      var times: [[Double]] = [[], []]
      for _ in 0..<5 { for way in 0..<2 { times[way].append(try run(way == 1, waits: waits)) } }
      let best = times.map { $0.min() ?? 0 }
      print(
        String(
          format: "read-encode loop%@: %.2f ms a frame without, %.2f with read-ahead, ratio %.2f",
          waits ? " that waits for each frame" : "", best[0], best[1], best[1] / best[0]))
    }
  }
}
