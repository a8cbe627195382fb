// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Adaptive quantisation for low-latency encoding: QP offsets by the variance of each macroblock,
/// relative to the mean of the picture.
package struct ActivityQuantisation {
  /// The size of the pictures.
  private let geometry: PictureGeometry
  /// The functions that compute the variance.
  private let kernels: UnsafePointer<OVTKernels>
  /// The QP offset of each macroblock in QP steps, -8 to 8.
  package let qpOffsets: UnsafeMutablePointer<Int8>
  /// The base-2 logarithm of each macroblock's variance, in sixteenths.
  private let activity: UnsafeMutablePointer<Int16>

  /// Allocates the memory of both arrays.
  package init(_ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>, memory: inout EncoderMemory) {
    self.geometry = geometry
    self.kernels = kernels
    let count = geometry.macroblockCount
    qpOffsets = memory.allocate(Int8.self, count: count)
    activity = memory.allocate(Int16.self, count: count)
  }

  /// Fills in the offsets of a picture.
  /// - Parameters:
  ///   - source: the picture, of which the luma is read.
  ///   - strength: `EncoderConfiguration.adaptiveQuantisation`, 0 to 2.
  package func analyse(_ source: SourcePicture, strength: Double) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    var total = 0
    for y in 0..<h {
      // For a macroblock that extends beyond the picture, the nearest 16x16 samples inside it are
      // taken.
      let top = min(y &* 16, max(source.height &- 16, 0))
      for x in 0..<w {
        let left = min(x &* 16, max(source.width &- 16, 0))
        let pixels = source.luma + (top &* source.lumaBytesPerRow &+ left)
        if x & 3 == 0 { ovt_prefetch(pixels + 128, source.lumaBytesPerRow, 16) }
        let packed = kernels.pointee.variance16x16(pixels, source.lumaBytesPerRow)
        let sum = Int(packed & 0xFFFF_FFFF)
        let squares = Int(packed >> 32)
        let m = y &* w &+ x
        let energy = max(squares &- (sum &* sum) >> 8, 0)  // 256 times the variance
        let log16 = ActivityQuantisation.log2Sixteenths(energy &+ 1) &- 128
        activity[m] = Int16(truncatingIfNeeded: log16)
        total &+= log16
      }
    }
    // A macroblock with more detail than the mean hides more error. A doubling of the variance
    // raises the QP by `strength` steps.
    let mean = Double(total) / Double(w * h)
    for m in 0..<(w * h) {
      let offset = (Double(activity[m]) - mean) / 16 * strength
      qpOffsets[m] = Int8(max(-8, min(8, offset.rounded())))
    }
  }

  /// 16 log2(x) for x above 0, with an error below 1.
  @inline(__always) private static func log2Sixteenths(_ x: Int) -> Int {
    let whole = Int.bitWidth &- 1 &- x.leadingZeroBitCount
    let fraction = whole >= 4 ? (x >> (whole &- 4)) & 15 : (x << (4 &- whole)) & 15
    return whole &* 16 &+ fraction
  }
}
