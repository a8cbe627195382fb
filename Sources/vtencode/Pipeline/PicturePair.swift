// SPDX-License-Identifier: Apache-2.0
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

    /// The row `y` of each plane.
    func row<Sample>(_ y: Int, as type: Sample.Type) -> (
      one: UnsafePointer<Sample>, other: UnsafePointer<Sample>
    ) {
      (
        (one + y * strides.one).assumingMemoryBound(to: type),
        (other + y * strides.other).assumingMemoryBound(to: type)
      )
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
