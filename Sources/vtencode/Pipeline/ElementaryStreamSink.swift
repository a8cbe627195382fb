// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import Foundation

/// Writes an Annex B byte stream, to a file or to standard output: NAL units behind start codes, with the parameter
/// sets before each key frame, so that a reader can join there.
struct ElementaryStreamSink: SampleSink {
  /// Nil for standard output.
  let path: String?
  let replaces: Bool
  /// An interrupted run leaves nothing.
  var isWholeOrNothing = false

  func write(_ samples: BoundedQueue<CMSampleBuffer>) async throws -> SinkReport {
    try await onThread("stream") { try writeAll(samples) }
  }

  private func writeAll(_ samples: BoundedQueue<CMSampleBuffer>) throws -> SinkReport {
    // Nothing is created before there is something to write.
    guard let first = try samples.pop() else { return SinkReport() }
    let pending = try path.map { try PendingFile(for: $0, replaces: replaces) }
    defer { pending?.discard() }
    let output = ByteOutput(try pending?.open(), name: path ?? "standard output")
    var report = SinkReport()
    var next: CMSampleBuffer? = first
    while let sample = next {
      try check()
      let bytes = try sample.annexBData()
      try output.write(bytes)
      report.fileBytes += bytes.count
      next = try samples.pop()
    }
    try output.close()
    try check()
    report.path = try pending?.commit(isPart: !isWholeOrNothing && Interrupt.shared.isRequested)
    return report
  }

  private func check() throws {
    guard isWholeOrNothing else { return }
    try Interrupt.shared.check(path == nil ? "the stream breaks off" : "nothing was written")
  }
}

/// A file descriptor that takes everything or says why not.
private final class ByteOutput {
  private var descriptor: Int32
  private let isOwned: Bool
  private let name: String

  /// - Parameter file: a descriptor to own; nil for standard output.
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

  /// Closing is where some file systems report a full disk.
  func close() throws {
    guard isOwned, descriptor >= 0 else { return }
    defer { descriptor = -1 }
    if Foundation.close(descriptor) != 0 { throw failure(errno) }
  }

  private func failure(_ code: Int32) -> Failure {
    Failure("cannot write '\(name)'", systemError: code)
  }
}
