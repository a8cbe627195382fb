// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation
import Testing

@testable import FFmpegMedia

/// Times and durations at the ends of what a file can hold: they are joined, filled in and moved
/// without an overflow.
@Suite struct ExtremeTimesTests {
  /// The lowest number means no time.
  private static let times: [Int64] = [
    .min + 1, .max, .min + 1, 0, .max, .max, .min + 4096, .min + 4097, 1 << 62, -(1 << 62), .max - 1, 5,
  ]

  private func stream(
    _ kind: MediaStream.Kind, timeBase: AVRational, rate: AVRational = AVRational(num: 0, den: 1),
    _ configure: (inout AVCodecParameters) -> Void = { _ in }
  ) throws -> MediaStream {
    var parameters: UnsafeMutablePointer<AVCodecParameters>? = avcodec_parameters_alloc()
    defer { avcodec_parameters_free(&parameters) }
    guard let source = parameters else { throw Failure() }
    configure(&source.pointee)
    guard let codec = CodecParameters(copying: source) else { throw Failure() }
    return MediaStream(
      index: 0, trackID: 1, kind: kind, codec: codec, timeBase: timeBase, startTime: 0, duration: 0,
      sampleCount: nil, sampleBytes: nil, shortestSample: nil, lastSample: nil, averageFrameRate: rate,
      sampleAspectRatio: AVRational(num: 0, den: 1), reorderDepth: 0, displayMatrix: nil, isDefault: true,
      metadata: [:], parameterSets: [], isAnnexB: false)
  }

  private struct Failure: Error {}

  private func packet(size: Int = 1, pts: Int64? = nil, dts: Int64? = nil, duration: Int64 = 0) throws
    -> MediaPacket
  {
    guard let packet = MediaPacket(size: size) else { throw Failure() }
    if let pts { packet.pointer.pointee.pts = pts }
    if let dts { packet.pointer.pointee.dts = dts }
    packet.pointer.pointee.duration = duration
    for index in packet.bytes.indices { packet.bytes[index] = 0 }
    return packet
  }

  @Test(arguments: [true, false]) func jumpsOfTheClockDoNotOverflow(forward: Bool) throws {
    var continuity = TimeContinuity(jumpsForward: forward)
    for (index, time) in Self.times.enumerated() {
      let packet = try packet(pts: time, dts: time, duration: index % 3 == 0 ? .max : 1)
      continuity.correct(packet, timeBase: AVRational(num: 1, den: 1_000_000))
    }
    #expect(continuity.isBroken)
  }

  /// A clock that jumps with each packet is no more work than one that does not.
  @Test func jumpsWithEachPacketCostLittle() throws {
    var continuity = TimeContinuity(jumpsForward: true)
    let packets = [try packet(), try packet()]
    var last = -1
    var isRising = true
    var before = timespec()
    var after = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
    for index in 0..<60_000 {
      let packet = packets[index % 2]
      let time = Int64(index % 2 * 100_000 + index * 7)
      (packet.pointer.pointee.pts, packet.pointer.pointee.dts) = (time, time)
      continuity.correct(packet, timeBase: AVRational(num: 1, den: 1000))
      if Int(packet.dts ?? 0) <= last { isRising = false }
      last = Int(packet.dts ?? 0)
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
    #expect(after.tv_sec - before.tv_sec < 4)
    #expect(isRising && last < 60_000 * 2000)
  }

  @Test func durationsOfPacketsWithoutTimesDoNotOverflow() throws {
    let base = AVRational(num: 1, den: 1000)
    var audio = StreamTimes([try stream(.audio, timeBase: base)], TimeCorrections(), continuity: nil)
    for _ in 0..<4 { audio.add(try packet(duration: .max / 2)) }
    audio.finish()
    var pictures = StreamTimes([try stream(.video, timeBase: base)], TimeCorrections(), continuity: nil)
    for time in Self.times { pictures.add(try packet(pts: time, duration: 1 << 62)) }
    pictures.finish()
    var count = 0
    while audio.next() != nil { count += 1 }
    while pictures.next() != nil { count += 1 }
    #expect(count == 4 + Self.times.count)
  }

  @Test func originsAreFarAway() throws {
    let base = AVRational(num: 1, den: 1000)
    var properties = TimeCorrections()
    properties.origin = (value: .max - 1, base: base)
    properties.starts = [0: .min + 1]
    let moved = try stream(.audio, timeBase: base).shifted(properties)
    #expect(moved.startTime == Int64.min)
    for change in [Int64.min, .min + 1, .max] {
      for time in Self.times { try packet(pts: time, dts: time).shift(back: change) }
    }
  }

  @Test(arguments: [true, false]) func ordersOfPicturesDoNotOverflow(ticks: Bool) throws {
    // A frame lasts for nearly half of all the time there is.
    let long = try stream(
      .video, timeBase: AVRational(num: 1, den: 2_000_000_000), rate: AVRational(num: 1, den: 2_000_000_000))
    let times = PictureOrderTimes(ticks ? .ticks : .anchors, stream: long, depth: 16)
    var count = 0
    for (index, time) in Self.times.enumerated() {
      let packet = try packet(
        pts: ticks || index % 4 == 1 ? time : nil, dts: ticks ? time : nil, duration: 1 << 62)
      let place = OutputPosition(order: index ^ 1, startsSequence: index == 0)
      count += times.add(packet, place).count
    }
    count += times.finish().count
    #expect(count == Self.times.count)
  }

  /// A gap of ages is not audio: it would take as long to make as it lasts.
  @Test func audioAgesApartIsNotFilled() throws {
    let audio = try stream(.audio, timeBase: AVRational(num: 1, den: 1000)) {
      $0.codec_type = AVMEDIA_TYPE_AUDIO
      $0.codec_id = AV_CODEC_ID_PCM_S16LE
      $0.sample_rate = 48000
      $0.format = AV_SAMPLE_FMT_S16.rawValue
      av_channel_layout_default(&$0.ch_layout, 2)
    }
    for second in Self.times + [10_000, 61_000] {
      let decoder = try AudioDecoder(
        audio,
        format: AudioDecoder.Format(
          bits: 16, isFloat: false, isBigEndian: false, isInterleaved: true, sampleRate: 48000, channels: 2))
      var frames = 0
      for time in [0, second, 20, second] {
        try decoder.send(try packet(size: 4 * 480, pts: time, dts: time))
        while let chunk = try decoder.next() { frames += chunk.frames }
      }
      #expect(frames <= 4 * 480 + 48000 * 60)
    }
  }

  /// A presentation that is to end ages after its media ends with it; one that ends before is cut.
  @Test(arguments: [(Int64(1) << 58, 1200), (.max, 1200), (3, 1200), (1, 600), (0, 0), (-5, 0)])
  func tracksAreCutAtTheirEnds(end: Int64, duration: Int) throws {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
      MovieBox.bytes(content.count + 8) + Array(type.utf8) + content
    }
    func numbers(_ values: Int...) -> [UInt8] { values.flatMap { MovieBox.bytes($0) } }
    func movie(_ duration: Int) -> [UInt8] {
      let rest = [UInt8](repeating: 0, count: 60)
      let edits = box("edts", box("elst", numbers(0, 1, duration, 0, 0x10000)))
      return box(
        "moov",
        box("mvhd", numbers(0, 0, 0, 600, duration) + rest)
          + box("trak", box("tkhd", numbers(0, 0, 0, 1, 0, duration) + rest) + edits))
    }
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".mov")
    let file = try MuxerFile(finalPath: url.path, visible: true)
    defer { file.discard() }
    try file.write(movie(1200), at: 0)
    try MuxerEdits(file: file, movieTimeScale: 600).trim([0: end], timeScales: [1])
    #expect(file.read(at: 0, count: Int(file.size)) == movie(duration))
  }
}
