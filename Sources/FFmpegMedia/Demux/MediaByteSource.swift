// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import Synchronization

/// A source of a movie's bytes other than a file or a server: the calling program supplies them.
package protocol MediaByteSource: AnyObject, Sendable {
  /// Makes a new reader. Each demuxer has one of its own.
  func makeReader() -> any MediaByteReader
}

/// Reads the bytes of a `MediaByteSource` for one demuxer.
package protocol MediaByteReader: AnyObject, Sendable {
  /// The length in bytes; nil if it is not known.
  var length: Int64? { get }
  /// Reads at least one byte, and waits for it if necessary. Called by one thread at a time.
  /// - Parameters:
  ///   - offset: Where to read, in bytes from the beginning.
  ///   - buffer: Receives the bytes.
  /// - Returns: The number of bytes read; 0 at the end.
  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
  /// Makes a waiting read, and all later ones, fail with an error. May be called on any thread.
  func cancel()
}

/// A flag that makes libavformat, and the byte reader attached, give up. Once set, it stays set.
/// Thread-safe.
package final class MediaInterruption: @unchecked Sendable {
  // Sendable: `lock` guards `reader`; `flag` and `deadline` are atomic.
  private let flag = Atomic(false)
  /// Nanoseconds of the monotonic clock at which the present call ends; `Int64.max`: never.
  private let deadline = Atomic(Int64.max)
  private let lock = Lock()
  private var reader: (any MediaByteReader)?

  package init() {}

  /// Whether `interrupt()` was called.
  package var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Begins a call that may take some seconds.
  /// - Parameter seconds: The limit; nil: as long as it takes.
  func begin(_ seconds: Double?) {
    let limit = seconds.map { Self.now.addingClamped(Int64(min(max($0, 0), 1e6) * 1e9)) }
    deadline.store(limit ?? .max, ordering: .relaxed)
  }

  /// Whether the present call has reached its limit.
  var isLate: Bool {
    let end = deadline.load(ordering: .relaxed)
    return end != .max && Self.now > end
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Sets the flag and cancels the attached reader. May be called on any thread.
  package func interrupt() {
    flag.store(true, ordering: .relaxed)
    lock.withLock { reader }?.cancel()
  }

  /// Registers the reader to be cancelled by `interrupt()`; at once if that was called before.
  package func attach(_ reader: any MediaByteReader) {
    lock.withLock { self.reader = reader }
    if isSet { reader.cancel() }
  }

  /// The callback that libavformat polls. The context that has it must not outlive this object,
  /// which it does not retain.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        let interruption = Unmanaged<MediaInterruption>.fromOpaque(opaque).takeUnretainedValue()
        return interruption.isSet || interruption.isLate ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}

/// An `AVIOContext` that reads through a `MediaByteReader`.
final class ByteSourceIO {
  let reader: any MediaByteReader
  private(set) var context: UnsafeMutablePointer<AVIOContext>?
  private var position: Int64 = 0
  /// The first error that the reader threw.
  private(set) var failure: (any Error)?

  init(_ reader: any MediaByteReader) throws {
    self.reader = reader
    let size: Int32 = 1 << 16
    guard let buffer = av_malloc(Int(size)) else { throw MediaFileError(.outOfMemory, "out of memory") }
    context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), size, 0, Unmanaged.passUnretained(self).toOpaque(),
      { opaque, data, count in
        guard let opaque, let data, count > 0 else { return ovt_averror(EINVAL) }
        let io = Unmanaged<ByteSourceIO>.fromOpaque(opaque).takeUnretainedValue()
        return io.read(UnsafeMutableRawBufferPointer(start: data, count: Int(count)))
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return Int64(ovt_averror(EINVAL)) }
        return Unmanaged<ByteSourceIO>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
      })
    guard context != nil else {
      av_free(buffer)
      throw MediaFileError(.outOfMemory, "out of memory")
    }
  }

  deinit {
    guard let context else { return }
    av_freep(&context.pointee.buffer)
    avio_context_free(&self.context)
  }

  private func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int32 {
    do {
      let count = try reader.read(at: position, into: buffer)
      guard count > 0 else { return ovt_averror_eof() }
      position += Int64(count)
      return Int32(count)
    } catch {
      failure = failure ?? error
      return ovt_averror(EIO)
    }
  }

  private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    let target: Int64?
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return reader.length ?? Int64(ovt_averror(ENOSYS))
    case SEEK_SET: target = offset
    case SEEK_CUR: target = position.addingClamped(offset)
    case SEEK_END: target = reader.length?.addingClamped(offset)
    default: target = nil
    }
    guard let target, target >= 0 else { return Int64(ovt_averror(EINVAL)) }
    position = target
    return target
  }
}
