// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport

@testable import vtencode

/// `vtencode send` of a screen. A camera is nothing that a test machine has: of those only what is
/// wrong is tested.
@Suite(.serialized) struct DeviceTests {
  private static let hasScreens =
    (try? CommandLine.shell("command -v Xvfb && command -v ffplay").status) == 0

  /// A screen of X without one, with ffplay's colour bars on it.
  private final class Screen {
    let folder: Folder
    private(set) var name = ""
    private var processes: [Process] = []

    init() throws {
      folder = try Folder()
      try start(
        "Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"], output: "display")
      func display() -> String {
        (try? String(contentsOfFile: folder.path("display"), encoding: .utf8)) ?? ""
      }
      try #require(blockUntil { display().hasSuffix("\n") })
      name = ":" + display().trimmingCharacters(in: .whitespacesAndNewlines)
      try start(
        "env",
        [
          "DISPLAY=\(name)", "SDL_AUDIODRIVER=dummy", "SDL_VIDEODRIVER=x11", "ffplay", "-v", "error",
          "-noborder",
          "-left", "0", "-top", "0", "-x", "640", "-y", "480", "-f", "lavfi", "-i",
          "smptehdbars=s=640x480:r=5",
        ])
      // Until they are there, and the pointer, which ffplay hides after a while, is not.
      func gray(_ input: String) throws -> [UInt8] {
        try [UInt8](
          CommandLine.shell(
            "ffmpeg -v error \(input) -frames:v 1 -f rawvideo -pix_fmt gray -", in: folder
          ).output)
      }
      let bars = try gray("-f lavfi -i smptehdbars=s=640x480:r=5")
      try #require(bars.count == 640 * 480)
      let isThere = try blockUntil {
        _ = try CommandLine.shell(
          "ffmpeg -v error -f x11grab -i \(name) -frames:v 1 -y reference.png", in: folder)
        let seen = try gray("-i reference.png")
        return seen.count == bars.count
          && zip(seen, bars).allSatisfy { abs(Int($0) - Int($1)) < 48 }
      }
      try #require(isThere)
    }

    private func start(_ program: String, _ arguments: [String], output: String = "noise") throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [program] + arguments
      try Data().write(to: URL(fileURLWithPath: folder.path(output)))
      process.standardOutput = FileHandle(forWritingAtPath: folder.path(output))
      process.standardError = FileHandle.nullDevice
      process.standardInput = FileHandle.nullDevice
      try process.run()
      processes.append(process)
    }

    // ffplay takes a request to end for one to end when it can, which without a screen is never.
    deinit {
      for process in processes.reversed() where process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
  }

  /// Sends a source, and compares what came with a part of the screen's picture as ffmpeg took it.
  /// - Returns: PSNR of luma in decibels, and frames a second.
  private func likeness(_ source: String, on screen: Screen, crop: String, options: String = "") throws
    -> (quality: Double, size: String, rate: Double)
  {
    let port = try freeDatagramPort()
    let finished = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' receive --listen \(port) --overwrite --out call.264 --json > received.txt 2> complaints.txt &
      receiver=$!
      await $receiver grep -q Listening complaints.txt
      '\(CommandLine.vtencode)' send '\(source)' --to 127.0.0.1:\(port) --frames 20 --speed 2 --bitrate 2M --json \(options) \
        > sent.txt || kill -INT $receiver
      wait $receiver || exit 1
      ffprobe -v error -show_entries stream=width,height -of csv=p=0 call.264
      ffmpeg -v info -i call.264 -i reference.png -lavfi \
        '[0]select=eq(n\\,15),setpts=0,format=gray[a];[1]crop=\(crop),setpts=0,format=gray[b];[a][b]psnr' -f null -
      """, in: screen.folder)
    #expect(finished.status == 0, "\(finished.complaints)")
    let value = finished.complaints.components(separatedBy: "PSNR y:").last?.split(separator: " ").first
    let sent = try JSONDecoder().decode(
      [String: Double].self, from: Data(contentsOf: URL(fileURLWithPath: screen.folder.path("sent.txt"))))
    return (
      value == "inf" ? .infinity : value.flatMap { Double($0) } ?? 0,
      finished.text.trimmingCharacters(in: .whitespacesAndNewlines),
      (sent["frames"] ?? 0) / max(sent["seconds"] ?? 0, 0.001)
    )
  }

  @Test("A screen is sent as ffmpeg sees it, whole, in part, and at another size", .enabled(if: hasScreens))
  func aScreenIsSentAsFfmpegSeesIt() throws {
    let screen = try Screen()
    let whole = try likeness("x11:\(screen.name)@20", on: screen, crop: "640:480:0:0")
    #expect(whole.quality > 38 && whole.size == "640,480" && whole.rate < 30, "\(whole)")
    let part = try likeness(
      "x11:\(screen.name)+100,50:320x240@20", on: screen, crop: "320:240:100:50")
    #expect(part.quality > 38 && part.size == "320,240", "\(part)")
    // Elsewhere it is another picture.
    let other = try likeness("x11:\(screen.name)+101,240:320x240@20", on: screen, crop: "320:240:0:0")
    #expect(other.quality < 25, "\(other)")
    let small = try likeness(
      "x11:\(screen.name)@20", on: screen, crop: "640:480:0:0,scale=320:240:flags=bilinear",
      options: "--dimensions 320 240")
    #expect(small.quality > 30 && small.size == "320,240", "\(small)")
  }

  @Test("Screens and cameras are named as people name them")
  func screensAndCamerasAreNamedAsPeopleNameThem() throws {
    func parsed(_ text: String, display: String? = ":0") -> String? {
      guard
        let format = DeviceFormat(text, environment: display.map { ["DISPLAY": $0] } ?? [:])?.configuration
      else { return nil }
      let size = format.size.map { "\($0.width)x\($0.height)" } ?? "-"
      return "\(format.kind) \(format.name) \(size) \(format.frameRate ?? 0)"
    }
    #expect(parsed("x11:") == "screen :0 - 0.0")
    #expect(parsed("x11:", display: nil) == nil && parsed("x11:", display: "") == nil)
    #expect(parsed("x11::5.0@15") == "screen :5.0 - 15.0")
    #expect(parsed("x11:host:1+10,20:640x360@12.5") == "screen host:1+10,20 640x360 12.5")
    #expect(parsed("x11:+10,20:640x360") == "screen :0+10,20 640x360 0.0")
    #expect(parsed("v4l2:/dev/video0") == "camera /dev/video0 - 0.0")
    #expect(parsed("v4l2:/dev/video2:1280x720@30") == "camera /dev/video2 1280x720 30.0")
    for bad in [
      "x11::0+10,20", "x11::0@0", "x11::0@x", "x11::0+-5,0:64x48", "x11::0+a,b:64x48", "x11::0+10:64x48",
      "x11::0+70000,0:64x48", "v4l2:", "v4l2:/dev/video0:1x1", "v4l2:/dev/video0:abc", "movie.mp4",
    ] {
      #expect(parsed(bad) == nil, "\(bad)")
    }
  }

  @Test("Impossible options are reported in one line")
  func mistakesAreReportedInOneLine() throws {
    func expectFailure(_ source: String, _ words: String, status: Int32 = 1, options: [String] = []) throws {
      let finished = try CommandLine.run(
        "env",
        ["-u", "DISPLAY", CommandLine.vtencode, "send", source, "--to", "127.0.0.1:5004"] + options)
      #expect(finished.status == status, "\(source): \(finished)")
      #expect(finished.complaintLines.last?.contains(words) == true, "\(source): \(finished.complaints)")
    }
    try expectFailure("x11:", "DISPLAY is not set", status: 64)
    try expectFailure("x11::0+1,1", "for a part", status: 64)
    try expectFailure("v4l2:", "/dev/video0", status: 64)
    try expectFailure("v4l2:/dev/null", "is not a camera")
    try expectFailure("x11::0", "--loop requires a movie", status: 64, options: ["--loop"])
    // Where libavdevice is missing that is what is said.
    let finished = try CommandLine.run(
      CommandLine.vtencode, ["send", "v4l2:/dev/video977", "--to", "127.0.0.1:5004"])
    #expect(finished.status == 1 && finished.complaintLines.count == 1)
    #expect(
      finished.complaints.contains("no camera /dev/video977") || finished.complaints.contains("libavdevice"))
    if Self.hasScreens { try expectFailure("x11::977", "cannot capture the screen") }
  }
}
