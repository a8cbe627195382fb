// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Testing
import TestSupport

/// The result of a finished process.
struct Finished: Sendable {
  var status: Int32
  var output: Data
  var complaints: String

  var text: String { String(decoding: output, as: UTF8.self) }
  /// Lines on standard error.
  var complaintLines: [String] { complaints.split(separator: "\n").map(String.init) }
}

/// Runs programs as a person would.
enum CommandLine {
  /// The folder of the repository.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  static let sample = root.appendingPathComponent("Assets/video.m4v").path
  /// Built next to the tests.
  static let vtencode: String = {
    let besideTests = URL(fileURLWithPath: Swift.CommandLine.arguments[0]).deletingLastPathComponent()
    return besideTests.appendingPathComponent("vtencode").path
  }()

  static func vtencode(_ arguments: String..., in folder: Folder? = nil) throws -> Finished {
    try run(vtencode, arguments, in: folder?.url)
  }

  /// Functions of scripts about processes, for `await` (`shellAwait`): whether one does not die of
  /// SIGTERM any more, whether it has taken all signals that it was sent, whether one has stopped,
  /// whether files of a name are there, and have so many kilobytes.
  private static let questions = """
    hears() {
      for mask in $(sed -n 's/^Sig[IC][a-z]*:.//p' /proc/$1/status); do
        [ $((0x$mask & 0x4000)) -eq 0 ] || return 0
      done
      return 1
    }
    has_taken_signals() { ! grep -q '^S[a-z]*Pnd:.*[1-9a-f]' /proc/$1/status; }
    has_stopped() { grep -q '^State:.T' /proc/$1/status; }
    exists() { [ -n "$(find . -path "$1")" ]; }
    has_kilobytes() { [ -n "$(find . -path "$1" -type f -size +$2k)" ]; }

    """

  /// A signal, and what is on standard error when a run gets it: no clock knows how far a run is on
  /// another machine.
  struct Signal {
    var number: Int32
    var isDue: @Sendable (String) -> Bool

    /// As soon as `--progress json` tells of so many frames.
    static func sent(_ number: Int32, atFrame minimum: Int) -> Signal {
      Signal(number: number) { text in
        text.matches(of: /"frames":(\d+)/).contains { (Int($0.1) ?? 0) >= minimum }
      }
    }

    /// As soon as `--progress json` tells of a share of work that is not counted in frames.
    static func sent(_ number: Int32, atShare minimum: Double) -> Signal {
      Signal(number: number) { text in
        text.matches(of: /"share":([0-9.e-]+)/).contains { (Double($0.1) ?? 0) >= minimum }
      }
    }
  }

  /// A C compiler: that of the Swift toolchain, which exists where this is built.
  static func compiler() throws -> String {
    let found = try shell(
      "swift=$(readlink -f \"$(command -v swift)\") && ls \"${swift%/*}/clang\" || command -v clang cc gcc | head -n 1"
    )
    let path = found.text.trimmingCharacters(in: .newlines)
    return try #require(
      path.isEmpty ? nil : path, "a C compiler is missing: neither clang next to swift, nor clang, cc or gcc")
  }

  /// For a shell: what a program says on standard error goes into a file, line by line, through the
  /// pipe `said`, until one line has a word; and then all that follows. If the program ends before,
  /// so does the waiting.
  /// - Parameters:
  ///   - word: one that tells of the event.
  ///   - file: where the lines go.
  static func awaiting(_ word: String, in file: String) -> String {
    """
    exec 3< said
    while IFS= read -r line <&3; do
      printf '%s\\n' "$line" >> \(file)
      case $line in *\(word)*) break;; esac
    done
    cat <&3 >> \(file) &
    """
  }

  /// Runs a program found on the path, or at a path, and waits for it.
  ///
  /// - Parameter signal: what the program is sent meanwhile.
  /// - Returns: As status of what a signal ended, 128 and its number, as a shell says.
  static func run(_ program: String, _ arguments: [String], in folder: URL? = nil, signal: Signal? = nil)
    throws
    -> Finished
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.currentDirectoryURL = folder
    let input = FileHandle(forReadingAtPath: "/dev/null")
    process.standardInput = input ?? .nullDevice
    // Files, since two pipes that are read one after the other can fill up and block.
    let scratch = FileManager.default.temporaryDirectory
    let outputURL = scratch.appendingPathComponent("out-\(UUID().uuidString)")
    let errorURL = scratch.appendingPathComponent("err-\(UUID().uuidString)")
    for url in [outputURL, errorURL] { try Data().write(to: url) }
    defer {
      try? FileManager.default.removeItem(at: outputURL)
      try? FileManager.default.removeItem(at: errorURL)
    }
    let (output, errors) = (try FileHandle(forWritingTo: outputURL), try FileHandle(forWritingTo: errorURL))
    process.standardOutput = output
    process.standardError = errors
    // Foundation keeps them open, and its `Process` reads beyond its buffer where some 1,350
    // descriptors are.
    defer { for handle in [input, output, errors] { try? handle?.close() } }
    let end = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in end.signal() }
    try process.run()
    if let signal {
      blockUntil {
        !process.isRunning || (try? String(contentsOf: errorURL, encoding: .utf8)).map(signal.isDue) ?? true
      }
      if process.isRunning { kill(process.processIdentifier, signal.number) }
    }
    // A process that hangs is ended, and fails its test by its status.
    if !waitForSignal(end) {
      // With what it has started: Foundation waits for those too.
      kill(-process.processIdentifier, SIGKILL)
      end.wait()
    }
    return Finished(
      status: process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0),
      output: try Data(contentsOf: outputURL),
      complaints: String(decoding: try Data(contentsOf: errorURL), as: UTF8.self))
  }

  /// Runs a script, which may `await`.
  static func shell(_ script: String, in folder: Folder? = nil) throws -> Finished {
    try run("sh", ["-c", shellAwait + "\n" + questions + script], in: folder?.url)
  }
}

/// A folder that vanishes with its test.
final class Folder: Sendable {
  let url: URL

  /// - Parameter parent: nil for the usual place.
  init(in parent: URL? = nil) throws {
    url = (parent ?? FileManager.default.temporaryDirectory).appendingPathComponent(
      "vtencode-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Names of everything inside, hidden files too.
  var contents: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }
}

/// The properties of a file according to ffprobe.
struct Probe {
  struct Stream: Decodable {
    var codec_type: String
    var codec_name: String?
    var codec_tag_string: String?
    var profile: String?
    var width: Int?
    var height: Int?
    var pix_fmt: String?
    var nb_read_frames: String?
    var has_b_frames: Int?
    var r_frame_rate: String?
    var color_primaries: String?
    var color_transfer: String?
    var color_space: String?
    var time_base: String?
  }

  struct Frame: Decodable {
    var pts_time: String?
    var pkt_pts_time: String?
    var key_frame: Int?
    var pict_type: String?

    var time: Double? { (pts_time ?? pkt_pts_time).flatMap(Double.init) }
  }

  struct Packet: Decodable {
    var pts_time: String?
    var dts_time: String?
    var size: String?
  }

  private struct Answer: Decodable {
    var streams: [Stream]?
    var frames: [Frame]?
    var packets: [Packet]?
  }

  var path: String

  init(_ path: String) { self.path = path }

  private func ask(_ arguments: String...) throws -> Answer {
    let finished = try CommandLine.run("ffprobe", ["-v", "error", "-of", "json"] + arguments + [path])
    try #require(finished.status == 0, "ffprobe cannot read \(path): \(finished.complaints)")
    return try JSONDecoder().decode(Answer.self, from: finished.output)
  }

  func streams() throws -> [Stream] { try ask("-show_streams", "-count_frames").streams ?? [] }
  func video() throws -> Stream { try #require(try streams().first { $0.codec_type == "video" }) }
  func frames() throws -> [Frame] { try ask("-select_streams", "v", "-show_frames").frames ?? [] }
  func packets() throws -> [Packet] { try ask("-select_streams", "v", "-show_packets").packets ?? [] }

  /// Frames that ffmpeg decodes, in the order in which they are shown.
  func frameCount() throws -> Int { Int(try video().nb_read_frames ?? "") ?? -1 }

  /// The errors of ffmpeg when it decodes everything; empty for an audio file.
  func errors() throws -> String {
    let finished = try CommandLine.run(
      "ffmpeg", ["-nostdin", "-v", "error", "-xerror", "-i", path, "-f", "null", "-"])
    return finished.status == 0 ? finished.complaints : "status \(finished.status): \(finished.complaints)"
  }

  /// Bits a second of the video alone, over its length.
  func bitRate(seconds: Double) throws -> Double {
    Double(try packets().compactMap { $0.size.flatMap(Int.init) }.reduce(0, +)) * 8 / seconds
  }
}

/// ffmpeg decodes all of it without a word.
func expectNoErrors(_ probe: Probe, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let errors = try probe.errors()
  #expect(errors.isEmpty, "\(errors)", sourceLocation: sourceLocation)
}
