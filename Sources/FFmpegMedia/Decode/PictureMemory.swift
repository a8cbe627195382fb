// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// A picture that owns its memory. Each row has at least one pixel of padding, and its length is a
/// multiple of 64 bytes.
final class PictureMemory {
  let view: PictureView
  private let block: UnsafeMutableRawPointer

  /// Allocates the memory of a picture.
  /// - Parameters:
  ///   - format: The pixel format.
  ///   - width: Pixels in a row.
  ///   - height: Rows.
  /// - Returns: nil if the format has no planes in memory, or if memory runs out.
  init?(format: AVPixelFormat, width: Int, height: Int) {
    let layout = PlaneLayout(format)
    guard layout.planeCount > 0, width > 0, height > 0 else { return nil }
    var strides: [Int] = []
    var offsets: [Int] = []
    var size = 0
    for plane in 0..<layout.planeCount {
      let stride = (layout.bytes(width + 1, inPlane: plane) + 63) & ~63
      strides.append(stride)
      offsets.append(size)
      size += stride * layout.rows(height, inPlane: plane)
    }
    guard let block = av_malloc(size + 64) else { return nil }
    self.block = block
    view = PictureView(
      format: format, width: width, height: height, planes: offsets.map { block + $0 }, strides: strides)
  }

  deinit { av_free(block) }
}
