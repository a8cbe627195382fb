// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs the ffmpeg command line, the independent model of these tests.
enum FFmpegTool {
  struct Failure: Error { var message: String }

  static let path: String? = ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  static var isAvailable: Bool { path != nil }

  /// Whether this ffmpeg was built with an encoder.
  static func encodes(_ encoder: String) -> Bool {
    (try? run([
      "-f", "lavfi", "-i", "color=s=64x48", "-frames:v", "1", "-c:v", encoder, "-f", "matroska",
    ])) != nil
  }

  /// Standard output of `ffmpeg <arguments>`; `{in}` in the arguments stands for a file that holds
  /// `input`.
  static func run(_ arguments: [String], input: [UInt8]? = nil) throws -> [UInt8] {
    guard let path else { throw Failure(message: "no ffmpeg") }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let inputFile = folder.appendingPathComponent("in")
    let outputFile = folder.appendingPathComponent("out")
    if let input { try Data(input).write(to: inputFile) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments =
      ["-nostdin", "-v", "error", "-y"]
      + arguments.map { $0.replacingOccurrences(of: "{in}", with: inputFile.path) }
      + [outputFile.path]
    process.standardInput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let message = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(message: String(decoding: message, as: UTF8.self))
    }
    return [UInt8](try Data(contentsOf: outputFile))
  }

  /// One frame of ffmpeg's test picture as raw samples.
  static func testPicture(_ width: Int, _ height: Int, _ pixelFormat: String) throws -> [UInt8] {
    try run([
      // The source makes even sizes alone.
      "-f", "lavfi", "-i", "testsrc2=s=\((width + 1) & ~1)x\((height + 1) & ~1):r=1", "-frames:v", "1",
      "-vf", "scale=\(width):\(height)", "-pix_fmt", pixelFormat, "-f", "rawvideo",
    ])
  }
}
