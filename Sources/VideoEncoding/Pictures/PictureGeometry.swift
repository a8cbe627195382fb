// SPDX-License-Identifier: Apache-2.0
/// The size of a picture in samples and macroblocks, and the layout of its planes in memory.
package struct PictureGeometry: Equatable, BitwiseCopyable {
  /// The width in luma samples.
  package let width: Int
  /// The height in luma samples.
  package let height: Int
  /// The number of macroblocks in a row.
  package let widthInMbs: Int
  /// The number of macroblock rows.
  package let heightInMbs: Int
  /// The bytes from one row to the next, the same for all planes: an NV12 row of chroma has as many
  /// bytes as a row of luma.
  package let stride: Int

  /// The luma samples of padding on each side of a plane, so that vectors may point outside the
  /// picture (8.4.2.2.1).
  package static let padding = 32
  /// The most luma samples by which a block may extend beyond the picture: within the padding, with
  /// room for the taps of the interpolation filter.
  package static let reach = 24

  /// The geometry of a picture of a width and a height in luma samples.
  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
    widthInMbs = (width + 15) / 16
    heightInMbs = (height + 15) / 16
    // The stride is not a multiple of 1024, so that samples above each other do not fall into the
    // same cache sets.
    var stride = (widthInMbs * 16 + 2 * PictureGeometry.padding + 63) & ~63
    if stride % 1024 == 0 { stride += 64 }
    self.stride = stride
  }

  /// The number of macroblocks.
  package var macroblockCount: Int { widthInMbs * heightInMbs }
  /// The bytes of a luma plane with padding.
  package var lumaBytes: Int { stride * (heightInMbs * 16 + 2 * PictureGeometry.padding) }
  /// The bytes of a chroma plane with padding.
  package var chromaBytes: Int { stride * (heightInMbs * 8 + PictureGeometry.padding) }
  /// The offset of the first luma sample, at (0, 0), in its plane.
  package var lumaOrigin: Int { PictureGeometry.padding * stride + PictureGeometry.padding }
  /// The offset of the first chroma sample, at (0, 0), in its plane.
  package var chromaOrigin: Int { PictureGeometry.padding / 2 * stride + PictureGeometry.padding }
}
