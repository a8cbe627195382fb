// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Key files that `--key-file` accepts and refuses.
@Suite struct KeyFileTests {
  private let key = String(repeating: "5a", count: 32)

  private func file(_ text: String, mode: mode_t, in folder: Folder, name: String = "call.key") throws
    -> String
  {
    let path = folder.path(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try #require(chmod(path, mode) == 0)
    return path
  }

  private func refusal(_ path: String) -> String {
    do {
      return "taken: \(try KeyFile.firstLine(of: path))"
    } catch { return (error as? Failure)?.message ?? "\(error)" }
  }

  @Test(
    "The key is the first line of a file that only the user can read",
    arguments: [0o600, 0o400, 0o700] as [mode_t])
  func theFirstLineOfAPrivateFileIsTheKey(mode: mode_t) throws {
    let folder = try Folder()
    let path = try file("  \(key) \nmore\n", mode: mode, in: folder)
    #expect(try KeyFile.firstLine(of: path) == key)
    // Through a symbolic link too.
    try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: path)
    #expect(try KeyFile.firstLine(of: folder.path("link")) == key)
    #expect(try KeyFile.firstLine(of: file("", mode: mode, in: folder, name: "empty")) == "")
    let full = try file(
      String(repeating: "x", count: KeyFile.maxBytes), mode: mode, in: folder, name: "full")
    #expect(try KeyFile.firstLine(of: full).utf8.count == KeyFile.maxBytes)
  }

  @Test(
    "A key file that others can read is rejected, with advice",
    arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o777] as [mode_t])
  func aKeyThatOthersHaveARightToIsRefused(mode: mode_t) throws {
    let folder = try Folder()
    let path = try file(key, mode: mode, in: folder)
    #expect(refusal(path).contains("chmod 600 '\(path)'"), "\(refusal(path))")
    let run = try CommandLine.vtencode("receive", "--listen", "5004", "--key-file", path)
    #expect(run.status == 1 && run.complaintLines.count == 1, "\(run)")
    #expect(run.complaints.contains("its mode is \(String(mode, radix: 8))"), "\(run.complaints)")
    #expect(!run.complaints.contains(key))
  }

  @Test("A key file that is not a regular file is rejected without blocking")
  func whatIsNotARegularFileIsRefusedAtOnce() throws {
    let folder = try Folder()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let name = folder.path("socket")
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try #require(name.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(status == 0)
    for (path, word) in [
      (pipe, "a pipe"), (folder.url.path, "a folder"), ("/dev/zero", "a device"), ("/dev/tty", "cannot read"),
      (name, "not a regular file"), (folder.path("nowhere"), "no such file"), ("", "no such file"),
    ] {
      #expect(refusal(path).contains(word), "\(path): \(refusal(path))")
      #expect(refusal(path).hasPrefix("cannot read the key from '\(path)'"), "\(refusal(path))")
    }
    let run = try CommandLine.shell(
      "'\(CommandLine.vtencode)' send test: --to 127.0.0.1:9 --key-file pipe", in: folder)
    #expect(run.status == 1 && run.complaints.contains("it is not a regular file, but a pipe"), "\(run)")
  }

  @Test("A file that is too large for a key is rejected unread", arguments: [4097, 1 << 40])
  func aFileThatIsLargerThanOneWithAKeyIsRefusedUnread(size: Int) throws {
    let folder = try Folder()
    let path = try file(key, mode: 0o600, in: folder)
    try #require(truncate(path, size) == 0)
    #expect(refusal(path).contains("it has \(size) bytes"), "\(refusal(path))")
  }
}
