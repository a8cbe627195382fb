// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Synchronization

/// What memory pictures of one size and format have: always the same.
///
/// libavcodec's H.264 decoder finds the samples of a reference by the length of the current picture's rows. Memory of another
/// kind in mid-stream, for another cropping or range, would have it read beyond the reference's end.
final class PictureStrides: Sendable {
  struct Kind: Hashable {
    let width: Int32
    let height: Int32
    let format: Int32

    init(_ frame: UnsafePointer<AVFrame>) {
      (width, height, format) = (frame.pointee.width, frame.pointee.height, frame.pointee.format)
    }
  }

  struct Memory: Equatable {
    /// Of the pixel buffer; nil: libavcodec's own memory.
    var pixelFormat: UInt32?
    /// Bytes from row to row in each plane.
    var luma: Int32
    var cb: Int32
    var cr: Int32

    init(_ frame: UnsafePointer<AVFrame>, pixelFormat: UInt32?) {
      self.pixelFormat = pixelFormat
      (luma, cb, cr) = (frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2)
    }
  }

  private let known = Mutex<[Kind: Memory]>([:])
  /// More sizes than a decoder has references.
  private static let mostKinds = 256

  func memory(of kind: Kind) -> Memory? { known.withLock { $0[kind] } }

  /// - Returns: False if pictures of the kind have other memory already.
  func settle(_ kind: Kind, _ memory: Memory) -> Bool {
    known.withLock { known in
      if let before = known[kind] { return before == memory }
      if known.count >= Self.mostKinds { known.removeAll() }
      known[kind] = memory
      return true
    }
  }
}
