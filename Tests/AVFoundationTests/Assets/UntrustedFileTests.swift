// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation
import Testing
import TestSupport

/// Files whose content does not match their names.
@Suite struct UntrustedFileTests {
  /// Text files that make libavformat open other files.
  private static func playlists(_ movie: String) -> [(name: String, text: String)] {
    [
      ("concat", "ffconcat version 1.0\nfile '\(movie)'\n"),
      ("unsafe", "ffconcat version 1.0\nfile '\((movie as NSString).lastPathComponent)'\n"),
      ("hls", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile://\(movie)\n#EXT-X-ENDLIST\n"),
      (
        "dash",
        """
        <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"
        mediaPresentationDuration="PT2S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1"
        bandwidth="1"><BaseURL>file://\(movie)</BaseURL></Representation></AdaptationSet></Period></MPD>
        """
      ),
      ("sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n"),
    ]
  }

  @Test func aFileOpensNoOtherFile() throws {
    let scratch = Scratch()
    let movie = scratch.file("secret.mp4")
    try FileManager.default.copyItem(atPath: Fixture.movie(), toPath: movie)
    for (name, text) in Self.playlists(movie) {
      for ending in ["mp4", "mov", "ts", name == "hls" ? "m3u8" : name == "dash" ? "mpd" : "txt"] {
        let url = scratch.url("\(name).\(ending)")
        try Data(text.utf8).write(to: url)
        let asset = AVURLAsset(url: url)
        #expect(asset.tracks.isEmpty, "\(name).\(ending)")
        #expect(throws: AVError.self) { _ = try AVAssetReader(asset: asset) }
      }
    }
    // A pattern that refers to other pictures, and a protocol inside a path.
    for path in ["frame%d.png", "concat:secret.mp4", "subfile,,start,0,end,100,,:secret.mp4"] {
      #expect(throws: AVError.self) { _ = try AVAssetReader(asset: AVURLAsset(url: scratch.url(path))) }
    }
  }

  /// It is read on request.
  @Test func referencesAreFollowedWhenAskedFor() throws {
    let scratch = Scratch()
    try FileManager.default.copyItem(atPath: Fixture.movie(), toPath: scratch.file("part.mp4"))
    let url = scratch.url("both.ffconcat")
    try Data("ffconcat version 1.0\nfile 'part.mp4'\nfile 'part.mp4'\n".utf8).write(to: url)
    let restrictions = AVAssetReferenceRestrictions.forbidLocalReferenceToRemote
    let asset = AVURLAsset(
      url: url, options: [AVURLAssetReferenceRestrictionsKey: NSNumber(value: restrictions.rawValue)])
    #expect(asset.referenceRestrictions == restrictions)
    #expect(asset.tracks(withMediaType: .video).count == 1)
    let reader = try AVAssetReader(asset: asset)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    var count = 0
    while output.copyNextSampleBuffer() != nil { count += 1 }
    #expect(count > 60)
  }

  /// Common containers are read as before.
  @Test(arguments: [
    "mov", "mp4", "mkv", "avi", "ts", "mpg", "flv", "nut", "ogv", "mxf", "y4m", "gif", "wav", "caf", "flac",
  ])
  func commonContainersAreRead(ending: String) throws {
    var arguments = Fixture.picture + Fixture.audio
    switch ending {
    case "y4m", "gif": arguments = Fixture.picture + ["-frames:v", "3"]
    case "wav", "caf", "flac": arguments = Fixture.audio
    case "ogv": arguments = Fixture.audio + ["-c:a", "flac", "-f", "ogg"]
    case "mxf": arguments = Fixture.picture + ["-r", "25", "-c:v", "mpeg2video"]
    case "flv": arguments += ["-c:v", "flv", "-c:a", "aac"]
    default:
      arguments += ["-c:v", "mpeg4", "-c:a", ending == "mpg" ? "mp2" : ending == "avi" ? "pcm_s16le" : "aac"]
    }
    let path = try Fixture.make("any.\(ending)", arguments)
    #expect(try !Demuxer(url: path).streams.isEmpty)
  }

  /// The pipe has no writer, and opening does not wait for one.
  @Test func aPipeIsNoMovie() async throws {
    let scratch = Scratch()
    let path = scratch.file("pipe.mov")
    try #require(mkfifo(path, 0o600) == 0)
    let isAnswered = await onThread {
      let done = DispatchSemaphore(value: 0)
      Thread {
        if MovieHeader(path: path) == nil { done.signal() }
      }.start()
      return waitForSignal(done)
    }
    #expect(isAnswered)
  }
}
