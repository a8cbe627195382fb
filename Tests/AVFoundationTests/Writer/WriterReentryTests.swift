// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Programs that write more where samples and segments come out.
@Suite(.serialized) struct WriterReentryTests {
  private static var audio: [String: Any] {
    [AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48000, AVNumberOfChannelsKey: 2]
  }

  private final class Feeding: AVAssetWriterDelegate, Sendable {
    let segments = Mutex<[Data]>([])
    private let feed: @Sendable () -> Void
    init(_ feed: @escaping @Sendable () -> Void) { self.feed = feed }

    func assetWriter(
      _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
      segmentReport: AVAssetSegmentReport?
    ) {
      segments.withLock { $0.append(segmentData) }
      if segmentType == .separable { feed() }
    }

    func write(to url: URL) throws {
      try segments.withLock { $0.reduce(into: Data()) { $0.append($1) } }.write(to: url)
    }
  }

  /// Hands out 0, 1, 2, ...
  private final class Counter: Sendable {
    private let count = Mutex(0)
    private let limit: Int
    init(_ limit: Int) { self.limit = limit }
    func next() -> Int? {
      count.withLock { count in
        guard count < limit else { return nil }
        defer { count += 1 }
        return count
      }
    }
    var value: Int { count.withLock { $0 } }
  }

  /// A second of silence; false if it could not be appended.
  private static func appendSilence(_ input: AVAssetWriterInput, second: Int) -> Bool {
    let time = CMTime(value: Int64(second), timescale: 1)
    return (try? WriterBehaviourTests.silence(at: time, frames: 48000)).map { input.append($0) } ?? false
  }

  /// The writer asks an audio encoder for its format under locks that the encoder's output waits
  /// for: it must not be kept waiting for it.
  @Test func audioComesOutUnderNoLock() throws {
    let encoders = Mutex<[AudioInputEncoder]>([])
    let times = Mutex<[CMTime]>([])
    let answers = Mutex(0)
    let hangs = Mutex(false)
    let counter = Counter(8)
    @Sendable func feed(_ encoder: AudioInputEncoder) {
      guard let index = counter.next() else { return }
      let time = CMTime(value: Int64(4800 * index), timescale: 48000)
      #expect(throws: Never.self) {
        try encoder.append(WriterBehaviourTests.silence(at: time, frames: 4800), shiftedBy: .zero)
      }
    }
    let encoder = AudioInputEncoder(try AudioEncodingSettings(Self.audio)) { result in
      guard let sample = try? result.get(), let encoder = encoders.withLock({ $0.first }) else { return }
      times.withLock { $0.append(sample.presentationTimeStamp) }
      let asked = DispatchSemaphore(value: 0)
      Thread {
        _ = encoder.provisionalFormat(nil)
        asked.signal()
      }.start()
      // One that hangs is enough.
      if !hangs.withLock({ $0 }) {
        if waitForSignal(asked) { answers.withLock { $0 += 1 } } else { hangs.withLock { $0 = true } }
      }
      // More comes in before all of this is out.
      feed(encoder)
    }
    encoders.withLock { $0 = [encoder] }
    while counter.value < 8 { feed(encoder) }
    try encoder.complete()
    encoders.withLock { $0 = [] }
    let found = times.withLock { $0 }
    #expect(found.count >= 8 * 4800 / 1024 && answers.withLock { $0 } == found.count)
    #expect(
      zip(found, found.dropFirst()).allSatisfy { $1 - $0 == CMTime(value: 1024, timescale: 48000) },
      "\(found)")
  }

  @Test func aDelegateMayAppendAudio() async throws {
    let scratch = Scratch()
    let input = AVAssetWriterInput(mediaType: .audio, outputSettings: Self.audio)
    let counter = Counter(8)
    @Sendable func feed() {
      guard let index = counter.next() else { return }
      #expect(Self.appendSilence(input, second: index))
    }
    let delegate = Feeding(feed)
    let writer = WriterBehaviourTests.segmented(delegate, start: .zero)
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for _ in 0..<3 { feed() }
    while counter.value < 8 { feed() }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    try delegate.write(to: scratch.url("joined.mp4"))
    #expect(try Tool.decodingErrors(scratch.file("joined.mp4")) == "")
    let samples = try Probe.samples(scratch.file("joined.mp4"), stream: "a:0")
    #expect((375...378).contains(samples.count), "\(samples.count)")
  }

  /// On the thread that brings the audio, while the encoder's has pictures for the file.
  @Test func aDelegateMayAppendPictures() async throws {
    let scratch = Scratch()
    let video = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    let audio = AVAssetWriterInput(mediaType: .audio, outputSettings: Self.audio)
    let counter = Counter(90)
    let appended = Counter(90)
    @Sendable func feed(_ count: Int) {
      for _ in 0..<count {
        guard let index = counter.next() else { return }
        #expect((try? WriterBehaviourTests.append(video, index)) == true)
        _ = appended.next()
      }
    }
    let delegate = Feeding { feed(15) }
    let writer = WriterBehaviourTests.segmented(delegate, start: .zero)
    writer.add(video)
    writer.add(audio)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    feed(75)
    let done = DispatchSemaphore(value: 0)
    Thread {
      for second in 0..<4 {
        #expect(Self.appendSilence(audio, second: second))
      }
      blockUntil { appended.value >= 90 }
      done.signal()
    }.start()
    let hasEnded = await onThread { waitForSignal(done) }
    try #require(hasEnded, "the delegate and the encoder wait for each other")
    video.markAsFinished()
    audio.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    try delegate.write(to: scratch.url("joined.mp4"))
    #expect(try Probe.samples(scratch.file("joined.mp4")).count == 90)
    #expect(try Tool.decodingErrors(scratch.file("joined.mp4")) == "")
  }

  /// Stored pictures more than ten seconds ahead, where libavformat no longer waits for the audio,
  /// and asks what it is.
  @Test func storedPicturesFarAheadWaitForAudio() async throws {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let picture = try #require(try ReaderTests.read(asset).first)
    let format = try #require(picture.formatDescription)
    let video = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: format)
    let audio = AVAssetWriterInput(mediaType: .audio, outputSettings: Self.audio)
    let writer = try AVAssetWriter(url: scratch.url("ahead.mov"), fileType: .mov)
    writer.add(video)
    writer.add(audio)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    let done = DispatchSemaphore(value: 0)
    Thread {
      for index in 0..<150 {
        let timing = CMSampleTimingInfo(
          duration: CMTime(value: 1, timescale: 5),
          presentationTimeStamp: CMTime(value: Int64(index), timescale: 5), decodeTimeStamp: .invalid)
        let copy = try? CMSampleBuffer(copying: picture, withNewTiming: [timing])
        #expect(copy.map { video.append($0) } == true)
      }
      video.markAsFinished()
      done.signal()
    }.start()
    Thread {
      for second in 0..<30 { #expect(Self.appendSilence(audio, second: second)) }
      audio.markAsFinished()
      done.signal()
    }.start()
    let hasEnded = await onThread {
      (0..<2).allSatisfy { _ in waitForSignal(done) }
    }
    try #require(hasEnded, "the pictures and the audio wait for each other")
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try Probe.samples(scratch.file("ahead.mov")).count == 150)
    let samples = try Probe.samples(scratch.file("ahead.mov"), stream: "a:0")
    #expect((1406...1409).contains(samples.count), "\(samples.count)")
  }

  /// Objects that a block captures may call the input when they are released.
  @Test func blocksOfPassesMayAskTheInputWhenTheyGo() {
    final class Asking: Sendable {
      let action: @Sendable () -> Void
      init(_ action: @escaping @Sendable () -> Void) { self.action = action }
      deinit { action() }
    }
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    let gone = Counter(2)
    func respond() {
      let asking = Asking { [weak input] in
        if input?.currentPassDescription == nil { _ = gone.next() }
      }
      input.respondToEachPassDescription(on: .global()) { withExtendedLifetime(asking) {} }
    }
    respond()
    respond()
    #expect(gone.value == 1)
    input.markAsFinished()
    #expect(gone.value == 2)
  }
}
