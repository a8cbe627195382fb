// SPDX-License-Identifier: Apache-2.0
import Foundation

public enum ClipFiles {
  /// The file itself, or the files in a folder sorted by name.
  public static func list(_ path: String) throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw BenchmarkError(description: "\(path): no such file")
    }
    if !isFolder.boolValue { return [path] }
    return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      .filter { !$0.hasPrefix(".") }.map { "\(path)/\($0)" }
  }
}
