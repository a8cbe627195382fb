// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// The playlists of key frames alone (EXT-X-I-FRAMES-ONLY), which players show while a viewer
/// searches.
@Suite struct KeyFramePlaylistTests {
  /// The pixels of the first picture of a file, as a checksum.
  private static func firstPicture(_ path: String) throws -> String {
    let read = try CommandLine.run(
      "ffmpeg", ["-v", "quiet", "-i", path, "-map", "0:v", "-frames:v", "1", "-f", "framemd5", "-"])
    return try #require(read.text.split(separator: "\n").last { !$0.hasPrefix("#") }).suffix(32).description
  }

  /// Checks that the bytes of each entry are one whole key frame: that which the segment begins
  /// with.
  /// - Returns: the playlist of key frames.
  private static func check(_ folder: Folder, _ stem: String) throws -> PlaylistChecker {
    let whole = try HTTPLiveTests.media(folder, stem + ".m3u8")
    let frames = try HTTPLiveTests.media(folder, stem + "-iframes.m3u8")
    #expect(frames.lines.contains("#EXT-X-I-FRAMES-ONLY"))
    #expect(frames.segments.map(\.seconds) == whole.segments.map(\.seconds))
    #expect(frames.segments.map(\.date) == whole.segments.map(\.date))
    #expect(frames.sequence == whole.sequence && frames.targetDuration == whole.targetDuration)
    #expect(frames.hasEnded == whole.hasEnded && frames.kind == whole.kind && !frames.segments.isEmpty)
    let map = try #require(frames.map)
    func bytes(_ file: String, _ range: Range<Int>?) throws -> Data {
      let data = try Data(contentsOf: folder.url.appendingPathComponent(file))
      return range.map { data.subdata(in: $0) } ?? data
    }
    for (frame, segment) in zip(frames.segments, whole.segments) {
      let range = try #require(frame.range)
      let entry = try bytes(map.file, map.range) + bytes(frame.file, range)
      try entry.write(to: folder.url.appendingPathComponent("frame.mp4"))
      let part = try bytes(map.file, map.range) + bytes(segment.file, segment.range)
      try part.write(to: folder.url.appendingPathComponent("segment.mp4"))
      #expect(try firstPicture(folder.path("frame.mp4")) == firstPicture(folder.path("segment.mp4")))
      // The entry ends with the key frame: of the samples that the fragment lists, one is stored.
      let packets = try CommandLine.run(
        "ffprobe",
        [
          "-v", "quiet", "-select_streams", "v", "-show_entries", "packet=size,pos,flags", "-of",
          "default=nk=1:nw=1", folder.path("segment.mp4"),
        ]
      ).text.split(separator: "\n")
      let (size, position) = (try #require(Int(packets[0])), try #require(Int(packets[1])))
      #expect(packets[2].hasPrefix("K") && position + size == entry.count, "\(packets.prefix(3))")
    }
    return frames
  }

  @Test("Each rendition of a movie has a playlist of its key frames, with rates as measured")
  func eachRenditionHasOne() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 5)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--rendition", "320x180:200k,160x90:80k", "--segment-length", "1", "--out",
      "a.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let all = try HTTPLiveTests.multivariant(folder, "a.m3u8")
    #expect(all.keyFrames.map { $0["URI"] } == ["a-180p-iframes.m3u8", "a-90p-iframes.m3u8"])
    #expect(all.keyFrames.map { $0["RESOLUTION"] } == ["320x180", "160x90"])
    for (attributes, stem) in zip(all.keyFrames, ["a-180p", "a-90p"]) {
      let frames = try Self.check(folder, stem)
      #expect(frames.segments.count == 5)
      // Segments of the target duration: 4.4.6.2 has runs of one of them.
      let rates = frames.segments.map { Double(($0.range?.count ?? 0) * 8) / $0.seconds }
      let peak = try #require(attributes["BANDWIDTH"].flatMap { Double($0) })
      #expect(abs(peak - (rates.max() ?? 0)) <= 1)
      #expect(attributes["CODECS"]?.wholeMatch(of: /avc1\.[0-9A-F]{6}/) != nil)
    }
  }

  @Test("Key frames are ranges of the one file of all segments")
  func keyFramesAreRangesOfOneFile() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 5)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--codec", "hevc", "--single-file", "--segment-length", "2", "--out", "a.m3u8",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Self.check(folder, "a-180p").segments.count == 3)
  }

  @Test("The playlist of key frames follows a live window, and knows no parts")
  func itFollowsALiveWindow() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 6)
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--unpaced", "--bitrate", "300k", "--segment-length", "1", "--part-length",
      "0.4",
      "--window", "3", "--out", "a.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let frames = try Self.check(folder, "a-180p")
    #expect(frames.segments.count == 3 && !frames.text.contains("PART"), "\(frames.text)")
    #expect(try HTTPLiveTests.multivariant(folder, "a.m3u8").keyFrames.count == 1)
  }
}
