// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import Synchronization

/// A movie's bytes that are neither in a file nor at a server: a program gives them.
package protocol MediaByteSource: AnyObject, Sendable {
  /// A reader of its own for each demuxer.
  func makeReader() -> any MediaByteReader
}

/// Reads such bytes, for one demuxer.
package protocol MediaByteReader: AnyObject, Sendable {
  /// Bytes; nil: nobody knows.
  var length: Int64? { get }
  /// Reads some bytes, at least one, waiting for them if need be; 0 at the end. One thread at a time.
  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
  /// Ends a read that waits, and all later ones, with an error. From any thread.
  func cancel()
}

/// Tells libavformat, and who reads for it, to give up what it is at. Stays so.
package final class MediaInterruption: @unchecked Sendable {
  // Sendable: `lock` guards the reader.
  private let flag = Atomic(false)
  private let lock = Lock()
  private var reader: (any MediaByteReader)?

  package init() {}

  package var isSet: Bool { flag.load(ordering: .relaxed) }

  package func interrupt() {
    flag.store(true, ordering: .relaxed)
    lock.withLock { reader }?.cancel()
  }

  /// What is to be cancelled as well.
  package func attach(_ reader: any MediaByteReader) {
    lock.withLock { self.reader = reader }
    if isSet { reader.cancel() }
  }

  /// For libavformat, which must not outlive this object.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<MediaInterruption>.fromOpaque(opaque).takeUnretainedValue().isSet ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}

/// libavformat's I/O over a reader of bytes.
final class ByteSourceIO {
  let reader: any MediaByteReader
  private(set) var context: UnsafeMutablePointer<AVIOContext>?
  private var position: Int64 = 0
  /// What the reader threw.
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
