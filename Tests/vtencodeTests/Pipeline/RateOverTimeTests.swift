// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport

/// Movies whose parts need very different rates, compared with two passes of libx264's at the same
/// size: no second may be much worse, and the rate is kept.
///
/// One pass at an average rate knows nothing of what comes: a movie that begins black, or with a
/// title, must not spend the rate on the first pictures that move.
@Suite(.serialized) struct RateOverTimeTests {
  /// A movie, as a graph of ffmpeg's filters with one output.
  struct Course: Sendable, CustomTestStringConvertible {
    var name: String
    var graph: String
    /// Kilobits a second.
    var rate: Int
    var testDescription: String { name }

    private static let size = "192x112"

    /// A camera that pans over a rich picture.
    private static func pan(_ seconds: Double, _ label: String, filter: String = "null") -> String {
      "mandelbrot=size=384x224:rate=30:start_scale=0.3,select=eq(n\\,0),loop=-1:1,setpts=N/30/TB,"
        + "trim=duration=\(seconds),crop=192:112:x='mod(n/2,iw-ow)':y='mod(n/4,ih-oh)',\(filter),"
        + "format=yuv420p,settb=1/30[\(label)]"
    }

    /// Motion that is hard to predict.
    private static func busy(_ seconds: Double, _ label: String) -> String {
      "testsrc2=size=\(size):rate=30:duration=\(seconds),noise=alls=12:allf=t:all_seed=7,format=yuv420p,"
        + "settb=1/30[\(label)]"
    }

    private static func black(_ seconds: Double, _ label: String) -> String {
      "color=black:size=\(size):rate=30:duration=\(seconds),format=yuv420p,settb=1/30[\(label)]"
    }

    /// One static picture.
    private static func still(_ seconds: Double, _ label: String, seed: Int = 1) -> String {
      "mandelbrot=size=\(size):rate=30:start_scale=0.0\(seed),select=eq(n\\,0),loop=-1:1,setpts=N/30/TB,"
        + "trim=duration=\(seconds),format=yuv420p,settb=1/30[\(label)]"
    }

    private static func join(_ parts: String..., labels: [String]) -> String {
      parts.joined(separator: ";") + ";" + labels.map { "[\($0)]" }.joined()
        + "concat=n=\(labels.count):v=1:a=0"
    }

    static let all: [Course] = [
      Course(
        name: "black, a fade in, a pan",
        graph: join(black(2, "a"), pan(6, "b", filter: "fade=in:0:20"), labels: ["a", "b"]), rate: 100),
      Course(
        name: "black, then a cut to motion", graph: join(black(2, "a"), busy(4, "b"), labels: ["a", "b"]),
        rate: 400),
      Course(
        name: "a static title, then motion",
        graph: join(still(3, "a"), busy(4, "b"), labels: ["a", "b"]), rate: 400),
      Course(
        name: "motion, then a static picture",
        graph: join(busy(3, "a"), still(4, "b"), labels: ["a", "b"]), rate: 400),
      Course(
        name: "a loud middle",
        graph: join(still(3, "a"), busy(2, "b"), still(3, "c"), labels: ["a", "b", "c"]),
        rate: 300),
      Course(
        name: "a pan, a fade out, black",
        graph: join(pan(4, "a", filter: "fade=out:100:20"), black(2, "b"), labels: ["a", "b"]), rate: 150),
      Course(
        name: "slides",
        graph: join(
          still(2, "a"), still(2, "b", seed: 2), still(2, "c", seed: 3), still(2, "d", seed: 4),
          labels: ["a", "b", "c", "d"]), rate: 60),
      Course(
        name: "one frame in ten differs",
        graph: pan(5, "a") + ";" + busy(5, "b") + ";[a][b]blend=all_expr='if(eq(mod(N\\,10)\\,5)\\,B\\,A)'",
        rate: 500),
      Course(name: "the same throughout", graph: busy(5, "a") + ";[a]null", rate: 400),
    ]
  }

  /// Luma PSNR of the worst second, in decibels; the last part of a second counts if it is half of
  /// one.
  private func worstSecond(_ encoded: String, _ source: String, in folder: Folder) throws -> Double {
    let run = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-i", encoded, "-i", source, "-lavfi",
        "[0:v]settb=1/30,setpts=N[a];[1:v]settb=1/30,setpts=N[b];[a][b]psnr=f=-", "-f", "null", "-",
      ], in: folder.url)
    let errors = run.text.matches(of: /mse_y:([0-9.]+)/).compactMap { Double($0.1) }
    try #require(!errors.isEmpty, "\(run.complaints)")
    var worst = 100.0
    for start in stride(from: 0, to: errors.count, by: 30) {
      let second = errors[start..<min(start + 30, errors.count)]
      guard second.count >= 15 || errors.count < 15 else { continue }
      let mean = second.reduce(0, +) / Double(second.count)
      worst = min(worst, 10 * log10(255 * 255 / max(mean, 1e-4)))
    }
    return worst
  }

  private func make(_ graph: String, frames: Int? = nil, in folder: Folder) throws -> (
    path: String, count: Int
  ) {
    let run = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-filter_complex", graph, "-r", "30"]
        + (frames.map { ["-frames:v", "\($0)"] } ?? []) + ["-pix_fmt", "yuv420p", "-c:v", "ffv1", "in.mkv"],
      in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    return ("in.mkv", try Probe(folder.path("in.mkv")).frameCount())
  }

  /// Two passes of libx264's at the size that our file has.
  private func peer(rate: Double, in folder: Folder) throws {
    for pass in 1...2 {
      let run = try CommandLine.run(
        "ffmpeg",
        [
          "-nostdin", "-v", "error", "-y", "-i", "in.mkv", "-c:v", "libx264", "-tune", "psnr", "-b:v",
          "\(Int(rate))", "-pass", "\(pass)",
        ] + (pass == 1 ? ["-f", "null", "-"] : ["peer.mp4"]), in: folder.url)
      try #require(run.status == 0, "\(run.complaints)")
    }
  }

  private func check(_ course: Course, _ options: [String], slack: Double = 2, tolerance: Double = 0.05)
    throws
  {
    let folder = try Folder()
    let (source, count) = try make(course.graph, in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", source, "--bitrate", "\(course.rate)k", "--threads", "1", "--out", "ours.mp4"]
        + options,
      in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("ours.mp4"))
    #expect(try probe.frameCount() == count)
    let rate = try probe.bitRate(seconds: Double(count) / 30)
    let ours = try worstSecond("ours.mp4", source, in: folder)
    try peer(rate: rate, in: folder)
    let theirs = try worstSecond("peer.mp4", source, in: folder)
    // Errors beyond that are not visible.
    #expect(ours > min(theirs - slack, 48), "\(ours), libx264 \(theirs): \(run.text)")
    let error = rate / Double(course.rate * 1000) - 1
    // Static content does not take the rate at any quality that is seen.
    #expect(error < tolerance && (error > -tolerance || ours > 46), "\(error): \(run.text)")
  }

  @Test(
    "No second is worse than two passes of libx264's by 2 dB, and the rate is kept",
    arguments: Course.all.cases([0, 2, 6, 7]))
  func noSecondIsMuchWorseThanTwoPassesOfLibx264(_ course: Course) throws { try check(course, []) }

  @Test("The same with the fast preset and with the best", arguments: ["highSpeed", "highQuality"])
  func noSecondIsMuchWorseWithOtherPresets(_ preset: String) throws {
    try check(Course.all[0], ["--preset", preset])
  }

  @Test(
    "The same in two passes that were asked for",
    arguments: [Course.all[0], Course.all[2], Course.all[4]].cases([2]))
  func noSecondIsMuchWorseInTwoPasses(_ course: Course) throws { try check(course, ["--multi-pass"]) }

  /// A buffer of two seconds bounds what the opening may take, and what a key frame may.
  @Test(
    "The same with a decoder's buffer", arguments: [Course.all[0], Course.all[2], Course.all[5]].cases([2]))
  func noSecondIsMuchWorseWithADecodersBuffer(_ course: Course) throws {
    try check(course, ["--max-rate", "\(course.rate * 2)k", "--buffer", "2"], slack: 4)
  }

  @Test("One pass alone keeps to the rate where the beginning is black, and no second starves")
  func onePassAloneKeepsToTheRateAfterBlack() throws {
    try check(Course.all[0], ["--multi-pass", "1"], slack: 5, tolerance: 0.15)
  }

  /// One frame in and one out, or 20 frames of look-ahead, compared with libx264's fast preset for
  /// the same purpose.
  @Test(
    "Live modes do not starve either, compared with libx264 without a delay",
    arguments: ["streaming", "conferencing"],
    [Course.all[0], Course.all[1], Course.all[2]].cases([1]))
  func liveModesDoNotStarveEither(_ mode: String, _ course: Course) throws {
    let folder = try Folder()
    let (source, count) = try make(course.graph, in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [mode, source, "--bitrate", "\(course.rate)k", "--threads", "1", "--unpaced", "--out", "ours.mp4"],
      in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("ours.mp4"))
    #expect(try probe.frameCount() == count)
    let rate = try probe.bitRate(seconds: Double(count) / 30)
    #expect(rate < Double(course.rate * 1000) * 1.1, "\(rate)")
    let peer = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-i", source, "-c:v", "libx264", "-preset", "superfast", "-tune",
        "zerolatency,psnr", "-b:v", "\(course.rate)k", "-maxrate", "\(course.rate)k", "-bufsize",
        "\(course.rate / 2)k", "peer.mp4",
      ], in: folder.url)
    try #require(peer.status == 0, "\(peer.complaints)")
    let (ours, theirs) = (
      try worstSecond("ours.mp4", source, in: folder), try worstSecond("peer.mp4", source, in: folder)
    )
    #expect(ours > theirs - 1, "\(ours), libx264 \(theirs)")
  }

  @Test("A quality is the same after black as without it")
  func aQualityIsTheSameBehindBlackAsWithoutIt() throws {
    let folder = try Folder()
    func worst(_ graph: String) throws -> Double {
      let (source, _) = try make(graph, in: folder)
      defer { try? FileManager.default.removeItem(atPath: folder.path(source)) }
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["transcoding", source, "--quality", "0.6", "--threads", "1", "--overwrite", "--out", "ours.mp4"],
        in: folder.url)
      try #require(run.status == 0, "\(run.complaints)")
      return try worstSecond("ours.mp4", source, in: folder)
    }
    let busy = Course.all[8].graph
    let alone = try worst(busy)
    let behindBlack = try worst(Course.all[1].graph)
    #expect(abs(behindBlack - alone) < 1, "\(behindBlack), \(alone)")
  }

  @Test("A clip of a few pictures keeps its rate to 15 %", arguments: [5, 10, 25])
  func aShortClipKeepsItsRate(frames: Int) throws {
    let folder = try Folder()
    let (source, count) = try make(
      "testsrc2=size=640x360:rate=30,format=yuv420p", frames: frames, in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", source, "--bitrate", "1500k", "--threads", "1", "--out", "ours.mp4"], in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("ours.mp4"))
    #expect(try probe.frameCount() == count)
    #expect(abs(try probe.bitRate(seconds: Double(count) / 30) / 1_500_000 - 1) < 0.15, "\(run.text)")
  }
}
