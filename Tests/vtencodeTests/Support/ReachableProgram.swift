// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The program and a movie where every user of the machine can reach them, for tests that run as
/// another one: the repository may be in a private folder, such as /root.
final class ReachableProgram: Sendable {
  let folder: Folder
  let vtencode: String
  let sample: String
  /// Settings of the environment that it needs, as arguments of `env`.
  let environment: [String]

  /// - Throws: where nothing can be copied.
  init() throws {
    folder = try Folder(in: Self.place)
    (vtencode, sample) = (folder.path("vtencode"), folder.path("video.m4v"))
    try FileManager.default.copyItem(atPath: CommandLine.vtencode, toPath: vtencode)
    try FileManager.default.copyItem(atPath: CommandLine.sample, toPath: sample)
    // Libraries of a toolchain in a home folder.
    let libraries = try CommandLine.run("ldd", [vtencode]).text.matches(of: /=> (\/\S+)/).map { String($0.1) }
      .filter { !Self.isReachable(($0 as NSString).resolvingSymlinksInPath) }
    for library in libraries {
      try FileManager.default.copyItem(
        atPath: (library as NSString).resolvingSymlinksInPath,
        toPath: folder.path((library as NSString).lastPathComponent))
    }
    environment = libraries.isEmpty ? [] : ["LD_LIBRARY_PATH=\(folder.url.path)"]
    try #require(chmod(folder.url.path, 0o755) == 0)
    for name in folder.contents { try #require(chmod(folder.path(name), 0o755) == 0) }
  }

  /// A folder for temporary files that everybody can reach.
  static var place: URL {
    let places = [FileManager.default.temporaryDirectory.path, "/tmp", "/var/tmp"]
    return URL(fileURLWithPath: places.first { isReachable($0) } ?? "/tmp")
  }

  /// Whether every user can reach a path and read it.
  private static func isReachable(_ path: String) -> Bool {
    var parts = path.split(separator: "/")
    var status = stat()
    while !parts.isEmpty {
      guard stat("/" + parts.joined(separator: "/"), &status) == 0 else { return false }
      let needed: mode_t = status.st_mode & S_IFMT == S_IFDIR ? 0o005 : 0o004
      guard status.st_mode & needed == needed else { return false }
      parts.removeLast()
    }
    return true
  }
}
