// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The files that a run writes in addition to its movie, and what has the names already.
@Suite struct AuxiliaryFileTests {
  private static let call = ["call", CommandLine.sample, "--frames", "5"]

  private func movie(_ folder: Folder, seconds: Int = 1) throws {
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=96x64:rate=25:duration=\(seconds) -pix_fmt yuv420p in.mp4",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  @Test(arguments: [
    call + ["--record", "x"], call + ["--dump", "x"], call + ["--report", "x"], call + ["--received", "x"],
    ["conferencing", "in.mp4", "--unpaced", "--out", "out.mov", "--report", "x"],
    ["play", "in.mp4", "--muted", "--terminal", "--frames", "1", "--snapshot", "x.png"],
  ])
  func asksBeforeReplacing(arguments: [String]) throws {
    let folder = try Folder()
    try movie(folder)
    let name = arguments.last ?? ""
    try Data("precious".utf8).write(to: folder.url.appendingPathComponent(name))
    let refused = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(refused.status == 1 && refused.complaints.contains("--overwrite"), "\(refused.complaints)")
    #expect(try Data(contentsOf: folder.url.appendingPathComponent(name)) == Data("precious".utf8))
    #expect(folder.contents == ["in.mp4", name])
    let run = try CommandLine.run(CommandLine.vtencode, arguments + ["--overwrite"], in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Data(contentsOf: folder.url.appendingPathComponent(name)) != Data("precious".utf8))
  }

  /// The link stays, what it leads to is written; and asked about.
  @Test func linksAreFollowedToWhereTheyLead() throws {
    let folder = try Folder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link.json"), withDestinationPath: "target.json")
    let run = try CommandLine.run(
      CommandLine.vtencode, Self.call + ["--record", "link.json"], in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link.json")) == "target.json")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("target.json"))).first == UInt8(ascii: "{"))
    let again = try CommandLine.run(
      CommandLine.vtencode, Self.call + ["--record", "link.json"], in: folder.url)
    #expect(again.status == 1 && again.complaints.contains("exists"), "\(again.complaints)")
  }

  /// A name is taken as it is given, whatever its ending.
  @Test(arguments: ["record.", ".record", "a.b.c"]) func oddNamesAreTakenAsGiven(name: String) throws {
    let folder = try Folder()
    let run = try CommandLine.run(CommandLine.vtencode, Self.call + ["--record", name], in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).contains(name))
  }

  @Test func pipesAreWrittenTo() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      """
      mkfifo pipe; cat pipe > got & '\(CommandLine.vtencode)' call '\(CommandLine.sample)' --frames 5 --dump pipe
      status=$?; wait; test -p pipe && test -s got && exit $status
      """, in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let null = try CommandLine.run(
      CommandLine.vtencode, Self.call + ["--record", "/dev/null"], in: folder.url)
    #expect(null.status == 0, "\(null.complaints)")
    var properties = stat()
    #expect(stat("/dev/null", &properties) == 0 && properties.st_mode & S_IFMT == S_IFCHR)
  }

  /// A movie has to be gone back in; a plan has its segments next to it.
  @Test(arguments: [
    ["transcoding", "in.mp4", "--out", "pipe.mp4", "--overwrite"],
    ["split", "in.mp4", "--plan", "link.json"],
  ])
  func whatNoMovieGoesIntoIsRefused(arguments: [String]) throws {
    let folder = try Folder()
    try movie(folder)
    _ = try CommandLine.shell(
      "mkfifo pipe.mp4; echo precious > file.json; ln -s file.json link.json", in: folder)
    let before = folder.contents
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
    #expect(folder.contents == before)
    let kept = try CommandLine.shell("test -p pipe.mp4 && test -L link.json && cat link.json", in: folder)
    #expect(kept.text.hasPrefix("precious"), "\(kept.text)")
  }

  /// Nobody reads the dump, so that the call cannot end before the signal, however slow this
  /// machine is.
  @Test func anInterruptedCallLeavesNoFiles() throws {
    let folder = try Folder()
    try movie(folder, seconds: 60)
    let run = try CommandLine.shell(
      """
      mkfifo dump; exec 3<> dump
      '\(CommandLine.vtencode)' call in.mp4 --record call.json --report call.html --dump dump &
      await $! hears $!; kill -TERM $!; wait $!
      """, in: folder)
    #expect(run.status == 143 && run.complaints.contains("nothing was written"), "\(run.complaints)")
    #expect(folder.contents == ["dump", "in.mp4"])
  }

  /// The files exist even if the summary is not read, and the status reports the more severe error.
  @Test func aFullStandardOutputIsReported() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      "'\(CommandLine.vtencode)' call '\(CommandLine.sample)' --frames 5 --record call.json > /dev/full",
      in: folder)
    #expect(run.status == 1 && run.complaints.contains("standard output"), "\(run.complaints)")
    #expect(folder.contents == ["call.json"])
    try movie(folder, seconds: 4)
    let damaged = try CommandLine.shell(
      """
      ffmpeg -nostdin -v error -i in.mp4 -c copy whole.mkv
      head -c $(($(wc -c < whole.mkv) * 6 / 10)) whole.mkv > cut.mkv
      '\(CommandLine.vtencode)' transcoding cut.mkv --out out.mp4 > /dev/full
      """, in: folder)
    #expect(damaged.status == 2, "\(damaged.status) \(damaged.complaints)")
  }

  @Test(arguments: [
    ["--no-audio", "--audio-bitrate", "64k"], ["--audio", "copy", "--audio-bitrate", "64k"],
    ["--no-deinterlace", "--deinterlace", "field"], ["--scaling", "trim"],
    ["--audio", "aac", "--out", "x.264"], ["--audio-bitrate", "64k", "--out", "x.264"],
    ["--no-faststart", "--out", "x.264"],
  ])
  func optionsThatWouldChangeNothingAreRefused(options: [String]) throws {
    let folder = try Folder()
    try movie(folder)
    let run = try CommandLine.run(CommandLine.vtencode, ["transcoding", "in.mp4"] + options, in: folder.url)
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.status) \(run.complaints)")
    #expect(folder.contents == ["in.mp4"])
  }

  @Test(arguments: [
    ["conferencing", "in.mp4", "--base-layer-bitrate-fraction", "0.5"],
    ["conferencing", "in.mp4", "--base-layer-fraction", "1", "--base-layer-bitrate-fraction", "0.5"],
    ["play", "in.mp4", "--terminal", "--muted", "--frame-rate", "5"],
    ["play", "in.mp4", "--overwrite"], ["call", "in.mp4", "--overwrite"],
    ["send", "in.mp4", "--to", "127.0.0.1:9", "--overwrite"],
    ["split", "in.mp4", "--plan", "plan.json", "--verbose"],
  ])
  func optionsOfOtherCommandsThatWouldChangeNothingAreRefused(arguments: [String]) throws {
    let folder = try Folder()
    try movie(folder)
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == (arguments.contains("--terminal") ? 1 : 64), "\(run.status) \(run.complaints)")
    let advice = ["omit it", "omit it", "requires"]
    #expect(
      advice.contains { run.complaints.contains($0) } && run.complaintLines.count == 1, "\(run.complaints)")
    #expect(folder.contents == ["in.mp4"])
  }

  @Test(arguments: [
    ["conferencing", "in.mp4", "--quality", "0.5", "--rate-steps", "1s:300k"],
    ["transcoding", "in.mp4", "--verbose", "--progress", "json"],
  ])
  func optionsThatContradictEachOtherAreRefused(arguments: [String]) throws {
    let folder = try Folder()
    try movie(folder)
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 64 && run.complaints.contains("give one of them"), "\(run.complaints)")
    #expect(folder.contents == ["in.mp4"])
  }

  /// An encoder without low-latency mode is rejected for a call, and one that drops no frames
  /// accepts no cap on the QP there.
  @Test func encodersThatAreNotForCallsAreRefused() throws {
    let folder = try Folder()
    try movie(folder)
    func run(_ options: String...) throws -> Finished {
      try CommandLine.run(
        CommandLine.vtencode, ["conferencing", "in.mp4", "--unpaced", "--out", "out.mp4"] + options,
        in: folder.url)
    }
    let id = "org.openvideotoolbox.videoencoder.h264"
    for other in [id, id + ".x264"] {
      let refused = try run("--encoder", other)
      #expect(refused.status == 1 && refused.complaints.contains("low-latency"), "\(refused.complaints)")
    }
    #if X265
      let capped = try run(
        "--codec", "hvc1", "--encoder", "org.openvideotoolbox.videoencoder.hevc.x265.lowlatency", "--max-qp",
        "20")
      #expect(
        capped.status == 1 && capped.complaints.contains("does not support --max-qp"), "\(capped.complaints)")
    #endif
    #expect(folder.contents == ["in.mp4"])
    let taken = try run("--encoder", id + ".lowlatency", "--max-qp", "30")
    #expect(taken.status == 0, "\(taken.complaints)")
  }

  @Test func anAudioRateThatChangesNothingIsReported() throws {
    let folder = try Folder()
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--audio-bitrate", "64k", "--frames", "2", "--out", "out.mp4",
      in: folder)
    #expect(
      run.status == 0 && run.complaints.contains("--audio-bitrate changes nothing"), "\(run.complaints)")
  }

  /// A day without a picture would be a day of reports.
  @Test func aCallWithoutPicturesIsRefused() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=160x120:rate=1:duration=2 -vf settb=1,setpts=N*1000000000 "
        + "-fps_mode passthrough -enc_time_base 1:1 -c:v libx264 -preset ultrafast -video_track_timescale 1 gap.mov",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.shell("timeout 60 '\(CommandLine.vtencode)' call gap.mov", in: folder)
    #expect(run.status == 1 && run.complaints.contains("--frames 1"), "\(run.status) \(run.complaints)")
    let start = try CommandLine.vtencode("call", "gap.mov", "--frames", "1", in: folder)
    #expect(start.status == 0, "\(start.complaints)")
  }

  /// The files are there by then.
  @Test func anInterruptedReplayKeepsItsFiles() throws {
    let folder = try Folder()
    try movie(folder, seconds: 20)
    let run = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' call in.mp4 --speed 0 --sdp call.sdp --port 45004 2> complaints.txt &
      await $! grep -q Sending complaints.txt
      kill -INT $!; wait $!; status=$?; cat complaints.txt >&2; exit $status
      """, in: folder)
    #expect(run.status == 130 && run.complaints.contains("the replay breaks off"), "\(run.complaints)")
    #expect(folder.contents == ["call.sdp", "complaints.txt", "in.mp4"])
  }

  /// libswscale refuses such a shape; the process stays whole.
  @Test func picturesThatCannotBeScaledAreReported() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc=s=4096x4:r=25:d=0.2 -vf setsar=1/1000 -pix_fmt yuv420p "
        + "-c:v ffv1 in.mkv", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--dimensions", "64", "64", "--out", "out.mp4", in: folder)
    #expect(run.status == 1 && run.complaints.contains("cannot be scaled to 64x64"), "\(run.complaints)")
    #expect(folder.contents == ["in.mkv"])
  }
}
