// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing
import ToolSupport

/// Runs a command-line tool; nil if it is not there or fails.
func run(_ tool: String, _ arguments: [String]) -> Data? {
  guard let done = try? Tool(tool).output(arguments), done.status == 0 else { return nil }
  return done.data
}

/// Whether the tools that make and describe test streams are there.
let hasFFmpeg = run("ffmpeg", ["-version"]) != nil && run("ffprobe", ["-version"]) != nil

/// A stream in Annex B, made by ffmpeg's own encoders of test pictures.
func makeStream(
  codec: String, size: String, frames: Int = 2, rate: Int = 25, pixelFormat: String = "yuv420p",
  options: [String] = []
) -> Data? {
  let format = codec == "libx264" ? "h264" : "hevc"
  return run(
    "ffmpeg",
    [
      "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=\(rate)", "-frames:v", "\(frames)",
      "-pix_fmt", pixelFormat, "-c:v", codec, "-preset", "ultrafast",
    ] + options + ["-f", format, "-"])
}

/// ffprobe's output for the first video stream of a file.
func probe(_ data: Data, format: String) -> [String: Any]? {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).\(format)")
  defer { try? FileManager.default.removeItem(at: url) }
  guard (try? data.write(to: url)) != nil else { return nil }
  return probe(url, format: format)
}

func probe(_ url: URL, format: String) -> [String: Any]? {
  guard
    let json = run(
      "ffprobe",
      ["-v", "error", "-f", format, "-select_streams", "v:0", "-show_streams", "-of", "json", url.path]),
    let object = try? JSONSerialization.jsonObject(with: json) as? [String: Any]
  else { return nil }
  return (object["streams"] as? [[String: Any]])?.first
}

/// The NAL units of an Annex B stream, split in the plainest way: an independent model for tests.
func splitAnnexB(_ stream: Data) -> [Data] {
  let bytes = [UInt8](stream)
  var starts: [(code: Int, unit: Int)] = []
  var index = 0
  while index + 2 < bytes.count {
    if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
      starts.append((index, index + 3))
      index += 3
    } else {
      index += 1
    }
  }
  return starts.indices.compactMap { number in
    var end = number + 1 < starts.count ? starts[number + 1].code : bytes.count
    while end > starts[number].unit, bytes[end - 1] == 0 { end -= 1 }
    return end > starts[number].unit ? Data(bytes[starts[number].unit..<end]) : nil
  }
}

/// The folder of shared streams next to the package; nil where it is absent.
let conformanceFolder: URL? = {
  let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent(
      "shared/media/conformance")
  return FileManager.default.fileExists(atPath: url.path) ? url : nil
}()

func h264Sets(_ units: [Data]) -> [Data] {
  var seen: [Data] = []
  for unit in units where [7, 8].contains(unit[0] & 31) && !seen.contains(unit) { seen.append(unit) }
  return seen
}

func hevcSets(_ units: [Data]) -> [Data] {
  var seen: [Data] = []
  for unit in units where [32, 33, 34].contains(unit[0] >> 1 & 63) && !seen.contains(unit) {
    seen.append(unit)
  }
  return seen
}

func makePixels(_ width: Int, _ height: Int, _ format: OSType) throws -> CVPixelBuffer {
  var pixels: CVPixelBuffer?
  let status = CVPixelBufferCreate(nil, width, height, format, nil, &pixels)
  #expect(status == kCVReturnSuccess)
  return try #require(pixels)
}
