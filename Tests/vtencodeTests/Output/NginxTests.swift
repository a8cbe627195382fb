// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import vtencode

/// nginx's RTMP module; nil where it is not installed.
private let rtmpModule = [
  "/usr/lib/nginx/modules/ngx_rtmp_module.so", "/usr/local/lib/nginx/modules/ngx_rtmp_module.so",
].first { FileManager.default.fileExists(atPath: $0) }

/// A live stream to nginx with its RTMP module, which records what it gets.
@Suite(.enabled(if: rtmpModule != nil)) struct NginxTests {
  @Test("nginx records all pictures and the audio of a live stream")
  func nginxRecordsALiveStream() throws {
    let folder = try Folder()
    let port = try PeerProgram.freePort()
    let place = folder.url.path
    try """
    load_module \(try #require(rtmpModule));
    daemon off;
    master_process off;
    pid \(place)/pid;
    error_log \(place)/error.log;
    events {}
    rtmp {
      server {
        listen 127.0.0.1:\(port);
        application live { live on; record all; record_path \(place); record_suffix .flv; }
      }
    }
    """.write(toFile: folder.path("nginx.conf"), atomically: true, encoding: .utf8)
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=3", "-f",
        "lavfi", "-i", "sine=duration=3", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast",
        "-c:a", "aac", folder.path("in.mkv"),
      ])
    try #require(made.status == 0, "\(made.complaints)")
    let server = try PeerProgram(
      "nginx", ["-p", place, "-c", folder.path("nginx.conf")], in: folder, name: "nginx")
    try #require(PeerProgram.waitForListener(port), "\(server.text)")
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--out", "rtmp://127.0.0.1:\(port)/live/stream", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    // nginx closes its record when it has been notified of the end of the stream.
    let probe = Probe(folder.path("stream.flv"))
    blockUntil { (try? probe.frameCount()) == 75 }
    server.send(SIGKILL)
    _ = try server.status()
    #expect(try probe.frameCount() == 75)
    #expect(try probe.streams().map(\.codec_type).sorted() == ["audio", "video"])
    try expectNoErrors(probe)
  }
}
