// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Without a rate and a quality a movie is encoded at a constant quality, with a ceiling.
@Suite(.serialized) struct DefaultQualityTests {
  private struct Event: Decodable {
    var event: String
    var constantQuality: Double?
    var highestBitsPerSecond: Int?
    var targetBitsPerSecond: Int?
    var runs: Int?
  }

  /// Makes a movie without loss, whose own rate is thus no limit: 320x180, 25 frames a second.
  private func make(_ picture: String, seconds: Int = 2, in folder: Folder) throws {
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -y -f lavfi -i '\(picture)' -t \(seconds) -pix_fmt yuv420p -c:v ffv1 in.mkv",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  private static let easy = "testsrc2=size=320x180:rate=25"
  private static let hard = "testsrc2=size=320x180:rate=25,noise=alls=40:allf=t"
  /// Four times 0.11 bits for each sample, in bits a second: the ceiling of 320x180 at 25 frames a
  /// second.
  private static let ceiling = 640_000.0

  /// SSIM of all planes in decibels, by ffmpeg.
  private func similarity(_ name: String, in folder: Folder) throws -> Double {
    let run = try CommandLine.shell(
      "ffmpeg -nostdin -v info -i \(name) -i in.mkv -lavfi "
        + "'[0:v]settb=AVTB,setpts=N[a];[1:v]settb=AVTB,setpts=N[b];[a][b]ssim' -f null - 2>&1", in: folder)
    let found = try #require(run.text.firstMatch(of: /All:[\d.]+ \(([\d.]+)\)/), "\(run.text)")
    return try #require(Double(found.1))
  }

  private func bytes(_ name: String, in folder: Folder) throws -> Double {
    Double(try Probe(folder.path(name)).packets().compactMap { $0.size.flatMap(Int.init) }.reduce(0, +))
  }

  /// The options for each encoder, and the name of libavcodec's.
  private static let encoders: [[String]] = {
    var encoders: [[String]] = [[]]
    #if X264
      encoders.append(["--encoder", "org.openvideotoolbox.videoencoder.h264.x264"])
    #endif
    #if X265
      encoders.append(["--codec", "hevc"])
    #endif
    return encoders
  }()

  @Test(
    "Easy and hard pictures get the SSIM of libx264 at CRF 23 from each encoder, and a rate by content",
    arguments: encoders)
  func theRateFollowsTheContent(encoder: [String]) throws {
    let folder = try Folder()
    var rates: [Double] = []
    for picture in ["mandelbrot=size=320x180:rate=25:start_scale=0.02,gblur=1.2", Self.easy + ",gblur=2"] {
      try make(picture, in: folder)
      let run = try CommandLine.run(
        CommandLine.vtencode, ["transcoding", "in.mkv", "--overwrite", "--out", "out.mp4"] + encoder,
        in: folder.url)
      try #require(run.status == 0, "\(run.complaints)")
      #expect(run.text.contains("constant quality 0.47, "), "\(run.text)")
      let other = try CommandLine.shell(
        "ffmpeg -nostdin -v error -y -i in.mkv -c:v libx264 -preset medium -crf 23 crf.mp4", in: folder)
      try #require(other.status == 0, "\(other.complaints)")
      let (ours, theirs) = (try similarity("out.mp4", in: folder), try similarity("crf.mp4", in: folder))
      // A step of CRF is about a third of a decibel.
      #expect(abs(ours - theirs) < 2, "\(picture): \(ours) dB, libx264 \(theirs) dB")
      rates.append(try bytes("out.mp4", in: folder))
    }
    #expect(max(rates[0], rates[1]) > min(rates[0], rates[1]) * 1.5, "\(rates)")
  }

  @Test(
    "A movie whose quality takes more than the ceiling is encoded again at the ceiling", arguments: encoders)
  func theCeilingIsKeptByEncodingAgain(encoder: [String]) throws {
    let folder = try Folder()
    try make(Self.hard, in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "in.mkv", "--progress", "json", "--out", "out.mp4"] + encoder,
      in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    let last = try JSONDecoder().decode(Event.self, from: Data(try #require(run.complaintLines.last).utf8))
    #expect(last.event == "finished" && last.constantQuality == nil, "\(run.complaints)")
    #expect(Double(last.highestBitsPerSecond ?? 0) == Self.ceiling, "\(last)")
    #expect(last.targetBitsPerSecond == last.highestBitsPerSecond && last.runs ?? 0 >= 2, "\(last)")
    #expect(run.text.contains("the ceiling, as constant quality 0.47 takes"), "\(run.text)")
    let rate = try bytes("out.mp4", in: folder) * 8 / 2
    #expect(rate < Self.ceiling * 1.1 && rate > Self.ceiling * 0.7, "\(rate)")
    #expect(folder.contents == ["in.mkv", "out.mp4"])
  }

  @Test("A stream on a pipe cannot be encoded again: it keeps to a buffer that fills at the ceiling")
  func theCeilingIsKeptByABuffer() throws {
    let folder = try Folder()
    try make(Self.hard, seconds: 6, in: folder)
    let run = try CommandLine.shell(
      "'\(CommandLine.vtencode)' transcoding in.mkv --out - > out.264", in: folder)
    try #require(run.status == 0, "\(run.complaints)")
    #expect(
      run.complaints.contains(/constant quality 0.47, (at most|ceiling) 640 kb\/s/), "\(run.complaints)")
    let sizes = try Probe(folder.path("out.264")).packets().compactMap { $0.size.flatMap(Double.init) }
    #expect(sizes.count == 150)
    // The buffer holds a second of the ceiling, and four of the pictures' usual rate.
    for start in sizes.indices {
      var bits = 0.0
      for end in start..<sizes.count {
        bits += sizes[end] * 8
        let maximum = Self.ceiling * (1 + Double(end - start) / 25)
        #expect(bits <= maximum * 1.01, "frames \(start) to \(end)")
        if bits > maximum * 1.01 { return }
      }
    }
  }

  @Test("A source of few bits is a ceiling too, and easy pictures stay below both")
  func neverMoreThanTheSource() throws {
    let folder = try Folder()
    try make(Self.hard, seconds: 3, in: folder)
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i in.mkv -c:v libx264 -b:v 150k small.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode("transcoding", "small.mp4", "--out", "out.mp4", in: folder)
    try #require(run.status == 0, "\(run.complaints)")
    let (ours, source) = (try bytes("out.mp4", in: folder), try bytes("small.mp4", in: folder))
    #expect(ours <= source * 1.06, "\(ours) bytes of \(source)")
  }

  @Test(
    "Where a rate is needed it follows from the size of the pictures as before",
    arguments: [["--multi-pass"], ["--cbr"], ["--max-rate", "200k"]])
  func ratesAreKeptWhereTheyAreNeeded(options: [String]) throws {
    let folder = try Folder()
    try make(Self.easy, in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "in.mkv", "--out", "out.mp4"] + options, in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    #expect(run.text.contains("target 160 kb/s"), "\(run.text)")
  }

  @Test("Segments have the quality too, or the ceiling's rate where the analysis takes more")
  func segmentsHaveTheQuality() throws {
    struct Plan: Decodable {
      struct Settings: Decodable {
        var quality: Double?
        var bitRate: Int?
      }
      var settings: Settings
    }
    let folder = try Folder()
    for (picture, isHard) in [(Self.easy, false), (Self.hard, true)] {
      try make(picture, seconds: 4, in: folder)
      let split = try CommandLine.vtencode(
        "split", "in.mkv", "--segments", "2", "--overwrite", "--plan", "plan.json", in: folder)
      try #require(split.status == 0, "\(split.complaints)")
      let plan = try JSONDecoder().decode(
        Plan.self, from: Data(contentsOf: folder.url.appendingPathComponent("plan.json")))
      #expect(plan.settings.quality == (isHard ? nil : 0.47), "\(plan)")
      #expect(plan.settings.bitRate.map(Double.init) == (isHard ? Self.ceiling : nil), "\(plan)")
      let whole = try CommandLine.vtencode(
        "transcoding", "in.mkv", "--jobs", "2", "--overwrite", "--out", "out.mp4", in: folder)
      try #require(whole.status == 0, "\(whole.complaints)")
      #expect(try Probe(folder.path("out.mp4")).frameCount() == 100)
      #expect(try bytes("out.mp4", in: folder) * 8 / 4 < Self.ceiling * 1.05)
    }
  }
}
