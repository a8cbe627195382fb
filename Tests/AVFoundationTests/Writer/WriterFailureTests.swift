// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
@testable import FFmpegMedia
import Foundation
import Testing

/// Tests failures of writing, and that they leave no files behind.
@Suite struct WriterFailureTests {
  private func samples() throws -> [CMSampleBuffer] {
    try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
  }

  private func makeWriter(_ url: URL, settings: [String: Any]? = nil) throws -> (
    AVAssetWriter, AVAssetWriterInput
  ) {
    let writer = try AVAssetWriter(url: url, fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
    writer.add(input)
    return (writer, input)
  }

  private func code(_ writer: AVAssetWriter) -> AVError.Code? { (writer.error as? AVError)?.code }

  @Test func badPlacesAreRefused() throws {
    let scratch = Scratch()
    try Data("mine".utf8).write(to: scratch.url("taken.mov"))
    let (taken, _) = try makeWriter(scratch.url("taken.mov"))
    #expect(!taken.startWriting() && taken.status == .failed && code(taken) == .fileAlreadyExists)
    #expect(try Data(contentsOf: scratch.url("taken.mov")) == Data("mine".utf8))
    let (nowhere, _) = try makeWriter(scratch.url("no/such/folder/a.mov"))
    #expect(!nowhere.startWriting() && code(nowhere) == .contentIsUnavailable)
    #expect(throws: AVError.self) { try AVAssetWriter(url: scratch.url("a.mp3"), fileType: .mp3) }
    #expect(throws: AVError.self) {
      try AVAssetWriter(url: URL(string: "https://example.org/a.mov")!, fileType: .mov)
    }
    let lonely = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    #expect(!lonely.startWriting() && code(lonely) == .incorrectlyConfigured)
    if getuid() != 0 {
      chmod(scratch.path, 0o555)
      let (forbidden, _) = try makeWriter(scratch.url("a.mov"))
      #expect(!forbidden.startWriting() && code(forbidden) == .contentIsNotAuthorized)
      chmod(scratch.path, 0o755)
    }
    #expect(scratch.contents == ["taken.mov"])
  }

  /// Samples of H.264 and HEVC whose format description has no parameter sets are refused, since
  /// the movie could not be decoded.
  @Test func descriptionsWithoutParameterSetsAreRefused() throws {
    for type in [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC] {
      let scratch = Scratch()
      let (writer, input) = try makeWriter(scratch.url("a.mov"))
      #expect(writer.startWriting())
      writer.startSession(atSourceTime: .zero)
      let format = try CMFormatDescription(
        videoCodecType: .init(rawValue: type), width: 64, height: 48)
      let block = try CMBlockBuffer(length: 64, flags: .assureMemoryNow)
      let sample = try CMSampleBuffer(
        dataBuffer: block, formatDescription: format, numSamples: 1,
        sampleTimings: [
          CMSampleTimingInfo(
            duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: .zero, decodeTimeStamp: .zero)
        ], sampleSizes: [64])
      #expect(!input.append(sample) && code(writer) == .invalidSourceMedia)
      #expect(scratch.contents.isEmpty)
    }
  }

  /// An AudioSpecificConfig that libavformat cannot parse is refused: libavformat would not open
  /// the movie, so that its video track could not be read either.
  @Test(arguments: [AVFileType.mov, .mp4]) func unreadableConfigurationRecordsAreRefused(_ type: AVFileType)
    throws
  {
    let scratch = Scratch()
    let picture = try samples()
    let url = scratch.url("a.movie")
    let writer = try AVAssetWriter(url: url, fileType: type)
    let video = AVAssetWriterInput(
      mediaType: .video, outputSettings: nil, sourceFormatHint: picture.compactMap(\.formatDescription).first)
    var basic = AudioStreamBasicDescription()
    basic.mSampleRate = 48000
    basic.mFormatID = kAudioFormatMPEG4AAC
    basic.mChannelsPerFrame = 2
    basic.mFramesPerPacket = 1024
    let format = try CMFormatDescription(
      audioStreamBasicDescription: basic, magicCookie: Data([0x12, 0x7F, 0xFF, 0xFF, 0xFF, 0x12]))
    let heard = try CMSampleBuffer(
      dataBuffer: CMBlockBuffer(length: 64, flags: .assureMemoryNow), formatDescription: format,
      numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: CMTime(value: 1024, timescale: 48000), presentationTimeStamp: .zero,
          decodeTimeStamp: .invalid)
      ], sampleSizes: [64])
    let audio = AVAssetWriterInput(
      mediaType: .audio, outputSettings: nil, sourceFormatHint: format)
    writer.add(video)
    writer.add(audio)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for sample in picture { _ = video.append(sample) }
    _ = audio.append(heard)
    let end = DispatchSemaphore(value: 0)
    writer.finishWriting { end.signal() }
    end.wait()
    #expect(writer.status == .failed)
    #expect("\(String(describing: writer.error))".contains("configuration record"))
    #expect(scratch.contents.isEmpty)
  }

  /// Samples wait while another track has neither a format nor samples. Their total size is
  /// limited.
  @Test func waitingSamplesAreLimited() throws {
    var plan = MovieAssembly.Plan(container: .mov, options: Muxer.Options())
    plan.maxWaitingPackets = 1000
    let assembly = MovieAssembly(plan: plan, file: nil, deliver: nil)
    let (pictures, silence) = (
      TrackAssembly(mediaType: .video, preferredTimeScale: 0) { _ in },
      TrackAssembly(mediaType: .audio, preferredTimeScale: 0) { _ in }
    )
    assembly.add(pictures)
    assembly.add(silence)
    let stored = try samples()
    let format = try #require(CMSampleBufferGetFormatDescription(stored[0]))
    let block = try CMBlockBuffer(length: 100, flags: .assureMemoryNow)
    var taken = 0
    var refusal: AVError?
    while refusal == nil, taken < 100 {
      let time = CMTime(value: Int64(taken), timescale: 30)
      let sample = PendingSample(
        block: block, offset: 0, size: 100, presentation: time, decode: time,
        duration: CMTime(value: 1, timescale: 30), isSync: true, isDisposable: false)
      do {
        try assembly.append([sample], format, to: pictures)
        taken += 1
      } catch { refusal = error as? AVError }
    }
    #expect(taken == 10 && refusal?.code == .outOfMemory)
  }

  @Test func badSettingsAreRefused() throws {
    let scratch = Scratch()
    let good: [String: Any] = [
      AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 64,
    ]
    for (key, value) in [
      (AVVideoCodecKey, "none" as Any), (AVVideoWidthKey, 0), (AVVideoHeightKey, 1 << 20),
      (AVVideoScalingModeKey, "odd"),
    ] {
      var settings = good
      settings[key] = value
      let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
      let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
      #expect(!writer.canAdd(input) && !writer.canApply(outputSettings: settings, forMediaType: .video))
      writer.add(input)
      #expect(writer.status == .failed && code(writer) == .unsupportedOutputSettings)
    }
    var unknown = good
    unknown[AVVideoCompressionPropertiesKey] = ["NoSuchProperty": 5]
    let (writer, _) = try makeWriter(scratch.url("b.mov"), settings: unknown)
    #expect(
      !writer.startWriting() && code(writer) == .unsupportedOutputSettings || code(writer) == .encoderNotFound
    )
    #expect(scratch.contents.isEmpty)
  }

  @Test func wrongOrderOfCallsFails() async throws {
    let scratch = Scratch()
    let all = try samples()
    // A sample is appended before the session has started.
    let (early, input) = try makeWriter(scratch.url("a.mov"))
    #expect(early.startWriting())
    #expect(!input.append(all[0]))
    #expect(early.status == .failed && code(early) == .operationNotAllowed)
    // A sample is appended before the writer has started.
    let (idle, idleInput) = try makeWriter(scratch.url("b.mov"))
    #expect(!idleInput.append(all[0]) && idle.status == .failed)
    // A sample is appended after the input was marked as finished.
    let (late, lateInput) = try makeWriter(scratch.url("c.mov"))
    #expect(late.startWriting())
    late.startSession(atSourceTime: .zero)
    #expect(lateInput.append(all[0]))
    lateInput.markAsFinished()
    #expect(!lateInput.append(all[1]) && late.status == .failed)
    // No sample is appended.
    let (empty, _) = try makeWriter(scratch.url("d.mov"))
    #expect(empty.startWriting())
    empty.startSession(atSourceTime: .zero)
    await empty.finishWriting()
    #expect(empty.status == .failed && code(empty) == .noDataCaptured)
    #expect(scratch.contents.isEmpty)
  }

  @Test func badSamplesFail() throws {
    let scratch = Scratch()
    let all = try samples()
    func failure(_ name: String, _ samples: [CMSampleBuffer]) throws -> AVError.Code? {
      let (writer, input) = try makeWriter(scratch.url(name))
      #expect(writer.startWriting())
      writer.startSession(atSourceTime: .zero)
      #expect(samples.map { input.append($0) }.last == false)
      #expect(writer.status == .failed)
      return code(writer)
    }
    #expect(try failure("a.mov", [all[1], all[0]]) == .invalidSourceMedia)
    #expect(try failure("b.mov", [all[0], all[0]]) == .invalidSourceMedia)
    let pictures = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())), settings: [:])
    #expect(try failure("c.mov", [pictures[0]]) == .invalidSourceMedia)
    let hevc = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.hevc())))
    #expect(try failure("d.mov", [all[0], hevc[5]]) == .formatUnsupported)
    // The duration is too large for a movie's time scale.
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1 << 60, timescale: 1), presentationTimeStamp: .zero, decodeTimeStamp: .zero)
    var long: CMSampleBuffer?
    CMSampleBufferCreateCopyWithNewTiming(
      allocator: kCFAllocatorDefault, sampleBuffer: all[0], sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleBufferOut: &long)
    #expect(try failure("e.mov", [try #require(long)] + all[1...].prefix(20)) == .invalidSourceMedia)
    #expect(scratch.contents.isEmpty)
  }

  @Test func cancellingLeavesNothing() throws {
    let scratch = Scratch()
    let all = try samples()
    let (writer, input) = try makeWriter(scratch.url("a.mov"))
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for sample in all.prefix(30) { #expect(input.append(sample)) }
    #expect(scratch.contents.isEmpty)
    writer.cancelWriting()
    #expect(writer.status == .cancelled)
    #expect(!input.append(all[30]))
    // A writer that is released without an end leaves nothing either.
    do {
      let (forgotten, input) = try makeWriter(scratch.url("b.mov"))
      #expect(forgotten.startWriting())
      forgotten.startSession(atSourceTime: .zero)
      #expect(input.append(all[0]))
    }
    #expect(scratch.contents.isEmpty)
  }

  @Test func aFullDiskFails() async throws {
    await #expect(processExitsWith: .success) {
      let scratch = Scratch()
      let source = try Fixture.movie()
      // A limit of the size of files (RLIMIT_FSIZE) simulates a full disk.
      signal(SIGXFSZ, SIG_IGN)
      var tight = rlimit(rlim_cur: 40_000, rlim_max: 40_000)
      setrlimit(__rlimit_resource_t(1), &tight)
      let writer = try await WriterTests.copy(source, to: scratch.url("a.mov"), type: .mov)
      try #require(writer.status == .failed)
      try #require((writer.error as? AVError)?.code == .diskFull)
      try #require(scratch.contents.isEmpty)
    }
  }

  /// Each sample keeps its parameter sets if these change within a track.
  @Test func changingParameterSetsAreKept() throws {
    let scratch = Scratch()
    let other = try Fixture.make(
      "other.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30000/1001:duration=1", "-c:v", "libx264", "-preset",
        "ultrafast", "-pix_fmt", "yuv420p",
      ])
    let first = try samples()
    let second = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: other)))
    let (writer, input) = try makeWriter(scratch.url("a.mov"))
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for sample in first { #expect(input.append(sample)) }
    for sample in second {
      var timing = CMSampleTimingInfo()
      CMSampleBufferGetSampleTimingInfo(sample, at: 0, timingInfoOut: &timing)
      let shift = CMTime(value: 70 * 1001, timescale: 30000)
      timing.presentationTimeStamp = timing.presentationTimeStamp + shift
      timing.decodeTimeStamp = timing.decodeTimeStamp + shift
      var moved: CMSampleBuffer?
      CMSampleBufferCreateCopyWithNewTiming(
        allocator: nil, sampleBuffer: sample, sampleTimingEntryCount: 1, sampleTimingArray: &timing,
        sampleBufferOut: &moved)
      #expect(input.append(try #require(moved)), "\(String(describing: writer.error))")
    }
    let done = DispatchSemaphore(value: 0)
    writer.finishWriting { done.signal() }
    done.wait()
    #expect(writer.status == .completed)
    let joined = try ReaderTests.frameMD5s(scratch.file("a.mov"), ["-fps_mode", "passthrough"])
    #expect(try joined == ReaderTests.frameMD5s(Fixture.movie(), []) + ReaderTests.frameMD5s(other, []))
  }
}
