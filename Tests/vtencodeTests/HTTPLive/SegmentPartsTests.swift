// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import vtencode

/// Unit tests of the parts of the HTTP Live output.
@Suite struct SegmentPartsTests {
  @Test("A key frame is due at the first picture of each interval, in every pass, and after a pause")
  func keyFramesAreDueOnceInAnInterval() {
    var grid = KeyFrameGrid(interval: CMTime(value: 2, timescale: 1), isRepeated: true)
    func due(_ times: some Sequence<CMTime>) -> [CMTime] { times.filter { grid.isDue(at: $0) } }
    func seconds(_ values: Double...) -> [CMTime] {
      values.map { CMTime(value: CMTimeValue($0 * 1000), timescale: 1000) }
    }
    let times = (0..<300).map { CMTime(value: CMTimeValue($0) * 1001, timescale: 30_000) }
    let first = due(times)
    #expect(first.map { ($0.seconds * 1000).rounded() } == [2002, 4004, 6006, 8008])
    // Again, and a part of it.
    let again = due(times)
    let part = due(times[110..<130])
    #expect(again == first && part == [first[1]])
    // A pause of an hour, after which the grid is where it was; and times that no movie has.
    let later = due(seconds(3601, 3601.9, 3602, 3603.5))
    #expect(later == seconds(3601, 3602))
    let last = due([CMTime(value: .max, timescale: 1), .invalid])
    #expect(last == [CMTime(value: .max, timescale: 1)])
  }

  @Test(
    "The peak rate is that of runs between 0.5 and 1.5 target durations, compared with an exhaustive search")
  func thePeakIsThatOfAllRuns() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let target = Int.random(in: 1...6, using: &generator)
      let segments = (0..<40).map { _ in
        (
          bytes: Int.random(in: 1000...90_000, using: &generator),
          seconds: Double.random(in: 0.1...Double(target), using: &generator)
        )
      }
      var rate = SegmentRate(targetDuration: target)
      for segment in segments { rate.add(bytes: segment.bytes, seconds: segment.seconds) }
      var peak = 0.0
      for first in segments.indices {
        for last in first..<segments.count {
          let seconds = segments[first...last].reduce(0) { $0 + $1.seconds }
          guard seconds >= 0.5 * Double(target), seconds <= 1.5 * Double(target) else { continue }
          peak = max(peak, Double(segments[first...last].reduce(0) { $0 + $1.bytes }) * 8 / seconds)
        }
      }
      if peak > 0 { #expect(abs(rate.peak - peak) < 0.001 * peak) }
      let all = segments.reduce(0) { $0 + $1.seconds }
      #expect(abs(rate.average - Double(segments.reduce(0) { $0 + $1.bytes }) * 8 / all) < 1)
    }
  }

  @Test("Codec strings follow RFC 6381 and ISO/IEC 14496-15")
  func codecsHaveTheirNames() {
    #expect(CodecString.avc("avc1", [1, 0x64, 0, 0x1F, 0xFF]) == "avc1.64001F")
    #expect(CodecString.avc("avc1", [1, 0x64]) == nil)
    // Main, level 3.1 (93), main tier, the flags 0xB0: the example of annex E.
    let main: [UInt8] = [1, 1, 0x60, 0, 0, 0, 0xB0, 0, 0, 0, 0, 0, 93]
    #expect(CodecString.hevc("hvc1", main) == "hvc1.1.6.L93.B0")
    let high: [UInt8] = [1, 0x62, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 120]
    #expect(CodecString.hevc("hvc1", high) == "hvc1.A2.4.H120")
    #expect(CodecString.objectType(inCookie: [0x12, 0x10]) == 2)
    #expect(CodecString.objectType(inCookie: [0xF9, 0x48]) == 42)
    let descriptors: [UInt8] =
      [3, 25, 0, 1, 0, 4, 17, 0x40, 0x15] + [UInt8](repeating: 0, count: 11) + [5, 2, 0x2B, 0x92]
    #expect(CodecString.objectType(inCookie: descriptors) == 5)
    // A truncated name has no type, and does not end the search.
    for length in 0..<descriptors.count {
      let type = CodecString.objectType(inCookie: Array(descriptors.prefix(length)))
      #expect(type == nil, "\(length)")
    }
  }

  @Test("Names need no escapes in a URL, and a run recognises only its own files")
  func namesNeedNoEscapes() {
    #expect(SegmentNames(playlist: "/a/my talk é.m3u8").stem == "my~20talk~20~c3~a9")
    #expect(SegmentNames(name: "a~20b").stem != SegmentNames(name: "a b").stem)
    #expect(SegmentNames.renditions(heights: [720, 720, 360]) == ["720p", "720p-2", "360p"])
    let names = SegmentNames(name: "talk")
    for file in [
      "talk-720p.m3u8", "talk-720p-2-init-0.mp4", "talk-720p-7.m4s", "talk-sound-2-7.3.m4s",
      "talk-sound-12.mp4", "talk.mpd", "talk-720p-2-iframes.m3u8",
    ] { #expect(names.owns(file), "\(file)") }
    for file in [
      "talk.m3u8", "talk.mp4", "talk-720p.mp4", "talk-notes.m3u8", "talk-720p-7.m4s.bak", "talk2-720p-7.m4s",
      "-720p-7.m4s",
      "talk-720p-init.mp4", "talk-720px-7.m4s",
    ] { #expect(!names.owns(file), "\(file)") }
  }

  @Test("A window keeps three target durations, and counts the removed discontinuities")
  func aWindowKeepsThreeTargets() {
    var playlist = MediaPlaylist(targetDuration: 4, kind: .window)
    for number in 0..<8 {
      playlist.segments.append(
        MediaPlaylist.Segment(
          number: number, resource: .init(suffix: "-\(number).m4s"), seconds: number < 4 ? 4 : 1,
          isDiscontinuous: number == 1))
    }
    // Three segments last for 3 s only, so more stay: 4 + 4 + 1 + 1 + 1 + 1 are 12.
    #expect(playlist.shrink(to: 3).map(\.number) == [0, 1])
    #expect(playlist.firstNumber == 2 && playlist.lostDiscontinuities == 1)
    let text = playlist.text(SegmentNames(name: "a"))
    #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:2\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n"))
    let checker = PlaylistChecker(media: text, in: nil)
    #expect(checker.complaints.isEmpty && checker.segments.map(\.number) == Array(2..<8))
  }

  @Test("The checker reports violations of the standard")
  func theCheckerComplains() {
    let good =
      "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"i\"\n#EXTINF:4.4,\na.m4s\n#EXT-X-ENDLIST\n"
    #expect(PlaylistChecker(media: good, in: nil).complaints.isEmpty)
    for (old, new) in [
      ("4.4,", "4.6,"), ("#EXTM3U\n", ""), ("VERSION:7", "VERSION:3"), ("#EXTINF:4.4,\n", ""),
      ("ENDLIST\n", "ENDLIST"),
      ("#EXT-X-TARGETDURATION:4\n", ""), ("#EXT-X-MAP", "#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-MAP"),
    ] {
      let bad = good.replacingOccurrences(of: old, with: new)
      #expect(!PlaylistChecker(media: bad, in: nil).complaints.isEmpty, "\(bad)")
    }
  }

  @Test("The encryption matches OpenSSL's command, with the segment number as initialisation vector")
  func theCipherIsOpenSSLs() throws {
    let folder = try Folder()
    let key = SegmentKey(bytes: Array(0..<16), uri: "k")
    for size in [0, 1, 15, 16, 17, 1000] {
      let plain = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 * 7) })
      let encrypted = try SegmentCipher.encrypt(
        [plain.prefix(3), plain.dropFirst(3)], key: key, number: 0x0102_0304_0506)
      try encrypted.write(to: folder.url.appendingPathComponent("e"))
      let run = try CommandLine.run(
        "openssl",
        [
          "enc", "-d", "-aes-128-cbc", "-in", "e", "-K", "000102030405060708090a0b0c0d0e0f", "-iv",
          "00000000000000000000010203040506",
        ], in: folder.url)
      #expect(run.status == 0 && run.output == plain, "\(size): \(run.complaints)")
    }
  }
}
