// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Ways in and out: sequences of pictures, addresses of files, names, and what of a movie goes
/// along.
@Suite(.serialized) struct WayTests {
  private func picture(_ more: [String], _ path: String) throws {
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=1"] + more + [
        path
      ])
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// Numbered from 7, in a folder whose name has a percent sign, at a rate of one's own.
  @Test func aSequenceOfPicturesIsAMovie() throws {
    let folder = try Folder()
    let pictures = folder.path("100%d")
    try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: false)
    try picture(
      ["-start_number", "7"], pictures.replacingOccurrences(of: "%", with: "%%") + "/frame%04d.png")
    let run = try CommandLine.vtencode(
      "transcoding", pictures + "/frame%04d.png", "--frame-rate", "12.5", "--bitrate", "2M", "--out",
      "out.mp4",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let times = try Probe(folder.path("out.mp4")).frames().compactMap(\.time)
    #expect(times.count == 25)
    for (index, time) in times.enumerated() { #expect(abs(time - Double(index) * 0.08) < 0.001) }
    let first = try CommandLine.shell(
      "ffmpeg -nostdin -i out.mp4 -pattern_type none -i '100%d/frame0007.png' -frames:v 1 -lavfi '[1:v]format=yuv420p[a];[0:v][a]psnr' "
        + "-f null - 2>&1 | grep -o 'PSNR y:[0-9.]*'", in: folder)
    #expect(
      (Double(first.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 28,
      "\(first.text)")
    let none = try CommandLine.vtencode("transcoding", "nothing%04d.png", in: folder)
    #expect(none.status == 1 && none.complaintLines.count == 1, "\(none.complaints)")
  }

  @Test func anAddressOfAFileIsOpened() throws {
    let folder = try Folder()
    try picture(["-c:v", "mpeg4"], folder.path("a b.mp4"))
    let run = try CommandLine.vtencode(
      "transcoding", "file://\(folder.url.path)/a%20b.mp4", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 25)
  }

  /// The file of an interrupted run does not replace a complete movie.
  @Test func aPartKeepsWhatWasThere() throws {
    let folder = try Folder()
    for name in ["out.mp4", "out-part.mp4"] {
      try Data("whole".utf8).write(to: URL(fileURLWithPath: folder.path(name)))
    }
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "streaming", CommandLine.sample, "--dimensions", "320", "180", "--overwrite", "--out", "out.mp4",
        "--progress", "json",
      ], in: folder.url, signal: .sent(SIGINT, atFrame: 30))
    #expect(run.status == 130, "\(run.complaints)")
    #expect(folder.contents == ["out-part-2.mp4", "out-part.mp4", "out.mp4"])
    #expect(
      run.complaints.contains("'out-part-2.mp4' holds") && run.complaints.contains("'out.mp4' is unchanged"))
    for name in ["out.mp4", "out-part.mp4"] {
      #expect(try String(contentsOfFile: folder.path(name), encoding: .utf8) == "whole")
    }
    try expectNoErrors(Probe(folder.path("out-part-2.mp4")))
  }

  /// A further output may be neither the movie nor another output, also where none of them is there
  /// yet.
  @Test(arguments: [
    ["conferencing", "in.mp4", "--out", "new.mp4", "--report", "./new.mp4"],
    ["conferencing", "in.mp4", "--report", "in-conferencing.mov"],
    ["conferencing", "in.mp4", "--out", "new.mp4", "--report", "in.mp4"],
    ["call", "in.mp4", "--record", "in.mp4"], ["call", "in.mp4", "--dump", "in.mp4"],
    ["call", "in.mp4", "--received", "in.mp4"], ["call", "in.mp4", "--report", "x", "--record", "./x"],
  ])
  func outputsAreApart(arguments: [String]) throws {
    let folder = try Folder()
    try FileManager.default.copyItem(atPath: CommandLine.sample, toPath: folder.path("in.mp4"))
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.status) \(run.complaints)")
    #expect(folder.contents == ["in.mp4"])
  }

  /// Title, artist, comment and year from Matroska; the place, and when it was made, from a movie.
  @Test func factsGoAlong() throws {
    let folder = try Folder()
    let properties = ["title=A film", "artist=A person", "comment=Some words", "date=2021"].flatMap {
      ["-metadata", $0]
    }
    try picture(properties + ["-c:v", "mpeg4"], folder.path("a.mkv"))
    try picture(
      properties + [
        "-metadata", "creation_time=2021-03-04T05:06:07Z", "-metadata", "location=+48.8577+002.2950/",
      ]
        + ["-c:v", "mpeg4"], folder.path("b.mp4"))
    func tags(_ name: String) throws -> String {
      let run = try CommandLine.vtencode("transcoding", name, "--overwrite", "--out", "out.mp4", in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      return try CommandLine.run(
        "ffprobe", ["-v", "error", "-show_entries", "format_tags", folder.path("out.mp4")]
      ).text
    }
    let first = try tags("a.mkv")
    for word in ["A film", "A person", "Some words", "2021"] { #expect(first.contains(word), "\(first)") }
    let second = try tags("b.mp4")
    for word in ["A film", "A person", "Some words", "2021-03-04T05:06:07", "+48.8577+002.2950"] {
      #expect(second.contains(word), "\(second)")
    }
  }

  /// Names of one letter, and a picture alone.
  @Test func shortNamesAreTaken() throws {
    let folder = try Folder()
    try picture(["-frames:v", "1"], folder.path("a.jpg"))
    try FileManager.default.moveItem(atPath: folder.path("a.jpg"), toPath: folder.path("é"))
    let run = try CommandLine.vtencode("transcoding", "é", "--out", "b.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let refused = try CommandLine.vtencode("transcoding", "é", "--out", "x", in: folder)
    #expect(refused.status == 64 && refused.complaintLines.count == 1, "\(refused.complaints)")
  }

  // MARK: Manners

  /// The script that bash loads completes subcommands, options, values and files.
  @Test func bashCompletesOptionsAndFiles() throws {
    let folder = try Folder()
    try Data().write(to: URL(fileURLWithPath: folder.path("film one.mov")))
    let run = try CommandLine.run(
      "bash",
      [
        "-c",
        """
        source <('\(CommandLine.vtencode)' --generate-completion-script bash)
        ask() {
          COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
          COMP_POINT=${#COMP_LINE}
          _vtencode vtencode "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
          printf '[%s]' "${COMPREPLY[@]}"
          echo
        }
        ask vtencode trans
        ask vtencode transcoding --deinter
        ask vtencode transcoding --codec he
        ask vtencode transcoding fil
        ask vtencode transcoding a.mov --out fil
        ask vtencode conferencing a.mov --report fil
        ask vtencode call fil
        """,
      ], in: folder.url)
    let file = "[film one.mov]"
    #expect(
      run.text.split(separator: "\n").map(String.init)
        == ["[transcoding]", "[--deinterlace]", "[hevc]", file, file, file, file],
      "\(run.text) \(run.complaints)")
  }

  /// A report is readable in the dark, without colours, and by ear; each step of the rate has its
  /// own mean.
  @Test func reportsAreReadableWithoutColours() throws {
    let folder = try Folder()
    let run = try CommandLine.vtencode(
      "conferencing", CommandLine.sample, "--unpaced", "--frames", "120", "--bitrate", "900k", "--rate-steps",
      "2s:300k", "--dimensions", "320", "180", "--report", "report.html", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let page = try String(contentsOfFile: folder.path("report.html"), encoding: .utf8)
    for part in [
      "prefers-color-scheme: dark", "name=\"viewport\"", "max-width: 480px", "<pattern id=\"key\"",
      "stroke-dasharray",
    ] {
      #expect(page.contains(part), "\(part)")
    }
    let charts = page.components(separatedBy: "<svg viewBox=\"0 0 960").count - 1
    #expect(charts == 6)
    #expect(page.components(separatedBy: "aria-label=\"").count - 1 == charts)
    #expect(page.components(separatedBy: " asked (").count - 1 == 2, "two steps")
    #expect(page.contains("of 900 kb/s asked") && page.contains("of 300 kb/s asked"))
  }
}
