// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A movie in segments: split, encode-segment, join, and all three as --jobs.
@Suite(.serialized) struct PartTests {
  private struct Plan: Decodable {
    struct Segment: Decodable {
      var index: Int
      var firstFrame: Int
      var frames: Int
      var complexity: Double
      var bitRate: Int?
      var statistics: String?
    }
    var frames: Int
    var segments: [Segment]
  }

  private func plan(_ path: String) throws -> Plan {
    try JSONDecoder().decode(Plan.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func split(_ folder: Folder, _ more: String...) throws -> Plan { try split(folder, more) }

  private func split(_ folder: Folder, _ more: [String]) throws -> Plan {
    let run = try CommandLine.run(
      CommandLine.vtencode, ["split", "in.mp4", "--plan", "plan.json"] + more, in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    return try plan(folder.path("plan.json"))
  }

  private func encode(_ folder: Folder, _ segment: Int, _ more: String...) throws -> Finished {
    try CommandLine.run(
      CommandLine.vtencode, ["encode-segment", "--plan", "plan.json", "--segment", "\(segment)"] + more,
      in: folder.url)
  }

  private func encodeAll(_ folder: Folder, _ plan: Plan) throws {
    for segment in plan.segments.reversed() {
      let run = try encode(folder, segment.index)
      try #require(run.status == 0, "\(run.complaints)")
    }
  }

  private func join(_ folder: Folder, _ out: String = "out.mp4") throws -> Finished {
    try CommandLine.vtencode("join", "--plan", "plan.json", "--out", out, in: folder)
  }

  /// The pictures that ffmpeg decodes, without their container.
  private func streamHash(_ path: String) throws -> String {
    try CommandLine.run(
      "ffmpeg", ["-nostdin", "-v", "error", "-i", path, "-map", "0:v", "-c", "copy", "-f", "md5", "-"]
    ).text
  }

  private func times(_ path: String) throws -> [Double] { try Probe(path).frames().compactMap(\.time) }

  @Test(arguments: ["avc1", "hvc1"]) func splitEncodeAndJoinMakeTheWholeMovie(codec: String) throws {
    let folder = try Folder()
    // libx265 takes its time on a machine that has other work.
    let seconds = codec == "avc1" ? 12 : 3
    let count = codec == "avc1" ? 4 : 3
    try makeVaryingMovie(folder.path("in.mp4"), seconds: seconds, audio: true)
    let plan = try split(
      folder, "--codec", codec, "--bitrate", "400k", "--effort", "2", "--segments", "\(count)")
    #expect(plan.segments.count == count && plan.frames == seconds * 25)
    #expect(plan.segments.reduce(0) { $0 + $1.frames } == plan.frames)
    // The still third needs least: it gets a small part of its length's share.
    #expect((plan.segments.first?.bitRate ?? .max) < 200_000, "\(plan)")
    try encodeAll(folder, plan)
    let run = try join(folder)
    #expect(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("out.mp4"))
    try expectNoErrors(probe)
    let frames = try probe.frames()
    #expect(frames.compactMap(\.time) == (try times(folder.path("in.mp4"))))
    for segment in plan.segments where frames.count == plan.frames {
      #expect(frames[segment.firstFrame].key_frame == 1, "segment \(segment.index) begins with no key frame")
    }
    let rate = try probe.bitRate(seconds: Double(seconds))
    // The bits that libx265 spends in a second match by chance rather than by rate control.
    #expect(abs(rate / 400_000 - 1) < (codec == "avc1" ? 0.01 : 0.15), "\(rate)")
    // One description for all: players would rather not see it change.
    let movie = try Data(contentsOf: URL(fileURLWithPath: folder.path("out.mp4")))
    let table = try #require(movie.range(of: Data("stsd".utf8), in: movie.startIndex..<movie.endIndex))
    #expect(movie[table.upperBound..<(table.upperBound + 8)].elementsEqual([0, 0, 0, 0, 0, 0, 0, 1]))
    // The audio is the source's, packet by packet.
    let audioTracks = try ["in.mp4", "out.mp4"].map { name in
      try CommandLine.run(
        "ffmpeg", ["-v", "error", "-i", folder.path(name), "-map", "0:a", "-c", "copy", "-f", "md5", "-"]
      ).text
    }
    #expect(audioTracks[0] == audioTracks[1] && audioTracks[0].hasPrefix("MD5="))
    let decoding = try probe.packets().compactMap { $0.dts_time.flatMap(Double.init) }
    #expect(decoding == decoding.sorted() && Set(decoding).count == plan.frames)
  }

  @Test func qualityAndVaryingFrameRatesAreKeptInSegments() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("even.mp4"), seconds: 6)
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i even.mp4 -vf 'select=not(eq(mod(n\\,7)\\,3))' -fps_mode vfr -c:v libx264 in.mp4",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let plan = try split(folder, "--quality", "0.4", "--segment-duration", "2")
    #expect(plan.segments.count == 3 && plan.segments.allSatisfy { $0.bitRate == nil })
    try encodeAll(folder, plan)
    #expect(try join(folder, "out.mov").status == 0)
    #expect(try times(folder.path("out.mov")) == times(folder.path("in.mp4")))
    #expect(try join(folder, "out.264").status == 0)
    #expect(try Probe(folder.path("out.264")).frameCount() == plan.frames)
  }

  /// The package's own, and libx264 where it is built in.
  private static let encoders: [String?] = {
    #if X264
      [nil, "org.openvideotoolbox.videoencoder.h264.x264"]
    #else
      [nil]
    #endif
  }()

  /// Long enough for an analysis in parts, side by side.
  @Test(arguments: encoders) func longMoviesAreAnalysedInParts(encoder: String?) throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("even.mp4"), seconds: 24, size: "160x120")
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i even.mp4 -vf 'select=not(eq(mod(n\\,7)\\,3))' -fps_mode vfr -c:v libx264 "
        + "-preset ultrafast in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    var options = ["--bitrate", "100k", "--effort", "2", "--segments", "2"]
    if let encoder { options += ["--encoder", encoder] }
    let source = try times(folder.path("in.mp4"))
    let plan = try split(folder, options)
    #expect(plan.frames == source.count)
    // As with one processor.
    let allowed = try CommandLine.shell("taskset -cp $$ | sed 's/.*: //; s/[,-].*//'").text
    let alone = try CommandLine.run(
      "taskset",
      [
        "-c", allowed.trimmingCharacters(in: .whitespacesAndNewlines), CommandLine.vtencode, "split",
        "in.mp4", "--plan", "alone.json",
      ] + options,
      in: folder.url)
    try #require(alone.status == 0, "\(alone.complaints)")
    #expect(try self.plan(folder.path("alone.json")).frames == source.count)
    if encoder == nil {
      // libx264 looks ahead in another way with one.
      let plans = try ["alone.json", "plan.json"].map {
        try Data(contentsOf: folder.url.appendingPathComponent($0))
      }
      #expect(plans[0] == plans[1])
    }
    try encodeAll(folder, plan)
    #expect(try join(folder).status == 0)
    #expect(try times(folder.path("out.mp4")) == source)
    let rate = try Probe(folder.path("out.mp4")).bitRate(seconds: 24)
    #expect(abs(rate / 100_000 - 1) < 0.01, "\(rate)")
  }

  @Test func finishedSegmentsStay() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 4)
    let plan = try split(folder, "--bitrate", "300k", "--segments", "2")
    try encodeAll(folder, plan)
    let movie = folder.path("plan.parts/segment-00001.mov")
    let before = try FileManager.default.attributesOfItem(atPath: movie)[.modificationDate] as? Date
    let hash = try streamHash(movie)
    let again = try encode(folder, 1)
    #expect(again.status == 0 && again.text.contains("segment 1 is finished"), "\(again.text)")
    #expect(try FileManager.default.attributesOfItem(atPath: movie)[.modificationDate] as? Date == before)
    let overwritten = try encode(folder, 1, "--overwrite")
    #expect(overwritten.status == 0 && !overwritten.text.contains("is finished"))
    #expect(try FileManager.default.attributesOfItem(atPath: movie)[.modificationDate] as? Date != before)
    #expect(try streamHash(movie) == hash)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("plan.parts")).sorted() == [
        "segment-00000.json", "segment-00000.mov", "segment-00000.pass",
        "segment-00001.json", "segment-00001.mov", "segment-00001.pass",
      ])
  }

  @Test func aStoppedSegmentIsNone() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 24, size: "640x480")
    _ = try split(folder, "--bitrate", "800k", "--segments", "2")
    for signal in [SIGINT, SIGKILL] {
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["encode-segment", "--plan", "plan.json", "--segment", "1", "--progress", "json"],
        in: folder.url, signal: .sent(signal, atFrame: 0))
      #expect(run.status == 128 + signal, "\(run.complaints)")
      // The statistics of the analysis stay. SIGKILL leaves a scratch folder as well.
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("plan.parts"))
        .filter { !$0.hasSuffix(".pass") }
      #expect(
        left.allSatisfy { $0.hasPrefix(".vtscratch-") } && (signal == SIGKILL || left.isEmpty), "\(left)")
      let joined = try join(folder)
      #expect(
        joined.status == 1 && joined.complaints.contains("segment 0 is not there"), "\(joined.complaints)")
      #expect(!folder.contents.contains("out.mp4"))
    }
  }

  @Test func whatDoesNotBelongIsRefused() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 3)
    let plan = try split(folder, "--bitrate", "300k", "--segments", "2")
    try encodeAll(folder, plan)
    func expectRefused(_ run: Finished, _ words: String, _ line: Int = #line) {
      #expect(run.status != 0 && run.complaintLines.count == 1, "line \(line): \(run.complaints)")
      #expect(run.complaints.contains(words), "line \(line): \(run.complaints)")
      #expect(!folder.contents.contains("out.mp4"), "line \(line)")
    }
    expectRefused(try encode(folder, 2), "not one of them")
    // Of a segment that is finished, too.
    try makeVaryingMovie(folder.path("other.mp4"), seconds: 2)
    expectRefused(try encode(folder, 0, "--movie", "other.mp4"), "not the movie that the plan was made for")
    expectRefused(try encode(folder, 0, "--movie", "none.mp4"), "there is no file 'none.mp4'")
    let finished = try encode(folder, 0, "--movie", "in.mp4")
    #expect(finished.status == 0 && finished.text.contains("is finished"), "\(finished.complaints)")
    // A segment that lost bytes.
    let movie = URL(fileURLWithPath: folder.path("plan.parts/segment-00000.mov"))
    let whole = try Data(contentsOf: movie)
    var hurt = whole
    hurt[hurt.count / 2] ^= 0x55
    try hurt.write(to: movie)
    expectRefused(try join(folder), "segment 0 is damaged")
    try whole.write(to: movie)
    // A segment of another plan.
    let planURL = URL(fileURLWithPath: folder.path("plan.json"))
    let first = try Data(contentsOf: planURL)
    _ = try split(folder, "--bitrate", "310k", "--segments", "2", "--overwrite")
    expectRefused(try join(folder), "belongs to another plan")
    // A modified plan, and a file that is not a plan.
    let text = String(decoding: first, as: UTF8.self)
    try Data(text.replacingOccurrences(of: "\"passes\" : 4", with: "\"passes\" : 2").utf8).write(to: planURL)
    expectRefused(try join(folder), "checksum")
    try Data(text.utf8.prefix(300)).write(to: planURL)
    expectRefused(try join(folder), "not a plan")
    try Data("{\"format\": \"vtencode encoding plan\", \"version\": 99}".utf8).write(to: planURL)
    expectRefused(try join(folder), "version 99")
    try first.write(to: planURL)
    // Another movie under its name; a copy with another time.
    try FileManager.default.moveItem(atPath: folder.path("in.mp4"), toPath: folder.path("kept.mp4"))
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 2)
    expectRefused(try join(folder), "not the movie that the plan was made for")
    try FileManager.default.removeItem(atPath: folder.path("in.mp4"))
    let copied = try CommandLine.shell("cp kept.mp4 in.mp4", in: folder)
    #expect(copied.status == 0)
    expectRefused(try join(folder), "--ignore-modification-time")
    let joined = try CommandLine.vtencode(
      "join", "--plan", "plan.json", "--ignore-modification-time", "--out", "out.mp4", in: folder)
    #expect(joined.status == 0, "\(joined.complaints)")
  }

  /// By itself, a run does what the commands do one by one: the same bits.
  @Test func jobsGiveTheBitsOfTheCommands() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 12, size: "160x120", audio: true)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--bitrate", "130k", "--effort", "2", "--jobs", "2", "--progress", "json",
      "--out", "jobs.mp4",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(run.text.contains("2 segments"), "\(run.text)")
    #expect(folder.contents == ["in.mp4", "jobs.mp4"])
    let plan = try split(folder, "--bitrate", "130k", "--effort", "2", "--segments", "2")
    try encodeAll(folder, plan)
    #expect(try join(folder).status == 0)
    #expect(try streamHash(folder.path("jobs.mp4")) == streamHash(folder.path("out.mp4")))
    try expectNoErrors(Probe(folder.path("jobs.mp4")))
  }

  /// The number of threads is free with the package's own encoder; others give other bits, and say
  /// so.
  @Test func threadsOfASegmentAreFreeWithTheOwnEncoderAlone() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 2)
    let record = folder.path("plan.parts/segment-00001.mov")
    var options = [
      "--encoder", "org.openvideotoolbox.videoencoder.h264", "--bitrate", "600k", "--segments", "2",
    ]
    _ = try split(folder, options)
    #expect(try encode(folder, 1).status == 0)
    let planned = try streamHash(record)
    #expect(try encode(folder, 1, "--overwrite", "--threads", "3").status == 0)
    #expect(try streamHash(record) == planned)
    let none = try encode(folder, 1, "--overwrite", "--threads", "0")
    #expect(none.status == 64 && none.complaints.contains("1 to 128"), "\(none.complaints)")
    let others = try CommandLine.vtencode("encoders", in: folder).text
    guard others.contains("h264.x264") else { return }
    options[1] += ".x264"
    _ = try split(folder, options + ["--overwrite"])
    let refused = try encode(folder, 0, "--threads", "3")
    #expect(
      refused.status == 64 && refused.complaints.contains("omit --threads"), "\(refused.complaints)")
    #expect(try encode(folder, 0, "--threads", "1").status == 0)
  }

  /// With the package's own encoder the analysis is the first pass of every segment.
  @Test func theAnalysisIsTheFirstPass() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 3)
    let options = ["--encoder", "org.openvideotoolbox.videoencoder.h264", "--bitrate", "300k"]
    let plan = try split(folder, options + ["--segments", "3"])
    #expect(folder.contents == ["in.mp4", "plan.json", "plan.parts"])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("plan.parts")).sorted()
    #expect(names == (0...2).map { "segment-0000\($0).pass" })
    #expect(plan.segments.allSatisfy { $0.statistics?.count == 32 })
    // Without what was learnt, or with what is another's, there is no segment.
    let place = folder.path("plan.parts/segment-00001.pass")
    let learned = try Data(contentsOf: URL(fileURLWithPath: place))
    try Data(learned.dropLast(9)).write(to: URL(fileURLWithPath: place))
    let damaged = try encode(folder, 1)
    #expect(
      damaged.status != 0 && damaged.complaints.contains("make the plan again"), "\(damaged.complaints)")
    try FileManager.default.removeItem(atPath: place)
    #expect(try encode(folder, 1).complaintLines.count == 1)
    try learned.write(to: URL(fileURLWithPath: place))
    try encodeAll(folder, plan)
    #expect(try join(folder).status == 0)
    let probe = Probe(folder.path("out.mp4"))
    try expectNoErrors(probe)
    #expect(try probe.frameCount() == plan.frames)
    let rate = try probe.bitRate(seconds: 3)
    // Of segments that last a second.
    #expect(abs(rate / 300_000 - 1) < 0.03, "\(rate)")
    let jobs = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", "in.mp4"] + options + ["--jobs", "2", "--progress", "json", "--out", "jobs.mp4"],
      in: folder.url)
    #expect(jobs.status == 0, "\(jobs.complaints)")
    // It never goes back, and comes to its end.
    let shares = jobs.complaintLines.compactMap { line -> Double? in
      struct Event: Decodable { var share: Double? }
      return try? JSONDecoder().decode(Event.self, from: Data(line.utf8)).share
    }
    #expect(zip(shares, shares.dropFirst()).allSatisfy { $0 <= $1 }, "\(shares)")
    #expect(folder.contents == ["in.mp4", "jobs.mp4", "out.mp4", "plan.json", "plan.parts"])
    // One pass has nothing to learn for.
    let single = try split(folder, options + ["--segments", "3", "--multi-pass", "1", "--overwrite"])
    #expect(single.segments.allSatisfy { $0.statistics == nil })
  }

  @Test func interruptedJobsLeaveNothing() throws {
    let folder = try Folder()
    try makeLongMovie(in: folder, size: "320x240")
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "transcoding", "in.mp4", "--bitrate", "500k", "--jobs", "2", "--out", "out.mp4", "--progress", "json",
      ], in: folder.url, signal: .sent(SIGINT, atShare: 0.02))
    #expect(run.status == 130, "\(run.complaints)")
    #expect(folder.contents == ["in.mp4"])
  }

  @Test(arguments: [
    ["split", "in.mp4", "--plan", "plan.txt"], ["split", "in.mp4", "--plan", "p.json", "--out", "x.mp4"],
    ["split", "in.mp4", "--plan", "p.json", "--segments", "0"],
    ["split", "in.mp4", "--plan", "p.json", "--segments", "2", "--segment-duration", "3"],
    ["transcoding", "in.mp4", "--jobs", "0"], ["transcoding", "in.mp4", "--jobs", "2", "--psnr"],
  ]) func optionsThatMakeNoSenseAreRefused(arguments: [String]) throws {
    let folder = try Folder()
    try Data().write(to: folder.url.appendingPathComponent("in.mp4"))
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
    #expect(folder.contents == ["in.mp4"])
  }

  @Test("An unreachable bit rate is reported before the encoding starts")
  func ratesOutOfReachAreReported() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 6)
    for (options, words) in [
      (["--bitrate", "400k"], nil), (["--bitrate", "200M"], "at its best quality, less than --bitrate"),
      (["--bitrate", "10k"], "at the lowest quality, more than --bitrate"),
      (["--bitrate", "400k", "--max-rate", "405k", "--buffer", "0.5"], "the decoder's buffer carries about"),
      (["--bitrate", "10k", "--max-rate", "10k"], "at the lowest quality, more than --bitrate"),
      (["--quality", "0.5"], nil),
    ] as [([String], String?)] {
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["split", "in.mp4", "--plan", "plan.json", "--effort", "2", "--segments", "3", "--overwrite"]
          + options,
        in: folder.url)
      #expect(run.status == 0, "\(run.complaints)")
      if let words {
        #expect(run.complaints.contains(words), "\(options): \(run.complaints)")
      } else {
        #expect(!run.complaints.contains("the movie takes"), "\(options): \(run.complaints)")
        #expect(!run.complaints.contains("buffer carries"), "\(options): \(run.complaints)")
      }
    }
  }

  /// Writes a plan with a right checksum: over its text without white space, and without a
  /// checksum.
  static func seal(_ text: String, in folder: Folder) throws {
    var compact = ""
    var inString = false
    var isEscaped = false
    for character in text {
      if inString || !character.isWhitespace { compact.append(character) }
      if character == "\"", !isEscaped { inString.toggle() }
      isEscaped = character == "\\" && !isEscaped
    }
    let start = try #require(compact.range(of: "\"checksum\":\""))
    let end = try #require(compact[start.upperBound...].firstIndex(of: "\""))
    let bare = compact.replacingCharacters(in: start.upperBound..<end, with: "")
    try Data(bare.utf8).write(to: URL(fileURLWithPath: folder.path("bare")))
    let sum = try CommandLine.run("md5sum", [folder.path("bare")]).text.prefix(32)
    let whole = compact.replacingCharacters(in: start.upperBound..<end, with: sum)
    try Data(whole.utf8).write(to: URL(fileURLWithPath: folder.path("plan.json")))
  }

  /// Numbers of a plan that no movie has, under a checksum that is right.
  @Test func plansThatCannotBeAreRefused() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 3)
    _ = try split(folder, "--quality", "0.4", "--segments", "2")
    let original = try String(contentsOfFile: folder.path("plan.json"), encoding: .utf8)
    let counts = try plan(folder.path("plan.json"))
    // The way to the checksum is right.
    try Self.seal(original, in: folder)
    #expect(try encode(folder, 0).status == 0)
    let (first, second) = (counts.segments[0].frames, counts.segments[1].frames)
    let maximum = Int.max
    for (frames, sizes) in [
      (maximum, (maximum, 1)), (1 << 60, (1 << 59, 1 << 59)), (1 << 31, (1 << 31 - 1, 1)),
    ] {
      var text = original
      for (old, new) in [
        ("\"frames\" : \(counts.frames),", "\"frames\" : \(frames),"),
        (
          "\"firstFrame\" : \(first),\n      \"frames\" : \(second),",
          "\"firstFrame\" : \(sizes.0),\n      \"frames\" : \(sizes.1),"
        ),
        (
          "\"firstFrame\" : 0,\n      \"frames\" : \(first),",
          "\"firstFrame\" : 0,\n      \"frames\" : \(sizes.0),"
        ),
      ] {
        try #require(text.contains(old), "\(old) in \(text)")
        text = text.replacingOccurrences(of: old, with: new)
      }
      try Self.seal(text, in: folder)
      for run in [try encode(folder, 0), try join(folder)] {
        #expect(run.status == 1 && run.complaints.contains("damaged"), "\(run.status) \(run.complaints)")
      }
    }
    // Times beyond what sessions take.
    try Self.seal(
      original.replacing(/"value" : ([1-9]\d*)/) { "\"value\" : 9\($0.1)000000000000" }, in: folder)
    for run in [try encode(folder, 0), try join(folder)] {
      #expect(run.status == 1 && run.complaints.contains("damaged"), "\(run.status) \(run.complaints)")
    }
    try Self.seal(original, in: folder)
    // Options that join does not have are not advised.
    let wrong = try join(folder, "out.265")
    #expect(
      wrong.status == 64 && wrong.complaints.contains("name it .264")
        && !wrong.complaints.contains("--codec"),
      "\(wrong.complaints)")
  }

  /// Errors of the statistics of a segment are solved by another plan, and not by an option
  /// of other commands.
  @Test func statisticsThatAreNoneAreRefused() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 1)
    _ = try split(
      folder, "--encoder", "org.openvideotoolbox.videoencoder.h264", "--bitrate", "300k", "--segments", "1")
    let place = folder.path("plan.parts/segment-00000.pass")
    try Data("no statistics".utf8).write(to: URL(fileURLWithPath: place))
    let sum = try CommandLine.run("md5sum", [place]).text.prefix(32)
    let text = try String(contentsOfFile: folder.path("plan.json"), encoding: .utf8)
    try Self.seal(
      text.replacing(/"statistics" : "[0-9a-f]*"/, with: "\"statistics\" : \"\(sum)\""), in: folder)
    let run = try encode(folder, 0)
    #expect(run.status == 1 && run.complaints.contains("make the plan again"), "\(run.complaints)")
  }

  /// The pictures may be handed over long before the audio is: a signal then leaves what had the
  /// name.
  @Test func anInterruptWhileAudioIsWrittenKeepsTheOlderMovie() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -f lavfi "
        + "-i sine=sample_rate=48000:duration=900 -pix_fmt yuv420p -c:v mpeg4 -c:a alac in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let plan = try split(folder, "--quality", "0.3", "--segments", "1", "--audio", "aac")
    try encodeAll(folder, plan)
    try Data("an older movie".utf8).write(to: folder.url.appendingPathComponent("out.mp4"))
    let run = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' join --plan plan.json --overwrite --out out.mp4 &
      await $! exists './.vtencode-*'
      kill -TERM $!; wait $!
      """, in: folder)
    #expect(run.status == 143 && run.complaints.contains("nothing was written"), "\(run.complaints)")
    #expect(folder.contents == ["in.mp4", "out.mp4", "plan.json", "plan.parts"])
    #expect(try String(contentsOfFile: folder.path("out.mp4"), encoding: .utf8) == "an older movie")
  }

  @Test(arguments: [
    ["split", "frame%04d.png", "--plan", "p.json"], ["transcoding", "frame%04d.png", "--jobs", "2"],
    ["transcoding", "-", "--jobs", "2"], ["split", "-", "--plan", "p.json"],
  ]) func moviesThatAreNoFileAreNotSplit(arguments: [String]) throws {
    let folder = try Folder()
    try Data().write(to: folder.url.appendingPathComponent("frame0001.png"))
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
    let words = arguments[1] == "-" ? "store it in a file first" : "is a sequence of pictures"
    #expect(run.complaints.contains(words), "\(run.complaints)")
    #expect(run.complaints.contains("omit --jobs") == (arguments[1] != "-" && arguments[3] == "2"))
    #expect(folder.contents == ["frame0001.png"])
  }

  /// Nanoseconds of 64 bits end in 2262.
  @Test func moviesOfADistantTimeAreSplit() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 1)
    let distant = 10_000_000_000
    let times = [timespec](repeating: timespec(tv_sec: distant, tv_nsec: 5), count: 2)
    try #require(utimensat(AT_FDCWD, folder.path("in.mp4"), times, 0) == 0)
    var properties = stat()
    // Not every file system stores such a time.
    guard stat(folder.path("in.mp4"), &properties) == 0, properties.st_mtim.tv_sec == distant else { return }
    let plan = try split(folder, "--quality", "0.4", "--segments", "1")
    #expect(plan.frames == 24)
    let run = try encode(folder, 0)
    #expect(run.status == 0, "\(run.complaints)")
  }

  /// A pipe without a writer in place of a file is an error.
  @Test func pipesInThePlaceOfFilesAreNotWaitedFor() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 1)
    let plan = try split(folder, "--quality", "0.4", "--segments", "1")
    try encodeAll(folder, plan)
    try #require(mkfifo(folder.path("pipe.mp4"), 0o600) == 0)
    let encoded = try encode(folder, 0, "--movie", "pipe.mp4")
    #expect(
      encoded.status == 1 && encoded.complaints.contains("is not a regular file"), "\(encoded.complaints)")
    let record = folder.path("plan.parts/segment-00000.json")
    try FileManager.default.removeItem(atPath: record)
    try #require(mkfifo(record, 0o600) == 0)
    let joined = try join(folder)
    #expect(
      joined.status == 1 && joined.complaints.contains("segment 0 is not there"), "\(joined.complaints)")
  }

  /// `--progress json` ends with what came of it, whatever the command.
  @Test func theEndIsReportedToPrograms() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 1)
    for (command, output) in [
      (["split", "in.mp4", "--quality", "0.4", "--segments", "2", "--plan", "plan.json"], "plan.json"),
      (["encode-segment", "--plan", "plan.json", "--segment", "1"], "plan.parts/segment-00001.mov"),
      (["encode-segment", "--plan", "plan.json", "--segment", "1"], "plan.parts/segment-00001.mov"),
      (["export", "in.mp4", "--preset", "Passthrough", "--out", "copy.mp4"], "copy.mp4"),
    ] {
      let run = try CommandLine.run(
        CommandLine.vtencode, command + ["--progress", "json"], in: folder.url)
      #expect(run.status == 0, "\(run.complaints)")
      struct Event: Decodable {
        var event: String
        var output: String?
      }
      let events = try run.complaintLines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
      #expect(events.last?.event == "finished" && events.last?.output == output, "\(run.complaints)")
    }
  }
}
