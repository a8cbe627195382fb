// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Pictures of movies as files.
@Suite struct ThumbnailTests {
  private func makeMovie(in folder: Folder) throws {
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x240:rate=25:duration=4 -pix_fmt yuv420p -c:v mpeg4 -q:v 2 "
        + "in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  @Test("The picture at the given time is written", arguments: ["png", "jpg", "heic"])
  func onePicture(ending: String) throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "thumbnails", "in.mp4", "--at", "0:02.5", "--out", "shot.\(ending)", in: folder)
    #expect(run.status == 0 && run.text.contains("320x240 at 2.48 s"), "\(run.text)\(run.complaints)")
    var name = "shot.\(ending)"
    if ending == "heic" {
      // FFmpeg's demuxer reads no images of HEIF before version 6.1.
      let converted = try CommandLine.shell("heif-convert shot.heic heic.png", in: folder)
      try #require(converted.status == 0, "\(converted.complaints)")
      name = "heic.png"
    }
    let same = try CommandLine.shell(
      "ffmpeg -nostdin -ss 2.48 -i in.mp4 -i \(name) -lavfi '[0:v]format=rgb24[a];[1:v]format=rgb24[b];"
        + "[a][b]psnr=shortest=1' -frames:v 1 -f null - 2>&1 | grep -o 'average:[0-9.inf]*'", in: folder)
    let quality = Double(same.text.dropFirst(8).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    #expect(quality > 28, "\(same.text)")
  }

  @Test("Several pictures are numbered, and a contact sheet contains all of them")
  func severalPictures() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "thumbnails", "in.mp4", "--count", "3", "--dimensions", "160x160", "--out", "shot.png", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["in.mp4", "shot-01.png", "shot-02.png", "shot-03.png"])
    let small = try Probe(folder.path("shot-02.png")).video()
    #expect((small.width, small.height) == (160, 120))
    let every = try CommandLine.vtencode(
      "thumbnails", "in.mp4", "--every", "1", "--start", "1", "--out", "each.png", in: folder)
    #expect(
      every.status == 0 && folder.contents.filter { $0.hasPrefix("each") }.count == 3, "\(every.complaints)")
    let sheet = try CommandLine.vtencode(
      "thumbnails", "in.mp4", "--sheet", "3x2", "--dimensions", "160x160", "--out", "sheet.png", in: folder)
    #expect(sheet.status == 0, "\(sheet.complaints)")
    let whole = try Probe(folder.path("sheet.png")).video()
    #expect((whole.width, whole.height) == (3 * 168 + 8, 2 * 128 + 8))
    // The fourth picture is at the left of the second row.
    let same = try CommandLine.shell(
      "ffmpeg -nostdin -ss 2.32 -i in.mp4 -i sheet.png -lavfi '[0:v]scale=160:120:flags=area,format=rgb24[a];"
        + "[1:v]crop=160:120:8:136,format=rgb24[b];[a][b]psnr=shortest=1' -frames:v 1 -f null - 2>&1 "
        + "| grep -o 'average:[0-9.inf]*'", in: folder)
    let quality = Double(same.text.dropFirst(8).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    #expect(quality > 20, "\(same.text)")
  }

  @Test("Where a capture cannot be decoded yet, the next decodable picture is used")
  func captureThatBeginsWithinAGroup() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x240:rate=25:duration=4 -c:v libx264 -g 50 -bf 0 whole.ts",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    // Begins after the first key frame and before the second one, at 2 s.
    let whole = try Data(contentsOf: URL(fileURLWithPath: folder.path("whole.ts")))
    try whole[(whole.count / 188 / 4 * 188)...].write(to: URL(fileURLWithPath: folder.path("in.ts")))
    let first = try CommandLine.vtencode("thumbnails", "in.ts", "--at", "0", "--out", "first.png", in: folder)
    #expect(first.status == 0 && first.text.contains("320x240 at "), "\(first)")
    #expect(!first.text.contains("at 0.00 s"), "\(first.text)")
    let sheet = try CommandLine.vtencode("thumbnails", "in.ts", "--count", "5", "--out", "a.png", in: folder)
    #expect(sheet.status == 0 && folder.contents.count { $0.hasPrefix("a-") } == 5, "\(sheet)")
  }

  @Test("Impossible options are rejected before a file is written")
  func refusals() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    for (options, word) in [
      (["--at", "9", "--out", "a.png"], "after the end"), (["--out", "a.bmp"], ".png"),
      (["--sheet", "60x2", "--out", "a.png"], "columns and rows"), (["--out", "in.mp4"], ".png"),
      (["--at", "1", "--count", "2", "--out", "a.png"], "exclude each other"),
    ] {
      let run = try CommandLine.run(CommandLine.vtencode, ["thumbnails", "in.mp4"] + options, in: folder.url)
      #expect(run.status == 64 && run.complaints.contains(word), "\(options): \(run.complaints)")
    }
    try Data().write(to: folder.url.appendingPathComponent("a.png"))
    let taken = try CommandLine.vtencode("thumbnails", "in.mp4", "--out", "a.png", in: folder)
    #expect(taken.status == 1 && taken.complaints.contains("exists"), "\(taken.complaints)")
  }

  @Test("The number of pictures is limited, whatever duration a movie states")
  func manyPictures() throws {
    for seconds in [10.5, 1e18, 1e300, .infinity] {
      let error = #expect(throws: Failure.self) {
        try ThumbnailRun.times(every: 0.001, from: 0, seconds: seconds)
      }
      #expect(error?.status == 64 && error?.message.contains("more than 10000") == true, "\(seconds)")
    }
    let times = try ThumbnailRun.times(every: 0.5, from: 1, seconds: 1.2)
    #expect(times.map(\.seconds) == [1, 1.5, 2])
  }
}
