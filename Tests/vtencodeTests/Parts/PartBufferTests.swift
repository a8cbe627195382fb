// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Segments that are one stream for a decoder's buffer.
@Suite(.serialized) struct PartBufferTests {
  private func vtencode(_ folder: Folder, _ arguments: [String]) throws -> Finished {
    try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
  }

  private static let frames = 300
  private static let size = "160x120"
  /// An effort that is fast, as what is checked does not depend on it.
  private static let effort = ["--effort", "2"]

  private struct Plan: Decodable {
    struct Segment: Decodable {
      var firstFrame: Int
      var bitRate: Int
    }
    var segments: [Segment]
  }

  /// A leaky bucket over the packets of a movie with 25 frames a second. Each stream that is joined
  /// finds in it at least what it was made for, that is what the first one begins with.
  private func check(_ path: String, rate: Int, seconds: Double, isConstant: Bool, joins: [Int] = []) throws {
    let sizes = try Probe(path).packets().compactMap { $0.size.flatMap(Int.init) }
    #expect(sizes.count == Self.frames)
    let size = Double(rate) * seconds
    var held = size * 0.9
    for (n, bytes) in sizes.enumerated() {
      if joins.contains(n) { #expect(held > size * 0.9 - 16, "\(n): \(held) of \(size * 0.9)") }
      held -= Double(bytes * 8)
      // A movie's lengths of NAL units take a byte more than most start codes, of which clause C.1
      // counts: `checkMessages` is exact.
      #expect(held > -size / 1000, "frame \(n) is late by \(-held) bits")
      held += Double(rate) / 25
      if isConstant { #expect(held < size + 1, "\(held - size) bits have no room after frame \(n)") }
      held = min(held, size)
    }
  }

  /// By clause C.1, with what the movie itself says of its buffer.
  private func checkMessages(
    _ path: String, rate: Int, seconds: Double, isConstant: Bool, joins: [Int]
  ) throws {
    var decoder = try HypotheticalDecoder(path)
    #expect(decoder.units.count == Self.frames && decoder.isConstant == isConstant)
    #expect(decoder.rate == Double(rate & ~63))
    let agreed = Double(rate & ~63) * seconds
    #expect(decoder.size >= agreed && decoder.size < agreed + 100, "\(decoder.size)")
    #expect(try decoder.run() == [])
    // The initial state of the first equals that of all others, except for ticks of 90 kHz.
    let first = try #require(decoder.held.first)
    for join in joins {
      #expect(decoder.units[join].period != nil)
      // At a rate that varies nothing comes in that is not there yet; how long it had is what `run`
      // checks.
      if isConstant {
        #expect(abs(decoder.held[join] - first) < 16, "\(join): \(decoder.held[join]) of \(first)")
      }
    }
  }

  /// The options for the package's HEVC encoder; nil where it is not built in. It takes twice as
  /// long as the H.264 encoder, and shares its rate control, so it runs fewer of the cases.
  private static let hevc: [String]? = {
    #if HEVC
      ["--codec", "hvc1", "--encoder", "org.openvideotoolbox.videoencoder.hevc"]
    #else
      nil
    #endif
  }()

  @Test(arguments: [(true, []), (false, [])] + (hevc.map { [(true, $0)] } ?? []))
  func segmentsKeepToOneBuffer(says: Bool, encoder: [String]) throws {
    let folder = try Folder()
    let limit = ["--bitrate", "100k", "--cbr", "--buffer", "0.5"] + encoder
    let (rate, seconds) = (100_000, 0.5)
    try makeVaryingMovie(folder.path("in.mp4"), seconds: Self.frames / 25, size: Self.size)
    let options = limit + Self.effort + (says ? ["--buffer-timing"] : [])
    var run = try vtencode(folder, ["split", "in.mp4", "--plan", "plan.json", "--segments", "4"] + options)
    try #require(run.status == 0, "\(run.complaints)")
    let plan = try JSONDecoder().decode(
      Plan.self, from: Data(contentsOf: URL(fileURLWithPath: folder.path("plan.json"))))
    let joins = plan.segments.dropFirst().map(\.firstFrame)
    #expect(joins.count == 3)
    for segment in 0..<4 {
      run = try vtencode(folder, ["encode-segment", "--plan", "plan.json", "--segment", "\(segment)"])
      try #require(run.status == 0, "\(run.complaints)")
    }
    run = try vtencode(folder, ["join", "--plan", "plan.json", "--out", "out.mp4"])
    try #require(run.status == 0, "\(run.complaints)")
    try expectNoErrors(Probe(folder.path("out.mp4")))
    // The same by itself, in segments of its own.
    run = try vtencode(folder, ["transcoding", "in.mp4", "--jobs", "2", "--out", "jobs.mp4"] + options)
    #expect(run.status == 0, "\(run.complaints)")
    for name in ["out.mp4", "jobs.mp4"] {
      let path = folder.path(name)
      try check(path, rate: says ? rate & ~63 : rate, seconds: seconds, isConstant: true)
      if says {
        try checkMessages(
          path, rate: rate, seconds: seconds, isConstant: true, joins: name == "out.mp4" ? joins : [])
      }
      // A constant rate brings what the buffer holds at the beginning besides, and leaves it at the
      // end.
      let length = Double(Self.frames) / 25
      let got = try Probe(path).bitRate(seconds: length)
      #expect(abs(got / Double(rate) - 1) < 0.9 * seconds / length, "\(name): \(got)")
    }
  }

  @Test(
    "Without segments the buffer holds as well",
    arguments: [
      ["transcoding", "--multi-pass=2"], ["transcoding"], ["streaming", "--unpaced"],
    ])
  func withoutSegmentsTheBufferHoldsAsWell(command: [String]) throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: Self.frames / 25, size: Self.size)
    let run = try vtencode(
      folder,
      command + Self.effort + [
        "in.mp4", "--bitrate", "70k", "--max-rate", "100k", "--buffer", "1", "--buffer-timing", "--out",
        "out.mp4",
      ])
    try #require(run.status == 0, "\(run.complaints)")
    try check(folder.path("out.mp4"), rate: 100_000 & ~63, seconds: 1, isConstant: false)
    try checkMessages(folder.path("out.mp4"), rate: 100_000, seconds: 1, isConstant: false, joins: [])
  }

  /// An encoder that makes nothing of its neighbours.
  private static let others: [[String]] = {
    var others: [[String]] = []
    #if X264
      others.append(["--encoder", "org.openvideotoolbox.videoencoder.h264.x264"])
    #endif
    #if X265
      others.append(["--encoder", "org.openvideotoolbox.videoencoder.hevc.x265", "--codec", "hvc1"])
    #endif
    return others
  }()

  @Test(arguments: others)
  func othersAreRefused(encoder: [String]) throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 3)
    for command in [["split", "in.mp4", "--plan", "plan.json"], ["transcoding", "in.mp4", "--jobs", "2"]] {
      for limit in [["--cbr"], ["--max-rate", "400k"]] {
        let run = try vtencode(folder, command + ["--bitrate", "300k"] + limit + encoder)
        #expect(run.status != 0 && run.complaints.contains("buffer"), "\(run.complaints)")
        #expect(run.complaintLines.count == 1)
      }
    }
    #expect(folder.contents == ["in.mp4"])
  }

  /// Parts of a movie of 25 frames a second: what each shows, and for how long.
  private func makeMovie(_ path: String, _ parts: [(source: String, seconds: Int)]) throws {
    let inputs = parts.flatMap { ["-f", "lavfi", "-i", "\($0.source)=size=\(Self.size):rate=25"] }
    let filters = parts.enumerated().map { n, part in
      "[\(n)]trim=duration=\(part.seconds)" + (part.source == "testsrc2" ? ",noise=alls=30:allf=t" : "")
        + "[p\(n)];"
    }
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error"] + inputs + [
        "-filter_complex",
        filters.joined() + parts.indices.map { "[p\($0)]" }.joined() + "concat=n=\(parts.count)[v]", "-map",
        "[v]", "-pix_fmt", "yuv420p", "-c:v", "mpeg4", "-q:v", "2", path,
      ])
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// A movie of two halves, and a rate for it that varies within a buffer.
  struct VariableRate {
    var halves: [String]
    var highest: Int
    var seconds: Double
    var segments: Int
    var encoder: [String] = []
  }

  private static let variableRates: [VariableRate] = {
    // Busy throughout, with a short buffer: all that comes in is wanted.
    let busy = VariableRate(halves: ["testsrc2", "mandelbrot"], highest: 133_000, seconds: 0.5, segments: 3)
    // Half of a segment is busy, and the highest rate is near the average.
    let near = VariableRate(halves: ["mandelbrot", "testsrc2"], highest: 110_000, seconds: 0.5, segments: 3)
    let others = [
      VariableRate(halves: ["mandelbrot", "testsrc2"], highest: 133_000, seconds: 1, segments: 3),
      VariableRate(halves: ["testsrc2", "mandelbrot"], highest: 133_000, seconds: 2.5, segments: 2),
    ]
    let again = (hevc.map { encoder in [busy, near].map { ($0, encoder) } } ?? []).map { way, encoder in
      var way = way
      way.encoder = encoder
      return way
    }
    return [busy, near] + others + again
  }()

  @Test(
    "Segments whose rate varies within a buffer: it holds over joins, and the movie has its rate",
    arguments: variableRates)
  func segmentsOfAVariableRateKeepToOneBuffer(way: VariableRate) throws {
    let (halves, seconds, count) = (way.halves, way.seconds, way.segments)
    let folder = try Folder()
    let (rate, highest) = (100_000, way.highest & ~63)
    let parts = halves.map { (source: $0, seconds: Self.frames / 50) }
    try makeMovie(folder.path("in.mp4"), parts)
    let options =
      [
        "--bitrate", "\(rate)", "--max-rate", "\(highest)", "--buffer", "\(seconds)", "--buffer-timing",
      ] + way.encoder + Self.effort
    var run = try vtencode(
      folder, ["split", "in.mp4", "--plan", "plan.json", "--segments", "\(count)"] + options)
    try #require(run.status == 0, "\(run.complaints)")
    let plan = try JSONDecoder().decode(
      Plan.self, from: Data(contentsOf: URL(fileURLWithPath: folder.path("plan.json"))))
    #expect(plan.segments.allSatisfy { $0.bitRate <= highest } && Set(plan.segments.map(\.bitRate)).count > 1)
    for segment in plan.segments.indices {
      run = try vtencode(folder, ["encode-segment", "--plan", "plan.json", "--segment", "\(segment)"])
      try #require(run.status == 0, "\(run.complaints)")
    }
    run = try vtencode(folder, ["join", "--plan", "plan.json", "--out", "out.mp4"])
    try #require(run.status == 0, "\(run.complaints)")
    run = try vtencode(folder, ["transcoding", "in.mp4", "--jobs", "2", "--out", "jobs.mp4"] + options)
    try #require(run.status == 0, "\(run.complaints)")
    for (name, joins) in [("out.mp4", plan.segments.dropFirst().map(\.firstFrame)), ("jobs.mp4", [])] {
      let path = folder.path(name)
      try expectNoErrors(Probe(path))
      try check(path, rate: highest, seconds: seconds, isConstant: false, joins: joins)
      try checkMessages(path, rate: highest, seconds: seconds, isConstant: false, joins: joins)
      let got = try Probe(path).bitRate(seconds: Double(Self.frames) / 25)
      #expect(abs(got / Double(rate) - 1) < 0.01, "\(name): \(got), planned \(plan.segments.map(\.bitRate))")
    }
  }

  @Test func unevenTimesDoNotFitAConstantRate() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("even.mp4"), seconds: 6)
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i even.mp4 -vf 'select=not(mod(n\\,2))+lt(n\\,90)' -fps_mode vfr -c:v libx264 in.mp4",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let arguments = [
      "split", "in.mp4", "--plan", "plan.json", "--bitrate", "300k", "--segment-duration", "1",
    ]
    let refused = try vtencode(folder, arguments + ["--cbr"])
    #expect(refused.status == 64 && refused.complaints.contains("--cbr"), "\(refused.complaints)")
    let taken = try vtencode(folder, arguments)
    #expect(taken.status == 0, "\(taken.complaints)")
  }
}
