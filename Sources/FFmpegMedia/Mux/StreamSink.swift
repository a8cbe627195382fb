// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreFoundation
import Foundation
import Synchronization

/// Ends blocking calls of libavformat: at a time limit, or when the stream is cancelled.
package final class StreamInterruption: Sendable {
  private let isCancelled = Atomic(false)
  /// Nanoseconds of the monotonic clock at which calls end; `Int64.max`: never.
  private let deadline = Atomic(Int64.max)
  private let cancellation = WakeUp()

  package init() {}

  /// Ends the current call and all later ones. May be called on any thread.
  package func cancel() {
    isCancelled.store(true, ordering: .relaxed)
    cancellation.signal()
  }

  /// Waits for some seconds, or until `cancel()` is called.
  func hold(_ seconds: Double) {
    guard seconds > 0, !isSet else { return }
    _ = cancellation.wait(seconds: seconds)
  }

  package var isSet: Bool { isCancelled.load(ordering: .relaxed) }

  /// Begins a call that may take `seconds`; nil: as long as it takes.
  func begin(_ seconds: Double?) {
    let limit = seconds.map { Self.now + Int64(clamping: min(max($0, 0), 1e6) * 1e9) }
    deadline.store(limit ?? .max, ordering: .relaxed)
  }

  private static var now: Int64 { Int64(clamping: clock_gettime_nsec()) }

  private static func clock_gettime_nsec() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  private var isExpired: Bool { isSet || Self.now > deadline.load(ordering: .relaxed) }

  /// The callback that libavformat polls. It does not retain this object, which must outlive the
  /// context that has it.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<StreamInterruption>.fromOpaque(opaque).takeUnretainedValue().isExpired ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}

/// Writes a muxer's bytes to a file descriptor, which the caller owns.
final class DescriptorSink {
  private let descriptor: Int32
  private(set) var context: UnsafeMutablePointer<AVIOContext>?
  /// Whether the muxer can go back and complete its header.
  private let isSeekable: Bool

  init(_ descriptor: Int32) throws {
    self.descriptor = descriptor
    var status = stat()
    isSeekable =
      fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && fcntl(descriptor, F_GETFL) & O_APPEND == 0 && lseek(descriptor, 0, SEEK_CUR) == 0
    let size: Int32 = 1 << 16
    guard let buffer = av_malloc(Int(size)) else { throw MediaFileError(.outOfMemory, "out of memory") }
    let seek: (@convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64)? =
      isSeekable
      ? { opaque, offset, whence in
        guard let opaque else { return Int64(ovt_averror(EINVAL)) }
        let sink = Unmanaged<DescriptorSink>.fromOpaque(opaque).takeUnretainedValue()
        return sink.seek(offset, whence)
      } : nil
    context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), size, 1, Unmanaged.passUnretained(self).toOpaque(), nil,
      { opaque, data, count in
        guard let opaque, let data, count > 0 else { return 0 }
        return Unmanaged<DescriptorSink>.fromOpaque(opaque).takeUnretainedValue().write(data, Int(count))
      }, seek)
    guard let context else {
      av_free(buffer)
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    context.pointee.seekable = isSeekable ? AVIO_SEEKABLE_NORMAL : 0
  }

  deinit {
    guard context != nil else { return }
    av_freep(&context!.pointee.buffer)
    avio_context_free(&context)
  }

  private func write(_ data: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    var done = 0
    while done < count {
      let written = Glibc.write(descriptor, data + done, count - done)
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return ovt_averror(written < 0 ? errno : EIO) }
      done += written
    }
    return Int32(count)
  }

  private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    if whence & AVSEEK_SIZE != 0 {
      var status = stat()
      return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : Int64(ovt_averror(errno))
    }
    let position = lseek(descriptor, off_t(offset), whence & 3)
    return position < 0 ? Int64(ovt_averror(errno)) : Int64(position)
  }
}
