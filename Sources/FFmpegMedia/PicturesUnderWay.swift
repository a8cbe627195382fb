// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Synchronization

/// Which packets a decoder holds a picture of: from the moment at which libavcodec asks for the picture's memory
/// until its last reference to the picture is gone.
final class PicturesUnderWay: Sendable {
  /// Pictures by the token of their packet; a decoder may begin stand-ins for missing references besides.
  private let counts = Mutex<[Int64: Int]>([:])

  /// Marks a picture that is begun; the mark travels with every reference that libavcodec makes of it.
  func begin(_ frame: UnsafeMutablePointer<AVFrame>) {
    let mark = Unmanaged.passRetained(Mark(token: frame.pointee.pts, owner: self))
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

  func contains(_ token: Int64) -> Bool { counts.withLock { $0[token] != nil } }

  private final class Mark: Sendable {
    let token: Int64
    let owner: PicturesUnderWay

    init(token: Int64, owner: PicturesUnderWay) {
      self.token = token
      self.owner = owner
      owner.counts.withLock { $0[token, default: 0] += 1 }
    }

    deinit {
      owner.counts.withLock { counts in
        guard let count = counts[token] else { return }
        counts[token] = count > 1 ? count - 1 : nil
      }
    }
  }
}
