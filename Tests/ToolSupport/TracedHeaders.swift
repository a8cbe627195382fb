// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Values that `ffmpeg -bsf:v trace_headers` reads from a stream, by the name of the syntax
/// element.
package struct TracedHeaders {
  private var values: [String: [Int]] = [:]
  /// The errors that it finds.
  package private(set) var complaints: [String] = []

  package subscript(_ name: String) -> [Int] { values[name] ?? [] }

  package static var isAvailable: Bool {
    ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"].contains { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// - Parameters:
  ///   - stream: NAL units with start codes.
  ///   - format: what ffmpeg calls the stream's format, `h264` or `hevc`.
  package init(_ stream: [UInt8], format: String) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("headers-\(UUID()).\(format)")
    try Data(stream).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "ffmpeg", "-v", "verbose", "-f", format, "-i", file.path, "-c", "copy", "-bsf:v", "trace_headers",
      "-f", "null", "-",
    ]
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    for line in text.split(separator: "\n") {
      // Streams of tests may contain no macroblocks, so that only what the reader of headers says
      // counts.
      guard line.hasPrefix("[trace_headers") else { continue }
      if line.contains("rror") || line.contains("nvalid") { complaints.append(String(line)) }
      guard let equals = line.range(of: " = ", options: .backwards),
        let close = line.firstIndex(of: "]"), let value = Int(line[equals.upperBound...])
      else { continue }
      // "[trace_headers @ 0x...] 24   name   bits = value"; arrays as name[i].
      let words = line[line.index(after: close)..<equals.lowerBound].split(separator: " ")
      guard words.count >= 2 else { continue }
      values[String(words[1].split(separator: "[")[0]), default: []].append(value)
    }
  }
}
