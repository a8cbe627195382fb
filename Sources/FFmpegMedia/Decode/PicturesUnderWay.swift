// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Synchronization

/// Which packets a decoder holds a picture of: from the moment at which libavcodec asks for the picture's memory
/// until its last reference to the picture is gone.
final class PicturesUnderWay: Sendable {
  private struct Entry {
    /// Pictures; a decoder may begin stand-ins for missing references besides.
    var count = 0
    var isConcealed = false
  }

  private struct State {
    /// By the token of their packet.
    var entries: [Int64: Entry] = [:]
    /// What each context, of which libavcodec has one for every thread that decodes frames, has begun last.
    var latest: [UInt: Int64] = [:]
  }
  private let state = Mutex(State())

  /// Marks a picture that is begun; the mark travels with every reference that libavcodec makes of it.
  func begin(_ frame: UnsafeMutablePointer<AVFrame>, _ context: UnsafeMutablePointer<AVCodecContext>) {
    let token = frame.pointee.pts
    state.withLock { $0.latest[UInt(bitPattern: context)] = token }
    let mark = Unmanaged.passRetained(Mark(token: token, owner: self))
    // A buffer reference without memory: only its end is of interest.
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

  /// A context makes up parts of the picture that it has begun last.
  func noteConcealment(_ context: UnsafeRawPointer) {
    state.withLock { state in
      guard let token = state.latest[UInt(bitPattern: context)] else { return }
      state.entries[token]?.isConcealed = true
    }
  }

  /// Whether parts of the picture of a packet have been made up; of one that is still held.
  func isConcealed(_ token: Int64) -> Bool { state.withLock { $0.entries[token]?.isConcealed ?? false } }

  private final class Mark: Sendable {
    let token: Int64
    let owner: PicturesUnderWay

    init(token: Int64, owner: PicturesUnderWay) {
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
