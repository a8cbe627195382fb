// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import Foundation
import Testing

@testable import H264Codec
@testable import H264Encoder

@Suite struct PassFileTests {
  private static func statistics(_ numbers: Range<UInt64>) -> PassStatistics {
    var made = PassStatistics(width: 64, height: 48)
    for n in numbers {
      var residual = ResidualHistogram()
      residual.counts[Int(n % 32)] = Float(n % 12)
      made.append(
        PassStatistics.Picture(
          index: n, kind: n % 9 == 0 ? .intra : .predicted, bits: Int(n) * 7 + 1, qp: Double(n % 51),
          duration: 0.04, residual: residual))
    }
    return made
  }

  private static func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("passes-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  private static func names(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  @Test(
    "Statistics that are appended in pieces are stored as a whole, as often as is asked, with no other file")
  func stored() throws {
    try Self.withFolder { folder in
      let path = folder + "/pass"
      // Kept as whoever made it wanted.
      try #require(
        FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o640]))
      do {
        let writer = try PassStatisticsWriter(beside: path)
        // More than the writer keeps in memory.
        for n in stride(from: UInt64(0), to: 2000, by: 50) {
          try writer.append(Self.statistics(n..<n + 50))
          #expect(Self.names(folder) == ["pass"])
          guard n == 950 || n == 1950 else { continue }
          try writer.store(at: path, width: 64, height: 48)
          let bytes = [UInt8](try #require(FileManager.default.contents(atPath: path)))
          #expect(bytes == Self.statistics(0..<n + 50).bytes)
        }
        try writer.append(Self.statistics(0..<9))
      }
      #expect(Self.names(folder) == ["pass"])
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
      #expect(mode?.intValue == 0o640)

      let file = try PassFile(path)
      let pass = try StoredPass(size: file.size) { file.read($0, $1) }
      #expect(pass.count == 2000 && pass.width == 64 && pass.height == 48 && !pass.hasFailed)
      let part = try StoredPass(size: file.size, frames: 300..<1300) { file.read($0, $1) }
      #expect(part.count == 1000 && !part.hasFailed)
      // Somebody writes to it meanwhile, or cuts it.
      let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try writer.seek(toOffset: 100_000)
      try writer.write(contentsOf: [1])
      var cursor = pass.cursor()
      #expect(cursor.next() == nil && pass.hasFailed)
      let again = try PassFile(path)
      #expect(throws: H264EncoderError.self) { _ = try StoredPass(size: again.size) { again.read($0, $1) } }
      try writer.truncate(atOffset: 4000)
      try writer.close()
      #expect(again.read(0, 10) == nil)
    }
  }

  @Test("An output path that cannot be written is reported at once, and existing files are kept")
  func failures() throws {
    try Self.withFolder { folder in
      try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/file"))
      for path in [folder + "/none/pass", "/proc/pass", folder + "/file/pass"] {
        #expect(throws: CodecError.self, "\(path)") { _ = try PassStatisticsWriter(beside: path) }
      }
      // The name is a folder's.
      let taken = try PassStatisticsWriter(beside: folder)
      try taken.append(Self.statistics(0..<3))
      #expect(throws: CodecError.self) { try taken.store(at: folder, width: 64, height: 48) }
      #expect(Self.names(folder) == ["file"])
      #expect(FileManager.default.contents(atPath: folder + "/file") == Data("mine".utf8))
      for path in [folder, folder + "/none", "/dev/null", "/dev/zero"] {
        #expect(throws: CodecError.self, "\(path)") { _ = try PassFile(path) }
      }
      let pipe = folder + "/pipe"
      #expect(mkfifo(pipe, 0o600) == 0)
      #expect(throws: CodecError.self) { _ = try PassFile(pipe) }
      // Nor is its name taken from it.
      let writer = try PassStatisticsWriter(beside: pipe)
      try writer.append(Self.statistics(0..<3))
      #expect(throws: CodecError.self) { try writer.store(at: pipe, width: 64, height: 48) }
      var properties = stat()
      #expect(lstat(pipe, &properties) == 0 && properties.st_mode & S_IFMT == S_IFIFO)
      #expect(Self.names(folder).sorted() == ["file", "pipe"])
    }
  }
}
