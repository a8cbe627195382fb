// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An external program that tests compare with.
public struct Tool: Sendable {
  public let name: String

  public init(_ name: String) { self.name = name }

  public var isInstalled: Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }

  /// Runs it to its end.
  /// - Returns: Its status, and what it wrote to standard output.
  public func output(_ arguments: [String]) throws -> (status: Int32, data: Data) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, data)
  }

  /// The same, from words.
  public func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
    let (status, data) = try output(arguments)
    return (status, String(decoding: data, as: UTF8.self))
  }

  /// The standard output.
  public func text(_ arguments: [String]) throws -> String { try run(arguments).text }
}
