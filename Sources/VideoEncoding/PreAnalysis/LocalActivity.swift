// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Adaptive quantisation for the look-ahead: QP offsets by the variance of each macroblock. Detail
/// hides errors, smooth areas show them.
package enum LocalActivity {
  /// The QP steps for each doubling of a macroblock's variance over the usual one, at strength 1.
  private static let slope: Float = 1
  /// The base-2 logarithm of the luma energy at which the offset is 0. The energy is the sum of
  /// squared differences from the mean over the 256 samples.
  private static let usual: Float = 14.4

  /// Fills in a row of QP offsets and of the costs that they weight (`QueuedPicture.weights`). The
  /// costs of intra prediction must be known.
  /// - Parameters:
  ///   - picture: the picture; `activityOffsets` and `weights` are written.
  ///   - geometry: its size.
  ///   - kernels: the functions that compute the variance.
  ///   - strength: `LookAheadSettings.adaptiveQuantisation`, 0 to 2.
  ///   - y: the index of the row of macroblocks.
  package static func analyse(
    _ picture: QueuedPicture, _ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>,
    strength: Double, row y: Int
  ) {
    let w = geometry.widthInMbs
    guard strength > 0 else {
      for m in y &* w..<(y &+ 1) &* w {
        picture.activityOffsets[m] = 0
        picture.weights[m] = Float(picture.intraCosts[m])
      }
      return
    }
    let source = picture.source
    // For a macroblock that extends beyond the picture, the nearest 16x16 samples inside it are
    // taken.
    let top = min(y &* 16, max(source.height &- 16, 0))
    for x in 0..<w {
      let left = min(x &* 16, max(source.width &- 16, 0))
      let packed = kernels.pointee.variance16x16(
        source.luma + (top &* source.lumaBytesPerRow &+ left), source.lumaBytesPerRow)
      let sum = Int(packed & 0xFFFF_FFFF)
      let energy = max(Int(packed >> 32) &- (sum &* sum) >> 8, 0)
      let offset = Float(strength) * slope * (log2Approx(Float(energy &+ 1)) - usual)
      let m = y &* w &+ x
      picture.activityOffsets[m] = max(-8, min(8, offset))
      picture.weights[m] = Float(picture.intraCosts[m]) * exp2Approx(picture.activityOffsets[m] * (-1 / 6))
    }
  }
}
