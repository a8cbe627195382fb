// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation
import Testing

@testable import FFmpegMedia

/// The muxer against ffprobe: what goes in comes out, and nothing else is left.
@Suite(.serialized) struct MuxerTests {
  /// Copies a movie's tracks, in order of decode time.
  func copy(
    _ source: String, to path: String, container: MuxerContainer, options: Muxer.Options = .init(),
    ends: [Int: Int64] = [:], cutEvery: Int = 0, change: (inout MuxerTrack) -> Void = { _ in }
  ) throws {
    let demuxer = try Demuxer(url: source)
    var tracks = try demuxer.streams.map { try MuxerTrack(copying: $0) }
    for index in tracks.indices { change(&tracks[index]) }
    let muxer = try Muxer(path: path, container: container, tracks: tracks, options: options)
    var written = 0
    while let packet = try demuxer.next() {
      if cutEvery > 0, written > 0, written % cutEvery == 0 { try muxer.cutFragment() }
      let sample = Muxer.Sample(
        track: packet.streamIndex, pts: packet.pts ?? 0, dts: packet.dts ?? 0, duration: packet.duration,
        isSync: packet.isKeyFrame)
      try muxer.write(sample, bytes: UnsafeRawBufferPointer(packet.bytes))
      written += 1
    }
    try muxer.finish(trackEnds: ends)
  }

  @Test func copiesAreExact() throws {
    let scratch = Scratch()
    for (source, name, container) in [
      (try Fixture.movie(), "a.mov", MuxerContainer.mov), (try Fixture.movie(), "b.mp4", .mp4),
      (try Fixture.movie("movie.mov"), "c.m4v", .m4v), (try Fixture.hevc(), "d.mp4", .mp4),
      (try Fixture.hevc(), "e.mov", .mov),
    ] {
      for fast in [false, true] {
        var options = Muxer.Options()
        options.fastStart = fast
        let path = scratch.file("\(fast)-\(name)")
        try copy(source, to: path, container: container, options: options)
        #expect(try Probe.samples(path) == Probe.samples(source), "\(name)")
        if try Demuxer(url: source).streams.count == 2 {
          #expect(try Probe.samples(path, stream: "a:0") == Probe.samples(source, stream: "a:0"), "\(name)")
        }
        #expect(try Tool.decodingErrors(path) == "")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let index = try #require(bytes.range(of: Data("moov".utf8))?.lowerBound)
        let media = try #require(bytes.range(of: Data("mdat".utf8))?.lowerBound)
        #expect((index < media) == fast)
        if name.hasSuffix("m4v") { #expect(bytes[8..<12] == Data("M4V ".utf8)) }
      }
    }
    #expect(
      try Probe.properties(scratch.file("false-d.mp4"), "stream=codec_tag_string")["codec_tag_string"]
        == "hvc1")
  }

  /// libavformat looks for start codes in the samples then, and drops what is before the first.
  @Test(arguments: [40, 0]) func recordsThatAreNoneAreRefused(bytes: Int) throws {
    let scratch = Scratch()
    let path = scratch.file("a.mov")
    let demuxer = try Demuxer(url: Fixture.movie())
    demuxer.select([0])
    var track = try MuxerTrack(copying: demuxer.streams[0])
    track.extradata = Data(repeating: 0xBE, count: bytes)
    let muxer = try Muxer(path: path, container: .mov, tracks: [track], options: .init())
    func write(_ time: Int64, _ bytes: [UInt8]) throws {
      let sample = Muxer.Sample(track: 0, pts: time, dts: time, duration: 1, isSync: true)
      try bytes.withUnsafeBytes { try muxer.write(sample, bytes: $0) }
    }
    for bytes: [UInt8] in [
      [0, 0, 0, 2, 0x65, 0x88], [0xBE, 0xBE, 0xBE, 0xBE], [0], [0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0, 1, 2],
    ] {
      #expect(throws: MediaFileError.self) { try write(0, bytes) }
    }
    guard bytes > 0 else {
      // A first sample without parameter sets makes no record.
      muxer.cancel()
      return
    }
    try write(0, [0, 0, 1, 0x65, 0x88, 0x84])
    try write(1, [0, 0, 0, 1, 0x65, 0x88, 0x84, 0x21])
    try muxer.finish(trackEnds: [:])
    #expect(try Probe.samples(path).map(\.size) == [7, 8])
  }

  /// libavformat writes them, and does not open what it wrote.
  @Test func samplesWithoutBytesAreRefusedInFragments() throws {
    let scratch = Scratch()
    let path = scratch.file("a.mov")
    let demuxer = try Demuxer(url: Fixture.movie())
    demuxer.select([0])
    var options = Muxer.Options()
    options.isFragmented = true
    let muxer = try Muxer(
      path: path, container: .mov, tracks: [MuxerTrack(copying: demuxer.streams[0])], options: options)
    let bytes = [UInt8](repeating: 0, count: 64)
    func write(_ time: Int64, bytes count: Int) throws {
      let sample = Muxer.Sample(track: 0, pts: time, dts: time, duration: 1, isSync: true)
      try bytes.withUnsafeBytes {
        try muxer.write(sample, bytes: UnsafeRawBufferPointer(rebasing: $0[..<count]))
      }
    }
    for time in Int64(0)..<4 { try write(time, bytes: 64) }
    for time in Int64(4)..<12 { #expect(throws: MediaFileError.self) { try write(time, bytes: 0) } }
    try write(12, bytes: 64)
    try muxer.finish(trackEnds: [:])
    #expect(try Demuxer(url: path).streams.count == 1)
    #expect(try Probe.samples(path).count == 5)
  }

  /// libavformat ends the process when it finishes a movie with such a sample, or when one is given
  /// up.
  @Test(arguments: [(-1, 1 << 31), (-1, 1 << 40), (1 << 31, 1), (1 << 33, 1)])
  func spansBeyond32BitsAreRefused(gap: Int64, duration: Int64) throws {
    let scratch = Scratch()
    let demuxer = try Demuxer(url: Fixture.movie())
    demuxer.select([0])
    for finishes in [true, false] {
      let path = scratch.file("\(finishes).mp4")
      let muxer = try Muxer(
        path: path, container: .mp4, tracks: [MuxerTrack(copying: demuxer.streams[0])], options: .init())
      let bytes = [UInt8](repeating: 0, count: 64)
      func write(_ time: Int64, _ duration: Int64) throws {
        let sample = Muxer.Sample(track: 0, pts: time, dts: time, duration: duration, isSync: true)
        try bytes.withUnsafeBytes { try muxer.write(sample, bytes: $0) }
      }
      try write(0, 1)
      do {
        try write(gap < 0 ? 1 : gap, duration)
        Issue.record("it was taken")
      } catch { #expect((error as? MediaFileError)?.kind == .badTiming) }
      guard finishes else {
        muxer.cancel()
        #expect(!FileManager.default.fileExists(atPath: path))
        continue
      }
      // Existing files can be kept.
      try write(2, 1)
      try muxer.finish()
      #expect(try Probe.samples(path).count == 2)
    }
  }

  @Test func fragmentsHoldEverySample() throws {
    let scratch = Scratch()
    var options = Muxer.Options()
    options.isFragmented = true
    let path = scratch.file("fragments.mp4")
    let source = try Fixture.movie()
    try copy(source, to: path, container: .mp4, options: options, cutEvery: 40)
    let found = try Probe.samples(path)
    let expected = try Probe.samples(source)
    #expect(found.map(\.hash) == expected.map(\.hash))
    #expect(found.map(\.pts) == expected.map(\.pts))
    #expect(found.map(\.isSync) == expected.map(\.isSync))
    #expect(try Tool.decodingErrors(path) == "")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(bytes.range(of: Data("moof".utf8)) != nil)
  }

  @Test func geometryAndColourAreKept() throws {
    let scratch = Scratch()
    let path = scratch.file("a.mov")
    try copy(Fixture.movie(), to: path, container: .mov) { track in
      guard track.kind == .video else { return }
      track.sampleAspectRatio = AVRational(num: 4, den: 3)
      track.colorPrimaries = AVCOL_PRI_BT709
      track.colorTransfer = AVCOL_TRC_BT709
      track.colorMatrix = AVCOL_SPC_BT709
      track.displayMatrix = [0, 65536, 0, -65536, 0, 0, 240 << 16, 0, 1 << 30]
      track.language = "fra"
    }
    let properties = try Probe.properties(
      path,
      "stream=sample_aspect_ratio,color_primaries,color_transfer,color_space:stream_tags=language:stream_side_data=rotation"
    )
    #expect(properties["sample_aspect_ratio"] == "4:3")
    #expect(properties["color_primaries"] == "bt709")
    #expect(properties["color_space"] == "bt709")
    #expect(properties["rotation"] == "-90")
    #expect(properties["TAG:language"] == "fra")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(bytes.range(of: Data("colr".utf8)) != nil)
    #expect(bytes.range(of: Data("pasp".utf8)) != nil)
  }

  @Test func theEndCanBeTrimmed() throws {
    let scratch = Scratch()
    let path = scratch.file("a.mp4")
    // 2 seconds of 30000/1001 frames in units of 1/30000: half of it.
    try copy(Fixture.movie(), to: path, container: .mp4, ends: [0: 30 * 1001, 1: 44100])
    let frames = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries",
      "stream=nb_read_frames", "-of",
      "csv=p=0", path,
    ])
    #expect(frames.trimmingCharacters(in: .whitespacesAndNewlines) == "30")
    let duration = try Double(Probe.properties(path, stream: nil, "format=duration")["duration"] ?? "") ?? 0
    #expect(abs(duration - 1.001) < 0.002)
  }

  @Test func failuresLeaveNothing() throws {
    let scratch = Scratch()
    let source = try Fixture.movie()
    // No such folder.
    #expect(throws: MediaFileError.self) {
      try copy(source, to: scratch.file("no/such/a.mov"), container: .mov)
    }
    // The name exists: the existing file stays.
    try Data("mine".utf8).write(to: scratch.url("taken.mov"))
    do {
      try copy(source, to: scratch.file("taken.mov"), container: .mov)
      Issue.record("no error")
    } catch let error as MediaFileError { #expect(error.kind == .fileExists) }
    #expect(try Data(contentsOf: scratch.url("taken.mov")) == Data("mine".utf8))
    // Something that no movie can hold.
    do {
      try copy(source, to: scratch.file("b.mp4"), container: .mp4) {
        if $0.kind == .video { $0.codecID = AV_CODEC_ID_FFV1 }
      }
      Issue.record("no error")
    } catch let error as MediaFileError { #expect(error.kind == .unsupportedFormat) }
    // Times that go back, cancelling, forgetting.
    let demuxer = try Demuxer(url: source)
    let tracks = try demuxer.streams.map { try MuxerTrack(copying: $0) }
    let packet = try #require(try demuxer.next())
    do {
      let muxer = try Muxer(path: scratch.file("c.mov"), container: .mov, tracks: tracks, options: .init())
      let sample = Muxer.Sample(track: 0, pts: 10, dts: 10, duration: 1, isSync: true)
      try muxer.write(sample, bytes: UnsafeRawBufferPointer(packet.bytes))
      do {
        try muxer.write(sample, bytes: UnsafeRawBufferPointer(packet.bytes))
        Issue.record("no error")
      } catch { #expect((error as? MediaFileError)?.kind == .badTiming) }
      muxer.cancel()
      #expect(throws: MediaFileError.self) {
        try muxer.write(sample, bytes: UnsafeRawBufferPointer(packet.bytes))
      }
    }
    do {
      let muxer = try Muxer(path: scratch.file("d.mov"), container: .mov, tracks: tracks, options: .init())
      let sample = Muxer.Sample(track: 0, pts: 10, dts: 10, duration: 1, isSync: true)
      try muxer.write(sample, bytes: UnsafeRawBufferPointer(packet.bytes))
    }
    #expect(scratch.contents == ["taken.mov"])
  }

  @Test func aFullDiskLeavesNothing() async throws {
    // A limit of the file size simulates a full disk, in a process of its own.
    await #expect(processExitsWith: .success) {
      let scratch = Scratch()
      let source = try Fixture.movie()
      signal(SIGXFSZ, SIG_IGN)
      var tight = rlimit(rlim_cur: 50_000, rlim_max: 50_000)
      setrlimit(__rlimit_resource_t(1), &tight)
      for fragmented in [false, true] {
        var options = Muxer.Options()
        options.isFragmented = fragmented
        let path = scratch.file("full-\(fragmented).mov")
        var kind: MediaFileError.Kind?
        do {
          try MuxerTests().copy(source, to: path, container: .mov, options: options, cutEvery: 30)
        } catch { kind = (error as? MediaFileError)?.kind }
        try #require(kind == .diskFull)
        // A fragmented movie keeps its complete fragments, by design; the other leaves nothing.
        try #require(scratch.contents == (fragmented ? ["full-true.mov"] : []))
        if fragmented { try #require(Tool.decodingErrors(path) == "") }
      }
    }
  }

  @Test func segmentsBeginWithTheHeader() throws {
    let demuxer = try Demuxer(url: Fixture.movie())
    let tracks = try demuxer.streams.map { try MuxerTrack(copying: $0) }
    let muxer = try Muxer(segmentsOf: .mp4, tracks: tracks, options: .init())
    var segments: [Data] = []
    func cut() throws {
      try muxer.cutFragment()
      let header = muxer.takeInitialization()
      if !header.isEmpty { segments.append(header) }
      segments.append(muxer.takeSegment())
    }
    var count = 0
    while let packet = try demuxer.next() {
      if packet.streamIndex == 0, packet.isKeyFrame, count > 0 { try cut() }
      try muxer.write(
        Muxer.Sample(
          track: packet.streamIndex, pts: packet.pts ?? 0, dts: packet.dts ?? 0, duration: packet.duration,
          isSync: packet.isKeyFrame), bytes: UnsafeRawBufferPointer(packet.bytes))
      count += 1
    }
    try cut()
    try muxer.finish()
    let rest = muxer.takeSegment()
    #expect(rest.isEmpty)
    let keyFrames = try Probe.samples(Fixture.movie()).filter(\.isSync).count
    let types = segments.map { String(decoding: $0[4..<8], as: UTF8.self) }
    #expect(types == ["ftyp"] + Array(repeating: "moof", count: keyFrames))
    let scratch = Scratch()
    try segments.reduce(Data(), +).write(to: scratch.url("joined.mp4"))
    #expect(
      try Probe.samples(scratch.file("joined.mp4")).map(\.hash) == Probe.samples(Fixture.movie()).map(\.hash))
  }
}
