// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Synchronization

/// The row lengths and the kind of memory of pictures by size and format, which must not change
/// during a stream.
///
/// libavcodec's H.264 decoder addresses the samples of a reference picture by the row length of the
/// current one. Memory of another kind, because of other cropping or another video range, would
/// make it read beyond the reference's end.
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
    /// Pixel format of the buffer; nil: libavcodec's own memory.
    var pixelFormat: UInt32?
    /// Bytes from one row to the next in each plane.
    var luma: Int32
    var cb: Int32
    var cr: Int32

    init(_ frame: UnsafePointer<AVFrame>, pixelFormat: UInt32?) {
      self.pixelFormat = pixelFormat
      (luma, cb, cr) = (frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2)
    }
  }

  private let known = Mutex<[Kind: Memory]>([:])
  /// The most sizes and formats that are remembered, more than a decoder has reference pictures.
  private static let maxFormats = 256

  func memory(of kind: Kind) -> Memory? { known.withLock { $0[kind] } }

  /// Remembers the memory of pictures of a kind.
  /// - Returns: false if earlier pictures of the kind have other memory.
  func matches(_ kind: Kind, _ memory: Memory) -> Bool {
    known.withLock { known in
      if let before = known[kind] { return before == memory }
      if known.count >= Self.maxFormats { known.removeAll() }
      known[kind] = memory
      return true
    }
  }
}
