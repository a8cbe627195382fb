// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The reader against ffprobe (stored samples) and ffmpeg (decoded ones).
@Suite struct ReaderTests {
  static func read(
    _ asset: AVAsset, _ type: AVMediaType = .video, settings: [String: Any]? = nil,
    pitch: AVAudioTimePitchAlgorithm = .spectral, range: CMTimeRange? = nil
  ) throws -> [CMSampleBuffer] {
    let track = try #require(asset.tracks(withMediaType: type).first)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
    output.audioTimePitchAlgorithm = pitch
    return try read(output, of: asset, range: range)
  }

  /// All that an output gives, and no failure.
  static func read(
    _ output: AVAssetReaderOutput, of asset: AVAsset, range: CMTimeRange? = nil
  ) throws -> [CMSampleBuffer] {
    let reader = try AVAssetReader(asset: asset)
    #expect(reader.canAdd(output))
    reader.add(output)
    if let range { reader.timeRange = range }
    #expect(reader.startReading(), "\(String(describing: reader.error))")
    var samples: [CMSampleBuffer] = []
    while let sample = output.copyNextSampleBuffer() { samples.append(sample) }
    #expect(reader.status == .completed, "\(String(describing: reader.error))")
    return samples
  }

  static func time(_ time: CMTime) -> String {
    time.isNumeric ? rational(Int(time.value), Int(time.timescale)) : "none"
  }

  static func bytes(_ sample: CMSampleBuffer) throws -> Data {
    let block = try #require(CMSampleBufferGetDataBuffer(sample))
    var data = Data(count: CMBlockBufferGetDataLength(block))
    let count = data.count
    data.withUnsafeMutableBytes {
      _ = CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: count, destination: $0.baseAddress!)
    }
    return data
  }

  static func describe(_ samples: [CMSampleBuffer]) throws -> [ProbedSample] {
    try samples.map { sample in
      let notes =
        CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false)?.firstObject
        as? NSDictionary
      let notSync = (notes?.object(forKey: kCMSampleAttachmentKey_NotSync) as? NSNumber)?.boolValue ?? false
      let dts = CMSampleBufferGetDecodeTimeStamp(sample)
      return ProbedSample(
        pts: time(CMSampleBufferGetPresentationTimeStamp(sample)),
        dts: time(dts.isValid ? dts : CMSampleBufferGetPresentationTimeStamp(sample)),
        duration: time(CMSampleBufferGetDuration(sample)), size: CMSampleBufferGetTotalSampleSize(sample),
        isSync: !notSync, hash: "MD5:" + md5(try bytes(sample)))
    }
  }

  @Test func storedSamplesAreAsFFprobeSeesThem() throws {
    for path in [
      try Fixture.movie(), try Fixture.movie("movie.mov"), try Fixture.movie("movie.mkv"), try Fixture.hevc(),
    ] {
      let asset = AVURLAsset(url: URL(fileURLWithPath: path))
      let found = try Self.describe(Self.read(asset))
      var probed = try Probe.samples(path)
      // Where ffprobe has no decode time the reader makes one up, in order.
      for index in probed.indices where probed[index].dts == "none" { probed[index].dts = found[index].dts }
      #expect(found == probed, "\(path)")
    }
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    #expect(try Self.describe(Self.read(asset, .audio)) == Probe.samples(try Fixture.movie(), stream: "a:0"))
  }

  /// MD5s of decoded frames, as ffmpeg computes them.
  static func frameMD5s(_ path: String, _ arguments: [String]) throws -> [String] {
    let text = try Tool.run(
      ["ffmpeg", "-v", "error", "-i", path, "-map", "0:v:0"] + arguments + ["-f", "framemd5", "-"])
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
      $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  static func packed(_ buffer: CVPixelBuffer) -> Data {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    var data = Data()
    func plane(_ base: UnsafeMutableRawPointer?, _ stride: Int, _ width: Int, _ height: Int) {
      guard let base else { return }
      for row in 0..<height { data.append(Data(bytes: base + row * stride, count: width)) }
    }
    let width = CVPixelBufferGetWidth(buffer)
    switch CVPixelBufferGetPixelFormatType(buffer) {
    case kCVPixelFormatType_32BGRA:
      plane(
        CVPixelBufferGetBaseAddress(buffer), CVPixelBufferGetBytesPerRow(buffer), width * 4,
        CVPixelBufferGetHeight(buffer))
    case kCVPixelFormatType_420YpCbCr8Planar:
      for index in 0..<3 {
        plane(
          CVPixelBufferGetBaseAddressOfPlane(buffer, index),
          CVPixelBufferGetBytesPerRowOfPlane(buffer, index),
          CVPixelBufferGetWidthOfPlane(buffer, index), CVPixelBufferGetHeightOfPlane(buffer, index))
      }
    default:
      for index in 0..<2 {
        plane(
          CVPixelBufferGetBaseAddressOfPlane(buffer, index),
          CVPixelBufferGetBytesPerRowOfPlane(buffer, index),
          CVPixelBufferGetWidthOfPlane(buffer, index) * (index == 0 ? 1 : 2),
          CVPixelBufferGetHeightOfPlane(buffer, index))
      }
    }
    return data
  }

  @Test func decodedPicturesAreFFmpegs() throws {
    for path in [try Fixture.movie(), try Fixture.hevc(), try Fixture.elementary()] {
      let asset = AVURLAsset(url: URL(fileURLWithPath: path))
      for (format, name) in [
        (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, "nv12"),
        (kCVPixelFormatType_420YpCbCr8Planar, "yuv420p"),
      ] {
        let settings: [String: Any] = [kCVPixelBufferPixelFormatTypeKey as String: NSNumber(value: format)]
        let samples = try Self.read(asset, settings: settings)
        let found = try samples.map { md5(Self.packed(try #require(CMSampleBufferGetImageBuffer($0)))) }
        #expect(try found == Self.frameMD5s(path, ["-pix_fmt", name]), "\(path) \(name)")
        let times = samples.map { Self.time(CMSampleBufferGetPresentationTimeStamp($0)) }
        #expect(times == (0..<60).map { rational($0 * 1001, 30000) }, "\(path)")
      }
    }
  }

  @Test func picturesComeInTheSizeAndFormatAskedFor() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let settings: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
      kCVPixelBufferWidthKey as String: 160, kCVPixelBufferHeightKey as String: 120,
    ]
    let samples = try Self.read(asset, settings: settings)
    #expect(samples.count == 60)
    let image = try #require(samples.first.flatMap { CMSampleBufferGetImageBuffer($0) })
    #expect(CVPixelBufferGetWidth(image) == 160 && CVPixelBufferGetHeight(image) == 120)
    #expect(CVPixelBufferGetPixelFormatType(image) == kCVPixelFormatType_32BGRA)
    // Close to what ffmpeg makes of it: mean difference below 3 of 255.
    let raw = try Fixture.make(
      "small.bgra",
      [
        "-i", try Fixture.movie(), "-frames:v", "1", "-vf", "scale=160:120", "-pix_fmt", "bgra", "-f",
        "rawvideo",
      ])
    let theirs = try Data(contentsOf: URL(fileURLWithPath: raw))
    let ours = Self.packed(image)
    #expect(ours.count == theirs.count)
    let difference = zip(ours, theirs).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    #expect(Double(difference) / Double(ours.count) < 3)
  }

  @Test func rangesHoldTheirFrames() throws {
    for path in [try Fixture.movie(), try Fixture.elementary(), try Fixture.movie("movie.mkv")] {
      let asset = AVURLAsset(url: URL(fileURLWithPath: path))
      let all = try Self.read(asset, settings: [:])
      let range = CMTimeRange(start: CMTime(value: 1, timescale: 2), end: CMTime(value: 3, timescale: 2))
      let part = try Self.read(asset, settings: [:], range: range)
      let expected = all.filter {
        let start = CMSampleBufferGetPresentationTimeStamp($0)
        return start < range.end && start + CMSampleBufferGetDuration($0) > range.start
      }
      #expect(
        part.map { Self.time(CMSampleBufferGetPresentationTimeStamp($0)) }
          == expected.map { Self.time(CMSampleBufferGetPresentationTimeStamp($0)) }, "\(path)")
      #expect(
        try part.map { md5(Self.packed(try #require($0.imageBuffer))) }
          == expected.map { md5(Self.packed(try #require($0.imageBuffer))) })
      // Compressed samples begin with a key frame and are enough to decode the range.
      let stored = try Self.describe(Self.read(asset, range: range))
      #expect(stored.first?.isSync == true)
      #expect(
        Set(expected.map { Self.time(CMSampleBufferGetPresentationTimeStamp($0)) }).isSubset(
          of: stored.map(\.pts)))
    }
  }

  @Test func resetReadsOtherRanges() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: try #require(asset.tracks(withMediaType: .video).first), outputSettings: [:])
    output.supportsRandomAccess = true
    output.alwaysCopiesSampleData = false
    reader.add(output)
    reader.timeRange = CMTimeRange(start: .zero, duration: CMTime(value: 1001 * 5, timescale: 30000))
    #expect(reader.startReading())
    func frames() -> [Int64] {
      var frames: [Int64] = []
      while let sample = output.copyNextSampleBuffer() {
        frames.append(CMSampleBufferGetPresentationTimeStamp(sample).value / 1001)
      }
      return frames
    }
    #expect(frames() == [0, 1, 2, 3, 4])
    #expect(reader.status == .reading)
    func range(_ from: Int64, _ count: Int64) -> NSValue {
      NSValue(
        timeRange: CMTimeRange(
          start: CMTime(value: from * 1001, timescale: 30000),
          duration: CMTime(value: count * 1001, timescale: 30000)))
    }
    output.reset(forReadingTimeRanges: [range(10, 2), range(30, 3)])
    #expect(frames() == [10, 11, 30, 31, 32])
    output.reset(forReadingTimeRanges: [range(0, 1)])
    #expect(frames() == [0])
    output.markConfigurationAsFinal()
    #expect(reader.status == .completed)
  }

  @Test func cancellingStopsAReader() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: try #require(asset.tracks(withMediaType: .video).first), outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    #expect(output.copyNextSampleBuffer() != nil)
    reader.cancelReading()
    #expect(output.copyNextSampleBuffer() == nil)
    #expect(reader.status == .cancelled)
  }

  @Test func audioIsDecoded() throws {
    let path = try Fixture.movie()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let settings: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 16]
    let samples = try Self.read(asset, .audio, settings: settings)
    let ours = try samples.reduce(into: Data()) { $0.append(try Self.bytes($1)) }
    let raw = try Fixture.make("sound.raw", ["-i", path, "-map", "0:a", "-f", "s16le", "-c:a", "pcm_s16le"])
    let theirs = try Data(contentsOf: URL(fileURLWithPath: raw))
    // Two seconds: ffmpeg gives the whole of the last packet, which the track's end cuts.
    #expect(ours.count == 2 * 88_200 && ours == theirs.prefix(ours.count))
    #expect(samples.first.map { CMSampleBufferGetPresentationTimeStamp($0) } == .zero)
    // 2 channels of 48 kHz floating point.
    let float: [String: Any] = [
      AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMIsFloatKey: true, AVLinearPCMBitDepthKey: 32,
      AVSampleRateKey: 48000, AVNumberOfChannelsKey: 2,
    ]
    let converted = try Self.read(asset, .audio, settings: float)
    let frames = converted.reduce(0) { $0 + CMSampleBufferGetNumSamples($1) }
    #expect(abs(frames - ours.count / 2 * 48000 / 44100) < 4)
    #expect(
      CMSampleBufferGetFormatDescription(converted[0])?.audioStreamBasicDescription?.mBytesPerFrame == 8)
  }

  @Test func badRequestsAreRefused() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    for settings: [String: Any] in [
      [kCVPixelBufferPixelFormatTypeKey as String: 12345],
      [
        kCVPixelBufferWidthKey as String: 0,
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
      ],
    ] {
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      #expect(!reader.canAdd(output))
      reader.add(output)
      #expect(!reader.startReading())
      #expect((reader.error as? AVError)?.code == .unsupportedOutputSettings)
    }
    let other = AVURLAsset(url: URL(fileURLWithPath: try Fixture.hevc()))
    let reader = try AVAssetReader(asset: other)
    #expect(!reader.canAdd(AVAssetReaderTrackOutput(track: track, outputSettings: nil)))
  }

  @Test func truncatedMoviesFailWhereTheyEnd() throws {
    let scratch = Scratch()
    let fast = try Data(
      contentsOf: URL(
        fileURLWithPath: Fixture.make(
          "fast.mp4", ["-i", Fixture.movie(), "-c", "copy", "-movflags", "+faststart"])))
    try fast.prefix(fast.count * 2 / 3).write(to: scratch.url("short.mp4"))
    let asset = AVURLAsset(url: scratch.url("short.mp4"))
    for settings: [String: Any]? in [nil, [:]] {
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(
        track: try #require(asset.tracks(withMediaType: .video).first), outputSettings: settings)
      reader.add(output)
      #expect(reader.startReading())
      var count = 0
      while output.copyNextSampleBuffer() != nil { count += 1 }
      #expect(count > 0 && count < 60)
      #expect(reader.status == .failed)
      #expect((reader.error as? AVError)?.code == .fileFailedToParse)
    }
  }
}
