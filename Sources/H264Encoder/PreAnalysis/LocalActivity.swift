// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Adaptive quantisation by variance: detail hides errors, smooth areas show them.
enum LocalActivity {
  /// Steps of QP for each doubling of a macroblock's variance over the usual one, at strength 1.
  private static let slope: Float = 1
  /// log2 of the variance of luma (sums of squares over 256 samples) at which the offset is 0.
  private static let usual: Float = 14.4

  /// Fills in a row's offsets by variance, and what they make of the costs of intra prediction, which are there.
  static func analyse(
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
    // A macroblock that the picture's border cuts is taken from whole samples next to it.
    let top = min(y &* 16, max(source.height &- 16, 0))
    for x in 0..<w {
      let left = min(x &* 16, max(source.width &- 16, 0))
      let packed = kernels.pointee.variance16x16(
        source.luma + (top &* source.lumaBytesPerRow &+ left), source.lumaBytesPerRow)
      let sum = Int(packed & 0xFFFF_FFFF)
      let energy = max(Int(packed >> 32) &- (sum &* sum) >> 8, 0)
      let offset = Float(strength) * slope * (log2f(Float(energy &+ 1)) - usual)
      let m = y &* w &+ x
      picture.activityOffsets[m] = max(-8, min(8, offset))
      picture.weights[m] = Float(picture.intraCosts[m]) * exp2f(picture.activityOffsets[m] * (-1 / 6))
    }
  }
}
