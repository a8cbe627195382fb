// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import VideoToolbox

/// Creates pixel buffers for sessions.
public enum PixelBuffers {
  /// A new pixel buffer with picture `number` of a clip, with a luma plane and an interleaved
  /// chroma plane.
  public static func nv12(_ clip: ClipPictures, _ number: Int) throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(
      nil, clip.width, clip.height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
    guard let buffer = made else { throw BenchmarkError(description: "no memory for a picture") }
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    guard let luma = CVPixelBufferGetBaseAddressOfPlane(buffer, 0),
      let chroma = CVPixelBufferGetBaseAddressOfPlane(buffer, 1)
    else { throw BenchmarkError(description: "a picture has no planes") }
    let source = clip.picture(number)
    for row in 0..<clip.height {
      memcpy(
        luma + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, 0), source + row * clip.width, clip.width)
    }
    let cb = source + clip.width * clip.height
    let cr = cb + clip.width * clip.height / 4
    for row in 0..<(clip.height / 2) {
      let target = (chroma + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, 1))
        .assumingMemoryBound(to: UInt8.self)
      for x in 0..<(clip.width / 2) {
        target[2 * x] = cb[row * clip.width / 2 + x]
        target[2 * x + 1] = cr[row * clip.width / 2 + x]
      }
    }
    return buffer
  }
}
