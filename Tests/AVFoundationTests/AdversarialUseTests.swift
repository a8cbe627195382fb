// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import AVFoundation

/// Cancellations, claims and combinations that no movie has.
@Suite(.timeLimit(.minutes(HangLimit.minutes))) struct AdversarialUseTests {
  // MARK: - Compositions

  /// Cancelled at random times, while the cursors step.
  @Test func composedVideoCanBeCancelledAtAnyMoment() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let source = try #require(asset.tracks(withMediaType: .video).first)
    let movie = AVMutableComposition()
    for trackID in [1, 2] as [CMPersistentTrackID] {
      let track = try #require(movie.addMutableTrack(withMediaType: .video, preferredTrackID: trackID))
      try track.insertTimeRange(source.timeRange, of: source, at: .zero)
    }
    let composition = AVMutableVideoComposition(propertiesOf: movie)
    for turn in 0..<40 {
      let output = AVAssetReaderVideoCompositionOutput(
        videoTracks: movie.tracks(withMediaType: .video), videoSettings: nil)
      output.videoComposition = composition
      let reader = try AVAssetReader(asset: movie)
      reader.add(output)
      #expect(reader.startReading(), "\(String(describing: reader.error))")
      async let count = onThread {
        var count = 0
        while output.copyNextSampleBuffer() != nil { count += 1 }
        return count
      }
      letOthersRun(turns: turn * 1500)
      reader.cancelReading()
      #expect(await count <= 61)
    }
  }

  @Test func segmentsOfNothingAreEmpty() throws {
    let path = try Fixture.movie()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let (video, audio) = (
      try #require(asset.tracks(withMediaType: .video).first),
      try #require(asset.tracks(withMediaType: .audio).first)
    )
    let second = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1))
    let composition = AVMutableComposition()
    let track = try #require(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    func segment(_ trackID: CMPersistentTrackID, _ source: CMTimeRange, from: Int64)
      -> AVCompositionTrackSegment
    {
      AVCompositionTrackSegment(
        url: URL(fileURLWithPath: path), trackID: trackID, sourceTimeRange: source,
        targetTimeRange: CMTimeRange(start: CMTime(value: from, timescale: 1), duration: second.duration))
    }
    let empty = segment(video.trackID, .invalid, from: 0)
    #expect(empty.isEmpty)
    track.segments = [empty, segment(video.trackID, second, from: 1)]
    #expect(track.timeline.parts.map { $0.source == nil } == [true, false])
    #expect(throws: AVError.self) { try track.validateSegments([segment(audio.trackID, second, from: 0)]) }
    track.segments = [segment(audio.trackID, second, from: 0)]
    #expect(track.segments.count == 2, "segments of other media were taken")
  }

  @Test func whatTracksAreAfterAnExport() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let composition = AVMutableComposition()
    for (index, type) in [AVMediaType.video, .audio].enumerated() {
      let source = try #require(asset.tracks(withMediaType: type).first)
      let track = try #require(
        composition.addMutableTrack(withMediaType: type, preferredTrackID: CMPersistentTrackID(index + 1)))
      try track.insertTimeRange(
        CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1)), of: source, at: .zero)
      track.languageCode = index == 0 ? "deu" : "fra"
      track.isEnabled = index == 0
    }
    let scratch = Scratch()
    var found: [[String]] = []
    for isMixed in [false, true] {
      let session = try #require(
        AVAssetExportSession(asset: composition, presetName: AVAssetExportPreset640x480))
      if isMixed {
        session.audioMix = AVMutableAudioMix()
        session.videoComposition = AVMutableVideoComposition(propertiesOf: composition)
      }
      try await session.export(to: scratch.url("\(isMixed).mov"), as: .mov)
      let made = AVURLAsset(url: scratch.url("\(isMixed).mov"))
      found.append(made.tracks.map { "\($0.mediaType.rawValue) \($0.languageCode ?? "") \($0.isEnabled)" })
    }
    #expect(found[0] == ["vide deu true", "soun fra false"])
    #expect(found[1] == found[0])
  }

  // MARK: - Time

  @Test(arguments: [1, 10, 1000, 90_000, 1_000_000] as [Int32]) func multiplesFarAwayAreFound(scale: Int32) {
    let step = CMTime(value: 1, timescale: scale)
    for seconds in [0, 0.25, 5.5, -3.7, 1e5, 1.75e9, 1e12] {
      let time = CMTime(seconds: seconds, preferredTimescale: 1000)
      let next = TimeGrid.multiple(of: step, beyond: time, isBackward: false)
      let before = TimeGrid.multiple(of: step, beyond: time, isBackward: true)
      #expect(next > time && before < time, "\(seconds)")
      if abs(seconds) < 1e10 {
        #expect((next - time) <= CMTimeMultiply(step, multiplier: 2), "\(seconds)")
        #expect((time - before) <= CMTimeMultiply(step, multiplier: 2), "\(seconds)")
      }
    }
  }

  /// A timebase from 1970 with an observer ten times a second: it is not called more often.
  @Test(arguments: [1.0, -1.0]) func observersOnALiveTimeLineAreCalledNoMoreOften(rate: Double) async throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    try timebase.setTime(CMTime(value: 1_790_000_000_000, timescale: 1000))
    let calls = Mutex<[CMTime]>([])
    let observer = TimeObserver.periodic(
      timebase, CMTime(value: 1, timescale: 10), queue: DispatchQueue(label: "test.observer")
    ) { time in calls.withLock { $0.append(time) } }
    try timebase.setRate(rate)
    #expect(await waitUntil { calls.withLock { $0.count } >= 12 })
    observer.stop()
    let times = calls.withLock { $0 }
    // At the start and every tenth of a second since, except for those that a busy machine skips.
    let span = try abs((#require(times.last) - #require(times.first)).seconds)
    #expect(times.count <= Int(span * 10) + 3, "\(times.count) in \(span) s")
  }

  /// Provides runs of frames, each with its own value.
  private final class Runs: SampleSource {
    private var runs: [(start: Int64, count: Int, value: Float)]
    private let requirements: AudioRequirements

    init(_ runs: [(start: Int64, count: Int, value: Float)], _ requirements: AudioRequirements) {
      self.runs = runs
      self.requirements = requirements
    }

    func next() throws -> CMSampleBuffer? {
      guard !runs.isEmpty else { return nil }
      let run = runs.removeFirst()
      let frames = [Float](repeating: run.value, count: run.count * requirements.format.channels)
      return try requirements.makeSample(
        requirements.data(frames, frames: run.count), frames: run.count, at: run.start,
        CMFormatDescription(audioStreamBasicDescription: requirements.description))
    }
    func seek(to range: CMTimeRange) throws {}
    func stop() {}
  }

  /// Audio after a jump is at its time, with up to a minute of silence before it.
  @Test(arguments: [50, 70]) func gapsInAMixAreSilence(seconds: Int64) throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let wanted = try AudioRequirements(
      [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMIsFloatKey: true, AVSampleRateKey: 8000],
      for: track.properties.stream)
    let requirements = AudioRequirements(mixing: wanted)
    let channels = requirements.format.channels
    let jump = seconds * 8000
    // It overlaps the block that ends with the jump, so that samples are waiting then.
    let runs =
      (0..<4).map { (start: Int64($0) * 1000, count: 1000, value: Float(0.25)) }
      + (0..<4).map { (start: jump + Int64($0) * 1000, count: 1000, value: Float(0.5)) }
    let mix = try AudioMixSource(
      [(Runs(runs, requirements), VolumeCurve([], sampleRate: 8000))], requirements)
    try mix.seek(to: CMTimeRange(start: .zero, duration: .positiveInfinity))
    var audio: [Float] = []
    var silence: Int64 = 0
    while let sample = try mix.next() {
      let place = sample.presentationTimeStamp.value
      if place > Int64(audio.count / channels) {
        #expect(seconds > 60 && place == jump && silence == 0, "the jump")
        silence = Int64(audio.count / channels) - 4000
        audio += [Float](repeating: 0, count: Int(place) * channels - audio.count)
      }
      #expect(place == Int64(audio.count / channels))
      audio += try #require(sample.dataBuffer).dataBytes().withUnsafeBytes {
        Array($0.bindMemory(to: Float.self))
      }
    }
    #expect(seconds < 60 ? silence == 0 : abs(silence - 60 * 8000) < 8192)
    #expect(audio.count == Int(jump + 4000) * channels)
    var wrong = 0
    for index in audio.indices {
      let frame = index / channels
      let value: Float = frame < 4000 ? 0.25 : frame < Int(jump) ? 0 : 0.5
      if audio[index] != value { wrong += 1 }
    }
    #expect(wrong == 0)
  }

  /// Audio at the maximum frame number: the mix neither overflows nor waits for later samples.
  @Test func aMixAtTheEndOfTimeDoesNotTrap() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let wanted = try AudioRequirements(
      [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMIsFloatKey: true, AVSampleRateKey: 8000],
      for: track.properties.stream)
    let requirements = AudioRequirements(mixing: wanted)
    for start in [Int64.max - 500, .max - 1000, .max] {
      let runs = [(start: start, count: 1000, value: Float(0.25)), (start: .max, count: 1000, value: 0.5)]
      let mix = try AudioMixSource(
        [(Runs(runs, requirements), VolumeCurve([], sampleRate: 8000))], requirements)
      try mix.seek(to: CMTimeRange(start: .zero, duration: .positiveInfinity))
      let first = try #require(try mix.next())
      #expect(first.presentationTimeStamp == .zero)
      // Close to it: the last frames, and an end.
      let place = CMTime(value: .max - 2000, timescale: 8000)
      try mix.seek(to: CMTimeRange(start: place, duration: .positiveInfinity))
      var count = 0
      while let sample = try mix.next() { count += CMSampleBufferGetNumSamples(sample) }
      #expect(count <= 2000)
    }
  }

  // MARK: - Claims

  /// A buffer of one byte and this many samples.
  private func claim(_ count: Int, _ format: CMFormatDescription) throws -> CMSampleBuffer {
    var size = 0
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
    var made: CMSampleBuffer?
    let block = try CMBlockBuffer(length: 1, flags: .assureMemoryNow)
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: count,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size,
      sampleBufferOut: &made)
    return try #require(made)
  }

  @Test(arguments: [2, 100_000_000, Int.max]) func samplesWithoutBytesAreRefused(count: Int) throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let format = try #require(track.properties.format)
    let sample = try claim(count, format)
    #expect(throws: AVError.self) { try PendingSample.samples(of: sample, shiftedBy: .zero) }
    var session: VTDecompressionSession?
    VTDecompressionSessionCreate(
      allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
      outputCallback: nil, decompressionSessionOut: &session)
    let status = VTDecompressionSessionDecodeFrame(
      try #require(session), sampleBuffer: sample, flags: [], infoFlagsOut: nil
    ) { _, _, _, _, _ in }
    #expect(status == kVTParameterErr)
  }

  /// Gives bytes until it is asked to stop.
  private final class Endless: NSObject, AVAssetResourceLoaderDelegate, @unchecked Sendable {
    // Sendable: constant, but for the counts, which have a lock.
    let content: Data
    let counts = Mutex((given: 0, isToldToStop: false))
    init(_ content: Data) { self.content = content }

    func resourceLoader(
      _ resourceLoader: AVAssetResourceLoader,
      shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
      guard let data = loadingRequest.dataRequest else { return false }
      Thread.detachNewThread { [self] in
        data.respond(with: content)
        // A gigabyte at most, to spare the machine.
        while !loadingRequest.isCancelled, counts.withLock({ $0.given }) < 1 << 30 {
          data.respond(with: Data(count: 1 << 16))
          counts.withLock { $0.given += 1 << 16 }
        }
        counts.withLock { $0.isToldToStop = loadingRequest.isCancelled }
      }
      return true
    }
  }

  @Test(arguments: [true, false]) func contentWithoutEndIsReadUpToALimit(saysLength: Bool) throws {
    let content = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
    let delegate = Endless(content)
    let loader = AVAssetResourceLoader()
    loader.setDelegate(delegate, queue: DispatchQueue(label: "test.endless"))
    let reader = ResourceBytes(
      try #require(URL(string: "archive://shelf/x")), loader: loader, length: saysLength ? 1000 : nil,
      hasParts: false, limit: 5000
    ).makeReader()
    var found = Data()
    var buffer = [UInt8](repeating: 0, count: 700)
    func read() throws -> Int {
      try buffer.withUnsafeMutableBytes { try reader.read(at: Int64(found.count), into: $0) }
    }
    if saysLength {
      while case let count = try read(), count > 0 { found += buffer[..<count] }
      #expect(found == content)
    } else {
      let error = #expect(throws: AVError.self) {
        while case let count = try read(), count > 0 { found += buffer[..<count] }
      }
      #expect(error?.code == .outOfMemory && found.count <= 5000)
    }
    blockUntil { delegate.counts.withLock { $0.isToldToStop } }
    #expect(delegate.counts.withLock { $0.isToldToStop && $0.given < 1 << 28 })
    withExtendedLifetime(reader) {}
  }

  /// A block with a large length before it has memory.
  @Test func blocksWithoutMemoryAreRefused() throws {
    let length = 1 << 60
    var block: CMBlockBuffer?
    CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: nil, blockLength: length, blockAllocator: nil, customBlockSource: nil,
      offsetToData: 0, dataLength: length, flags: 0, blockBufferOut: &block)
    let claim = try #require(block)
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let audio = try #require(
      CMSampleBufferGetFormatDescription(WriterBehaviourTests.silence(at: .zero, frames: 1)))
    for format in [audio, try #require(track.properties.format)] {
      var size = length
      var timing = CMSampleTimingInfo(
        duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
      var made: CMSampleBuffer?
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: claim, formatDescription: format, sampleCount: 1,
        sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1,
        sampleSizeArray: &size, sampleBufferOut: &made)
      let sample = try #require(made)
      #expect(throws: AVError.self) { try PendingSample.samples(of: sample, shiftedBy: .zero) }
      guard format === audio else { continue }
      let settings = try AudioEncodingSettings([AVFormatIDKey: kAudioFormatMPEG4AAC])
      let encoder = AudioInputEncoder(settings) { _ in }
      let error = #expect(throws: AVError.self) { try encoder.append(sample, shiftedBy: .zero) }
      #expect(error?.code == .invalidSourceMedia)
    }
  }
}
