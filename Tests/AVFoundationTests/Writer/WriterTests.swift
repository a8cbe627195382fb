// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import UniformTypeIdentifiers

@testable import FFmpegMedia

/// The writer's files against ffprobe.
@Suite struct WriterTests {
  /// Copies a movie's tracks as they are, the way Apple's documentation shows it.
  static func copy(
    _ source: String, to url: URL, type: AVFileType, range: CMTimeRange? = nil,
    configure: (AVAssetWriter, [AVAssetWriterInput]) -> Void = { _, _ in }
  ) async throws -> AVAssetWriter {
    let asset = AVURLAsset(url: URL(fileURLWithPath: source))
    let reader = try AVAssetReader(asset: asset)
    let writer = try AVAssetWriter(url: url, fileType: type)
    var pairs: [(AVAssetReaderTrackOutput, AVAssetWriterInput)] = []
    for track in try await asset.load(.tracks) {
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
      let format = try await track.load(.formatDescriptions).first
      let input = AVAssetWriterInput(
        mediaType: track.mediaType, outputSettings: nil, sourceFormatHint: format)
      input.transform = try await track.load(.preferredTransform)
      #expect(reader.canAdd(output) && writer.canAdd(input))
      reader.add(output)
      writer.add(input)
      pairs.append((output, input))
    }
    configure(writer, pairs.map(\.1))
    if let range { reader.timeRange = range }
    #expect(reader.startReading())
    #expect(writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: range?.start ?? .zero)
    await withTaskGroup(of: Void.self) { group in
      for (output, input) in pairs {
        group.addTask {
          let queue = DispatchQueue(label: "copy")
          await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            input.requestMediaDataWhenReady(on: queue) {
              while input.isReadyForMoreMediaData {
                guard let sample = output.copyNextSampleBuffer(), input.append(sample) else {
                  input.markAsFinished()
                  done.resume()
                  return
                }
              }
            }
          }
        }
      }
    }
    if let range { writer.endSession(atSourceTime: range.end) }
    await writer.finishWriting()
    return writer
  }

  @Test func passthroughIsBitExact() async throws {
    let scratch = Scratch()
    for (source, type, name) in [
      (try Fixture.movie(), AVFileType.mov, "a.mov"), (try Fixture.movie("movie.mov"), .mp4, "b.mp4"),
      (try Fixture.movie(), .m4v, "c.m4v"), (try Fixture.hevc(), .mp4, "d.mp4"),
    ] {
      let writer = try await Self.copy(source, to: scratch.url(name), type: type)
      #expect(writer.status == .completed, "\(String(describing: writer.error))")
      let path = scratch.file(name)
      #expect(try Probe.samples(path) == Probe.samples(source), "\(name)")
      if try Demuxer(url: source).streams.count == 2 {
        #expect(try Probe.samples(path, stream: "a:0") == Probe.samples(source, stream: "a:0"), "\(name)")
      }
      #expect(try Tool.decodingErrors(path) == "")
      let ours = try Double(Probe.properties(path, stream: nil, "format=duration")["duration"] ?? "") ?? 0
      let theirs =
        try Double(Probe.properties(source, stream: nil, "format=duration")["duration"] ?? "") ?? -1
      #expect(abs(ours - theirs) < 0.002)
    }
    #expect(scratch.contents == ["a.mov", "b.mp4", "c.m4v", "d.mp4"])
  }

  @Test func elementaryStreamsBecomeMovies() async throws {
    let scratch = Scratch()
    let source = try Fixture.elementary()
    let writer = try await Self.copy(source, to: scratch.url("a.mov"), type: .mov)
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let theirs = try ReaderTests.frameMD5s(source, [])
    #expect(try ReaderTests.frameMD5s(scratch.file("a.mov"), ["-fps_mode", "passthrough"]) == theirs)
    #expect(try Probe.samples(scratch.file("a.mov")).map(\.pts).count == 60)
  }

  @Test func partsAreCutExactly() async throws {
    let scratch = Scratch()
    let source = try Fixture.movie()
    // Frames 10 to 39, although the key frame before is frame 0.
    let range = CMTimeRange(
      start: CMTime(value: 10 * 1001, timescale: 30000), end: CMTime(value: 40 * 1001, timescale: 30000))
    let writer = try await Self.copy(source, to: scratch.url("part.mp4"), type: .mp4, range: range)
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let whole = try ReaderTests.frameMD5s(source, [])
    #expect(try ReaderTests.frameMD5s(scratch.file("part.mp4"), []) == Array(whole[10..<40]))
    let duration =
      try Double(Probe.properties(scratch.file("part.mp4"), stream: nil, "format=duration")["duration"] ?? "")
      ?? 0
    #expect(abs(duration - 1.001) < 0.005)
  }

  @Test func factsOfTracksAreWritten() async throws {
    let scratch = Scratch()
    let begun = Date()
    let writer = try await Self.copy(Fixture.movie(), to: scratch.url("a.mov"), type: .mov) {
      writer, inputs in
      writer.shouldOptimizeForNetworkUse = true
      writer.movieTimeScale = 90000
      let title = AVMutableMetadataItem()
      title.identifier = .commonIdentifierTitle
      title.value = "A title" as NSString
      writer.metadata = [title]
      inputs[0].transform = CGAffineTransform(rotationAngle: .pi / 2)
      inputs[0].mediaTimeScale = 60000
      inputs[0].languageCode = "deu"
      inputs[1].marksOutputTrackAsEnabled = false
    }
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let properties = try Probe.properties(
      scratch.file("a.mov"),
      "stream=time_base:stream_tags=language:stream_side_data=rotation:format_tags=title")
    #expect(properties["time_base"] == "1/60000")
    #expect(properties["TAG:language"] == "deu")
    #expect(properties["rotation"] == "-90")
    #expect(properties["TAG:title"] == "A title")
    let audio = try Probe.properties(scratch.file("a.mov"), stream: "a:0", "stream_disposition=default")
    #expect(audio["DISPOSITION:default"] == "0")
    let bytes = try Data(contentsOf: scratch.url("a.mov"))
    let index = try #require(bytes.range(of: Data("moov".utf8))?.lowerBound)
    #expect(index < bytes.range(of: Data("mdat".utf8))?.lowerBound ?? 0)
    let asset = AVURLAsset(url: scratch.url("a.mov"))
    #expect(asset.commonMetadata.first { $0.commonKey == .commonKeyTitle }?.stringValue == "A title")
    #expect(
      // In whole seconds, with a second to spare.
      // check-tests: a date, not how long something took
      asset.creationDate?.dateValue.map { (begun - 2...Date() + 1).contains($0) } == true)
    #expect(asset.tracks(withMediaType: .audio).first?.isEnabled == false)
  }

  // MARK: - Encoding

  /// Decodes, encodes with `settings`, and gives back the writer.
  static func transcode(
    _ source: String, to url: URL, type: AVFileType = .mp4, video: [String: Any], audio: [String: Any]? = nil
  ) async throws -> AVAssetWriter {
    let asset = AVURLAsset(url: URL(fileURLWithPath: source))
    let reader = try AVAssetReader(asset: asset)
    let writer = try AVAssetWriter(outputURL: url, fileType: type)
    let pixels: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    ]
    var pairs: [(AVAssetReaderTrackOutput, AVAssetWriterInput)] = []
    if let track = asset.tracks(withMediaType: .video).first {
      pairs.append(
        (
          AVAssetReaderTrackOutput(track: track, outputSettings: pixels),
          AVAssetWriterInput(mediaType: .video, outputSettings: video)
        ))
    }
    if let audio, let track = asset.tracks(withMediaType: .audio).first {
      pairs.append(
        (
          AVAssetReaderTrackOutput(track: track, outputSettings: [AVFormatIDKey: kAudioFormatLinearPCM]),
          AVAssetWriterInput(mediaType: .audio, outputSettings: audio)
        ))
    }
    for (output, input) in pairs {
      reader.add(output)
      writer.add(input)
    }
    guard reader.startReading(), writer.startWriting() else { return writer }
    writer.startSession(atSourceTime: .zero)
    await withTaskGroup(of: Void.self) { group in
      for (output, input) in pairs {
        group.addTask {
          await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            input.requestMediaDataWhenReady(on: DispatchQueue(label: "encode")) {
              while input.isReadyForMoreMediaData {
                guard let sample = output.copyNextSampleBuffer(), input.append(sample) else {
                  input.markAsFinished()
                  done.resume()
                  return
                }
              }
            }
          }
        }
      }
    }
    await writer.finishWriting()
    return writer
  }

  static func hasEncoder(_ codec: CMVideoCodecType) -> Bool {
    var list: CFArray?
    VTCopyVideoEncoderList(nil, &list)
    return (list as? [NSDictionary] ?? []).contains {
      ($0.object(forKey: kVTVideoEncoderList_CodecType) as? NSNumber)?.uint32Value == codec
    }
  }

  @Test(.enabled(if: hasEncoder(kCMVideoCodecType_H264))) func videoAndAudioAreEncoded() async throws {
    let scratch = Scratch()
    let settings: [String: Any] = [
      AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 320, AVVideoHeightKey: 240,
      AVVideoCompressionPropertiesKey: [
        AVVideoAverageBitRateKey: 400_000, AVVideoMaxKeyFrameIntervalKey: 15,
        AVVideoProfileLevelKey: AVVideoProfileLevelH264MainAutoLevel,
      ] as [String: Any],
    ]
    let audio: [String: Any] = [AVFormatIDKey: kAudioFormatMPEG4AAC, AVEncoderBitRateKey: 96000]
    let writer = try await Self.transcode(
      Fixture.movie(), to: scratch.url("a.mp4"), video: settings, audio: audio)
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let path = scratch.file("a.mp4")
    #expect(try Tool.decodingErrors(path) == "")
    let samples = try Probe.samples(path)
    #expect(samples.count == 60)
    #expect(Set(samples.map(\.pts)) == Set((0..<60).map { rational($0 * 1001, 30000) }))
    #expect(samples.filter(\.isSync).count >= 4)
    let properties = try Probe.properties(path, "stream=profile,width,height,codec_name")
    #expect(
      properties["codec_name"] == "h264" && properties["profile"] == "Main" && properties["width"] == "320")
    // A tone of 440 Hz goes in, and comes out at the same time.
    let tone = try Fixture.make("tone.raw", ["-i", path, "-map", "0:a", "-f", "s16le", "-ac", "1"])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: tone))
    #expect(abs(bytes.count / 2 - 88200) < 2500)
    let middle = bytes.withUnsafeBytes { raw in
      (20000..<60000).map { Int(raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self)) }
    }
    let crossings = zip(middle, middle.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
    #expect(abs(Double(crossings) * 44100 / 40000 - 440) < 3)
    #expect(scratch.contents == ["a.mp4"])
  }

  @Test(.enabled(if: hasEncoder(kCMVideoCodecType_HEVC))) func otherSizesAndShapesAreFitted() async throws {
    let scratch = Scratch()
    for (mode, name) in [
      (AVVideoScalingModeResizeAspect, "bars"), (AVVideoScalingModeResizeAspectFill, "cut"),
      (AVVideoScalingModeResize, "plain"),
    ] {
      let settings: [String: Any] = [
        AVVideoCodecKey: AVVideoCodecType.hevc, AVVideoWidthKey: 256, AVVideoHeightKey: 144,
        AVVideoScalingModeKey: mode,
      ]
      let writer = try await Self.transcode(
        Fixture.movie(), to: scratch.url(name + ".mov"), type: .mov, video: settings)
      #expect(writer.status == .completed, "\(String(describing: writer.error))")
      let pixels = try Data(
        contentsOf: URL(
          fileURLWithPath: Fixture.make(
            "\(name).gray",
            ["-i", scratch.file(name + ".mov"), "-frames:v", "1", "-pix_fmt", "gray", "-f", "rawvideo"])))
      #expect(pixels.count == 256 * 144)
      // Bars are black at the left edge, the picture is not.
      let edge = (0..<144).map { Int(pixels[$0 * 256 + 4]) }.reduce(0, +) / 144
      #expect((edge < 24) == (name == "bars"), "\(name): \(edge)")
      #expect(
        try Probe.properties(scratch.file(name + ".mov"), "stream=codec_tag_string")["codec_tag_string"]
          == "hvc1")
    }
  }

  @Test(.enabled(if: hasEncoder(kCMVideoCodecType_H264))) func adaptorsEncodePixelBuffers() async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [AVVideoCodecKey: "avc1", AVVideoWidthKey: 128, AVVideoHeightKey: 96])
    input.expectsMediaDataInRealTime = true
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA])
    writer.add(input)
    #expect(adaptor.pixelBufferPool == nil)
    #expect(writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: CMTime(value: 100, timescale: 10))
    let pool = try #require(adaptor.pixelBufferPool)
    for index in 0..<30 {
      var buffer: CVPixelBuffer?
      CVPixelBufferPoolCreatePixelBuffer(nil, pool, &buffer)
      let image = try #require(buffer)
      #expect(CVPixelBufferGetPixelFormatType(image) == kCVPixelFormatType_32BGRA)
      CVPixelBufferLockBaseAddress(image, [])
      if let base = CVPixelBufferGetBaseAddress(image) {
        memset(base, Int32(index * 8), CVPixelBufferGetBytesPerRow(image) * CVPixelBufferGetHeight(image))
      }
      CVPixelBufferUnlockBaseAddress(image, [])
      #expect(adaptor.append(image, withPresentationTime: CMTime(value: 100 + Int64(index), timescale: 10)))
    }
    input.markAsFinished()
    await withCheckedContinuation { done in writer.finishWriting { done.resume() } }
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let samples = try Probe.samples(scratch.file("a.mov"))
    #expect(Set(samples.map(\.pts)) == Set((0..<30).map { rational($0, 10) }))
    #expect(try Tool.decodingErrors(scratch.file("a.mov")) == "")
  }

  // MARK: - Fragments and segments

  @Test func fragmentedMoviesArePlayable() async throws {
    let scratch = Scratch()
    let writer = try await Self.copy(Fixture.movie(), to: scratch.url("a.mp4"), type: .mp4) { writer, _ in
      writer.movieFragmentInterval = CMTime(value: 1, timescale: 2)
    }
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let bytes = try Data(contentsOf: scratch.url("a.mp4"))
    #expect(bytes.split(separator: Data("moof".utf8)).count == 5)
    #expect(
      try Probe.samples(scratch.file("a.mp4")).map(\.hash) == Probe.samples(try Fixture.movie()).map(\.hash))
    #expect(try Tool.decodingErrors(scratch.file("a.mp4")) == "")
  }

  final class Segments: AVAssetWriterDelegate, @unchecked Sendable {
    let lock = NSLock()
    var all: [(data: Data, type: AVAssetSegmentType, report: AVAssetSegmentReport?)] = []
    func assetWriter(
      _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
      segmentReport: AVAssetSegmentReport?
    ) {
      lock.withLock { all.append((segmentData, segmentType, segmentReport)) }
    }
  }

  @Test func segmentsGoToTheDelegate() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let reader = try AVAssetReader(asset: asset)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    let writer = AVAssetWriter(contentType: try #require(UTType(AVFileType.mp4.rawValue)))
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
    writer.add(input)
    let segments = Segments()
    writer.delegate = segments
    writer.outputFileTypeProfile = .mpeg4AppleHLS
    writer.preferredOutputSegmentInterval = CMTime(value: 6, timescale: 10)
    writer.initialSegmentStartTime = .zero
    #expect(reader.startReading() && writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: .zero)
    while let sample = output.copyNextSampleBuffer() { #expect(input.append(sample)) }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    // Key frames are at frames 0, 20 and 40: 0.0, 0.667 and 1.335 s.
    #expect(segments.all.map(\.type) == [.initialization, .separable, .separable, .separable])
    let reports = segments.all.compactMap { $0.report?.trackReports.first }
    #expect(
      reports.map(\.earliestPresentationTimeStamp.seconds).map { ($0 * 1000).rounded() } == [0, 667, 1335])
    #expect(reports.allSatisfy { $0.mediaType == .video && $0.trackID == track.trackID })
    let samples = try Probe.samples(try Fixture.movie())
    for (report, segment) in zip(reports, segments.all.dropFirst()) {
      let first = try #require(report.firstVideoSampleInformation)
      #expect(first.isSyncSample)
      let bytes = segment.data[first.offset..<first.offset + first.length]
      let expected = samples.first { $0.pts == ReaderTests.time(first.presentationTimeStamp) }
      #expect("MD5:" + md5(Data(bytes)) == expected?.hash)
    }
    let scratch = Scratch()
    try segments.all.reduce(into: Data()) { $0.append($1.data) }.write(to: scratch.url("joined.mp4"))
    #expect(try Probe.samples(scratch.file("joined.mp4")).map(\.hash) == samples.map(\.hash))
    #expect(try Tool.decodingErrors(scratch.file("joined.mp4")) == "")
  }

  @Test func inputsWaitForEachOther() throws {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let video = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
    let audio = AVAssetWriterInput(mediaType: .audio, outputSettings: nil)
    writer.add(video)
    writer.add(audio)
    #expect(!video.isReadyForMoreMediaData)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    #expect(video.isReadyForMoreMediaData && audio.isReadyForMoreMediaData)
    var count = 0
    for sample in try ReaderTests.read(asset) where video.isReadyForMoreMediaData {
      #expect(video.append(sample))
      count += 1
    }
    // A second and a little: 30 to 35 frames.
    #expect((30...36).contains(count))
    #expect(!video.isReadyForMoreMediaData && audio.isReadyForMoreMediaData)
    audio.markAsFinished()
    #expect(video.isReadyForMoreMediaData)
    writer.cancelWriting()
    // A caller that asks repeatedly continues, and is notified by `append`.
    #expect(writer.status == .cancelled && video.isReadyForMoreMediaData && !audio.isReadyForMoreMediaData)
    #expect(scratch.contents.isEmpty)
  }

  @Test(arguments: [600, 1000, 24_000]) func timeScalesThatAreAskedForAreKept(scale: CMTimeScale) async throws
  {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("scale.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    input.mediaTimeScale = scale
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for index in 0..<10 { #expect(try WriterBehaviourTests.append(input, index)) }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed)
    let track = try #require(AVURLAsset(url: scratch.url("scale.mov")).tracks.first)
    #expect(track.naturalTimeScale == scale)
  }
}
