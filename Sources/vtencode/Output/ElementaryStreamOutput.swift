// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import Foundation

/// Writes an Annex B byte stream (H.264, annex B) to a file or to standard output, with the
/// parameter sets before each key frame, so that a decoder can begin there.
final class ElementaryStreamOutput: SampleOutput, @unchecked Sendable {
  // Sendable: called by one task, and by one thread while there are samples.
  /// The file's path; nil for standard output.
  private let path: String?
  private let replaces: Bool
  private var pending: PendingFile?
  private var output: ByteOutput?
  private var bytes = 0

  init(path: String?, replaces: Bool) { (self.path, self.replaces) = (path, replaces) }

  var name: String { path.map { "a .\(($0 as NSString).pathExtension) file" } ?? "standard output" }
  let tracks: Set<OutputTrack.Kind> = [.video]
  func plays(_ audio: CMFormatDescription) -> Bool { false }
  let isLive = false
  let beginsAtZero = false
  let backPressure = BackPressure.waits
  var outcomeOfInterruptedRun: String { path == nil ? "the stream breaks off" : "nothing was written" }

  func open() throws {
    pending = try path.map { try PendingFile(for: $0, replaces: replaces) }
    output = ByteOutput(try pending?.open(), name: path ?? "standard output")
  }

  func add(_ track: OutputTrack) -> OutputTrack.ID? { track.kind == .video ? 0 : nil }
  func start() {}

  func append(_ sample: CMSampleBuffer, to track: OutputTrack.ID) throws {
    let data = try sample.annexBData()
    try output?.write(data)
    bytes += data.count
  }

  func finish() throws { try output?.close() }

  func publish(isPart: Bool) throws -> OutputResult {
    OutputResult(fileBytes: bytes, path: try pending?.commit(isPart: isPart))
  }

  func abandon() { pending?.discard() }
}

/// Writes all bytes to a file descriptor, or throws the reason why it cannot.
private final class ByteOutput {
  private var descriptor: Int32
  private let isOwned: Bool
  private let name: String

  /// - Parameters:
  ///   - file: a descriptor, which is closed in the end; nil for standard output.
  ///   - name: the output's name, for messages.
  init(_ file: Int32?, name: String) {
    self.name = name
    isOwned = file != nil
    descriptor = file ?? STDOUT_FILENO
  }

  deinit { if isOwned, descriptor >= 0 { Foundation.close(descriptor) } }

  func write(_ bytes: Data) throws {
    try bytes.withUnsafeBytes { (buffer: UnsafeRawBufferPointer) in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Foundation.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0 {
          if errno == EINTR { continue }
          throw failure(errno)
        }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Closes an owned descriptor. Some file systems report a full disk only here.
  func close() throws {
    guard isOwned, descriptor >= 0 else { return }
    defer { descriptor = -1 }
    if Foundation.close(descriptor) != 0 { throw failure(errno) }
  }

  private func failure(_ code: Int32) -> Failure {
    Failure("cannot write '\(name)'", systemError: code)
  }
}
