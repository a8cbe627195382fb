// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import vtencode

/// Several movies in one run, and the size of a file.
@Suite struct SeveralMovieTests {
  private func makeMovie(
    _ name: String, size: String = "192x128", rate: Int = 25, audio: Bool, in folder: Folder
  ) throws {
    let tone = audio ? "-f lavfi -i sine=frequency=440:sample_rate=48000:duration=1 -c:a aac" : ""
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=\(size):rate=\(rate):duration=1 \(tone) "
        + "-pix_fmt yuv420p -c:v mpeg4 -q:v 2 \(name)", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  @Test("Joined movies are consecutive, with silence where one has no audio")
  func joined() throws {
    let folder = try Folder()
    try makeMovie("one.mp4", audio: false, in: folder)
    try makeMovie("two.mp4", size: "128x128", audio: true, in: folder)
    let run = try CommandLine.vtencode(
      "transcoding", "one.mp4", "two.mp4", "--join", "--quality", "0.9", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("out.mp4"))
    let times = try probe.frames().compactMap(\.time)
    #expect(times.count == 50 && abs((times.last ?? 0) - 1.96) < 0.001, "\(times)")
    let video = try probe.video()
    #expect((video.width, video.height) == (192, 128))
    try expectNoErrors(probe)
    // The first second is silent, the second one is not.
    func level(_ start: Double) throws -> Double {
      let found = try CommandLine.shell(
        "ffmpeg -nostdin -ss \(start) -t 0.6 -i out.mp4 -af volumedetect -f null - 2>&1 "
          + "| grep -o 'mean_volume: [-0-9.]*'", in: folder)
      return Double(found.text.dropFirst(13).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
    #expect(try level(0.2) < -70 && level(1.2) > -40)
    // The second movie's picture is in the middle, between bars.
    let same = try CommandLine.shell(
      "ffmpeg -nostdin -ss 1 -i out.mp4 -i two.mp4 -lavfi '[0:v]crop=128:128:32:0[a];[a][1:v]psnr=shortest=1' "
        + "-f null - 2>&1 | grep -o 'PSNR y:[0-9.inf]*'", in: folder)
    let quality = Double(same.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    #expect(quality > 28, "\(same.text)")
  }

  @Test(
    "Joined movies of several rates keep the times of their pictures, in either order",
    arguments: [true, false])
  func joinedRates(isCoarseFirst: Bool) throws {
    let folder = try Folder()
    // An AVI of 25 frames a second has 25 ticks a second.
    try makeMovie("a.avi", rate: 25, audio: false, in: folder)
    try makeMovie("b.mp4", rate: 30, audio: false, in: folder)
    let (first, second) = isCoarseFirst ? ("a.avi", "b.mp4") : ("b.mp4", "a.avi")
    let run = try CommandLine.vtencode(
      "transcoding", first, second, "--join", "--quality", "0.5", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let times = try Probe(folder.path("out.mp4")).frames().compactMap(\.time)
    let (early, late) = isCoarseFirst ? (25, 30) : (30, 25)
    let expected =
      (0..<early).map { Double($0) / Double(early) } + (0..<late).map { 1 + Double($0) / Double(late) }
    #expect(times.count == expected.count, "\(times)")
    for (time, wanted) in zip(times, expected) { #expect(abs(time - wanted) < 0.0005, "\(times)") }
  }

  @Test("A common time scale represents the times of all, or is 90,000")
  func commonTimescales() {
    #expect(CommonTimescale.of([25, 15_360]) == 76_800)
    #expect(CommonTimescale.of([24_000, 30_000]) == 120_000)
    #expect(CommonTimescale.of([30_000, 15_360, 44_100]) == 90_000)
    #expect(CommonTimescale.of([10_000_000, 1, 1000]) == 10_000_000)
    #expect(CommonTimescale.of([.max, .max - 1, 7]) == 90_000)
    #expect(CommonTimescale.of([]) == 90_000)
    #expect(CommonTimescale.minimum(for: CMTime(value: 1_030_000, timescale: 1_000_000)) == 100)
    #expect(CommonTimescale.minimum(for: CMTime(value: .min, timescale: 1024)) == 1)
    #expect(CommonTimescale.minimum(for: .positiveInfinity) == nil)
  }

  @Test("A crop that the smallest of joined movies does not contain is rejected before the start")
  func cropOfJoinedMovies() throws {
    let folder = try Folder()
    try makeMovie("one.mp4", audio: false, in: folder)
    try makeMovie("two.mp4", size: "128x96", audio: false, in: folder)
    func join(_ options: [String]) throws -> Finished {
      try CommandLine.run(
        CommandLine.vtencode,
        ["transcoding", "one.mp4", "two.mp4", "--join", "--quality", "0.5", "--out", "out.mp4"] + options,
        in: folder.url)
    }
    for options in [["--crop", "96x96+64+0"], ["--rotate", "90", "--crop", "96x96+32+0"]] {
      let run = try join(options)
      #expect(run.status == 64 && run.complaints.contains("outside"), "\(options): \(run.complaints)")
      #expect(run.complaints.contains(options.count > 2 ? "96x128" : "128x96"), "\(run.complaints)")
    }
    #expect(folder.contents == ["one.mp4", "two.mp4"])
    let run = try join(["--rotate", "90", "--crop", "96x128+0+0"])
    #expect(run.status == 0, "\(run.complaints)")
    let video = try Probe(folder.path("out.mp4")).video()
    #expect((video.width, video.height, video.nb_read_frames) == (96, 128, "50"))
  }

  @Test("No run replaces the input of another run or its own")
  func inputsAreKept() throws {
    let folder = try Folder()
    try makeMovie("one.mp4", audio: false, in: folder)
    try makeMovie("logo.mp4", audio: false, in: folder)
    try FileManager.default.createDirectory(atPath: folder.path("b"), withIntermediateDirectories: false)
    try makeMovie("b/one.mp4", audio: false, in: folder)
    try Data("1\n00:00:00,000 --> 00:00:01,000\nA\n".utf8).write(
      to: folder.url.appendingPathComponent("w.srt"))
    let before = try Data(contentsOf: folder.url.appendingPathComponent("b/one.mp4"))
    let conference = ["conferencing", "one.mp4", "--unpaced", "--frames", "5", "--out", "call.mp4"]
    for arguments in [
      ["transcoding", "one.mp4", "b/../b/one.mp4", "--out", "b/"],
      ["transcoding", "one.mp4", "logo.mp4", "--burn-subtitles", "b/one.mp4", "--out", "b/"],
      ["transcoding", "logo.mp4", "--overlay", "one.mp4", "--out", "one.mp4"],
      ["transcoding", "logo.mp4", "--burn-subtitles", "one.mp4", "--out", "one.mp4"],
      conference + ["--burn-subtitles", "w.srt", "--report", "w.srt"],
      conference + ["--overlay", "logo.mp4", "--report", "logo.mp4"],
      [
        "conferencing", "test:96x64@25", "--unpaced", "--frames", "5", "--report", "test-conferencing.mov",
      ],
    ] {
      let run = try CommandLine.run(CommandLine.vtencode, arguments + ["--overwrite"], in: folder.url)
      #expect([1, 64].contains(run.status), "\(arguments): \(run.complaints)")
      #expect(
        run.complaints.contains("one of the inputs") || run.complaints.contains("would both become")
          || run.complaints.contains("the movie or another output"), "\(arguments): \(run.complaints)")
    }
    #expect(folder.contents == ["b", "logo.mp4", "one.mp4", "w.srt"])
    #expect(try Data(contentsOf: folder.url.appendingPathComponent("b/one.mp4")) == before)
  }

  @Test("Several movies keep their names in a folder, and a damaged one does not stop the others")
  func folderOfMovies() throws {
    let folder = try Folder()
    try makeMovie("one.mp4", audio: true, in: folder)
    try makeMovie("two.mov", audio: false, in: folder)
    try Data("nothing".utf8).write(to: folder.url.appendingPathComponent("bad.mp4"))
    let run = try CommandLine.vtencode(
      "transcoding", "one.mp4", "bad.mp4", "two.mov", "--quality", "0.5", "--out", "small/", in: folder)
    #expect(run.status == 1, "\(run.complaints)")
    #expect(run.complaints.contains("2 of 3 movies encoded, 1 failed: 'bad.mp4'"), "\(run.complaints)")
    let made = try FileManager.default.contentsOfDirectory(atPath: folder.path("small")).sorted()
    #expect(made == ["one.mp4", "two.mov"])
    for name in made { try expectNoErrors(Probe(folder.path("small/\(name)"))) }
    let again = try CommandLine.vtencode(
      "transcoding", "one.mp4", "two.mov", "--quality", "0.5", "--overwrite", "--out", "small", in: folder)
    #expect(again.status == 0 && again.text.contains("2 of 2 movies encoded"), "\(again.complaints)")
  }

  @Test("Several movies need a folder and distinct names")
  func refusals() throws {
    let folder = try Folder()
    try makeMovie("one.mp4", audio: false, in: folder)
    try FileManager.default.createDirectory(atPath: folder.path("b"), withIntermediateDirectories: false)
    try makeMovie("b/one.mp4", audio: false, in: folder)
    let noFolder = try CommandLine.vtencode(
      "transcoding", "one.mp4", "b/one.mp4", "--out", "x.mp4", in: folder)
    #expect(noFolder.status == 64 && noFolder.complaints.contains("--out small/"), "\(noFolder.complaints)")
    let same = try CommandLine.vtencode("transcoding", "one.mp4", "b/one.mp4", "--out", "c/", in: folder)
    #expect(same.status == 64 && same.complaints.contains("would both become"), "\(same.complaints)")
    let alone = try CommandLine.vtencode("transcoding", "one.mp4", "--join", "--out", "x.mp4", in: folder)
    #expect(alone.status == 64 && alone.complaints.contains("at least two"), "\(alone.complaints)")
  }

  @Test("A file is at most as large as was asked for, and not much smaller", arguments: [60_000, 250_000])
  func targetSize(bytes: Int) throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 4, audio: true)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--target-size", "\(bytes / 1000)k", "--audio", "aac", "--audio-bitrate",
      "32k",
      "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let size = try FileManager.default.attributesOfItem(atPath: folder.path("out.mp4"))[.size] as? Int ?? 0
    #expect(size <= bytes && size > bytes * 3 / 4, "\(size)")
    let tiny = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--target-size", "12k", "--audio", "aac", "--out", "tiny.mp4", in: folder)
    #expect(tiny.status == 64 && tiny.complaints.contains("too few"), "\(tiny.complaints)")
  }
}
