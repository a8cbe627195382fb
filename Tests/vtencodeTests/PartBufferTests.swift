// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Segments that are one stream for a decoder's buffer.
@Suite(.serialized) struct PartBufferTests {
  private func vtencode(_ folder: Folder, _ arguments: [String]) throws -> Finished {
    try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
  }

  /// A leaky bucket over the packets of a movie with 25 frames a second.
  private func check(_ path: String, frames: Int, rate: Int, seconds: Double, isConstant: Bool) throws {
    let sizes = try Probe(path).packets().compactMap { $0.size.flatMap(Int.init) }
    #expect(sizes.count == frames)
    let size = Double(rate) * seconds
    var held = size * 0.9
    for (n, bytes) in sizes.enumerated() {
      held -= Double(bytes * 8)
      #expect(held > -1, "frame \(n) is late")
      held += Double(rate) / 25
      if isConstant { #expect(held < size + 1, "no room behind frame \(n)") }
      held = min(held, size)
    }
  }

  private static let frames = 300

  @Test(arguments: [
    ["--bitrate", "300k", "--cbr", "--buffer", "0.5"],
    ["--bitrate", "200k", "--max-rate", "300k", "--buffer", "1"],
  ])
  func oneBuffer(limit: [String]) throws {
    let folder = try Folder()
    let isConstant = limit.contains("--cbr")
    try makeVaryingMovie(folder.path("in.mp4"), seconds: Self.frames / 25)
    let options = limit + ["--buffer-timing"]
    var run = try vtencode(folder, ["split", "in.mp4", "--plan", "plan.json", "--segments", "4"] + options)
    try #require(run.status == 0, "\(run.complaints)")
    for segment in 0..<4 {
      run = try vtencode(folder, ["encode-segment", "--plan", "plan.json", "--segment", "\(segment)"])
      try #require(run.status == 0, "\(run.complaints)")
    }
    run = try vtencode(folder, ["join", "--plan", "plan.json", "--out", "out.mp4"])
    try #require(run.status == 0, "\(run.complaints)")
    let seconds = isConstant ? 0.5 : 1.0
    try check(
      folder.path("out.mp4"), frames: Self.frames, rate: 300_000 & ~63, seconds: seconds,
      isConstant: isConstant)
    try expectNoErrors(Probe(folder.path("out.mp4")))
    // Ticks since the last buffering period, all through the movie: two for each frame.
    let traced = try CommandLine.shell(
      "ffmpeg -nostdin -v verbose -i out.mp4 -c copy -bsf:v trace_headers -f null - 2>&1 "
        + "| grep -oE ' (initial_)?cpb_removal_delay(\\[[0-9]\\])? .*= [0-9]+$'", in: folder)
    var expected = 0
    var isAfterPeriod = false
    var count = 0
    for line in traced.text.split(separator: "\n") {
      let words = line.split(separator: " ")
      let value = words.last.flatMap { Int($0) } ?? -1
      if words.first?.hasPrefix("cpb") == true {
        #expect(value == expected, "frame \(count)")
        count += 1
        if isAfterPeriod { expected = 0 }
        isAfterPeriod = false
        expected += 2
      } else {
        isAfterPeriod = true
      }
    }
    #expect(count == Self.frames)
    // The same by itself.
    run = try vtencode(folder, ["transcoding", "in.mp4", "--jobs", "2", "--out", "jobs.mp4"] + options)
    #expect(run.status == 0, "\(run.complaints)")
    try check(
      folder.path("jobs.mp4"), frames: Self.frames, rate: 300_000 & ~63, seconds: seconds,
      isConstant: isConstant)
    let rate = try Probe(folder.path("jobs.mp4")).bitRate(seconds: Double(Self.frames) / 25)
    #expect(abs(rate / (isConstant ? 300_000 : 200_000) - 1) < 0.02, "\(rate)")
  }

  /// An encoder that makes nothing of its neighbours.
  private static let others: [[String]] = {
    var others: [[String]] = []
    #if X264
      others.append(["--encoder", "org.openvideotoolbox.videoencoder.h264.x264"])
    #endif
    #if X265
      others.append(["--codec", "hvc1"])
    #endif
    return others
  }()

  @Test(arguments: others, [["--cbr"], ["--max-rate", "400k"]])
  func othersAreRefused(encoder: [String], limit: [String]) throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 3)
    for command in [["split", "in.mp4", "--plan", "plan.json"], ["transcoding", "in.mp4", "--jobs", "2"]] {
      let run = try vtencode(folder, command + ["--bitrate", "300k"] + encoder + limit)
      #expect(run.status != 0 && run.complaints.contains("buffer"), "\(run.complaints)")
      #expect(run.complaintLines.count == 1)
    }
    #expect(folder.contents == ["in.mp4"])
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
    #expect(refused.status == 64 && refused.complaints.contains("--max-rate"), "\(refused.complaints)")
    let taken = try vtencode(folder, arguments + ["--max-rate", "400k"])
    #expect(taken.status == 0, "\(taken.complaints)")
  }
}
