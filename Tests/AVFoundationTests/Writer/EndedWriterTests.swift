// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Callers that wait for a writer are notified if it fails or is cancelled: none waits forever.
@Suite struct EndedWriterTests {
  /// How a writer comes to its end before its inputs do.
  enum Way: CaseIterable { case secondSession, badSample, cancelled, badInput }

  private struct Setting {
    let scratch = Scratch()
    let writer: AVAssetWriter
    /// It is a second ahead, so that it is not ready.
    let video: AVAssetWriterInput
    let audio: AVAssetWriterInput
    let last: CMSampleBuffer

    init() throws {
      writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
      video = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
      audio = AVAssetWriterInput(mediaType: .audio, outputSettings: nil)
      writer.add(video)
      writer.add(audio)
      try #require(writer.startWriting())
      writer.startSession(atSourceTime: .zero)
      let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
      for sample in samples where video.isReadyForMoreMediaData { try #require(video.append(sample)) }
      try #require(!video.isReadyForMoreMediaData)
      last = try #require(samples.last)
    }

    func end(_ way: Way) {
      switch way {
      case .secondSession: writer.startSession(atSourceTime: .zero)
      // Twice at the same time.
      case .badSample:
        audio.append(last)
        audio.append(last)
      case .cancelled: writer.cancelWriting()
      case .badInput: writer.add(AVAssetWriterInput(mediaType: .video, outputSettings: [:]))
      }
    }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes)), arguments: Way.allCases)
  func theBlockIsCalledOnceMoreAndAppendSaysNo(_ way: Way) async throws {
    let setting = try Setting()
    let (writer, video, last) = (setting.writer, setting.video, setting.last)
    let queue = DispatchQueue(label: "ended")
    let answers = Mutex<[Bool]>([])
    let object = ReleaseObserver()
    await withCheckedContinuation { continuation in
      let resumption = Resumption(continuation)
      video.requestMediaDataWhenReady(on: queue) { [object] in
        withExtendedLifetime(object) {}
        // As Apple's samples do: whether an append succeeds is all that is looked at.
        while video.isReadyForMoreMediaData {
          let answer = video.append(last)
          answers.withLock { $0.append(answer) }
          guard answer else { return resumption.resume() }
        }
      }
      setting.end(way)
    }
    // An append before the writer knew of its end may have succeeded.
    #expect(answers.withLock { $0.last == false && $0.filter { !$0 }.count == 1 })
    #expect(writer.status == (way == .cancelled ? .cancelled : .failed))
    // Later requests are answered as well, and finishing an ended writer returns.
    await withCheckedContinuation { continuation in
      let resumption = Resumption(continuation)
      setting.audio.requestMediaDataWhenReady(on: queue) { resumption.resume() }
    }
    await writer.finishWriting()
    #expect(setting.scratch.contents.isEmpty)
  }

  private final class ReleaseObserver: Sendable {}

  /// Resumes once.
  private final class Resumption: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, Never>?>
    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = Mutex(continuation) }
    func resume() {
      continuation.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }?.resume()
    }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes)), arguments: Way.allCases)
  func whoAsksAgainAndAgainWhetherItIsReadyGoesOn(_ way: Way) throws {
    let setting = try Setting()
    setting.end(way)
    for input in [setting.video, setting.audio] {
      #expect(input.isReadyForMoreMediaData && !input.append(setting.last))
      input.markAsFinished()
      #expect(!input.isReadyForMoreMediaData)
    }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func aBlockThatKnowsOfTheEndIsForgotten() async throws {
    let setting = try Setting()
    let video = setting.audio
    let queue = DispatchQueue(label: "ended")
    let calls = Mutex(0)
    let gone = DispatchSemaphore(value: 0)
    let owner = Mutex<Farewell?>(Farewell { gone.signal() })
    let last = setting.last
    do {
      let farewell = owner.withLock { owned in
        defer { owned = nil }
        return owned
      }
      // The append that fails is its own.
      video.requestMediaDataWhenReady(on: queue) {
        withExtendedLifetime(farewell) {}
        calls.withLock { $0 += 1 }
        while video.isReadyForMoreMediaData { guard video.append(last) else { return } }
      }
    }
    // The block goes, and is called no more.
    await onThread { gone.wait() }
    #expect(calls.withLock { $0 } == 1 && setting.writer.status == .failed)
  }

  private final class Farewell: Sendable {
    let say: @Sendable () -> Void
    init(_ say: @escaping @Sendable () -> Void) { self.say = say }
    deinit { say() }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func anInputThatCannotBeAddedLearnsOfTheFailure()
    async throws
  {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: [AVVideoCodecKey: "nothing"])
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: input)
    #expect(!input.isReadyForMoreMediaData)
    writer.add(input)
    #expect(writer.status == .failed && !writer.startWriting() && input.isReadyForMoreMediaData)
    #expect(!adaptor.append(try WriterBehaviourTests.picture(0), withPresentationTime: .zero))
    await withCheckedContinuation { continuation in
      let resumption = Resumption(continuation)
      input.requestMediaDataWhenReady(on: .global()) { resumption.resume() }
    }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func thePoolOutlivesTheWriting() throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: input)
    writer.add(input)
    #expect(adaptor.pixelBufferPool == nil)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    writer.startSession(atSourceTime: .zero)
    #expect(input.isReadyForMoreMediaData)
    // Programs unwrap it by force when the input is ready.
    let pool = try #require(adaptor.pixelBufferPool)
    var picture: CVPixelBuffer?
    #expect(CVPixelBufferPoolCreatePixelBuffer(nil, pool, &picture) == kCVReturnSuccess)
    #expect(!adaptor.append(try #require(picture), withPresentationTime: .zero))
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes)), arguments: Way.allCases)
  func receiversThrowWhenTheWriterEnds(_ way: Way) async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let audio = AVAssetWriterInput(mediaType: .audio, outputSettings: nil)
    let receiver = writer.inputReceiver(
      for: AVAssetWriterInput(mediaType: .video, outputSettings: nil))
    writer.add(audio)
    try writer.start()
    writer.startSession(atSourceTime: .zero)
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
    var count = 0
    for sample in samples {
      guard try receiver.appendImmediately(CMReadySampleBuffer(unsafeBuffer: sample)) else { break }
      count += 1
    }
    #expect(count < samples.count)
    let next = CMReadySampleBuffer(unsafeBuffer: samples[count])
    let waiting = Task { try await receiver.append(next) }
    switch way {
    case .secondSession: writer.startSession(atSourceTime: .zero)
    case .badSample:
      audio.append(samples[0])
      audio.append(samples[0])
    case .cancelled: writer.cancelWriting()
    case .badInput: writer.add(AVAssetWriterInput(mediaType: .video, outputSettings: [:]))
    }
    await #expect(throws: AVError.self) { try await waiting.value }
  }

  /// Busy at the first query and not at the second, without a notification.
  private final class Momentary: InputEncoder {
    private let looks = Mutex(0)
    func append(_ buffer: CMSampleBuffer, shiftedBy start: CMTime) throws {}
    func complete() throws {}
    func invalidate() {}
    var isBusy: Bool {
      looks.withLock {
        $0 += 1
        return $0 == 1
      }
    }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func anEncoderThatGetsRoomBetweenTwoLooksIsNotWaitedForEver()
    async throws
  {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    input.expectsMediaDataInRealTime = true
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    let own = input.lock.withLock { input.state.encoder }
    input.lock.withLock { input.state.encoder = Momentary() }
    await withCheckedContinuation { continuation in
      let resumption = Resumption(continuation)
      input.requestMediaDataWhenReady(on: DispatchQueue(label: "real time")) { resumption.resume() }
    }
    input.lock.withLock { input.state.encoder = own }
    writer.cancelWriting()
  }

  /// A real-time video input, and audio that is stored as it comes, without a hint, appended when
  /// all of the video has been: what the pictures are stays in order, and everything gets into the
  /// file.
  @Test(.timeLimit(.minutes(HangLimit.minutes)), arguments: [false, true])
  func audioMayComeAfterAllOfTheVideo(hint: Bool)
    async throws
  {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let audioTracks = try ReaderTests.read(asset, .audio)
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let video = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    video.expectsMediaDataInRealTime = true
    let audio = AVAssetWriterInput(
      mediaType: .audio, outputSettings: nil,
      sourceFormatHint: hint ? track.formatDescriptions.first as? CMFormatDescription : nil)
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: video)
    writer.add(video)
    writer.add(audio)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    let queue = DispatchQueue(label: "after")
    let pictures = try (0..<90).map { try WriterBehaviourTests.picture($0) }
    let next = Mutex((picture: 0, audio: 0))
    await withCheckedContinuation { continuation in
      let resumption = Resumption(continuation)
      video.requestMediaDataWhenReady(on: queue) {
        while video.isReadyForMoreMediaData {
          let index = next.withLock { next in
            defer { next.picture += 1 }
            return next.picture
          }
          guard index < pictures.count else {
            video.markAsFinished()
            audio.requestMediaDataWhenReady(on: queue) {
              while audio.isReadyForMoreMediaData {
                let index = next.withLock { next in
                  defer { next.audio += 1 }
                  return next.audio
                }
                guard index < audioTracks.count, audio.append(audioTracks[index]) else {
                  audio.markAsFinished()
                  return resumption.resume()
                }
              }
            }
            return
          }
          adaptor.append(pictures[index], withPresentationTime: CMTime(value: Int64(index), timescale: 30))
        }
      }
    }
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try Probe.samples(scratch.file("a.mov")).count == pictures.count)
    #expect(
      try Probe.samples(scratch.file("a.mov"), stream: "a:0").map(\.hash)
        == Probe.samples(Fixture.movie(), stream: "a:0").map(\.hash))
  }
}
