// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Synchronization

/// The packets of which a decoder holds a picture: from the moment at which libavcodec requests the
/// picture's memory until it releases its last reference to it.
final class HeldPictures: Sendable {
  private struct Entry {
    /// Number of pictures held; besides the packet's own, a decoder may generate missing reference
    /// pictures.
    var count = 0
    var isConcealed = false
  }

  private struct State {
    /// The pictures by the token of their packet.
    var entries: [Int64: Entry] = [:]
    /// For each codec context, by its address, the token of the picture that it began last. With
    /// frame threads, libavcodec has one context for each thread.
    var latest: [UInt: Int64] = [:]
  }
  private let state = Mutex(State())

  /// Counts a picture that is begun until libavcodec has released every reference to it.
  func begin(_ frame: UnsafeMutablePointer<AVFrame>, _ context: UnsafeMutablePointer<AVCodecContext>) {
    let token = frame.pointee.pts
    state.withLock { $0.latest[UInt(bitPattern: context)] = token }
    let mark = Unmanaged.passRetained(Mark(token: token, owner: self))
    // A buffer reference without memory, whose release callback tells that the last reference is
    // gone.
    let reference = av_buffer_create(
      nil, 0, { mark, _ in if let mark { Unmanaged<Mark>.fromOpaque(mark).release() } }, mark.toOpaque(), 0)
    guard let reference else {
      mark.release()
      return
    }
    av_buffer_unref(&frame.pointee.opaque_ref)
    frame.pointee.opaque_ref = reference
  }

  func contains(_ token: Int64) -> Bool { state.withLock { $0.entries[token] != nil } }

  /// Records that a codec context has concealed errors in the picture that it began last.
  func recordConcealment(_ context: UnsafeRawPointer) {
    state.withLock { state in
      guard let token = state.latest[UInt(bitPattern: context)] else { return }
      state.entries[token]?.isConcealed = true
    }
  }

  /// Whether errors were concealed in a packet's picture; false if the picture is not held any
  /// more.
  func isConcealed(_ token: Int64) -> Bool { state.withLock { $0.entries[token]?.isConcealed ?? false } }

  private final class Mark: Sendable {
    let token: Int64
    let owner: HeldPictures

    init(token: Int64, owner: HeldPictures) {
      self.token = token
      self.owner = owner
      owner.state.withLock { $0.entries[token, default: Entry()].count += 1 }
    }

    deinit {
      owner.state.withLock { state in
        guard let entry = state.entries[token] else { return }
        if entry.count > 1 { state.entries[token]?.count -= 1 } else { state.entries[token] = nil }
      }
    }
  }
}
