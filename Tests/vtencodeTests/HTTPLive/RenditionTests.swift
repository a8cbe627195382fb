// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// `--rendition`: several sizes of one movie, between which a player may switch.
@Suite struct RenditionTests {
  @Test(
    "Renditions have the same pictures, times, key frames and segments, and share the audio",
    arguments: ["transcoding", "streaming"])
  func renditionsAgree(_ command: String) throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 7, size: "640x360")
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        command, "in.mkv", "--rendition", "160x90:100k,480x270:500k,320x180:250k", "--segment-length", "2",
        "--out", "a.m3u8",
      ]
        + (command == "streaming" ? ["--unpaced", "--playlist", "event"] : []), in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(run.text.contains("also    320x180, 175 frames"), "\(run.text)")
    let all = try HTTPLiveTests.multivariant(folder, "a.m3u8")
    #expect(all.variants.map(\.file) == ["a-270p.m3u8", "a-180p.m3u8", "a-90p.m3u8"])
    #expect(all.variants.map { $0.attributes["RESOLUTION"] } == ["480x270", "320x180", "160x90"])
    #expect(all.variants.allSatisfy { $0.attributes["AUDIO"] == "sound" })
    #expect(all.media.map { $0["URI"] } == ["a-sound.m3u8"] && all.media.first?["CHANNELS"] == "1")
    let playlists = try all.variants.map { try HTTPLiveTests.media(folder, $0.file) }
    let audio = try HTTPLiveTests.media(folder, "a-sound.m3u8")
    for playlist in playlists {
      #expect(playlist.segments.map { ($0.seconds * 1000).rounded() } == [2000, 2000, 2000, 1000])
      #expect(playlist.segments.map(\.number) == playlists[0].segments.map(\.number))
      #expect(playlist.targetDuration == audio.targetDuration)
    }
    #expect(audio.segments.count == 4)
    // 6.2.4: the same content has the same time stamps, so that a player can switch anywhere.
    let times = try all.variants.map { try HTTPLiveTests.times(folder.path($0.file)) }
    #expect(times[0].count == 175)
    for other in times.dropFirst() { #expect(other == times[0]) }
    for variant in all.variants { try expectNoErrors(Probe(folder.path(variant.file))) }
    // In decode time too, so that the samples of one follow on those of another.
    let starts = try playlists.map { playlist in
      try playlist.segments.map { try Self.firstTimes(folder, $0.file) }
    }
    #expect(starts[1] == starts[0] && starts[2] == starts[0], "\(starts)")
  }

  /// The decode times with which the fragments of a segment begin (`tfdt`).
  private static func firstTimes(_ folder: Folder, _ name: String) throws -> [UInt64] {
    let data = [UInt8](try Data(contentsOf: folder.url.appendingPathComponent(name)))
    return data.indices.dropLast(20).compactMap { index in
      guard data[index..<index + 4].elementsEqual("tfdt".utf8) else { return nil }
      let isLong = data[index + 4] == 1
      return data[(index + 8)..<(index + (isLong ? 16 : 12))].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}
