// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

/// Two pictures that are compared: the rows of both, as far as both have them.
struct PicturePair {
  /// A plane of both.
  struct Planes {
    let one: UnsafeRawPointer
    let other: UnsafeRawPointer
    fileprivate let strides: (one: Int, other: Int)
    /// In samples; a pair of interleaved chroma samples counts as one.
    let width: Int
    let height: Int

    /// One row of each.
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

  /// Nil if one of them has no such plane.
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
