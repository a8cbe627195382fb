// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

@testable import vtencode

/// Recording from ALSA, without audio hardware: its plugins read a file in place of a device.
@Suite(.serialized) struct MicrophoneTests {
  /// A folder with a tone of 1000 Hz as the device `alsa:tone`, and nothing else.
  private static func device() throws -> Folder {
    let folder = try Folder()
    let tone = (0..<20 * 48_000).flatMap { index -> [Int16] in
      let value = Int16(8000 * sin(2 * .pi * Double(index % 48) / 48))
      return [value, value]
    }
    try tone.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: folder.path("tone.raw")))
    // The plugin `null` takes any number of frames at once.
    try """
    pcm.nothing { type null }
    pcm.tone {
      type file
      slave.pcm "nothing"
      file "/dev/null"
      infile "\(folder.path("tone.raw"))"
      format "raw"
    }
    """.write(toFile: folder.path("asoundrc"), atomically: true, encoding: .utf8)
    return folder
  }

  private static func environment(_ folder: Folder) -> [String] {
    ["ALSA_CONFIG_PATH=\(folder.path("asoundrc"))", "PULSE_SERVER=unix:/nonexistent/pulse"]
  }

  private static func run(
    _ folder: Folder, _ arguments: [String], signal: CommandLine.Signal? = nil
  ) throws -> Finished {
    try CommandLine.run(
      "env", environment(folder) + [CommandLine.vtencode] + arguments, in: folder.url, signal: signal)
  }

  /// The audio of a movie at 48 kHz, mixed to one channel, by ffmpeg.
  private static func audio(_ name: String, in folder: Folder) throws -> [Float] {
    let decoded = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i \(name) -vn -ac 1 -ar 48000 -f f32le -", in: folder)
    try #require(decoded.status == 0, "\(decoded.complaints)")
    return decoded.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  /// The length of the pictures in seconds.
  private static func pictureSeconds(_ name: String, in folder: Folder) throws -> Double {
    let probed = try CommandLine.shell(
      "ffprobe -v error -select_streams v -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "
        + name, in: folder)
    return try #require(
      probed.text.split(whereSeparator: \.isNewline).first.flatMap { Double($0.split(separator: ",")[0]) })
      / 30
  }

  @Test(
    "What a microphone records is with the pictures, in every kind of output",
    arguments: [
      ["transcoding", "--out", "out.mp4"], ["streaming", "--out", "out.mkv"],
      ["transcoding", "--out", "out.m3u8"], ["streaming", "--unpaced", "--out", "out.mov"],
    ])
  func everyOutputHasIt(arguments: [String]) throws {
    let folder = try Self.device()
    let out = try #require(arguments.first { $0.hasPrefix("out.") })
    let run = try Self.run(
      folder,
      [arguments[0], "test:160x128@30", "--duration", "3", "--sound", "alsa:tone"] + arguments.dropFirst())
    try #require(run.status == 0, "\(run.complaints)")
    #expect(run.text.contains("encoded as AAC"), "\(run.text)")
    #expect(!run.complaints.contains("no audio"), "\(run.complaints)")
    let heard = try Self.audio(out, in: folder)
    let pictures = try Self.pictureSeconds(out, in: folder)
    #expect(abs(pictures - 3) < 0.04, "\(pictures)")
    // AAC rounds to frames of 21 ms.
    #expect(abs(Double(heard.count) / 48_000 - pictures) < 0.07, "\(heard.count)")
    #expect(Sinusoid.seconds(of: 1000, in: heard) > 1, "\(Sinusoid.seconds(of: 1000, in: heard))")
  }

  @Test("Standard output and --record have it too")
  func pipesHaveIt() throws {
    let folder = try Self.device()
    let finished = try CommandLine.shell(
      """
      env \(Self.environment(folder).joined(separator: " ")) '\(CommandLine.vtencode)' streaming test:160x128@30 \
        --duration 2 --sound alsa:tone --out - --format mpegts --record copy.mp4 > pipe.ts
      """, in: folder)
    try #require(finished.status == 0, "\(finished.complaints)")
    for name in ["pipe.ts", "copy.mp4"] {
      #expect(Sinusoid.seconds(of: 1000, in: try Self.audio(name, in: folder)) > 0.8, "\(name)")
    }
  }

  @Test("Audio and pictures that are generated begin together, and replace a movie's audio")
  func generatedAudioIsInStep() throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", "test:160x128@30", "--duration", "3", "--sound", "test:", "--out", "out.mov"],
      in: folder.url)
    try #require(run.status == 0, "\(run.complaints)")
    let heard = try Self.audio("out.mov", in: folder)
    #expect(abs(heard.count - 3 * 48_000) < 3000)
    // The louder tone of 880 Hz is in the first tenth of each second.
    for second in 0..<3 {
      let start = second * 48_000
      #expect(Sinusoid.share(of: 880, in: heard[start + 480..<start + 4320]) > 0.85, "\(second)")
      #expect(Sinusoid.share(of: 440, in: heard[start + 5760..<start + 43_200]) > 0.95, "\(second)")
    }
    let movie = try CommandLine.run(
      CommandLine.vtencode,
      [
        "streaming", CommandLine.sample, "--duration", "1", "--dimensions", "160", "90", "--sound", "test:",
        "--out", "movie.mp4",
      ], in: folder.url)
    try #require(movie.status == 0, "\(movie.complaints)")
    let replaced = try Self.audio("movie.mp4", in: folder)
    #expect(Sinusoid.share(of: 440, in: replaced[5760..<38_400]) > 0.95)
  }

  @Test("Ctrl-C ends a recording with audio well")
  func interruption() throws {
    let folder = try Self.device()
    let run = try Self.run(
      folder,
      [
        "streaming", "test:160x128@30", "--sound", "alsa:tone", "--progress", "json", "--out", "out.mp4",
      ], signal: .sent(SIGINT, atFrame: 20))
    try #require(run.status == 0, "\(run.complaints)")
    let heard = try Self.audio("out.mp4", in: folder)
    let pictures = try Self.pictureSeconds("out.mp4", in: folder)
    #expect(pictures > 0.5 && abs(Double(heard.count) / 48_000 - pictures) < 0.07, "\(pictures)")
  }

  @Test("A microphone is sent with pictures, received, and written")
  func sending() throws {
    let folder = try Self.device()
    let port = try freeDatagramPort()
    let finished = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' receive --listen \(port) --out call.mp4 --json > received.txt 2> complaints.txt &
      receiver=$!
      await $receiver grep -q Listening complaints.txt
      env \(Self.environment(folder).joined(separator: " ")) '\(CommandLine.vtencode)' send test:160x128@30 \
        --sound alsa:tone --to 127.0.0.1:\(port) --frames 90 --json > sent.txt || kill -INT $receiver
      wait $receiver
      """, in: folder)
    try #require(finished.status == 0, "\(finished.complaints)")
    let sent = try JSONDecoder().decode(
      [String: Double].self, from: Data(contentsOf: URL(fileURLWithPath: folder.path("sent.txt"))))
    #expect(sent["soundPackets"] ?? 0 > 50, "\(sent)")
    let heard = try Self.audio("call.mp4", in: folder)
    #expect(Sinusoid.seconds(of: 1000, in: heard) > 1, "\(Sinusoid.seconds(of: 1000, in: heard))")
  }

  @Test("Impossible sources are reported in one line that names the source")
  func mistakes() throws {
    let folder = try Self.device()
    func expectFailure(_ arguments: [String], _ words: String, status: Int32) throws {
      let finished = try Self.run(folder, arguments)
      #expect(finished.status == status && finished.complaintLines.count == 1, "\(arguments): \(finished)")
      #expect(finished.complaints.contains(words), "\(arguments): \(finished.complaints)")
    }
    let live = ["streaming", "test:160x128@30", "--duration", "1", "--out", "out.mp4"]
    try expectFailure(live + ["--sound", "alsa:nosuch"], "there is no audio device 'alsa:nosuch'", status: 1)
    try expectFailure(live + ["--sound", "pulse:"], "no sound server", status: 1)
    try expectFailure(
      ["send", "test:", "--to", "127.0.0.1:5004", "--sound", "alsa:nosuch"],
      "there is no audio device 'alsa:nosuch'", status: 1)
    try expectFailure(live + ["--sound", "microphone"], "pulse:", status: 64)
    try expectFailure(live + ["--sound", "test:", "--no-audio"], "--no-audio", status: 64)
    try expectFailure(live + ["--sound", "test:", "--audio", "copy"], "--audio copy", status: 64)
    try expectFailure(live + ["--sound", "test:", "--sandbox"], "--sandbox", status: 64)
    try expectFailure(
      ["streaming", "test:", "--sound", "test:", "--out", "out.264"], "cannot contain audio", status: 64)
    try expectFailure(
      ["streaming", CommandLine.sample, "--unpaced", "--sound", "test:", "--out", "o.mp4"], "--unpaced",
      status: 64)
    try expectFailure(
      ["transcoding", CommandLine.sample, "--sound", "test:", "--out", "o.mp4"], "vtencode streaming",
      status: 64)
    try expectFailure(
      ["transcoding", "test:160x128@30", "--sound", "test:", "--duration", "1", "--out", "o.gif"],
      "--sound does not apply", status: 64)
    try expectFailure(
      ["send", "test:", "--to", "127.0.0.1:5004", "--sound", "test:", "--no-audio"], "--no-audio", status: 64)
    try expectFailure(
      ["send", "test:", "--to", "127.0.0.1:5004", "--sound", "test:", "--sdp", "a.sdp"], "--sdp", status: 64)
    #expect(!FileManager.default.fileExists(atPath: folder.path("out.mp4")))
  }
}
