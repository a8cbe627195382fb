// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreVideo
import Foundation
import Testing

@testable import FFmpegMedia

/// A stream that ffmpeg makes for a test.
struct TestStream: Sendable, CustomStringConvertible {
  let name: String
  let arguments: [String]
  let codec: CodecType
  /// The format that ffmpeg decodes to, for the comparison.
  var pixelFormat = "yuv420p"
  var isFullRange = false
  var container = "mp4"
  var size = "352x288"
  var description: String { name }

  static let h264Plain = TestStream(
    name: "H.264 without reordering", arguments: ["-c:v", "libx264", "-bf", "0", "-g", "20"], codec: .h264)
  static let h264Pyramid = TestStream(
    name: "H.264 with a B pyramid",
    arguments: ["-c:v", "libx264", "-bf", "3", "-x264-params", "b-pyramid=normal:open-gop=1:keyint=25"],
    codec: .h264)

  static let inPlace = [
    h264Plain, h264Pyramid,
    TestStream(
      name: "H.264, several slices", arguments: ["-c:v", "libx264", "-x264-params", "slices=4"], codec: .h264),
    TestStream(
      name: "H.264, interlaced",
      arguments: ["-c:v", "libx264", "-flags", "+ildct+ilme", "-x264-params", "tff=1"],
      codec: .h264),
    TestStream(
      name: "H.264, cropped", arguments: ["-c:v", "libx264", "-bf", "2"], codec: .h264, size: "350x282"),
    TestStream(
      name: "H.264, full range",
      arguments: ["-vf", "scale=out_range=pc", "-color_range", "pc", "-c:v", "libx264", "-bf", "2"],
      codec: .h264,
      pixelFormat: "yuvj420p", isFullRange: true),
    TestStream(
      name: "H.264, 10 bits", arguments: ["-pix_fmt", "yuv420p10", "-c:v", "libx264", "-bf", "2"],
      codec: .h264,
      pixelFormat: "yuv420p10le"),
    TestStream(
      name: "H.264 4:2:2", arguments: ["-pix_fmt", "yuv422p", "-c:v", "libx264", "-bf", "2"], codec: .h264,
      pixelFormat: "yuv422p"),
    TestStream(
      name: "HEVC", arguments: ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"],
      codec: .hevc),
    TestStream(
      name: "HEVC, cropped, open GOP",
      arguments: [
        "-c:v", "libx265", "-x265-params", "log-level=none:keyint=10:open-gop=1", "-tag:v", "hvc1",
      ],
      codec: .hevc, size: "350x282"),
    TestStream(
      name: "HEVC Main 10",
      arguments: [
        "-pix_fmt", "yuv420p10", "-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1",
      ],
      codec: .hevc, pixelFormat: "yuv420p10le"),
  ]

  static let others = [
    TestStream(
      name: "MPEG-4 part 2", arguments: ["-c:v", "mpeg4", "-bf", "2"],
      codec: CodecType(rawValue: fourCharacterCode("mp4v"))),
    TestStream(
      name: "Motion JPEG", arguments: ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"],
      codec: CodecType(rawValue: fourCharacterCode("jpeg")), pixelFormat: "yuvj420p", isFullRange: true,
      container: "mov"),
    TestStream(
      name: "VP9", arguments: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"],
      codec: CodecType(rawValue: fourCharacterCode("vp09"))),
  ]

  /// Writes the movie into a temporary folder.
  func make(seconds: Double = 1.2) throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).\(container)")
    let movie = try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=25", "-t", "\(seconds)", "-pix_fmt", "yuv420p"] + arguments
        + ["-f", container])
    try Data(movie).write(to: url)
    return url
  }
}

/// The packets of a movie's only track.
struct TestMovie {
  var record: [UInt8] = []
  var packets: [(bytes: [UInt8], time: Int64, isKey: Bool)] = []

  init(_ url: URL) throws {
    let demuxer = try Demuxer(url: url.path)
    let stream = try #require(demuxer.streams.first)
    record = [UInt8](stream.codec.extradata)
    while let packet = try demuxer.next() {
      packets.append(([UInt8](packet.bytes), try #require(packet.pts), packet.isKeyFrame))
    }
  }

  /// Makes nonsense of the middle third of packets.
  mutating func spoilMiddles(_ indices: Range<Int>) {
    for index in indices {
      let count = packets[index].bytes.count
      for place in count / 3..<2 * count / 3 { packets[index].bytes[place] ^= 0xA5 }
    }
  }

  func decode(
    _ decoder: FFmpegVideoDecoder, _ output: (_ packet: Int, DecodedFrame) -> Void
  ) {
    for (index, packet) in packets.enumerated() {
      packet.bytes.withUnsafeBytes { bytes in
        decoder.decode(
          CompressedPacket(
            data: bytes, token: Int64(index), presentationTime: packet.time, isKeyFrame: packet.isKey)
        ) { output(index, $0) }
      }
    }
    _ = decoder.flush { output(packets.count, $0) }
  }
}

/// The samples of a picture as ffmpeg's planar formats store them.
func planarSamples(_ buffer: CVPixelBuffer, _ pixelFormat: String) throws -> [UInt8] {
  let (view, info) = try PixelConverter.view(buffer)
  let format = SemiPlanarPair(semiPlanar: info.format)?.planar ?? info.format
  let layout = PlaneLayout(format)
  let memory = try #require(PictureMemory(format: format, width: view.width, height: view.height))
  if format == view.format {
    PlaneCopy.copy(view, to: memory.view)
  } else {
    #expect(PlaneCopy.rearrange(view, to: memory.view))
  }
  var samples: [UInt8] = []
  for plane in 0..<layout.planeCount {
    let base = try #require(memory.view.planes[plane])
    for row in 0..<layout.rows(view.height, inPlane: plane) {
      samples += UnsafeBufferPointer(
        start: base + row * Int(memory.view.strides[plane]),
        count: layout.samples(view.width, inPlane: plane) * layout.bytesPerSample[plane])
    }
  }
  return samples
}

@Suite(.enabled(if: FFmpegTool.isAvailable)) struct FFmpegVideoDecoderTests {
  enum Mode: CaseIterable { case presentation, decodingWithThreads, early }

  private func configuration(_ mode: Mode, _ stream: TestStream, _ movie: TestMovie)
    -> VideoDecoderConfiguration
  {
    var configuration = VideoDecoderConfiguration(codec: stream.codec, configurationRecord: movie.record)
    configuration.threads = 3
    configuration.order = mode == .presentation ? .presentation : .decoding
    configuration.isLowDelay = mode == .early
    return configuration
  }

  @Test(arguments: TestStream.inPlace + TestStream.others, Mode.allCases)
  func samplesAreFFmpegs(stream: TestStream, mode: Mode) throws {
    let url = try stream.make()
    defer { try? FileManager.default.removeItem(at: url) }
    let expected = try FFmpegTool.run(["-i", url.path, "-pix_fmt", stream.pixelFormat, "-f", "rawvideo"])
    let movie = try TestMovie(url)
    let decoder = try FFmpegVideoDecoder(configuration(mode, stream, movie))

    var pictures: [(time: Int64, samples: [UInt8])] = []
    var tokens: [Int64] = []
    movie.decode(decoder) { packet, frame in
      tokens.append(frame.token)
      guard case .picture(let picture) = frame.outcome else {
        Issue.record("packet \(frame.token): \(frame.outcome)")
        return
      }
      #expect(picture.isFullRange == stream.isFullRange)
      if mode == .early, TestStream.inPlace.contains(where: { $0.name == stream.name }) {
        #expect(Int64(packet) == frame.token, "a picture came late")
      }
      let samples = try? planarSamples(picture.pixelBuffer, stream.pixelFormat)
      pictures.append((movie.packets[Int(frame.token)].time, samples ?? []))
    }
    #expect(tokens.sorted() == Array(0..<Int64(movie.packets.count)))
    if mode != .presentation { #expect(tokens == tokens.sorted()) }
    if mode == .presentation { #expect(pictures.map(\.time) == pictures.map(\.time).sorted()) }
    let samples = pictures.sorted { $0.time < $1.time }.flatMap(\.samples)
    #expect(samples.count == expected.count)
    let isSame = samples == expected
    #expect(isSame)
  }

  /// The format that the caller prefers is taken if it shows the picture as it is; others are not.
  @Test func thePreferredFormatIsTakenWhereItFits() throws {
    let url = try TestStream.h264Plain.make(seconds: 0.2)
    defer { try? FileManager.default.removeItem(at: url) }
    let movie = try TestMovie(url)
    let expected = try FFmpegTool.run(["-i", url.path, "-pix_fmt", "yuv420p", "-f", "rawvideo"])
    for (wishes, format) in [
      ([PictureFormat.i420VideoRange], kCVPixelFormatType_420YpCbCr8Planar),
      ([.i420FullRange, .p010VideoRange], kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange),
      ([.nv12VideoRange, .i420VideoRange], kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange),
    ] {
      var configuration = VideoDecoderConfiguration(codec: .h264, configurationRecord: movie.record)
      configuration.preferredFormats = wishes
      var samples: [UInt8] = []
      movie.decode(try FFmpegVideoDecoder(configuration)) { _, frame in
        guard case .picture(let picture) = frame.outcome else { return }
        #expect(CVPixelBufferGetPixelFormatType(picture.pixelBuffer) == format)
        samples += (try? planarSamples(picture.pixelBuffer, "yuv420p")) ?? []
      }
      let isSame = samples == expected
      #expect(isSame)
    }
  }

  /// Buffers come from the allocator, and are never copied, for 8-bit 4:2:0.
  @Test func decodesIntoTheAllocatorsBuffers() throws {
    let url = try TestStream.h264Pyramid.make()
    defer { try? FileManager.default.removeItem(at: url) }
    let movie = try TestMovie(url)
    let allocator = CountingAllocator()
    var configuration = configuration(.early, .h264Pyramid, movie)
    configuration.allocator = allocator
    var pictures = 0
    movie.decode(try FFmpegVideoDecoder(configuration)) { _, frame in
      if case .picture(let picture) = frame.outcome, allocator.made(picture.pixelBuffer) { pictures += 1 }
    }
    #expect(pictures == movie.packets.count)
    #expect(allocator.count == movie.packets.count)
  }

  @Test(arguments: Mode.allCases) func selectedFramesAloneAreDecoded(mode: Mode) throws {
    let stream = TestStream.h264Pyramid
    let url = try stream.make(seconds: 2.4)
    defer { try? FileManager.default.removeItem(at: url) }
    let movie = try TestMovie(url)
    var counts: [Int] = []
    for selection in [FrameSelection.all, .references, .intra, .keyFrames] {
      var configuration = configuration(mode, stream, movie)
      configuration.selection = selection
      let decoder = try FFmpegVideoDecoder(configuration)
      #expect(decoder.selection == selection)
      var pictures = 0
      var outcomes = 0
      movie.decode(decoder) { _, frame in
        outcomes += 1
        if case .picture = frame.outcome { pictures += 1 }
        if case .failed(let error) = frame.outcome { Issue.record("\(error)") }
      }
      #expect(outcomes == movie.packets.count)
      counts.append(pictures)
    }
    #expect(counts[0] == movie.packets.count)
    #expect(counts[1] < counts[0] && counts[2] < counts[1] && counts[3] <= counts[2] && counts[3] > 0)
  }

  /// Every packet has its outcome, whatever is wrong with it; with the next key frame all is well
  /// again.
  @Test(arguments: [TestStream.h264Plain, .h264Pyramid, TestStream.inPlace[9]], Mode.allCases)
  func everyDamagedPacketHasItsOutcome(stream: TestStream, mode: Mode) throws {
    let url = try stream.make(seconds: 3)
    defer { try? FileManager.default.removeItem(at: url) }
    var movie = try TestMovie(url)
    let original = movie
    var random = SplitMix(state: 7)
    for index in movie.packets.indices where index % 6 == 4 && index < movie.packets.count / 2 {
      let count = movie.packets[index].bytes.count
      switch index % 4 {
      case 0: movie.packets[index].bytes = Array(movie.packets[index].bytes.prefix(count / 2))
      case 1: movie.packets[index].bytes = []
      case 2: movie.packets[index].bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      default:
        for _ in 0..<8 {
          movie.packets[index].bytes[Int(random.next() % UInt64(count))] ^= UInt8(random.next() % 255)
        }
      }
    }
    var reference: [Int64: [UInt8]] = [:]
    original.decode(try FFmpegVideoDecoder(configuration(mode, stream, movie))) { _, frame in
      if case .picture(let picture) = frame.outcome {
        reference[frame.token] = try? planarSamples(picture.pixelBuffer, "yuv420p")
      }
    }
    var outcomes: [Int64: Bool] = [:]
    var samples: [Int64: [UInt8]] = [:]
    movie.decode(try FFmpegVideoDecoder(configuration(mode, stream, movie))) { _, frame in
      #expect(outcomes[frame.token] == nil, "two outcomes")
      if case .picture(let picture) = frame.outcome {
        outcomes[frame.token] = true
        samples[frame.token] = try? planarSamples(picture.pixelBuffer, "yuv420p")
      } else {
        outcomes[frame.token] = false
      }
    }
    #expect(outcomes.count == movie.packets.count)
    #expect(outcomes.values.contains(false))
    let half = movie.packets.count / 2
    if let key = movie.packets.indices.first(where: { $0 > half && movie.packets[$0].isKey }) {
      let keyTime = movie.packets[key].time
      for index in key..<movie.packets.count where movie.packets[index].time >= keyTime {
        let isWhole = samples[Int64(index)] != nil && samples[Int64(index)] == reference[Int64(index)]
        #expect(isWhole, "packet \(index)")
      }
    } else {
      Issue.record("no key frame in the second half")
    }
  }

  /// Concealed pictures are reported, however many threads decode: each time the same.
  @Test func concealmentIsReportedByEveryThread() throws {
    let url = try TestStream.h264Pyramid.make(seconds: 3)
    defer { try? FileManager.default.removeItem(at: url) }
    var movie = try TestMovie(url)
    movie.spoilMiddles(13..<20)
    func damaged(threads: Int) throws -> [Int64] {
      var configuration = VideoDecoderConfiguration(codec: .h264, configurationRecord: movie.record)
      configuration.threads = threads
      configuration.concealsDamage = true
      var found: [Int64] = []
      movie.decode(try FFmpegVideoDecoder(configuration)) { _, frame in
        if case .picture(let picture) = frame.outcome, picture.isDamaged { found.append(frame.token) }
      }
      return found.sorted()
    }
    let alone = try damaged(threads: 1)
    #expect(alone.count >= 5)
    for threads in [2, 4, 4, 4, 8, 8] {
      #expect(try damaged(threads: threads) == alone, "\(threads) threads")
    }
  }

  /// Pictures of several slices, decoded at once by a decoder that is offered several threads: as
  /// by one.
  @Test(arguments: [true, false]) func damagedSlicesAreReportedAtOnce(conceals: Bool) throws {
    let stream = TestStream(
      name: "slices", arguments: ["-c:v", "libx264", "-bf", "0", "-x264-params", "slices=4"], codec: .h264)
    let url = try stream.make(seconds: 2)
    defer { try? FileManager.default.removeItem(at: url) }
    var movie = try TestMovie(url)
    movie.spoilMiddles(13..<20)
    func bad(threads: Int) throws -> [Int64] {
      var configuration = VideoDecoderConfiguration(codec: .h264, configurationRecord: movie.record)
      (configuration.threads, configuration.isLowDelay) = (threads, true)
      (configuration.order, configuration.concealsDamage) = (.decoding, conceals)
      var found: [Int64] = []
      movie.decode(try FFmpegVideoDecoder(configuration)) { _, frame in
        if case .picture(let picture) = frame.outcome, !picture.isDamaged { return }
        found.append(frame.token)
      }
      return found.sorted()
    }
    let alone = try bad(threads: 1)
    #expect(alone.count >= 5)
    for threads in [0, 4] { #expect(try bad(threads: threads) == alone, "\(threads) threads") }
  }

  /// Another cropping or range of the pictures in mid-stream leaves the references where they were,
  /// in memory of the same kind.
  @Test(
    arguments: Mode.allCases, [["crop_left=4"], ["crop_top=2", "crop_right=6"], ["video_full_range_flag=1"]])
  func anotherCroppingLeavesTheReferences(mode: Mode, changes: [String]) throws {
    let (width, height) = (176, 144)
    let stream = try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=\(width)x\(height):r=25", "-t", "0.48", "-pix_fmt", "yuv420p", "-c:v",
      "libx264", "-bf", "0", "-x264-params", "keyint=100:scenecut=0:slices=1:ref=3", "-f", "h264",
    ])
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).264")
    try Data(stream).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let other = try FFmpegTool.run([
      "-f", "h264", "-i", url.path, "-c", "copy", "-bsf:v", "h264_metadata=" + changes.joined(separator: ":"),
      "-f", "h264",
    ])
    func units(_ bytes: [UInt8]) -> [[UInt8]] {
      var starts: [Int] = []
      for place in 0..<max(bytes.count - 3, 0)
      where bytes[place] == 0 && bytes[place + 1] == 0 && bytes[place + 2] == 1 { starts.append(place + 3) }
      return zip(starts, starts.dropFirst().map { $0 - 3 } + [bytes.count]).map { Array(bytes[$0..<$1]) }
    }
    let parameters = units(other).filter { [7, 8].contains($0.first.map { $0 & 31 }) }
    #expect(parameters.count == 2)
    var packets: [[UInt8]] = []
    var waiting: [UInt8] = []
    for unit in units(stream) {
      let isSlice = [1, 5].contains(unit.first.map { $0 & 31 } ?? 0)
      if isSlice, packets.count == 5 { for set in parameters { waiting += [0, 0, 0, 1] + set } }
      waiting += [0, 0, 0, 1] + unit
      if isSlice {
        packets.append(waiting)
        waiting = []
      }
    }
    #expect(packets.count == 12)
    let reference = try FFmpegTool.run([
      "-f", "h264", "-i", url.path, "-f", "rawvideo", "-pix_fmt", "yuv420p",
    ])
    var movie = try TestMovie(url)
    movie.packets = packets.enumerated().map { ($1, Int64($0), $0 == 0) }
    movie.record = []
    var configuration = configuration(mode, .h264Plain, movie)
    configuration.threads = 3
    var pictures: [Int64: DecodedPicture] = [:]
    movie.decode(try FFmpegVideoDecoder(configuration)) { _, frame in
      if case .picture(let picture) = frame.outcome { pictures[frame.token] = picture }
    }
    #expect(pictures.count == 12)
    func value(_ name: String) -> Int {
      changes.first { $0.hasPrefix(name) }.flatMap { Int($0.split(separator: "=")[1]) } ?? 0
    }
    let (left, top, right) = (value("crop_left"), value("crop_top"), value("crop_right"))
    for (token, picture) in pictures {
      let isCropped = token >= 5
      let (x, y) = isCropped ? (left, top) : (0, 0)
      let size = isCropped ? (width - left - right, height - top) : (width, height)
      let found = try planarSamples(picture.pixelBuffer, "yuv420p")
      #expect(
        CVPixelBufferGetWidth(picture.pixelBuffer) == size.0
          && CVPixelBufferGetHeight(picture.pixelBuffer) == size.1)
      let frame = reference[(Int(token) * width * height * 3 / 2)...].prefix(width * height * 3 / 2)
      let start = frame.startIndex
      let wanted = (0..<size.1).flatMap { row in
        frame[(start + (row + y) * width + x)...].prefix(size.0)
      }
      #expect(Array(found.prefix(wanted.count)) == wanted, "picture \(token)")
    }
  }

  /// A picture that is to be seen from the fourth row and column on is one of its own rows and
  /// columns.
  @Test(.enabled(if: FFmpegTool.encodes("libtheora"))) func theoraFromOddCornersShowsItsOwnSamples() throws {
    let (width, height) = (64, 48)
    let whole = try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=\(width)x\(height):r=25", "-frames:v", "3", "-pix_fmt", "yuv420p",
      "-c:v", "libtheora", "-f", "matroska",
    ])
    func pictures(_ bytes: [UInt8]) throws -> [CVPixelBuffer] {
      let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mkv")
      try Data(bytes).write(to: url)
      defer { try? FileManager.default.removeItem(at: url) }
      let movie = try TestMovie(url)
      var configuration = VideoDecoderConfiguration(
        codec: CodecType(rawValue: 0), configurationRecord: movie.record)
      configuration.formatDescription = try Demuxer(url: url.path).streams.first?.makeFormatDescription()
      var found: [CVPixelBuffer] = []
      movie.decode(try FFmpegVideoDecoder(configuration)) { _, frame in
        if case .picture(let picture) = frame.outcome { found.append(picture.pixelBuffer) }
      }
      return found
    }
    // The identification header (Theora specification, 6.2): the size of what is seen, its lower
    // left corner.
    let name = [0x80] + Array("theora".utf8)
    let place = try #require(whole.indices.first { whole[$0...].starts(with: name) })
    let size = (width: width - 3, height: height - 3)
    var cropped = whole
    cropped.replaceSubrange(
      place + 14..<place + 22,
      with: [0, 0, UInt8(size.width), 0, 0, UInt8(size.height), 3, 0])
    let (all, parts) = (try pictures(whole), try pictures(cropped))
    #expect(all.count == 3 && parts.count == 3)
    for (picture, part) in zip(all, parts) {
      let samples = try planarSamples(picture, "yuv420p")
      var expected: [UInt8] = []
      var base = 0
      // Luma from the third row and column on, chroma from the second.
      for shift in [0, 1, 1] {
        let (columns, rows) = ((size.width + shift) >> shift, (size.height + shift) >> shift)
        for row in 0..<rows {
          let start = base + (row + (2 >> shift)) * (width >> shift) + (2 >> shift)
          expected += samples[start..<start + columns]
        }
        base += (width >> shift) * (height >> shift)
      }
      let isSame = try planarSamples(part, "yuv420p") == expected
      #expect(isSame)
    }
  }

  @Test func refusesWhatItDoesNotKnow() {
    #expect(!FFmpegVideoDecoder.description.supports(CodecType(rawValue: 0x3F3F_3F3F)))
    #expect(throws: CodecError.self) {
      try FFmpegVideoDecoder(VideoDecoderConfiguration(codec: CodecType(rawValue: 0x3F3F_3F3F)))
    }
    #expect(throws: CodecError.self) {
      try FFmpegVideoDecoder(
        VideoDecoderConfiguration(codec: .h264, configurationRecord: [1, 2, 3, 4, 5, 6, 7, 8]))
    }
  }
}

private final class CountingAllocator: PictureAllocator, @unchecked Sendable {
  private let lock = NSLock()
  private var buffers: [ObjectIdentifier: CVPixelBuffer] = [:]

  var count: Int { lock.withLock { buffers.count } }
  func made(_ buffer: CVPixelBuffer) -> Bool { lock.withLock { buffers[ObjectIdentifier(buffer)] != nil } }

  func makePixelBuffer(_ request: PictureRequest) -> CVPixelBuffer? {
    let attributes: [CFString: Any] = [
      kCVPixelBufferExtendedPixelsRightKey: request.extraRight,
      kCVPixelBufferExtendedPixelsBottomKey: request.extraBottom,
      kCVPixelBufferBytesPerRowAlignmentKey: request.rowAlignment,
    ]
    var buffer: CVPixelBuffer?
    guard
      CVPixelBufferCreate(
        nil, request.width, request.height, request.format.rawValue, attributes as CFDictionary, &buffer)
        == kCVReturnSuccess, let buffer
    else { return nil }
    lock.withLock { buffers[ObjectIdentifier(buffer)] = buffer }
    return buffer
  }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
