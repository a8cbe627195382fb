// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import vtencode

/// Playlists for HTTP Live Streaming in place of a movie, from a folder and over HTTP.
@Suite struct PlaylistInputTests {
  /// Ways in which segments are made; all have 100 pictures of 320x180 in four seconds, and a tone.
  enum Kind: String, CaseIterable, Sendable {
    case files, byteRanges, encrypted, renditions, transportStream, encryptedTransportStream

    func make(in folder: Folder) throws {
      try HTTPLiveTests.makeMovie(in: folder, seconds: 4)
      try FileManager.default.createDirectory(atPath: folder.path("www"), withIntermediateDirectories: true)
      try Data((0..<16).map { $0 * 7 + 3 }).write(to: URL(fileURLWithPath: folder.path("www/hls.key")))
      let key = ["--hls-key", "www/hls.key", "--hls-key-uri", "hls.key"]
      let options: [String]
      switch self {
      case .files: options = []
      case .byteRanges: options = ["--single-file"]
      case .encrypted: options = key
      case .renditions: options = ["--rendition", "160x90:100k,320x180:400k"]
      case .transportStream: return try makeTransportStream([], in: folder)
      case .encryptedTransportStream:
        let text = "hls.key\n\(folder.path("www/hls.key"))\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("key.info")))
        return try makeTransportStream(["-hls_key_info_file", "key.info"], in: folder)
      }
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["transcoding", "in.mkv", "--segment-length", "1", "--out", "www/talk.m3u8"] + options, in: folder.url
      )
      try #require(run.status == 0, "\(run.complaints)")
    }

    private func makeTransportStream(_ options: [String], in folder: Folder) throws {
      let run = try CommandLine.run(
        "ffmpeg",
        [
          "-nostdin", "-v", "error", "-i", "in.mkv", "-c:a", "copy", "-c:v", "libx264", "-preset",
          "ultrafast",
        ]
          + ["-fps_mode", "passthrough", "-g", "25", "-f", "hls", "-hls_time", "1"]
          + ["-hls_list_size", "0", "-hls_segment_filename", "www/talk%d.ts"] + options + ["www/talk.m3u8"],
        in: folder.url)
      try #require(run.status == 0, "\(run.complaints)")
    }
  }

  private func expectWhole(_ folder: Folder, _ run: Finished) throws {
    #expect(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("got.mp4"))
    #expect(try probe.frameCount() == 100)
    let streams = try probe.streams()
    #expect(streams.map(\.codec_type).sorted() == ["audio", "video"])
    #expect(streams.first { $0.codec_type == "video" }?.width == 320)
    try expectNoErrors(probe)
    let times = try probe.frames().compactMap(\.time).sorted()
    for (one, next) in zip(times, times.dropFirst()) { #expect(abs(next - one - 0.04) < 0.001) }
  }

  @Test("A playlist in a folder is read like a movie", arguments: Kind.allCases)
  func aPlaylistInAFolderIsRead(_ kind: Kind) throws {
    let folder = try Folder()
    try kind.make(in: folder)
    try expectWhole(
      folder, CommandLine.vtencode("transcoding", "www/talk.m3u8", "--out", "got.mp4", in: folder))
    let part = try CommandLine.vtencode(
      "transcoding", "www/talk.m3u8", "--start", "1.5", "--duration", "1", "--out", "part.mp4", in: folder)
    #expect(part.status == 0, "\(part.complaints)")
    // From the picture that is shown at 1.5 s up to 2.5 s.
    #expect(try Probe(folder.path("part.mp4")).frameCount() == 26)
    try expectNoErrors(Probe(folder.path("part.mp4")))
  }

  @Test("A playlist of a server is read with --allow-network", arguments: Kind.allCases)
  func aPlaylistOfAServerIsRead(_ kind: Kind) throws {
    let folder = try Folder()
    try kind.make(in: folder)
    let server = try FileServer(
      ServedFolder(folder.path("www")), at: SocketAddress(ipAddress: "127.0.0.1", port: 0))
    defer { server.close() }
    let address = "http://127.0.0.1:\(server.port)/talk.m3u8"
    try expectWhole(
      folder,
      CommandLine.vtencode("transcoding", address, "--allow-network", "--out", "got.mp4", in: folder))
    let refused = try CommandLine.vtencode("transcoding", address, "--out", "no.mp4", in: folder)
    #expect(refused.status == 64 && refused.complaints.contains("--allow-network"), "\(refused.complaints)")
  }

  @Test("A live stream is read up to --frames, and not from a folder")
  func aStreamThatGoesOnIsRead() throws {
    let folder = try Folder()
    try Kind.files.make(in: folder)
    let path = URL(fileURLWithPath: folder.path("www/talk-180p.m3u8"))
    let text = try String(contentsOf: path, encoding: .utf8)
      .replacingOccurrences(of: "#EXT-X-ENDLIST\n", with: "")
      .replacingOccurrences(of: "#EXT-X-PLAYLIST-TYPE:VOD\n", with: "")
    try Data(text.utf8).write(to: path)
    let server = try FileServer(
      ServedFolder(folder.path("www")), at: SocketAddress(ipAddress: "127.0.0.1", port: 0))
    defer { server.close() }
    let run = try CommandLine.vtencode(
      "streaming", "http://127.0.0.1:\(server.port)/talk.m3u8", "--allow-network", "--frames", "60", "--out",
      "got.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("got.mp4")).frameCount() == 60)
    let local = try CommandLine.vtencode("transcoding", "www/talk.m3u8", "--out", "no.mp4", in: folder)
    #expect(local.status == 1 && local.complaints.contains("#EXT-X-ENDLIST"), "\(local.complaints)")
    #expect(!folder.contents.contains("no.mp4"))
  }

  /// References that a playlist of a folder may not have.
  @Test(
    "Files outside of the playlist's folder are not read",
    arguments: [
      "../secret.ts", "ABSOLUTE", "link.ts", "http://127.0.0.1:9/a.ts", "data:,a", "key ../secret.ts",
    ])
  func filesOutsideAreNotRead(_ reference: String) throws {
    let folder = try Folder()
    try Kind.transportStream.make(in: folder)
    let manager = FileManager.default
    try manager.copyItem(atPath: folder.path("www/talk0.ts"), toPath: folder.path("secret.ts"))
    try manager.createSymbolicLink(atPath: folder.path("www/link.ts"), withDestinationPath: "../secret.ts")
    var text = try String(contentsOfFile: folder.path("www/talk.m3u8"), encoding: .utf8)
    if reference.hasPrefix("key ") {
      text = text.replacingOccurrences(
        of: "#EXTINF", with: "#EXT-X-KEY:METHOD=AES-128,URI=\"\(reference.dropFirst(4))\"\n#EXTINF")
    } else {
      let name = reference == "ABSOLUTE" ? folder.path("secret.ts") : reference
      text = text.replacingOccurrences(of: "talk1.ts", with: name)
    }
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("www/talk.m3u8")))
    let run = try CommandLine.vtencode("transcoding", "www/talk.m3u8", "--out", "no.mp4", in: folder)
    #expect(run.status != 0, "\(run.complaints)")
    #expect(run.complaints.contains("not a regular file below the playlist's folder"), "\(run.complaints)")
  }

  @Test("Addresses of other servers are not read")
  func addressesOfOtherServersAreNotRead() throws {
    let folder = try Folder()
    try Kind.transportStream.make(in: folder)
    func serve() throws -> FileServer {
      try FileServer(ServedFolder(folder.path("www")), at: SocketAddress(ipAddress: "127.0.0.1", port: 0))
    }
    let (own, other) = (try serve(), try serve())
    defer {
      own.close()
      other.close()
    }
    let text = try String(contentsOfFile: folder.path("www/talk.m3u8"), encoding: .utf8)
    for address in ["http://127.0.0.1:\(other.port)/talk1.ts?hidden", "file:\(folder.path("www/talk1.ts"))"] {
      try Data(text.replacingOccurrences(of: "talk1.ts", with: address).utf8)
        .write(to: URL(fileURLWithPath: folder.path("www/other.m3u8")))
      let run = try CommandLine.vtencode(
        "transcoding", "http://127.0.0.1:\(own.port)/other.m3u8", "--allow-network", "--out", "no.mp4",
        in: folder)
      #expect(run.status != 0 && run.complaints.contains("playlist's own server"), "\(run.complaints)")
      #expect(!run.complaints.contains("hidden"), "\(run.complaints)")
    }
  }

  @Test("A segment that is missing is damage, and what comes before it is kept")
  func aMissingSegmentIsAnError() throws {
    let folder = try Folder()
    try Kind.files.make(in: folder)
    try FileManager.default.removeItem(atPath: folder.path("www/talk-180p-2.m4s"))
    let run = try CommandLine.vtencode("transcoding", "www/talk.m3u8", "--out", "got.mp4", in: folder)
    #expect(run.status != 0 && run.complaints.contains("break off at 2.0"), "\(run.complaints)")
  }

  @Test("What is not a playlist is refused", arguments: ["", "#EXTM3U\n", "#EXTM3U\nsong.mp3\n", "hello\n"])
  func whatIsNotAPlaylistIsRefused(_ text: String) throws {
    let folder = try Folder()
    try Data(text.utf8).write(to: folder.url.appendingPathComponent("a.m3u8"))
    let run = try CommandLine.vtencode("transcoding", "a.m3u8", "--out", "got.mp4", in: folder)
    #expect(run.status == 1 && run.complaints.contains("is not a playlist"), "\(run.complaints)")
    #expect(folder.contents == ["a.m3u8"])
  }
}
