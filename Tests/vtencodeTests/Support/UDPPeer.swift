// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Testing
import TestSupport

/// A UDP socket of this machine with which a test speaks to `vtencode send` or `receive`.
final class UDPPeer {
  private let descriptor: Int32
  let port: Int
  private var other = sockaddr_in()

  /// - Parameter target: the port that it speaks to; nil answers whoever spoke last.
  init(to target: Int? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    try #require(descriptor >= 0)
    var room: Int32 = 4 << 20
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    let descriptor = descriptor
    let bound = withLoopback(port: 0) { address, size -> Int? in
      var size = size
      guard bind(descriptor, address, size) == 0, getsockname(descriptor, address, &size) == 0 else {
        return nil
      }
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        Int(UInt16(bigEndian: $0.pointee.sin_port))
      }
    }
    port = try #require(bound)
    guard let target else { return }
    withLoopback(port: target) { address, _ in
      other = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
    }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) {
    withUnsafePointer(to: &other) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// The next datagram, waited for some milliseconds at most.
  func receive(milliseconds: Int32) -> [UInt8]? {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, milliseconds) > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 2048)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let count = withUnsafeMutablePointer(to: &other) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &bytes, bytes.count, 0, $0, &size)
      }
    }
    return count >= 0 ? Array(bytes[..<count]) : nil
  }

  /// Seconds of the monotonic clock, which both ends of a call use.
  // check-tests: nothing is compared with it but the limit of a hang
  static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) * 1e-9 }
}

/// The program, while a test speaks to it.
final class RunningProgram {
  private let process = Process()
  private let folder: Folder
  private let end = DispatchSemaphore(value: 0)

  init(_ arguments: [String], in folder: Folder) throws {
    self.folder = folder
    process.executableURL = URL(fileURLWithPath: CommandLine.vtencode)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    for name in ["out.txt", "err.txt"] { try Data().write(to: URL(fileURLWithPath: folder.path(name))) }
    process.standardOutput = FileHandle(forWritingAtPath: folder.path("out.txt"))
    process.standardError = FileHandle(forWritingAtPath: folder.path("err.txt"))
    process.terminationHandler = { [end] _ in end.signal() }
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  var isRunning: Bool { process.isRunning }

  func interrupt() { kill(process.processIdentifier, SIGINT) }

  /// Waits for its end; a process that hangs is killed and has that status.
  func finish() throws -> Finished {
    if !waitForSignal(end) {
      kill(process.processIdentifier, SIGKILL)
      end.wait()
    }
    return Finished(
      status: process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0),
      output: try Data(contentsOf: URL(fileURLWithPath: folder.path("out.txt"))),
      complaints: try String(contentsOfFile: folder.path("err.txt"), encoding: .utf8))
  }
}
