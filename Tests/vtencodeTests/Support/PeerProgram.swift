// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import TestSupport
import Testing

/// A program that runs in parallel with a test, and is ended with it.
final class PeerProgram: @unchecked Sendable {
  // Sendable: `Process` is used by one test's thread; the semaphore tells of its end.
  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)
  private let errorPath: String

  /// - Parameters:
  ///   - folder: where it runs, and where its messages go.
  ///   - name: the name of the file of its messages.
  init(_ program: String, _ arguments: [String], in folder: Folder, name: String) throws {
    errorPath = folder.path(name + ".err")
    try Data().write(to: URL(fileURLWithPath: errorPath))
    let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: errorPath))
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.currentDirectoryURL = folder.url
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = errors
    process.standardError = errors
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.run()
    try errors.close()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  var isRunning: Bool { process.isRunning }
  /// Its output so far.
  var text: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }

  func send(_ signal: Int32) { if process.isRunning { kill(process.processIdentifier, signal) } }

  /// Waits for the end.
  /// - Returns: the status; 128 and more for a signal.
  func status(sourceLocation: SourceLocation = #_sourceLocation) throws -> Int32 {
    if !waitForSignal(ended) {
      send(SIGKILL)
      Issue.record("the program does not end: \(text)", sourceLocation: sourceLocation)
      ended.wait()
    }
    return process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0)
  }

  /// A port of this machine that nothing listens on.
  static func freePort(_ type: Int32 = Int32(SOCK_STREAM.rawValue)) throws -> Int {
    let socket = Glibc.socket(AF_INET, type, 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
    }
    try #require(status == 0)
    let named = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    try #require(named == 0)
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Waits until a program of this machine listens on a port.
  static func waitForListener(_ port: Int, table: String = "tcp") -> Bool {
    let hex = String(format: ":%04X ", port)
    return blockUntil {
      ["/proc/net/\(table)", "/proc/net/\(table)6"].contains { path in
        let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
        // The local address is the first; 0A is a socket that listens, 07 one of datagrams.
        return lines.contains { line in
          line.prefix { $0 != "\n" }.range(of: hex).map { range in
            let fields = line.split(separator: " ")
            return fields.count > 3 && fields[1].hasSuffix(hex.dropLast())
              && ["0A", "07"].contains(fields[3])
              && !range.isEmpty
          } ?? false
        }
      }
    }
  }

  /// The size of a file in bytes; 0 if there is none.
  static func size(_ path: String) -> Int {
    ((try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? NSNumber)?.intValue ?? 0
  }
}
