// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// How long samples and pictures last, in movies whose codec's rate is not that of the samples,
/// against the movie's own table and the pictures that ffmpeg decodes. (libavformat's durations,
/// and so ffprobe's, are guessed from the rate.)
@Suite struct DurationTests {
  /// 5 pictures a second, of a codec that says 30.
  static let slow =
    ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=5:duration=3", "-pix_fmt", "yuv420p"] + wrongRate
  static let wrongRate = ["-c:v", "libx264", "-bf", "2", "-g", "6", "-bsf:v", "h264_metadata=tick_rate=60"]
  static let irregular = [
    "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30:duration=4", "-vf",
    "select='not(mod(n,7))+not(mod(n,11))'", "-fps_mode", "passthrough", "-pix_fmt", "yuv420p",
  ]
  static var bgra: [String: Any] {
    [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
  }
  static func slowMovie() throws -> String { try Fixture.make("slow.mp4", slow) }
  static func copy(_ name: String, _ arguments: [String]) throws -> String {
    // ffmpeg would take the last one's duration from the codec's rate.
    let times = ["-bsf:v", "setts=pts=PTS:dts=DTS:duration=2048"]
    return try Fixture.make(name, ["-i", try slowMovie(), "-c", "copy"] + times + arguments)
  }
  static func asset(_ path: String) -> AVURLAsset { AVURLAsset(url: URL(fileURLWithPath: path)) }

  struct File: Sendable, CustomStringConvertible {
    let description: String
    let make: @Sendable () throws -> String
    init(_ description: String, _ make: @escaping @Sendable () throws -> String) {
      (self.description, self.make) = (description, make)
    }
  }

  static let files = [
    File("slow.mp4") { try slowMovie() },
    File("slow.mov") { try copy("slow.mov", []) },
    File("negative.mp4") { try copy("negative.mp4", ["-movflags", "negative_cts_offsets"]) },
    File("noedits.mp4") { try copy("noedits.mp4", ["-use_editlist", "0"]) },
    File("late.mp4") { try copy("late.mp4", ["-output_ts_offset", "1.3"]) },
    File("irregular.mp4") {
      try Fixture.make(
        "irregular.mp4", irregular + ["-c:v", "libx264", "-bf", "3", "-video_track_timescale", "600"])
    },
    File("irregularhevc.mov") {
      try Fixture.make(
        "irregularhevc.mov", irregular + ["-c:v", "libx265", "-x265-params", "log-level=none:bframes=3"])
    },
    File("irregularplain.mp4") {
      try Fixture.make("irregularplain.mp4", irregular + ["-c:v", "libx264", "-bf", "0"])
    },
    File("long.mp4") {
      try copy("long.mp4", ["-bsf:v", "setts=pts=PTS:dts=DTS:duration=if(eq(N\\,14)\\,20480\\,2048)"])
    },
    File("single.mp4") { try Fixture.make("single.mp4", slow + ["-frames:v", "1"]) },
  ]

  /// The movie's one table of decode times.
  static func table(_ path: String) throws -> [Int64] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let at = try #require(data.range(of: Data("stts".utf8))).upperBound
    func number(_ at: Int) -> Int { data[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    return (0..<number(at + 4)).flatMap { entry in
      [Int64](repeating: Int64(number(at + 12 + 8 * entry)), count: number(at + 8 + 8 * entry))
    }
  }

  /// When pictures are shown, in seconds: presentation times are the container's own.
  static func times(_ path: String) throws -> [Double] {
    try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of",
      "csv=p=0", path,
    ]).split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }.sorted()
  }

  @Test(arguments: files) func samplesLastAsTheTableSays(_ file: File) throws {
    let path = try file.make()
    let samples = try ReaderTests.read(Self.asset(path))
    let scale = try #require(samples.first).presentationTimeStamp.timescale
    let expected = try Self.table(path).map { CMTime(value: $0, timescale: scale) }
    #expect(samples.map(\.duration) == expected)
    // After a seek, too.
    let middle = CMTime(value: 2, timescale: 1)
    let range = CMTimeRange(start: middle, duration: .positiveInfinity)
    let rest = try ReaderTests.read(Self.asset(path), range: range)
    #expect(rest.map(\.duration) == expected.suffix(rest.count))
  }

  static let pictures =
    files + [
      File("irregular.mkv") {
        try Fixture.make("irregular.mkv", irregular + ["-c:v", "libx264", "-bf", "3"])
      },
      File("slow.mkv") { try copy("slow.mkv", []) },
      File("slow.avi") { try Fixture.make("slow.avi", Array(slow.prefix(6)) + ["-c:v", "mpeg4"]) },
      File("slow.264") { try copy("slow.264", []) },
      File("fragments.mp4") {
        try Fixture.make(
          "fragments.mp4", slow + ["-g", "4", "-movflags", "frag_keyframe+empty_moov+delay_moov"])
      },
    ]

  @Test(arguments: pictures) func picturesLastUntilTheNext(_ file: File) throws {
    let path = try file.make()
    let samples = try ReaderTests.read(Self.asset(path), settings: Self.bgra)
    #expect(samples.count > 0)
    for (sample, next) in zip(samples, samples.dropFirst()) {
      #expect(sample.presentationTimeStamp + sample.duration == next.presentationTimeStamp)
    }
    guard !path.hasSuffix("264"), !path.hasSuffix("avi") else { return }
    let times = try Self.times(path)
    #expect(samples.count == times.count)
    for (sample, time) in zip(samples, times) {
      #expect(abs(sample.presentationTimeStamp.seconds - time) < 0.002 || path.contains("fragments"))
    }
    // The last one until the end, which ffmpeg's own edit lists and lengths say.
    let last = try #require(samples.last)
    let end = (last.presentationTimeStamp + last.duration).seconds
    let ends = ["single.mp4": 0.2, "long.mp4": 4.6, "late.mp4": 4.3, "noedits.mp4": 3.4]
    let whole = file.description.hasPrefix("irregular") ? 4.0 : 3.0
    if !path.contains("fragments"), !path.hasSuffix("mkv") {
      #expect(abs(end - (ends[file.description] ?? whole)) < 0.035, "\(end)")
    }
  }

  @Test func fragmentsKeepTheirDurations() throws {
    let path = try Fixture.make(
      "fragments.mp4", Self.slow + ["-g", "4", "-movflags", "frag_keyframe+empty_moov+delay_moov"])
    let fifth = CMTime(value: 1, timescale: 5)
    let asset = Self.asset(path)
    let samples = try ReaderTests.read(asset)
    #expect(samples.count == 15 && samples.allSatisfy { $0.duration == fifth })
    // To and fro within one reader: the parts in between are not known.
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    output.supportsRandomAccess = true
    let reader = try AVAssetReader(asset: asset)
    reader.add(output)
    #expect(reader.startReading())
    for start in [2.5, 0.0, 1.7] {
      while let sample = output.copyNextSampleBuffer() { #expect(sample.duration == fifth) }
      output.reset(forReadingTimeRanges: [
        NSValue(
          timeRange: CMTimeRange(
            start: CMTime(seconds: start, preferredTimescale: 10), duration: CMTime(value: 1, timescale: 1)))
      ])
    }
    while let sample = output.copyNextSampleBuffer() { #expect(sample.duration == fifth) }
  }

  @Test(arguments: ["slow.mp4", "irregular.mkv", "irregular.mp4"]) func rangesBeginWithWhatIsShown(
    _ name: String
  ) throws {
    let path = try #require(Self.pictures.first { $0.description == name }).make()
    let times = try Self.times(path)
    let settings = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar]
    let theirs = try ReaderTests.frameMD5s(path, ["-pix_fmt", "yuv420p", "-fps_mode", "passthrough"])
    for start in [0.1, 0.9, 1.0, 1.3, 2.85] {
      let range = CMTimeRange(
        start: CMTime(seconds: start, preferredTimescale: 1000), duration: .positiveInfinity)
      let samples = try ReaderTests.read(Self.asset(path), settings: settings, range: range)
      let first = try #require(times.lastIndex { $0 <= start + 0.0005 })
      let found = try samples.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) }
      #expect(found == Array(theirs[first...]), "\(start)")
    }
  }

  @Test(arguments: ["slow.mp4", "irregular.mkv", "irregular.mp4", "late.mp4", "long.mp4", "fragments.mp4"])
  func stillsAreFoundAtAnyTime(_ name: String) throws {
    let path = try #require(Self.pictures.first { $0.description == name }).make()
    let asset = Self.asset(path)
    let generator = AVAssetImageGenerator(asset: asset)
    (generator.requestedTimeToleranceBefore, generator.requestedTimeToleranceAfter) = (.zero, .zero)
    let times = try ReaderTests.read(asset, settings: Self.bgra).map(\.presentationTimeStamp)
    let first = try #require(times.first)
    let end = asset.duration
    for tenth in 0..<18 {
      let time = first + CMTimeMultiplyByRatio(end - first, multiplier: Int32(tenth), divisor: 18)
      var actual = CMTime.invalid
      try generator.copyCGImage(at: time, actualTime: &actual)
      #expect(actual == times.last { $0 <= time }, "\(time.seconds)")
    }
    #expect(throws: AVError.self) {
      try generator.copyCGImage(at: end + CMTime(value: 1, timescale: 1), actualTime: nil)
    }
  }

  /// Counts what it does not get, and passes on what it gets.
  private final class Passer: NSObject, AVVideoCompositing, @unchecked Sendable {
    // Sendable: it has no state of its own.
    static let missing = Gathered<Double>()
    override init() { super.init() }
    var sourcePixelBufferAttributes: [String: any Sendable]? {
      [kCVPixelBufferPixelFormatTypeKey as String: [kCVPixelFormatType_32BGRA]]
    }
    var requiredPixelBufferAttributesForRenderContext: [String: any Sendable] {
      [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
    }
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
      guard let track = request.sourceTrackIDs.first?.int32Value,
        let source = request.sourceFrame(byTrackID: track)
      else {
        Self.missing.add(request.compositionTime.seconds)
        return request.finish(with: CocoaError(.featureUnsupported))
      }
      request.finish(withComposedVideoFrame: source)
    }
  }

  @Test(arguments: [true, false]) func compositionsHaveAPictureAtAllTimes(_ isCustom: Bool) throws {
    for name in ["slow.mp4", "irregular.mp4", "irregular.mkv"] {
      let path = try #require(Self.pictures.first { $0.description == name }).make()
      let asset = Self.asset(path)
      let plain = try ReaderTests.read(asset, settings: Self.bgra)
      let composition = AVMutableVideoComposition(propertiesOf: asset)
      composition.frameDuration = CMTime(value: 1, timescale: 30)
      composition.sourceTrackIDForFrameTiming = kCMPersistentTrackID_Invalid
      if isCustom { composition.customVideoCompositorClass = Passer.self }
      let output = AVAssetReaderVideoCompositionOutput(
        videoTracks: asset.tracks(withMediaType: .video), videoSettings: Self.bgra)
      output.videoComposition = composition
      let samples = try ReaderTests.read(output, of: asset)
      #expect(abs(samples.count - Int((asset.duration.seconds * 30).rounded())) <= 1, "\(name)")
      let sources = try plain.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) }
      for sample in samples {
        let time = sample.presentationTimeStamp
        let index = try #require(plain.lastIndex { $0.presentationTimeStamp <= time })
        let found = md5(ReaderTests.packed(try #require(sample.imageBuffer)))
        #expect(found == sources[index], "\(name) \(time.seconds)")
      }
    }
    #expect(Passer.missing.all == [])
  }

  @Test func whatAPlayerShowsAfterASeek() async throws {
    let path = try Self.slowMovie()
    let player = AVPlayer(url: URL(fileURLWithPath: path))
    let item = try #require(player.currentItem)
    let output = AVPlayerItemVideoOutput(pixelBufferAttributes: nil)
    item.add(output)
    await waitUntil { item.status != .unknown }
    for tenths in [9, 3, 25, 29, 1] {
      let time = CMTime(value: Int64(tenths), timescale: 10)
      #expect(await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero))
      var own = CMTime.invalid
      #expect(output.copyPixelBuffer(forItemTime: time, itemTimeForDisplay: &own) != nil)
      #expect(own == CMTime(value: Int64(tenths / 2), timescale: 5))
    }
  }

  @Test(arguments: [AVAssetExportPresetPassthrough, AVAssetExportPreset640x480]) func exportsAreAsLong(
    _ preset: String
  ) async throws {
    let scratch = Scratch()
    let out = URL(fileURLWithPath: scratch.file("out.mp4"))
    let session = try #require(
      AVAssetExportSession(asset: Self.asset(try Self.slowMovie()), presetName: preset))
    try await session.export(to: out, as: .mp4)
    let text = try Tool.run([
      "ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets:format=duration",
      "-of", "csv=p=0", out.path,
    ])
    let numbers = text.split { "\n,".contains($0) }.compactMap { Double($0) }
    #expect(numbers.first == 15)
    #expect(abs((numbers.last ?? 0) - 3) < 0.001, "\(text)")
  }

  /// Samples read before the damage are delivered, with its durations, and then the error.
  @Test func cutFilesGiveWhatWasReadWithItsDurations() throws {
    let whole = try Fixture.make("slow-front.mp4", Self.slow + ["-movflags", "+faststart"])
    let scratch = Scratch()
    let path = scratch.file("cut.mp4")
    let data = try Data(contentsOf: URL(fileURLWithPath: whole))
    try data.prefix(data.count * 3 / 4).write(to: URL(fileURLWithPath: path))
    let asset = Self.asset(path)
    for settings in [nil, Self.bgra] as [[String: Any]?] {
      let track = try #require(asset.tracks(withMediaType: .video).first)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      let reader = try AVAssetReader(asset: asset)
      reader.add(output)
      #expect(reader.startReading())
      var samples: [CMSampleBuffer] = []
      while let sample = output.copyNextSampleBuffer() { samples.append(sample) }
      #expect(reader.status == .failed)
      #expect(samples.count > 3 && samples.count < 15)
      #expect(samples.allSatisfy { $0.duration == CMTime(value: 1, timescale: 5) })
    }
  }
}
