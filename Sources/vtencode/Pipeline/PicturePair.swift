// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import VideoToolbox

/// Two pictures to compare, restricted to the size that both have.
struct PicturePair {
  /// The same plane of both pictures.
  struct Planes {
    let one: UnsafeRawPointer
    let other: UnsafeRawPointer
    fileprivate let strides: (one: Int, other: Int)
    /// The width in samples; a pair of interleaved chroma samples counts as one.
    let width: Int
    let height: Int

    /// The sum of squared differences of the planes' samples, or of one of two interleaved planes.
    /// - Parameters:
    ///   - is16Bit: Whether a sample is of 16 bits, and not of 8.
    ///   - step: How many samples there are from one to the next that counts.
    ///   - offset: The first sample of each row that counts.
    func squaredError(is16Bit: Bool = false, step: Int = 1, offset: Int = 0) -> Double {
      var sum = 0.0
      for y in 0..<height {
        let (a, b) = (one + y * strides.one, other + y * strides.other)
        let count = Int32(width)
        if is16Bit {
          sum += Double(
            ovt_squared_errors_16(
              a.assumingMemoryBound(to: UInt16.self) + offset,
              b.assumingMemoryBound(to: UInt16.self) + offset,
              count, Int32(step)))
        } else {
          sum += Double(
            ovt_squared_errors_8(
              a.assumingMemoryBound(to: UInt8.self) + offset, b.assumingMemoryBound(to: UInt8.self) + offset,
              count, Int32(step)))
        }
      }
      return sum
    }
  }

  private let one: CVPixelBuffer
  private let other: CVPixelBuffer

  /// Calls `body` with the memory of both pictures locked for reading.
  static func with<Result>(
    _ one: CVPixelBuffer, _ other: CVPixelBuffer, _ body: (PicturePair) throws -> Result
  ) rethrows -> Result {
    CVPixelBufferLockBaseAddress(one, .readOnly)
    CVPixelBufferLockBaseAddress(other, .readOnly)
    defer {
      CVPixelBufferUnlockBaseAddress(other, .readOnly)
      CVPixelBufferUnlockBaseAddress(one, .readOnly)
    }
    return try body(PicturePair(one: one, other: other))
  }

  /// The planes at an index; nil if one of the pictures has no such plane.
  func planes(_ index: Int) -> Planes? {
    guard let a = CVPixelBufferGetBaseAddressOfPlane(one, index),
      let b = CVPixelBufferGetBaseAddressOfPlane(other, index)
    else { return nil }
    return Planes(
      one: UnsafeRawPointer(a), other: UnsafeRawPointer(b),
      strides: (
        CVPixelBufferGetBytesPerRowOfPlane(one, index), CVPixelBufferGetBytesPerRowOfPlane(other, index)
      ),
      width: min(CVPixelBufferGetWidthOfPlane(one, index), CVPixelBufferGetWidthOfPlane(other, index)),
      height: min(CVPixelBufferGetHeightOfPlane(one, index), CVPixelBufferGetHeightOfPlane(other, index)))
  }
}
