// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Does what blocks on a thread of its own. There are as many tasks at a time as processors: two
/// that wait in a call for what a third would bring about wait forever.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: work()) }.start()
  }
}

/// Runs ffmpeg's own tools, the judge of what this package reads and writes.
enum Tool {
  struct Failure: Error, CustomStringConvertible { let description: String }

  @discardableResult
  static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(arguments.joined(separator: " ")) failed (\(process.terminationStatus))")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// The errors of ffmpeg when it decodes the whole file; empty when all is well.
  static func decodingErrors(_ path: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["ffmpeg", "-v", "error", "-xerror", "-i", path, "-f", "null", "-"]
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? text : "exit \(process.terminationStatus): \(text)"
  }
}

/// A stored sample as ffprobe sees it. Times are rational seconds in lowest terms, so that time
/// scales may differ.
struct ProbedSample: Equatable, CustomStringConvertible {
  var pts: String
  var dts: String
  var duration: String
  var size: Int
  var isSync: Bool
  var hash: String

  var description: String { "pts \(pts) dts \(dts) dur \(duration) size \(size) key \(isSync) \(hash)" }
}

enum Probe {
  /// All samples of a stream ("v:0", "a:0").
  static func samples(_ path: String, stream: String = "v:0", data: Bool = true) throws -> [ProbedSample] {
    let base = try Tool.run(
      [
        "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "stream=time_base", "-of",
        "csv=p=0", path,
      ])
    let parts = base.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: "/").compactMap {
      Int($0)
    }
    guard parts.count == 2 else { throw Tool.Failure(description: "no time base in \(path): \(base)") }
    var arguments = [
      "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries",
      "packet=pts,dts,duration,size,flags,data_hash", "-of", "json",
    ]
    if data { arguments += ["-show_data_hash", "md5"] }
    let json = try Tool.run(arguments + [path])
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    let packets = object?["packets"] as? [[String: Any]] ?? []
    return packets.map { packet in
      func time(_ key: String) -> String {
        (packet[key] as? NSNumber).map { rational($0.intValue * parts[0], parts[1]) } ?? "none"
      }
      return ProbedSample(
        pts: time("pts"), dts: time("dts"), duration: time("duration"),
        size: Int(packet["size"] as? String ?? "") ?? -1,
        isSync: (packet["flags"] as? String ?? "").hasPrefix("K"),
        hash: packet["data_hash"] as? String ?? "")
    }
  }

  /// Entries of the first matching stream or of the container.
  static func properties(_ path: String, stream: String? = "v:0", _ entries: String) throws -> [String:
    String]
  {
    var arguments = ["ffprobe", "-v", "error"]
    if let stream { arguments += ["-select_streams", stream] }
    arguments += ["-show_entries", entries, "-of", "default=nw=1", path]
    var properties: [String: String] = [:]
    for line in try Tool.run(arguments).split(separator: "\n") {
      let pair = line.split(separator: "=", maxSplits: 1)
      if pair.count == 2 { properties[String(pair[0])] = String(pair[1]) }
    }
    return properties
  }
}

func rational(_ numerator: Int, _ denominator: Int) -> String {
  var (a, b) = (abs(numerator), abs(denominator))
  while b != 0 { (a, b) = (b, a % b) }
  let divisor = max(1, a)
  return "\(numerator / divisor)/\(denominator / divisor)"
}

/// A folder that is gone when the test is over.
final class Scratch: @unchecked Sendable {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "OpenVideoToolbox-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    chmod(path, 0o755)
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { path + "/" + name }
  func url(_ name: String) -> URL { URL(fileURLWithPath: file(name)) }
  var contents: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
}

/// Movies that ffmpeg makes once for all tests.
enum Fixture {
  private static let folder = Scratch()
  private static let lock = NSLock()

  /// Paths by name and arguments: two suites may call different files by one name. `lock` guards
  /// it.
  private nonisolated(unsafe) static var made: [[String]: String] = [:]

  /// Makes the file with these ffmpeg arguments unless it is there already.
  static func make(_ name: String, _ arguments: [String]) throws -> String {
    try lock.withLock {
      if let path = made[[name] + arguments] { return path }
      let isTaken = made.keys.contains { $0.first == name }
      let path = folder.file(isTaken ? "\(made.count)-\(name)" : name)
      try Tool.run(["ffmpeg", "-v", "error", "-y"] + arguments + [path])
      made[[name] + arguments] = path
      return path
    }
  }

  static let picture = ["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30000/1001:duration=2"]
  static let audio = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=2"]

  /// H.264 with B frames, and AAC.
  static func movie(_ name: String = "movie.mp4") throws -> String {
    try make(
      name,
      picture + audio + [
        "-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-g", "20", "-pix_fmt", "yuv420p", "-c:a",
        "aac",
      ])
  }
  static func hevc() throws -> String {
    try make(
      "hevc.mov",
      picture + [
        "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:bframes=3:keyint=20",
        "-tag:v", "hvc1",
        "-pix_fmt", "yuv420p",
      ])
  }
  static func elementary() throws -> String {
    try make(
      "stream.264",
      picture + ["-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-g", "20", "-pix_fmt", "yuv420p"])
  }
}
