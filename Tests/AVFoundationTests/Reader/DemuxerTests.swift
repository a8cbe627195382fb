// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation
import Testing

@testable import FFmpegMedia

/// The demuxer against ffprobe: every time, flag, size and byte.
@Suite struct DemuxerTests {
  private func samples(_ path: String, kind: MediaStream.Kind) throws -> [ProbedSample] {
    let demuxer = try Demuxer(url: path)
    let stream = try #require(demuxer.streams.first { $0.kind == kind })
    demuxer.select([stream.index])
    var samples: [ProbedSample] = []
    while let packet = try demuxer.next() {
      let (num, den) = (Int(stream.timeBase.num), Int(stream.timeBase.den))
      func time(_ value: Int64?) -> String { value.map { rational(Int($0) * num, den) } ?? "none" }
      samples.append(
        ProbedSample(
          pts: time(packet.pts), dts: time(packet.dts), duration: time(packet.duration),
          size: packet.bytes.count, isSync: packet.isKeyFrame, hash: ""))
    }
    return samples
  }

  @Test func moviesGiveEverySampleAsFFprobeDoes() throws {
    for path in [
      try Fixture.movie(), try Fixture.movie("movie.mov"), try Fixture.movie("movie.mkv"), try Fixture.hevc(),
    ] {
      var probed = try Probe.samples(path, data: false)
      #expect(probed.count > 50)
      let found = try samples(path, kind: .video)
      // Where ffprobe has no decode time the demuxer makes one up.
      for index in probed.indices where probed[index].dts == "none" { probed[index].dts = found[index].dts }
      #expect(found == probed)
      let times = found.map { sample in sample.dts.split(separator: "/").compactMap { Double($0) } }.map {
        $0[0] / $0[1]
      }
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
    let path = try Fixture.movie()
    #expect(try samples(path, kind: .audio) == Probe.samples(path, stream: "a:0", data: false))
  }

  @Test func elementaryStreamsGetTheTimesOfTheMovie() throws {
    let movie = try Fixture.movie()
    let stream = try Fixture.make("same.264", ["-i", movie, "-c", "copy", "-bsf:v", "h264_mp4toannexb"])
    let expected = try Probe.samples(movie, data: false)
    let found = try samples(stream, kind: .video)
    #expect(found.map(\.pts) == expected.map(\.pts))
    #expect(found.map(\.dts) == expected.map(\.dts))
    #expect(found.map(\.isSync) == expected.map(\.isSync))

    let hevc = try Fixture.hevc()
    let hevcStream = try Fixture.make("same.265", ["-i", hevc, "-c", "copy", "-bsf:v", "hevc_mp4toannexb"])
    #expect(try samples(hevcStream, kind: .video).map(\.pts) == Probe.samples(hevc, data: false).map(\.pts))
  }

  /// libavformat leaves a tag before the stream out.
  @Test(arguments: [false, true]) func tagsBeforeElementaryStreamsAreLeftOut(isHEVC: Bool) throws {
    let plain =
      isHEVC
      ? try Fixture.make(
        "tagless.265", ["-i", try Fixture.hevc(), "-c", "copy", "-bsf:v", "hevc_mp4toannexb"])
      : try Fixture.elementary()
    let scratch = Scratch()
    let tagged = scratch.url(isHEVC ? "tagged.265" : "tagged.264")
    let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 4, 0] + [UInt8](repeating: 0, count: 512)
    try (Data(tag) + Data(contentsOf: URL(fileURLWithPath: plain))).write(to: tagged)
    let expected = try Demuxer(url: plain)
    let found = try Demuxer(url: tagged.path)
    var count = 0
    while let packet = try expected.next() {
      let other = try #require(try found.next())
      #expect(other.bytes.elementsEqual(packet.bytes) && other.pts == packet.pts)
      #expect(other.filePosition == packet.filePosition + Int64(tag.count))
      count += 1
    }
    #expect(count > 50)
    #expect(try found.next() == nil)
  }

  @Test func seekingArrivesAtOrBeforeTheTime() throws {
    for path in [
      try Fixture.movie(), try Fixture.movie("movie.mkv"), try Fixture.elementary(), try Fixture.hevc(),
    ] {
      let demuxer = try Demuxer(url: path)
      let stream = try #require(demuxer.streams.first { $0.kind == .video })
      demuxer.select([stream.index])
      var all: [(pts: Int64, key: Bool)] = []
      while let packet = try demuxer.next() { all.append((packet.pts ?? -1, packet.isKeyFrame)) }
      for target in all.map(\.pts) {
        try demuxer.seek(stream: stream.index, to: target)
        let packet = try #require(try demuxer.next())
        let best = all.filter { $0.key && $0.pts <= target }.map(\.pts).max()
        #expect(packet.isKeyFrame)
        #expect(packet.pts == best, "\(path): \(target)")
      }
      try demuxer.rewind()
      var count = 0
      while try demuxer.next() != nil { count += 1 }
      #expect(count == all.count)
    }
  }

  @Test func badFilesGiveClearErrors() throws {
    let scratch = Scratch()
    func kind(_ name: String, _ data: Data?) throws -> MediaFileError? {
      if let data { try data.write(to: scratch.url(name)) }
      do {
        let demuxer = try Demuxer(url: scratch.file(name))
        demuxer.select([0])
        while try demuxer.next() != nil {}
        return nil
      } catch { return error as? MediaFileError }
    }
    #expect(try kind("absent.mp4", nil)?.kind == .notFound)
    #expect(try kind("text.mp4", Data("This is not a movie.\n".utf8))?.kind == .notRecognized)
    #expect(try kind("empty.mp4", Data())?.kind == .notRecognized)
    let movie = try Data(contentsOf: URL(fileURLWithPath: Fixture.movie()))
    // Without the index, which comes last, nothing can be read.
    let headless = try #require(try kind("headless.mp4", movie.prefix(movie.count / 2)))
    #expect(headless.detail.contains("moov atom not found"))
    let fast = try Data(
      contentsOf: URL(
        fileURLWithPath: Fixture.make(
          "fast.mp4", ["-i", Fixture.movie(), "-c", "copy", "-movflags", "+faststart"])))
    #expect(try kind("truncated.mp4", fast.prefix(fast.count * 2 / 3))?.kind == .damaged)
    #expect(try kind("whole.mp4", fast) == nil)
    #expect(try Demuxer(url: scratch.file("whole.mp4")).streams.count == 2)
    #expect(throws: MediaFileError.self) { try Demuxer(url: scratch.path) }
  }

  @Test func resetPictureCountsStartANewOrder() {
    // Two groups without an IDR between them: the counts fall back to zero.
    let first = (0..<40).map { (order: $0 * 2, startsSequence: $0 == 0) }
    let second = [0, 4, 2, 8, 6].map { (order: $0, startsSequence: false) }
    let ranks = ElementaryStreamIndex.presentationRanks(first + second)
    #expect(ranks == Array(0..<40) + [40, 42, 41, 44, 43])
  }
}
