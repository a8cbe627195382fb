// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Behaviour that recording and streaming programs rely on.
@Suite(.serialized) struct WriterBehaviourTests {
  private let scratch = Scratch()

  static func picture(
    _ index: Int, width: Int = 160, height: Int = 120,
    format: OSType = kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
  ) throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, height, format, nil, &made)
    let buffer = try #require(made)
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    for plane in 0..<CVPixelBufferGetPlaneCount(buffer) {
      memset(
        CVPixelBufferGetBaseAddressOfPlane(buffer, plane), Int32(plane == 0 ? 40 + index % 180 : 128),
        CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) * CVPixelBufferGetHeightOfPlane(buffer, plane))
    }
    return buffer
  }

  static func video(_ compression: [String: Any] = [:], codec: AVVideoCodecType = .h264) -> [String: Any] {
    [
      AVVideoCodecKey: codec, AVVideoWidthKey: 160, AVVideoHeightKey: 120,
      AVVideoCompressionPropertiesKey: compression,
    ]
  }

  final class Segments: AVAssetWriterDelegate, Sendable {
    let all = Mutex<[(data: Data, type: AVAssetSegmentType)]>([])
    func assetWriter(
      _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
      segmentReport: AVAssetSegmentReport?
    ) { all.withLock { $0.append((segmentData, segmentType)) } }
  }

  static func segmented(_ delegate: any AVAssetWriterDelegate, seconds: Int64? = 1, start: CMTime)
    -> AVAssetWriter
  {
    let writer = AVAssetWriter(contentType: .mpeg4Movie)
    writer.outputFileTypeProfile = .mpeg4AppleHLS
    if let seconds { writer.preferredOutputSegmentInterval = CMTime(value: seconds, timescale: 1) }
    writer.initialSegmentStartTime = start
    writer.delegate = delegate
    return writer
  }

  /// Content of the boxes along a path, in a file's or segment's bytes.
  static func boxes(_ data: Data, _ path: [String]) -> [Data] {
    guard let name = path.first else { return [data] }
    var found: [Data] = []
    var rest = data
    while rest.count >= 8 {
      let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, size <= rest.count else { break }
      let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      if type == name { found += boxes(rest.prefix(size).dropFirst(8), Array(path.dropFirst())) }
      rest = rest.dropFirst(size)
    }
    return found
  }

  private static func number(_ data: Data, at offset: Int, bytes: Int) -> Int {
    data.dropFirst(offset).prefix(bytes).reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: - Settings

  @Test func hintsThatNoEncoderHasAreNoErrors() async throws {
    let settings = Self.video([
      AVVideoAverageNonDroppableFrameRateKey: 15, AVVideoExpectedSourceFrameRateKey: 30,
      AVVideoAllowFrameReorderingKey: false, AVVideoAverageBitRateKey: CGFloat(160) * 120 * 4,
    ])
    let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
    #expect(writer.canApply(outputSettings: settings, forMediaType: .video))
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
    writer.add(input)
    #expect(writer.startWriting(), "\(String(describing: writer.error))")
    writer.cancelWriting()
  }

  @Test func canApplyAsksTheEncoder() throws {
    let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
    for compression in [
      [AVVideoProfileLevelKey: "H264_Higher"], ["NoSuchProperty": 1], [AVVideoAverageBitRateKey: -5],
      [AVVideoAverageNonDroppableFrameRateKey: "often"], [AVVideoQualityKey: 3],
    ] as [[String: Any]] {
      let settings = Self.video(compression)
      #expect(!writer.canApply(outputSettings: settings, forMediaType: .video), "\(compression)")
      // It says what starting would say.
      let other = try AVAssetWriter(url: scratch.url("b.mp4"), fileType: .mp4)
      other.add(AVAssetWriterInput(mediaType: .video, outputSettings: settings))
      #expect(!other.startWriting())
      #expect((other.error as? AVError)?.code == .unsupportedOutputSettings, "\(compression)")
    }
    let audio: [String: Any] = [AVFormatIDKey: kAudioFormatMPEG4AAC, AVNumberOfChannelsKey: 2]
    #expect(writer.canApply(outputSettings: audio, forMediaType: .audio))
    #expect(
      !writer.canApply(
        outputSettings: audio.merging([AVSampleRateKey: 190_000]) { $1 }, forMediaType: .audio))
    #expect(scratch.contents.isEmpty)
  }

  // MARK: - A track that says nothing

  /// A hint that the audio has more channels than there can be, and none that comes.
  @Test func aHintAtAudioOfTooManyChannelsDoesNotTrap() async throws {
    let basic = AudioStreamBasicDescription(
      mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 4,
      mFramesPerPacket: 1, mBytesPerFrame: 4, mChannelsPerFrame: .max, mBitsPerChannel: 16, mReserved: 0)
    let writer = try AVAssetWriter(url: scratch.url("hint.mp4"), fileType: .mp4)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: Self.video())
    let audio = AVAssetWriterInput(
      mediaType: .audio, outputSettings: [AVFormatIDKey: kAudioFormatMPEG4AAC],
      sourceFormatHint: try CMFormatDescription(audioStreamBasicDescription: basic))
    for each in [input, audio] {
      each.expectsMediaDataInRealTime = true
      writer.add(each)
    }
    #expect(writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: .zero)
    // More than two seconds, for which a silent track is waited for.
    for index in 0..<100 {
      guard writer.status == .writing else { break }
      _ = try Self.append(input, index)
    }
    await writer.finishWriting()
    #expect(writer.status == .completed || writer.error != nil)
  }

  @Test func aSilentMicrophoneHoldsNothingUp() async throws {
    let segments = Segments()
    let writer = Self.segmented(segments, start: .zero)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: Self.video())
    let audio = AVAssetWriterInput(
      mediaType: .audio, outputSettings: [AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48000])
    for each in [input, audio] {
      each.expectsMediaDataInRealTime = true
      writer.add(each)
    }
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for index in 0..<120 {
      await waitUntil { input.isReadyForMoreMediaData }
      #expect(try Self.append(input, index))
    }
    // Encoders run behind.
    await waitUntil { segments.all.withLock { $0.count } >= 2 }
    let early = segments.all.withLock { $0.map(\.type) }
    #expect(early.first == .initialization && early.count >= 2, "\(early)")
    // Both tracks are announced, and the microphone may still begin.
    let header = try #require(segments.all.withLock { $0.first?.data })
    #expect(Self.boxes(header, ["moov", "trak"]).count == 2)
    input.markAsFinished()
    #expect(audio.append(try Self.silence(at: CMTime(value: 4, timescale: 1), frames: 48000)))
    audio.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let joined = segments.all.withLock { $0.reduce(into: Data()) { $0.append($1.data) } }
    try joined.write(to: scratch.url("joined.mp4"))
    #expect(try Probe.samples(scratch.file("joined.mp4")).count == 120)
    #expect(try Probe.samples(scratch.file("joined.mp4"), stream: "a:0").count > 40)
  }

  static func append(_ input: AVAssetWriterInput, _ index: Int, from start: CMTime = .zero) throws
    -> Bool
  {
    let time = start + CMTime(value: CMTimeValue(index), timescale: 30)
    return input.append(
      try sample(picture(index), at: time, duration: CMTime(value: 1, timescale: 30)))
  }

  static func sample(_ image: CVPixelBuffer, at time: CMTime, duration: CMTime = .invalid) throws
    -> CMSampleBuffer
  {
    var format: CMFormatDescription?
    CMVideoFormatDescriptionCreateForImageBuffer(
      allocator: nil, imageBuffer: image, formatDescriptionOut: &format)
    return try CMSampleBuffer(
      imageBuffer: image, formatDescription: try #require(format),
      sampleTiming: CMSampleTimingInfo(
        duration: duration, presentationTimeStamp: time, decodeTimeStamp: .invalid))
  }

  static func silence(at time: CMTime, frames: Int) throws -> CMSampleBuffer {
    let basic = AudioStreamBasicDescription(
      mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 4,
      mFramesPerPacket: 1, mBytesPerFrame: 4, mChannelsPerFrame: 2, mBitsPerChannel: 16, mReserved: 0)
    let data = try CMBlockBuffer(length: frames * 4, flags: .assureMemoryNow)
    try data.fillDataBytes(with: 0)
    return try CMSampleBuffer(
      dataBuffer: data, formatDescription: try CMFormatDescription(audioStreamBasicDescription: basic),
      numSamples: frames, presentationTimeStamp: time, packetDescriptions: [])
  }

  @Test func realTimeInputsAreNotReadyWhileTheEncoderIsBehind() async throws {
    let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 1280, AVVideoHeightKey: 720])
    input.expectsMediaDataInRealTime = true
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    // Far faster than any camera: some have to be dropped, and none of the appends waits long.
    var (appended, dropped) = (0, 0)
    for index in 0..<400 where dropped < 20 {
      if input.isReadyForMoreMediaData {
        #expect(try Self.append(input, index))
        appended += 1
      } else {
        dropped += 1
      }
    }
    #expect(dropped > 0 && appended > 0)
    // It becomes ready again, and says so.
    let woken = Mutex(false)
    input.requestMediaDataWhenReady(on: DispatchQueue(label: "source")) { woken.withLock { $0 = true } }
    #expect(await waitUntil { woken.withLock { $0 } })
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(try Probe.samples(scratch.file("a.mp4")).count == appended)
  }

  // MARK: - Passes

  @Test func anInputTellsOfItsPasses() async throws {
    let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: Self.video())
    input.performsMultiPassEncodingIfSupported = true
    writer.add(input)
    #expect(input.currentPassDescription == nil)
    let calls = Mutex<[Bool]>([])
    let asked = Mutex(0)
    let queue = DispatchQueue(label: "passes")
    let ended = DispatchSemaphore(value: 0)
    input.respondToEachPassDescription(on: queue) {
      let hasPass = input.currentPassDescription != nil
      calls.withLock { $0.append(hasPass) }
      if !hasPass { ended.signal() }
    }
    queue.sync {}
    #expect(calls.withLock { $0 }.isEmpty, "nothing has begun")
    #expect(writer.startWriting())
    let range = try #require(input.currentPassDescription?.sourceTimeRanges.first?.timeRangeValue)
    #expect(range.start == .zero && !input.canPerformMultiplePasses)
    writer.startSession(atSourceTime: .zero)
    for index in 0..<5 { #expect(try Self.append(input, index)) }
    input.requestMediaDataWhenReady(on: queue) { asked.withLock { $0 += 1 } }
    await waitUntil { asked.withLock { $0 } > 0 }
    input.markCurrentPassAsFinished()
    input.markCurrentPassAsFinished()
    await withCheckedContinuation { done in
      queue.async { done.resume() }
    }
    #expect(ended.wait(timeout: .now()) == .success)
    let before = asked.withLock { $0 }
    // An input that has had nothing is asked again after ten milliseconds.
    #expect(await onThread { waitForTimers(of: queue, dueWithin: 60) })
    #expect(asked.withLock { $0 } == before, "cancelled with the pass")
    #expect(calls.withLock { $0 } == [true, false])
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(calls.withLock { $0 } == [true, false])
  }

  /// All samples before the session's start: nothing to show, but a movie that opens.
  @Test(arguments: [10, 4_000_000_000] as [Int64])
  func sessionsThatBeginAfterTheEndLeaveAMovieOrNothing(start: Int64) async throws {
    let url = scratch.url("late.mov")
    let writer = try AVAssetWriter(url: url, fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: Self.video())
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: CMTime(value: start, timescale: 1))
    for index in 0..<5 { #expect(try Self.append(input, index)) }
    input.markAsFinished()
    await writer.finishWriting()
    guard writer.status == .completed else {
      #expect(!FileManager.default.fileExists(atPath: url.path))
      return
    }
    #expect(AVURLAsset(url: url).tracks.count == 1)
  }

  // MARK: - Times of segments

  @Test(arguments: [0, 10], [true, false]) func segmentsCarryTheSourcesTime(_ start: Int64, _ reorders: Bool)
    async throws
  {
    let segments = Segments()
    let begin = CMTime(value: start, timescale: 1)
    let writer = Self.segmented(segments, start: begin)
    let input = AVAssetWriterInput(
      mediaType: .video, outputSettings: Self.video([AVVideoAllowFrameReorderingKey: reorders]))
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: begin)
    for index in 0..<75 {
      await waitUntil { input.isReadyForMoreMediaData }
      #expect(try Self.append(input, index, from: begin))
    }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let all = segments.all.withLock { $0 }
    let header = try #require(all.first { $0.type == .initialization }).data
    #expect(Self.boxes(header, ["moov", "trak", "edts"]).isEmpty)
    let scale = Self.number(
      try #require(Self.boxes(header, ["moov", "trak", "mdia", "mdhd"]).first), at: 12, bytes: 4)
    let times = try all.filter { $0.type == .separable }.map { segment in
      let box = try #require(Self.boxes(segment.data, ["moof", "traf", "tfdt"]).first)
      #expect(box.first == 1)
      return Double(Self.number(box, at: 4, bytes: 8)) / Double(scale)
    }
    #expect(times.count == 3)
    for (index, time) in times.enumerated() {
      // Decode time: no later than presentation, and earlier by a few frames at the most.
      let wanted = Double(start) + Double(index)
      #expect(time <= wanted + 1e-6 && time > wanted - 0.2, "\(times)")
    }
  }

  // MARK: - HDR

  @Test func staticMetadataTravelsFromBufferToFileAndBack() async throws {
    var volume = Data((0..<24).map { (index: Int) -> UInt8 in index < 16 ? UInt8(20 + index) : 0 })
    volume[18] = 100
    volume[23] = 50
    let light = Data([0x03, 0xE8, 0x00, 0xC8])
    let writer = try AVAssetWriter(url: scratch.url("hdr.mov"), fileType: .mov)
    let settings = Self.video(
      [AVVideoProfileLevelKey: kVTProfileLevel_HEVC_Main10_AutoLevel as String], codec: .hevc)
    guard writer.canApply(outputSettings: settings, forMediaType: .video) else { return }
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for index in 0..<6 {
      let image = try Self.picture(index, format: kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange)
      for (key, value) in [
        (kCVImageBufferMasteringDisplayColorVolumeKey, volume as NSData),
        (kCVImageBufferContentLightLevelInfoKey, light as NSData),
        (kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_ITU_R_2020),
        (kCVImageBufferTransferFunctionKey, kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ),
        (kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_2020),
      ] as [(CFString, AnyObject)] { CVBufferSetAttachment(image, key, value, .shouldPropagate) }
      let sample = try Self.sample(
        image, at: CMTime(value: CMTimeValue(index), timescale: 30), duration: CMTime(value: 1, timescale: 30)
      )
      await waitUntil { input.isReadyForMoreMediaData }
      #expect(input.append(sample))
    }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    // ffprobe's word: the container's side data.
    let reported = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream_side_data", "-of", "json",
      scratch.file("hdr.mov"),
    ])
    #expect(
      reported.contains("Mastering display metadata") && reported.contains("\"max_content\": 1000"),
      "\(reported)")
    let asset = AVURLAsset(url: scratch.url("hdr.mov"))
    let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let format = try #require(try await track.load(.formatDescriptions).first)
    #expect(
      CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_MasteringDisplayColorVolume) as? Data == volume)
    #expect(
      CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_ContentLightLevelInfo) as? Data == light)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
      ])
    reader.add(output)
    #expect(reader.startReading())
    let read = try #require(output.copyNextSampleBuffer().flatMap { CMSampleBufferGetImageBuffer($0) })
    #expect(
      CVBufferCopyAttachment(read, kCVImageBufferMasteringDisplayColorVolumeKey, nil) as? Data == volume)
    #expect(CVBufferCopyAttachment(read, kCVImageBufferContentLightLevelInfoKey, nil) as? Data == light)
    reader.cancelReading()
  }
}
