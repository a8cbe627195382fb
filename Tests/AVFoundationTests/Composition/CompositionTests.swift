// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Compositions: their time line, and what reader, exporter and image generator make of them.
@Suite struct CompositionTests {
  private static func time(_ frames: Int64) -> CMTime { CMTime(value: frames * 1001, timescale: 30000) }
  private static func range(_ from: Int64, _ to: Int64) -> CMTimeRange {
    CMTimeRange(start: time(from), end: time(to))
  }

  /// A movie without B frames and with a key frame every ten.
  private static func movie() throws -> String {
    try Fixture.make(
      "composed.mov",
      Fixture.picture + Fixture.audio + [
        "-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "10", "-sc_threshold", "0", "-pix_fmt",
        "yuv420p", "-c:a", "pcm_s16le", "-video_track_timescale", "30000",
      ])
  }

  /// All pictures as ffmpeg decodes them, NV12.
  private static func decoded(_ path: String) throws -> [Data] {
    let scratch = Scratch()
    let raw = scratch.file("pictures")
    try Tool.run([
      "ffmpeg", "-v", "error", "-i", path, "-an", "-f", "rawvideo", "-pix_fmt", "nv12", raw,
    ])
    let data = try Data(contentsOf: URL(fileURLWithPath: raw))
    let size = 320 * 240 * 3 / 2
    return (0..<data.count / size).map { data.subdata(in: $0 * size..<($0 + 1) * size) }
  }

  private static func pixels(_ sample: CMSampleBuffer) throws -> Data {
    let buffer = try #require(CMSampleBufferGetImageBuffer(sample))
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    var data = Data()
    for plane in 0..<CVPixelBufferGetPlaneCount(buffer) {
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, plane))
      for row in 0..<CVPixelBufferGetHeightOfPlane(buffer, plane) {
        data.append(
          Data(bytes: base + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, plane), count: 320))
      }
    }
    return data
  }

  private static var nv12: [String: Any] {
    [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange]
  }
  private static var pcm: [String: Any] {
    [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 16, AVLinearPCMIsFloatKey: false]
  }

  private static func tracks(_ path: String) throws -> (video: AVAssetTrack, audio: AVAssetTrack) {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    return (
      try #require(asset.tracks(withMediaType: .video).first),
      try #require(asset.tracks(withMediaType: .audio).first)
    )
  }

  @Test("Subtitles follow the parts of a composition, and end where a part ends")
  func subtitlesFollowTheParts() throws {
    let scratch = Scratch()
    let text = "1\n00:00:00,500 --> 00:00:01,500\nOne\n\n2\n00:00:02,000 --> 00:00:03,000\nTwo\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.file("in.srt")))
    let movie = scratch.file("in.mp4")
    try Tool.run([
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=4", "-i",
      scratch.file("in.srt"), "-c:v", "mpeg4", "-c:s", "mov_text", movie,
    ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: movie))
    func seconds(_ start: Double, _ end: Double) -> CMTimeRange {
      CMTimeRange(
        start: CMTime(seconds: start, preferredTimescale: 1000),
        end: CMTime(seconds: end, preferredTimescale: 1000))
    }
    let composition = AVMutableComposition()
    try composition.insertTimeRange(seconds(1, 2.5), of: asset, at: .zero)
    try composition.insertTimeRange(seconds(0, 1), of: asset, at: .invalid)
    let track = try #require(composition.tracks(withMediaType: .subtitle).first)
    let reader = try AVAssetReader(asset: composition)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    try #require(reader.canAdd(output))
    reader.add(output)
    try #require(reader.startReading())
    var found: [String] = []
    while let sample = output.copyNextSampleBuffer() {
      guard let data = try sample.dataBuffer?.dataBytes(), data.count > 2 else { continue }
      let end = sample.presentationTimeStamp + sample.duration
      let words = String(decoding: data.dropFirst(2), as: UTF8.self)
      found.append(String(format: "%.2f %.2f ", sample.presentationTimeStamp.seconds, end.seconds) + words)
    }
    #expect(reader.status == .completed)
    #expect(found == ["0.00 0.50 One", "1.00 1.50 Two", "2.00 2.50 One"])
  }

  @Test func theTimeLineIsEdited() throws {
    let (video, audio) = try Self.tracks(Self.movie())
    let composition = AVMutableComposition()
    let track = try #require(
      composition.addMutableTrack(withMediaType: .video, preferredTrackID: kCMPersistentTrackID_Invalid))
    #expect(track.trackID == 1 && track.mediaType == .video && track.timeRange.duration == .zero)
    #expect(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 1) == nil)
    #expect(composition.addMutableTrack(withMediaType: .metadata, preferredTrackID: 7) == nil)
    #expect(throws: AVError.self) { try track.insertTimeRange(Self.range(0, 3), of: audio, at: .zero) }
    #expect(throws: AVError.self) { try track.insertTimeRange(Self.range(500, 510), of: video, at: .zero) }
    #expect(throws: AVError.self) { try track.insertTimeRange(Self.range(3, 3), of: video, at: .zero) }

    try track.insertTimeRange(Self.range(20, 30), of: video, at: .zero)
    try track.insertTimeRange(Self.range(0, 4), of: video, at: .invalid)
    try track.insertTimeRange(Self.range(40, 42), of: video, at: Self.time(5))
    func segments(_ track: AVCompositionTrack) -> [[CMTime]] {
      track.segments.map {
        [$0.timeMapping.source.start, $0.timeMapping.target.start, $0.timeMapping.target.duration]
      }
    }
    let t = Self.time
    #expect(
      segments(track) == [
        [t(20), t(0), t(5)], [t(40), t(5), t(2)], [t(25), t(7), t(5)], [t(0), t(12), t(4)],
      ])
    #expect(composition.duration == t(16))
    let copy = try #require(composition.mutableCopy() as? AVMutableComposition)
    track.removeTimeRange(Self.range(4, 8))
    #expect(segments(track) == [[t(20), t(0), t(4)], [t(26), t(4), t(4)], [t(0), t(8), t(4)]])
    track.scaleTimeRange(Self.range(2, 6), toDuration: t(8))
    #expect(
      track.segments.map(\.timeMapping.target.duration) == [t(2), t(4), t(4), t(2), t(4)])
    #expect(track.timeRange.duration == t(16))
    track.insertEmptyTimeRange(Self.range(2, 5))
    #expect(track.segments[1].isEmpty && track.timeRange.duration == t(19))
    track.insertEmptyTimeRange(Self.range(19, 25))
    #expect(track.timeRange.duration == t(19), "a track does not end with nothing")
    #expect(copy.duration == t(16) && copy.tracks(withMediaType: .video).first?.segments.count == 4)
    #expect((composition.copy() as? AVComposition)?.duration == t(19))

    // Segments that are given whole.
    let again = try #require(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 9))
    let file = URL(fileURLWithPath: try Self.movie())
    let part = AVCompositionTrackSegment(
      url: file, trackID: video.trackID, sourceTimeRange: Self.range(5, 8),
      targetTimeRange: Self.range(2, 5))
    let gap = AVCompositionTrackSegment(timeRange: Self.range(0, 2))
    try again.validateSegments([gap, part])
    #expect(throws: AVError.self) { try again.validateSegments([part]) }
    again.segments = [gap, part]
    #expect(again.timeRange.duration == t(5) && again.segments.count == 2)
    #expect((again.segments[1] as? AVCompositionTrackSegment)?.sourceURL == file)
    composition.removeTrack(track)
    #expect(composition.tracks.count == 1)
  }

  @Test func picturesOfPartsAreThoseOfTheirMovies() throws {
    let path = try Self.movie()
    let pictures = try Self.decoded(path)
    let (video, _) = try Self.tracks(path)
    let composition = AVMutableComposition()
    let track = try #require(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    try track.insertTimeRange(Self.range(33, 41), of: video, at: .zero)
    try track.insertTimeRange(Self.range(4, 9), of: video, at: .invalid)
    track.insertEmptyTimeRange(Self.range(8, 11))
    track.scaleTimeRange(Self.range(11, 16), toDuration: Self.time(10))
    let samples = try ReaderTests.read(composition, settings: Self.nv12)
    #expect(samples.count == 13)
    let times = (0..<8).map { Self.time(Int64($0)) } + (0..<5).map { Self.time(Int64(11 + 2 * $0)) }
    #expect(samples.map { CMSampleBufferGetPresentationTimeStamp($0) } == times)
    let sources = Array(33..<41) + Array(4..<9)
    for (sample, source) in zip(samples, sources) {
      let same = try Self.pixels(sample) == pictures[source]
      #expect(same, "picture \(source)")
    }
    #expect(CMSampleBufferGetDuration(samples[12]) == Self.time(2))
    // A part of it, and in two goes.
    let some = try ReaderTests.read(composition, settings: Self.nv12, range: Self.range(6, 13))
    #expect(some.map { CMSampleBufferGetPresentationTimeStamp($0) } == [6, 7, 11].map { Self.time($0) })
    #expect(try Self.pixels(some[2]) == pictures[4])
  }

  @Test func audioIsComposedToTheFrame() throws {
    let path = try Self.movie()
    let (_, audio) = try Self.tracks(path)
    func samples(_ asset: AVAsset, _ range: CMTimeRange? = nil) throws -> [Int16] {
      var position: Int64 = -1
      return try ReaderTests.read(
        asset, .audio, settings: Self.pcm, pitch: .varispeed, range: range
      ).flatMap { sample in
        let time = CMSampleBufferGetPresentationTimeStamp(sample)
        if position >= 0 { #expect(time.value == position, "without gap or overlap") }
        position = time.value + Int64(CMSampleBufferGetNumSamples(sample))
        return try ReaderTests.bytes(sample).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
      }
    }
    let scratch = Scratch()
    try Tool.run(["ffmpeg", "-v", "error", "-i", path, "-vn", "-f", "s16le", scratch.file("pcm")])
    let all = try Data(contentsOf: scratch.url("pcm")).withUnsafeBytes {
      Array($0.bindMemory(to: Int16.self))
    }
    func frames(_ count: Int64) -> CMTime { CMTime(value: count, timescale: 44100) }
    let composition = AVMutableComposition()
    let track = try #require(composition.addMutableTrack(withMediaType: .audio, preferredTrackID: 1))
    try track.insertTimeRange(
      CMTimeRange(start: frames(20_001), duration: frames(10_007)), of: audio, at: .zero)
    try track.insertTimeRange(CMTimeRange(start: frames(3), duration: frames(9_999)), of: audio, at: .invalid)
    track.insertEmptyTimeRange(CMTimeRange(start: frames(10_007), duration: frames(50_000)))
    let expected = Array(all[20_001..<30_008]) + [Int16](repeating: 0, count: 50_000) + Array(all[3..<10_002])
    let read = try samples(composition)
    #expect(read.count == expected.count && read == expected)
    let some = try samples(
      composition, CMTimeRange(start: frames(10_000), duration: frames(50_100)))
    #expect(some == Array(expected[10_000..<60_100]))
    // Twice as long: as many frames more, half the frequency.
    track.scaleTimeRange(
      CMTimeRange(start: .zero, duration: frames(10_007)), toDuration: frames(20_014))
    let slow = try samples(composition, CMTimeRange(start: .zero, duration: frames(20_014)))
    #expect(slow.count == 20_014)
    func crossings(_ list: ArraySlice<Int16>) -> Int {
      zip(list, list.dropFirst()).filter { ($0 < 0) != ($1 < 0) }.count
    }
    let ratio = Double(crossings(all[20_001..<29_000])) / Double(crossings(slow[0..<8_999]))
    #expect(abs(ratio - 2) < 0.1, "\(ratio)")
  }

  @Test func storedSamplesAreCutAtKeyFrames() throws {
    let path = try Self.movie()
    let (video, _) = try Self.tracks(path)
    let stored = try Probe.samples(path)
    let composition = AVMutableComposition()
    let track = try #require(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    try track.insertTimeRange(Self.range(20, 40), of: video, at: .zero)
    try track.insertTimeRange(Self.range(0, 10), of: video, at: .invalid)
    let found = try ReaderTests.describe(ReaderTests.read(composition))
    #expect(found.map(\.hash) == (Array(stored[20..<40]) + Array(stored[0..<10])).map(\.hash))
    #expect(found.map(\.pts) == (0..<30).map { rational($0 * 1001, 30000) })

    try track.insertTimeRange(Self.range(13, 20), of: video, at: .invalid)
    let reader = try AVAssetReader(asset: composition)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    while output.copyNextSampleBuffer() != nil {}
    #expect(reader.status == .failed)
    #expect((reader.error as? AVError)?.code == .operationNotSupportedForAsset)
  }

  @Test func imagesAndExportsShowTheComposition() async throws {
    let path = try Self.movie()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let composition = AVMutableComposition()
    let second = CMTime(value: 30, timescale: 30)
    try composition.insertTimeRange(CMTimeRange(start: second, duration: second), of: asset, at: .zero)
    try composition.insertTimeRange(CMTimeRange(start: .zero, duration: second), of: asset, at: .invalid)
    #expect(composition.tracks.count == 2 && composition.duration.seconds == 2)
    #expect(try await composition.load(.duration).seconds == 2)
    #expect(try await composition.loadTracks(withMediaType: .audio).count == 1)

    let generator = AVAssetImageGenerator(asset: composition)
    generator.requestedTimeToleranceBefore = .zero
    generator.requestedTimeToleranceAfter = .zero
    let direct = AVAssetImageGenerator(asset: asset)
    direct.requestedTimeToleranceBefore = .zero
    direct.requestedTimeToleranceAfter = .zero
    let (image, actual) = try await generator.image(at: CMTime(value: 3, timescale: 2))
    let (wanted, own) = try await direct.image(at: CMTime(value: 1, timescale: 2))
    #expect(image.dataProvider?.data == wanted.dataProvider?.data)
    #expect(abs((actual - own - second).seconds) < 1e-6)

    let scratch = Scratch()
    for (preset, name) in [
      (AVAssetExportPreset640x480, "encoded.mov"), (AVAssetExportPresetPassthrough, "copied.mov"),
    ] {
      let source: AVMutableComposition
      if preset == AVAssetExportPresetPassthrough {
        source = AVMutableComposition()
        try source.insertTimeRange(Self.range(20, 40), of: asset, at: .zero)
        try source.insertTimeRange(Self.range(0, 20), of: asset, at: .invalid)
      } else {
        source = composition
      }
      let session = try #require(AVAssetExportSession(asset: source, presetName: preset))
      try await session.export(to: scratch.url(name), as: .mov)
      #expect(try Tool.decodingErrors(scratch.file(name)) == "")
      let properties = try Probe.properties(scratch.file(name), stream: nil, "format=duration")
      let duration = try #require(Double(properties["duration"] ?? ""))
      #expect(abs(duration - source.duration.seconds) < 0.06, "\(name) \(duration)")
    }
    #expect(try Probe.samples(scratch.file("copied.mov")).count == 40)
  }

  /// One over nothing, which counts as a number that is greater than zero.
  @Test(arguments: [0, -30] as [Int32]) func timesWithoutAScaleAreRefused(scale: Int32) throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Self.movie()))
    let audio = try #require(asset.tracks(withMediaType: .audio).first)
    let bad = CMTime(value: 1, timescale: scale, flags: .valid, epoch: 0)
    let second = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1))
    let ranges = [
      CMTimeRange(start: bad, duration: second.duration), CMTimeRange(start: .zero, duration: bad),
    ]
    let composition = AVMutableComposition()
    let track = try #require(composition.addMutableTrack(withMediaType: .audio, preferredTrackID: 1))
    try track.insertTimeRange(second, of: audio, at: .zero)
    #expect(throws: AVError.self) { try track.insertTimeRange(second, of: audio, at: bad) }
    #expect(throws: AVError.self) { try composition.insertTimeRange(second, of: asset, at: bad) }
    for range in ranges {
      #expect(throws: AVError.self) { try track.insertTimeRange(range, of: audio, at: .zero) }
      #expect(throws: AVError.self) { try composition.insertTimeRange(range, of: asset, at: .zero) }
      track.insertEmptyTimeRange(range)
      track.removeTimeRange(range)
      track.scaleTimeRange(range, toDuration: second.duration)
    }
    track.scaleTimeRange(second, toDuration: bad)
    #expect(composition.tracks.count == 1 && track.timeRange == second && track.segments.count == 1)
    let pictures = AVMutableVideoComposition(propertiesOf: asset)
    #expect(pictures.isValid(for: asset, timeRange: second, validationDelegate: nil))
    pictures.frameDuration = bad
    #expect(!pictures.isValid(for: asset, timeRange: second, validationDelegate: nil))
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video), videoSettings: nil)
    output.videoComposition = pictures
    let reader = try AVAssetReader(asset: asset)
    reader.add(output)
    #expect(!reader.startReading() || output.copyNextSampleBuffer() == nil)
    #expect((reader.error as? AVError)?.code == .invalidVideoComposition)
  }
}
