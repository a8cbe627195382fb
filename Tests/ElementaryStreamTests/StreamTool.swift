// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import ToolSupport

/// Runs a command-line tool; nil if it is not there or fails.
func run(_ tool: String, _ arguments: [String]) -> Data? {
  guard let done = try? Tool(tool).output(arguments), done.status == 0 else { return nil }
  return done.data
}

/// Whether the tools that make and describe test streams are there.
let hasFFmpeg = run("ffmpeg", ["-version"]) != nil && run("ffprobe", ["-version"]) != nil

/// A stream in Annex B, made by ffmpeg of test pictures.
func makeStream(
  _ codec: ElementaryStreamCodec, frames: Int = 40, size: String = "192x112", options: [String] = []
)
  -> Data?
{
  run(
    "ffmpeg",
    [
      "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30", "-frames:v", "\(frames)",
      "-pix_fmt",
      "yuv420p", "-c:v", codec == .h264 ? "libx264" : "libx265", "-preset", "veryfast",
    ] + (codec == .hevc ? ["-x265-params", "log-level=none"] : []) + options
      + ["-f", codec == .h264 ? "h264" : "hevc", "-"])
}

/// Writes data to a file for the time of a call.
func withFile<R>(_ data: Data, _ name: String, _ body: (URL) throws -> R) rethrows -> R {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)-\(name)")
  try? data.write(to: url)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url)
}

/// The MD5 of each decoded frame, in output order.
func frameHashes(_ url: URL, format: String) -> [String]? {
  guard
    let text = run(
      "ffmpeg",
      ["-v", "quiet", "-f", format, "-i", url.path, "-map", "0:v", "-f", "framemd5", "-vsync", "0", "-"])
  else { return nil }
  return String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
    .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
}

/// Where the packets of the frames are in the stream, in output order.
func outputPositions(_ url: URL, format: String) -> [Int]? {
  guard
    let text = run(
      "ffprobe",
      [
        "-v", "quiet", "-f", format, "-select_streams", "v:0", "-show_entries", "frame=pkt_pos", "-of",
        "csv=p=0", url.path,
      ])
  else { return nil }
  return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap {
    Int($0.trimmingCharacters(in: CharacterSet(charactersIn: ", \r")))
  }
}

/// The folder of shared streams next to the package; nil where it is absent.
let conformanceFolder: URL? = {
  let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
      "shared/media/conformance")
  return FileManager.default.fileExists(atPath: url.path) ? url : nil
}()

/// A generator of the same numbers in each run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
