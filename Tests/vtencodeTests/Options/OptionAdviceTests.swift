// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// What the command line says to people who do not know its words.
@Suite struct OptionAdviceTests {
  @Test(
    "An unknown option gets the one that means the same",
    arguments: [
      ("--crf", "--quality"), ("--resolution", "--dimensions"), ("--output", "--out"), ("--ss", "--start"),
      ("--turn", "--rotate"), ("--watermark", "--overlay"), ("--subs", "--burn-subtitles"),
      ("--concat", "--join"), ("--two-pass", "--multi-pass"), ("--mute", "--no-audio"),
    ])
  func meanings(word: String, option: String) throws {
    let run = try CommandLine.vtencode("transcoding", "in.mp4", word, in: Folder())
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
    #expect(run.complaints.contains("Did you mean \(option)"), "\(run.complaints)")
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
    arguments: ["transcoding", "streaming", "conferencing"])
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
    #expect(options(short).count <= 18, "\(options(short))")
    #expect(options(long).isStrictSuperset(of: options(short)))
    for title in ["PICTURES:", "BIT RATE:", "ENCODER:", "SOUND AND TEXT:", "CHANGES OF THE MOVIE:"] {
      #expect(long.contains(title) && !short.contains(title), "\(title)")
    }
    #expect(short.contains("--help-all"))
  }

  @Test("Rates, sizes and volumes are written alike everywhere")
  func notations() {
    #expect(BitRate(argument: "1500k")?.bitsPerSecond == 1_500_000)
    #expect(ByteSize(argument: "25M")?.bytes == 25_000_000 && ByteSize(argument: "x") == nil)
    #expect(Volume(argument: "150%")?.factor == 1.5 && Volume(argument: "20dB")?.factor == 10)
    #expect(Volume(argument: "-1") == nil && Volume(argument: "loud") == nil)
    #expect(CropRect(argument: "64x32+8+6") != nil && CropRect(argument: "63x32+8+6") == nil)
    #expect(PicturePlace(argument: "-20,10") == PicturePlace(x: -20, y: 10))
  }
}
