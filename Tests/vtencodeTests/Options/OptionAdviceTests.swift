// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// The suggestions of the command line for unknown options.
@Suite struct OptionAdviceTests {
  @Test(
    "An unknown option gets the one that means the same",
    arguments: [
      ("--crf", "--quality"), ("--resolution", "--dimensions"), ("--output", "--out"), ("--ss", "--start"),
      ("--turn", "--rotate"), ("--watermark", "--overlay"), ("--subs", "--burn-subtitles"),
      ("--concat", "--join"), ("--two-pass", "--multi-pass"), ("--mute", "--no-audio"),
      ("--microphone", "--sound"),
    ])
  func meanings(word: String, option: String) throws {
    let run = try CommandLine.vtencode("transcoding", "in.mp4", word, in: Folder())
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
    #expect(run.complaints.contains("Did you mean \(option)"), "\(run.complaints)")
  }

  @Test(
    "An unknown option with a value is reported itself, not what its value would mean",
    arguments: [
      (["--crf", "23"], "Did you mean --quality"), (["--scale", "640", "480"], "Did you mean --dimensions"),
      (["-b:v", "1M"], "Did you mean --bitrate"), (["--bitrat", "1M"], "Did you mean '--bitrate'"),
      (["-c:a", "copy"], "Did you mean --audio "), (["--gop", "50"], "Did you mean --keyframe-interval"),
      (["-i", "other.mp4"], "without an option"), (["--frobnicate", "3"], "Unknown option '--frobnicate'"),
    ])
  func valuesOfUnknownOptions(words: [String], advice: String) throws {
    let folder = try Folder()
    for command in ["transcoding", "streaming"] {
      let run = try CommandLine.run(
        CommandLine.vtencode, [command, "in.mp4"] + words + ["--out", "out.mp4"], in: folder.url)
      #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
      #expect(run.complaints.contains(advice), "\(command): \(run.complaints)")
    }
  }

  @Test("An option that exists is not reported as unknown with another error")
  func knownOptions() throws {
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--crop=9x9+0+0", "-v", "--speed", "3", "--jobs", "2", "--out", "o.mp4",
      in: Folder())
    #expect(run.status == 64 && !run.complaints.contains("Unknown option"), "\(run.complaints)")
    let split = try CommandLine.vtencode(
      "split", "in.mp4", "--out", "x.mp4", "--plan", "p.json", in: Folder())
    #expect(split.complaints.contains("does not go with split"), "\(split.complaints)")
  }

  @Test("An option of another subcommand is named with it")
  func otherSubcommand() throws {
    let run = try CommandLine.vtencode("play", "in.mp4", "--crop", "64x64+0+0", in: Folder())
    #expect(run.status == 64 && run.complaints.contains("vtencode transcoding has it"), "\(run.complaints)")
  }

  @Test("Every suggested option exists", arguments: ["transcoding"])
  func suggestionsExist(command: String) throws {
    let all = try CommandLine.vtencode(command, "--help-all").text
    for option in ["--quality", "--dimensions", "--rotate", "--crop", "--volume", "--target-size", "--join"] {
      #expect(all.contains(option), "\(option)")
    }
  }

  @Test(
    "Help shows the options that are used most, and --help-all all of them in groups",
    arguments: ["transcoding", "streaming"])
  func groups(command: String) throws {
    let short = try CommandLine.vtencode(command, "--help").text
    let long = try CommandLine.vtencode(command, "--help-all").text
    func options(_ text: String) -> Set<Substring> {
      Set(text.matches(of: /(?m)^  (?:-\w, )?(--[a-z-]+)/).map(\.output.1))
    }
    #expect(
      options(short).isSuperset(of: [
        "--out", "--bitrate", "--quality", "--codec", "--dimensions", "--overwrite",
      ]))
    #expect(options(short).count <= 11, "\(options(short))")
    #expect(options(long).isStrictSuperset(of: options(short)))
    for title in ["PICTURES:", "BIT RATE:", "ENCODER:", "AUDIO AND TEXT:", "CHANGES OF THE MOVIE:"] {
      #expect(long.contains(title) && !short.contains(title), "\(title)")
    }
    #expect(short.contains("--help-all"))
  }

  /// The subcommands with the options that their help shows first, and titles of their groups.
  static let commands: [(command: String, options: Set<Substring>, groups: [String])] = [
    (
      "conferencing",
      ["--out", "--bitrate", "--quality", "--codec", "--dimensions", "--overwrite", "--report", "--unpaced"],
      ["CALLS:", "PICTURES:", "SANDBOX:"]
    ),
    (
      "call", ["--bandwidth", "--loss", "--delay", "--recovery", "--bitrate", "--codec", "--report"],
      ["SENDER:", "NETWORK:", "OUTPUT AND REPORTS:", "SANDBOX:"]
    ),
    (
      "send",
      [
        "--to", "--whip", "--web", "--bitrate", "--codec", "--dimensions", "--loop", "--sound", "--no-audio",
        "--secret",
      ],
      ["KEYS:", "WEBRTC:", "PART OF THE SOURCE:", "LOSSES:", "ENCODER:", "OUTPUT AND REPORTS:", "SANDBOX:"]
    ),
    (
      "receive",
      ["--listen", "--whep", "--codec", "--out", "--play", "--terminal", "--web", "--no-audio", "--secret"],
      ["KEYS:", "WEBRTC:", "WINDOW AND TERMINAL:", "OUTPUT AND REPORTS:", "SANDBOX:"]
    ),
    (
      "play", ["--terminal", "--frames", "--snapshot", "--speed", "--muted", "--full-screen"],
      ["PART OF THE MOVIE:", "PICTURES:", "OUTPUT AND REPORTS:", "SANDBOX:"]
    ),
    (
      "split",
      ["--plan", "--segments", "--bitrate", "--quality", "--codec", "--dimensions", "--overwrite"],
      ["PICTURES:", "BIT RATE:", "PASSES AND PROCESSES:", "SANDBOX:"]
    ),
    (
      "encode-segment", ["--plan", "--movie", "--segment", "--threads", "--overwrite"],
      ["OUTPUT AND REPORTS:", "SANDBOX:"]
    ),
    ("join", ["--plan", "--movie", "--out", "--overwrite"], ["OUTPUT AND REPORTS:", "SANDBOX:"]),
    (
      "export", ["--preset", "--out", "--file-length-limit", "--multi-pass", "--overwrite"],
      ["PART OF THE MOVIE:", "OUTPUT AND REPORTS:", "SANDBOX:"]
    ),
  ]

  @Test("The help of every other subcommand is as short", arguments: commands)
  func shortHelp(command: String, options: Set<Substring>, groups: [String]) throws {
    let short = try CommandLine.vtencode(command, "--help").text
    let long = try CommandLine.vtencode(command, "--help-all").text
    func listed(_ text: String) -> Set<Substring> {
      Set(text.matches(of: /(?m)^  (?:-\w, )?(--[a-z-]+)/).map(\.output.1)).subtracting([
        "--version", "--help",
      ])
    }
    #expect(listed(short) == options)
    #expect(listed(long).isStrictSuperset(of: options))
    for title in groups { #expect(long.contains(title) && !short.contains(title), "\(title)") }
    #expect(short.contains("--help-all shows all of them") && short.contains("Examples:"))
  }

  @Test("The help of split does not show --out, which split refuses")
  func refusedOptions() throws {
    for arguments in [["split", "--help"], ["split", "--help-all"], ["help", "split"]] {
      let text = try CommandLine.run(CommandLine.vtencode, arguments).text
      #expect(text.contains("--plan") && !text.contains("--out <file>"), "\(arguments)")
    }
    #expect(try CommandLine.vtencode("transcoding", "--help").text.contains("--out <file>"))
  }

  @Test("Manual pages and completions are made from all options, hidden ones of the short help too")
  func describesAll() throws {
    struct Description: Decodable {
      struct Argument: Decodable {
        struct Name: Decodable { var name: String }
        var names: [Name]?
        var shouldDisplay: Bool
      }
      struct Command: Decodable {
        var commandName: String
        var arguments: [Argument]?
        var subcommands: [Command]?
      }
      var command: Command
    }
    let dump = try CommandLine.vtencode("--experimental-dump-help").output
    let described = try JSONDecoder().decode(Description.self, from: dump)
    for name in ["transcoding", "send", "call"] {
      let command = try #require(described.command.subcommands?.first { $0.commandName == name })
      let shown = (command.arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }.map(\.name)
      let long = try CommandLine.vtencode(name, "--help-all").text
      let listed = long.matches(of: /(?m)^  (?:-\w, )?--([a-z-]+)/).map { String($0.output.1) }
      let missing = Set(listed).subtracting(shown)
      #expect(missing.isEmpty, "\(name): \(missing.sorted())")
    }
  }

  @Test("Rates, sizes and volumes are written alike everywhere")
  func notations() {
    #expect(BitRate(argument: "1500k")?.bitsPerSecond == 1_500_000)
    #expect(ByteSize(argument: "25M")?.bytes == 25_000_000 && ByteSize(argument: "x") == nil)
    #expect(Volume(argument: "150%")?.factor == 1.5 && Volume(argument: "20dB")?.factor == 10)
    #expect(Volume(argument: "-1") == nil && Volume(argument: "loud") == nil)
    #expect(CropRect(argument: "64x32+8+6") != nil && CropRect(argument: "63x32+8+6") == nil)
    #expect(PicturePosition(argument: "-20,10") == PicturePosition(x: -20, y: 10))
  }
}
