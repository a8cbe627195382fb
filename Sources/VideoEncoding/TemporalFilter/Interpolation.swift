// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// Samples between those of a plane, by the filters of H.265, 8.5.3.3.3: eight taps for quarters of
/// luma samples (table 8-11), four for eighths of chroma samples (table 8-12).
enum Interpolation {
  private typealias Taps = (Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8)

  private static let lumaTaps: [Taps] = [
    (0, 0, 0, 64, 0, 0, 0, 0), (-1, 4, -10, 58, 17, -5, 1, 0), (-1, 4, -11, 40, 40, -11, 4, -1),
    (0, 1, -5, 17, 58, -10, 4, -1),
  ]
  private static let chromaTaps: [Taps] = [
    (0, 0, 0, 64, 0, 0, 0, 0), (0, 0, -2, 58, 10, -2, 0, 0), (0, 0, -4, 54, 16, -2, 0, 0),
    (0, 0, -6, 46, 28, -4, 0, 0), (0, 0, -4, 36, 36, -4, 0, 0), (0, 0, -4, 28, 46, -6, 0, 0),
    (0, 0, -2, 16, 54, -4, 0, 0), (0, 0, -2, 10, 58, -2, 0, 0),
  ]

  /// The block of luma samples at a vector.
  ///
  /// - Parameters:
  ///   - plane: the reference's luma.
  ///   - x: the block's place without the vector, in samples.
  ///   - y: the same, down.
  ///   - vector: the vector in quarters of samples.
  ///   - size: the edge of the block in samples, 8 or 16.
  ///   - output: `size` rows, 16 samples apart.
  static func luma(
    _ plane: FilterPlane, _ x: Int, _ y: Int, _ vector: MotionField.Vector, size: Int = 16,
    to output: UnsafeMutablePointer<UInt8>
  ) {
    let source = plane.at(x &+ Int(vector.x >> 2), y &+ Int(vector.y >> 2))
    block(source, plane.stride, size, lumaTaps[Int(vector.x & 3)], lumaTaps[Int(vector.y & 3)], output)
  }

  /// The block of 8x8 chroma samples at a vector of luma, whose quarters are eighths here.
  static func chroma(
    _ plane: FilterPlane, _ x: Int, _ y: Int, _ vector: MotionField.Vector,
    to output: UnsafeMutablePointer<UInt8>
  ) {
    let source = plane.at(x &+ Int(vector.x >> 3), y &+ Int(vector.y >> 3))
    block(source, plane.stride, 8, chromaTaps[Int(vector.x & 7)], chromaTaps[Int(vector.y & 7)], output)
  }

  private static func block(
    _ source: UnsafePointer<UInt8>, _ stride: Int, _ size: Int, _ horizontal: Taps, _ vertical: Taps,
    _ output: UnsafeMutablePointer<UInt8>
  ) {
    if horizontal.3 == 64 && vertical.3 == 64 {
      for y in 0..<size { (output + 16 &* y).update(from: source + y &* stride, count: size) }
      return
    }
    withUnsafeBytes(of: horizontal) { horizontal in
      withUnsafeBytes(of: vertical) { vertical in
        guard let xTaps = horizontal.bindMemory(to: Int8.self).baseAddress,
          let yTaps = vertical.bindMemory(to: Int8.self).baseAddress
        else { return }
        ovt_interpolate_8(output, 16, source, stride, Int32(size), Int32(size), xTaps, yTaps)
      }
    }
  }
}
