// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Errors of users: one line that says what to do, a status other than 0, nothing lost,
/// nothing left.
@Suite(.serialized) struct BadInputTests {
  /// Checks the promise for one run in `folder`, which must look as before.
  private func expectRefusal(
    _ arguments: [String], in folder: Folder, saying words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = folder.contents
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status != 0, sourceLocation: sourceLocation)
    #expect(run.status < 128, "ended by a signal", sourceLocation: sourceLocation)
    // On a slow machine the progress has been reported before.
    let lines = run.complaintLines.filter { !$0.contains(" fps") }
    #expect(lines.count == 1, "\(run.complaints)", sourceLocation: sourceLocation)
    #expect(lines.first?.hasPrefix("vtencode: ") == true, sourceLocation: sourceLocation)
    #expect(run.output.isEmpty, "\(run.text)", sourceLocation: sourceLocation)
    for word in words {
      #expect(run.complaints.contains(word), "\(run.complaints)", sourceLocation: sourceLocation)
    }
    #expect(folder.contents == before, sourceLocation: sourceLocation)
  }

  private static let subcommands = ["streaming", "transcoding"]

  @Test(arguments: subcommands) func aMissingFileIsRefused(subcommand: String) throws {
    try expectRefusal([subcommand, "nothing.mp4"], in: Folder(), saying: "nothing.mp4", "no file")
  }

  @Test(arguments: subcommands) func aTextFileNamedMP4IsRefused(subcommand: String) throws {
    let folder = try Folder()
    try Data("This is not a movie.\n".utf8).write(to: folder.url.appendingPathComponent("text.mp4"))
    try expectRefusal([subcommand, "text.mp4", "--out", "out.mp4"], in: folder, saying: "text.mp4")
  }

  @Test func anEmptyFileIsRefused() throws {
    let folder = try Folder()
    try Data().write(to: folder.url.appendingPathComponent("empty.mov"))
    try expectRefusal(["transcoding", "empty.mov", "--out", "out.mp4"], in: folder, saying: "empty.mov")
  }

  /// Nobody can decode it: nothing is written, and damage is not what is wrong.
  @Test(arguments: subcommands) func anEncryptedMovieIsRefused(subcommand: String) throws {
    let folder = try Folder()
    let movie = folder.url.appendingPathComponent("secret.mp4").path
    let made = try CommandLine.run(
      "/usr/bin/env",
      [
        "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x128:rate=25:duration=1",
        "-pix_fmt",
        "yuv420p", "-c:v", "libx264", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key",
        "00112233445566778899aabbccddeeff", "-encryption_kid", "000102030405060708090a0b0c0d0e0f", movie,
      ])
    #expect(made.status == 0, "\(made.complaints)")
    try expectRefusal(
      [subcommand, "secret.mp4", "--out", "out.mp4", "--progress", "none"], in: folder, saying: "secret.mp4",
      "encrypted")
    try expectRefusal(
      ["export", "secret.mp4", "--preset", "MediumQuality", "--out", "out.mp4"], in: folder,
      saying: "secret.mp4", "encrypted")
    // The terminal's settings go to standard output before the movie is opened.
    let played = try CommandLine.vtencode("play", "secret.mp4", "--terminal", "--muted", in: folder)
    #expect(played.status == 1 && played.complaints.contains("'secret.mp4' is encrypted"), "\(played)")
  }

  @Test func aFolderIsRefusedAsInput() throws {
    try expectRefusal(["transcoding", "."], in: Folder(), saying: "folder")
  }

  /// The index, at the end, is cut off. What has it in front is read as far as it goes: see
  /// `DamageTests`.
  @Test(arguments: subcommands) func aMovieWithoutItsIndexIsRefused(subcommand: String) throws {
    let folder = try Folder()
    let whole = folder.path("whole.mp4")
    let made = try CommandLine.run(
      "ffmpeg", ["-v", "error", "-i", CommandLine.sample, "-c", "copy", whole])
    #expect(made.status == 0)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    try bytes.prefix(bytes.count / 2).write(to: folder.url.appendingPathComponent("cut.mp4"))
    var arguments = [subcommand, "cut.mp4", "--dimensions", "320", "180", "--out", "out.mp4"]
    if subcommand == "streaming" { arguments.append("--unpaced") }
    try expectRefusal(arguments, in: folder, saying: "cut.mp4")
  }

  @Test func audioWithoutPictureIsRefused() throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg", ["-v", "error", "-i", CommandLine.sample, "-vn", "-c", "copy", folder.path("sound.m4a")])
    #expect(made.status == 0)
    try expectRefusal(["transcoding", "sound.m4a", "--out", "out.mp4"], in: folder, saying: "no video track")
  }

  @Test(arguments: [
    ["0", "0"], ["0", "720"], ["-640", "360"], ["641", "360"], ["640", "361"], ["1000000", "1000000"],
    ["99999999999999999999", "2"], ["1", "1"], ["16882", "16"], ["640"], ["wide", "high"],
  ])
  func badDimensionsAreRefused(values: [String]) throws {
    try expectRefusal(
      ["transcoding", CommandLine.sample, "--out", "out.mp4", "--dimensions"] + values, in: Folder(),
      saying: "dimensions")
  }

  @Test(arguments: ["0", "-5", "10", "9999999M", "fast", "1e400", "nan"])
  func badBitRatesAreRefused(value: String) throws {
    try expectRefusal(
      ["transcoding", CommandLine.sample, "--out", "out.mp4", "--bitrate=\(value)"], in: Folder(),
      saying: "--bitrate")
  }

  @Test(arguments: [
    ["--codec", "av01"], ["--preset", "best"], ["--profile", "extreme"], ["--pixel-format", "RGB"],
    ["--frames", "0"], ["--keyframe-interval", "-1"], ["--keyframe-duration", "0"],
    ["--look-ahead-frames", "-1"],
    ["--threads", "0"], ["--fps", "0"], ["--spatial-adaptive-qp", "7"], ["--profile", "main10"],
  ])
  func unknownValuesOfOptionsAreRefused(option: [String]) throws {
    try expectRefusal(
      ["transcoding", CommandLine.sample, "--out", "out.mp4"] + option, in: Folder(), saying: option[1])
  }

  /// Options that need a look-ahead, or pictures of 4:2:0.
  @Test(arguments: [
    ["--multi-pass", "2"], ["--cbr"], ["--max-rate", "2M"], ["--look-ahead-frames", "10"],
    ["--denoise", "0.5"],
  ])
  func whatFullChromaDoesNotHaveIsRefused(option: [String]) throws {
    try expectRefusal(
      ["transcoding", CommandLine.sample, "--profile", "high444", "--bitrate", "1M", "--out", "out.mp4"]
        + option, in: Folder(), saying: option[0], "high444")
  }

  /// A number below zero is refused as a number, and the message says what the option takes.
  @Test(arguments: ["--keyframe-interval", "--frames", "--threads"])
  func numbersBelowZeroAreRefusedAsNumbers(option: String) throws {
    try expectRefusal(
      ["transcoding", option, "-1", CommandLine.sample, "--out", "out.mp4"], in: Folder(),
      saying: option, "must be from", "not -1")
    try expectRefusal(
      ["transcoding", CommandLine.sample, "--bitrate", "-5k", "--out", "out.mp4"], in: Folder(),
      saying: "--bitrate must be from")
  }

  /// Names from elsewhere do not command the terminal, by one byte or by two.
  @Test func controlCharactersInNamesAreNotPrinted() throws {
    let name = "a\u{1B}[31m\u{9B}2Jb.mp4"
    let run = try CommandLine.vtencode("transcoding", name, in: Folder())
    #expect(run.status == 1 && run.complaintLines.count == 1)
    #expect(!run.complaints.contains("\u{1B}") && !run.complaints.contains("\u{9B}"), "\(run.complaints)")
    #expect(run.complaints.contains("a\u{FFFD}[31m\u{FFFD}2Jb.mp4"), "\(run.complaints)")
  }

  /// A command advises only options that it has.
  @Test(arguments: ["call.txt", "call"]) func receiveDoesNotAdviseWhatItLacks(name: String) throws {
    let folder = try Folder()
    let run = try CommandLine.vtencode("receive", "--listen", "5004", "--out", name, in: folder)
    #expect(run.status == 64 && run.complaints.contains(".264 or .265"), "\(run.complaints)")
    #expect(!run.complaints.contains("--codec") && !run.complaints.contains("give -"), "\(run.complaints)")
    for option in ["play", "receive"] {
      #expect(try !CommandLine.vtencode(option, "--help").text.contains("which is replaced"))
    }
  }

  /// A value that the parser does not take: what it takes.
  @Test(arguments: [
    ("--web-token", ["receive", "--listen", "5004", "--web", "8080", "--web-token", "short"], "16 to 128"),
    ("--bandwidth", ["call", "x", "--bandwidth", "5"], "1k to 1000M"),
    ("--bandwidth", ["call", "x", "--bandwidth", "0s:1M,,2s:1M"], "0s:1500k,4s:500k"),
    ("--bottleneck", ["call", "x", "--layers", "2", "--bottleneck", "5"], "1k to 1000M"),
    ("--rate-steps", ["conferencing", "x", "--rate-steps", "2s"], "2s:500k"),
    ("--intra-refresh", ["conferencing", "x", "--intra-refresh", "1"], "2 to 1000"),
    (
      "--intra-refresh-frames",
      [
        "send", "x", "--to", "pc.local:5004", "--recovery", "intra-refresh", "--intra-refresh-frames", "1001",
      ],
      "2 to 1000"
    ),
    (
      "--intra-refresh-frames", ["send", "x", "--to", "pc.local:5004", "--intra-refresh-frames", "20"],
      "--recovery intra-refresh"
    ),
    ("--dimensions", ["transcoding", "x", "--dimensions", "640"], "width and height"),
    ("--listen", ["receive", "--listen", "::1:5004"], "[::1]:5004"),
    ("--to", ["send", "x", "--to", "pc.local"], "pc.local:5004"),
    ("test:63x40", ["send", "test:63x40", "--to", "pc.local:5004"], "from 64"),
    ("test:65x64", ["send", "test:65x64", "--to", "pc.local:5004"], "try 64x64"),
  ]) func valuesAreExplained(what: String, arguments: [String], words: String) throws {
    let folder = try Folder()
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
    #expect(run.complaints.contains(what) && run.complaints.contains(words), "\(run.complaints)")
    if arguments[0] == "send" { #expect(!run.complaints.contains("--dimensions"), "\(run.complaints)") }
  }

  @Test func unknownOptionsAndSubcommandsAreRefused() throws {
    try expectRefusal(["transcoding", CommandLine.sample, "--faster"], in: Folder(), saying: "--faster")
    try expectRefusal(["transmogrify", CommandLine.sample], in: Folder(), saying: "transmogrify")
    try expectRefusal(["transcoding"], in: Folder(), saying: "movie")
  }

  @Test func anOutputFolderThatDoesNotExistIsRefused() throws {
    try expectRefusal(
      ["transcoding", CommandLine.sample, "--out", "nowhere/out.mp4"], in: Folder(), saying: "nowhere",
      "mkdir")
  }

  @Test func anOutputThatIsAFolderIsRefused() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      at: folder.url.appendingPathComponent("out.mp4"), withIntermediateDirectories: false)
    try expectRefusal(["transcoding", CommandLine.sample, "--out", "out.mp4"], in: folder, saying: "folder")
  }

  @Test(arguments: ["out.avi", "out", "out.265", "out.txt"])
  func anOutputOfUnknownTypeIsRefused(name: String) throws {
    try expectRefusal(
      ["transcoding", CommandLine.sample, "--out", name], in: Folder(),
      saying: name == "out.265" ? ".264" : "--out")
  }

  @Test(arguments: ["in.mp4", "./in.mp4", "link.mp4", "hard.mp4"])
  func anOutputThatIsTheInputIsRefused(name: String) throws {
    let folder = try Folder()
    try FileManager.default.copyItem(atPath: CommandLine.sample, toPath: folder.path("in.mp4"))
    try FileManager.default.createSymbolicLink(atPath: folder.path("link.mp4"), withDestinationPath: "in.mp4")
    try FileManager.default.linkItem(atPath: folder.path("in.mp4"), toPath: folder.path("hard.mp4"))
    try expectRefusal(["transcoding", "in.mp4", "--out", name], in: folder, saying: "input")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("in.mp4")))
    #expect(bytes == (try Data(contentsOf: URL(fileURLWithPath: CommandLine.sample))))
  }

  @Test func aFailureKeepsTheFileThatWasThere() throws {
    let folder = try Folder()
    try Data("precious".utf8).write(to: folder.url.appendingPathComponent("out.mp4"))
    try Data("This is not a movie.\n".utf8).write(to: folder.url.appendingPathComponent("text.mp4"))
    try expectRefusal(["transcoding", "text.mp4", "--overwrite", "--out", "out.mp4"], in: folder)
    #expect(try String(contentsOfFile: folder.path("out.mp4"), encoding: .utf8) == "precious")
  }

  /// A limit of the file size simulates a full disk: the system refuses the bytes in the middle of
  /// the run.
  @Test(arguments: ["out.mp4", "out.264"]) func aFileSizeLimitLeavesNothingHalfWritten(name: String) throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      "ulimit -f 200; '\(CommandLine.vtencode)' transcoding '\(CommandLine.sample)' "
        + "--dimensions 320 180 --bitrate 4M --out \(name)",
      in: folder)
    #expect(run.status == 1, "\(run.complaints)")
    // On a slow machine the progress has been reported before.
    #expect(run.complaintLines.filter { !$0.contains("fps") }.count == 1, "\(run.complaints)")
    #expect(run.complaints.contains("cannot write"))
    #expect(folder.contents == [])
  }

  /// A real full disk, where this machine lets us mount a small one.
  @Test(arguments: ["out.mov", "out.264"]) func aFullDiskLeavesNothingHalfWritten(name: String) throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      """
      unshare -rm sh -c 'mount -t tmpfs -o size=300k none . && cd . && cd "$PWD" \
        && { "$0" transcoding "$1" --dimensions 320 180 --bitrate 4M --out "$2"; echo "status $?"; ls -A; }' \
        '\(CommandLine.vtencode)' '\(CommandLine.sample)' '\(name)'
      """, in: folder)
    guard run.text.contains("status") else { return }
    #expect(run.text.trimmingCharacters(in: .whitespacesAndNewlines) == "status 1", "\(run.text)")
    #expect(run.complaints.contains("disk is full"), "\(run.complaints)")
    #expect(run.complaintLines.filter { !$0.contains("fps") }.count == 1)
  }
}
