// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A result with a unique key.
public protocol StoredResult: Codable {
  var key: String { get }
}

/// Results of earlier runs, with one line of JSON each. It is used for encoders that do not change
/// from run to run.
public final class ResultStore<Value: StoredResult> {
  private var results: [String: Value] = [:]
  private let path: String

  /// - Parameter path: the path of the file, which does not have to exist yet. Lines that cannot be
  ///   read are skipped.
  public init(path: String) throws {
    self.path = path
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
    for line in text.split(separator: "\n") {
      if let result = try? JSONDecoder().decode(Value.self, from: Data(line.utf8)) {
        results[result.key] = result
      }
    }
  }

  public subscript(_ key: String) -> Value? { results[key] }

  /// Stores a result in memory and in the file.
  public func store(_ result: Value) throws {
    results[result.key] = result
    let line = String(decoding: try JSONEncoder().encode(result), as: UTF8.self) + "\n"
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(atPath: path, contents: nil)
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seekToEnd()
    try file.write(contentsOf: Data(line.utf8))
  }
}
