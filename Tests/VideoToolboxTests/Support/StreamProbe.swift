// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

/// The properties of a session's stream, as ffprobe and ffmpeg read them.
struct StreamProbe {
  let stream: [String: Any]
  let frames: [[String: Any]]
  let errors: String

  static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe")

  init(_ data: Data, hevc: Bool = false) throws {
    let url = try Self.write(data, hevc: hevc)
    defer { try? FileManager.default.removeItem(at: url) }
    let result = try Self.run(
      "/usr/bin/ffprobe",
      [
        "-v", "warning", "-f", hevc ? "hevc" : "h264", "-show_frames", "-show_streams", "-of", "json",
        url.path,
      ])
    let json = try JSONSerialization.jsonObject(with: result.output) as? [String: Any] ?? [:]
    stream = (json["streams"] as? [[String: Any]])?.first ?? [:]
    frames = json["frames"] as? [[String: Any]] ?? []
    errors = result.errors
  }

  func text(_ key: String) -> String? { stream[key] as? String }
  func number(_ key: String) -> Int? { stream[key] as? Int }
  var pictureTypes: [String] { frames.compactMap { $0["pict_type"] as? String } }
  var keyFrames: [Int] { frames.indices.filter { frames[$0]["key_frame"] as? Int == 1 } }

  /// The decoded luma, frame after frame.
  /// - Parameter allowsErrors: Whether ffmpeg may find errors in the stream.
  static func decode(
    _ data: Data, hevc: Bool = false, pixelFormat: String = "gray", allowsErrors: Bool = false
  ) throws -> Data {
    let url = try write(data, hevc: hevc)
    defer { try? FileManager.default.removeItem(at: url) }
    let result = try run(
      "/usr/bin/ffmpeg",
      [
        "-v", "error", "-f", hevc ? "hevc" : "h264", "-i", url.path, "-vsync", "passthrough", "-f",
        "rawvideo", "-pix_fmt",
        pixelFormat, "-",
      ])
    if !result.errors.isEmpty, !allowsErrors { throw SessionError(status: -1, what: result.errors) }
    return result.output
  }

  /// The output of ffmpeg's trace_headers for the headers of a stream of H.264, a syntax element or
  /// the name of a unit a line.
  static func trace(_ data: Data) throws -> [String] {
    let url = try write(data, hevc: false)
    defer { try? FileManager.default.removeItem(at: url) }
    let result = try run(
      "/usr/bin/ffmpeg",
      [
        "-v", "verbose", "-f", "h264", "-i", url.path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null",
        "-",
      ])
    return result.errors.split(separator: "\n").filter { $0.hasPrefix("[trace_headers") }.map(String.init)
  }

  private static func write(_ data: Data, hevc: Bool) throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ovt-\(UUID().uuidString).\(hevc ? "265" : "264")")
    try data.write(to: url)
    return url
  }

  static func run(_ path: String, _ arguments: [String]) throws -> (output: Data, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    // Files rather than pipes: no pipe can fill up.
    let base = FileManager.default.temporaryDirectory.appendingPathComponent("ovt-\(UUID().uuidString)")
    let outURL = base.appendingPathExtension("out")
    let errURL = base.appendingPathExtension("err")
    _ = FileManager.default.createFile(atPath: outURL.path, contents: nil)
    _ = FileManager.default.createFile(atPath: errURL.path, contents: nil)
    defer {
      try? FileManager.default.removeItem(at: outURL)
      try? FileManager.default.removeItem(at: errURL)
    }
    process.standardOutput = try FileHandle(forWritingTo: outURL)
    process.standardError = try FileHandle(forWritingTo: errURL)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return (
      try Data(contentsOf: outURL), String(decoding: try Data(contentsOf: errURL), as: UTF8.self)
    )
  }
}
