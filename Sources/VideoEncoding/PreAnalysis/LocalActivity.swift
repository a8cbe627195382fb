// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The activity of a macroblock, by which adaptive quantisation chooses its QP: detail hides
/// errors, smooth areas show them.
enum LocalActivity {
  /// The luma energy of a macroblock: the sum of squared differences of its 256 samples from their
  /// mean, which is 256 times their variance.
  ///
  /// For a macroblock that extends beyond the picture, the nearest 16x16 samples inside it are
  /// taken; if a side of the picture is shorter than that, the samples that there are, scaled to
  /// 256.
  /// - Parameters:
  ///   - source: the picture.
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - kernels: the functions that compute the variance.
  @inline(__always) static func energy(
    _ source: SourcePicture, _ x: Int, _ y: Int, _ kernels: UnsafePointer<OVTVideoKernels>
  ) -> Int {
    if source.width < 16 || source.height < 16 { return energyOfSmallPicture(source, x, y) }
    let top = min(y &* 16, max(source.height &- 16, 0))
    let left = min(x &* 16, max(source.width &- 16, 0))
    let pixels = source.luma + (top &* source.lumaBytesPerRow &+ left)
    // The next four macroblocks of the row are read soon.
    if x & 3 == 0 { ovt_prefetch(pixels + 128, source.lumaBytesPerRow, 16) }
    let packed = kernels.pointee.variance16x16(pixels, source.lumaBytesPerRow)
    let sum = Int(packed & 0xFFFF_FFFF)
    return max(Int(packed >> 32) &- (sum &* sum) >> 8, 0)
  }

  /// The luma energy of a macroblock in a picture that is narrower or lower than one.
  private static func energyOfSmallPicture(_ source: SourcePicture, _ x: Int, _ y: Int) -> Int {
    let (width, height) = (min(source.width, 16), min(source.height, 16))
    let top = min(y &* 16, source.height &- height)
    let left = min(x &* 16, source.width &- width)
    var (sum, squares) = (0, 0)
    for row in top..<top &+ height {
      for column in left..<left &+ width {
        let sample = Int(source.luma[row &* source.lumaBytesPerRow &+ column])
        sum &+= sample
        squares &+= sample &* sample
      }
    }
    let count = width &* height
    return max(squares &- sum &* sum / count, 0) &* 256 / count
  }

  /// The most QP steps by which adaptive quantisation changes a macroblock.
  static let limit = 8
}
