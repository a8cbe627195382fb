// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Creates a pixel buffer for an intermediate or a resulting picture.
/// - Throws: `kVTAllocationFailedErr` if there is no memory.
func makePixelBuffer(_ width: Int, _ height: Int, _ format: OSType) throws(StatusError) -> CVPixelBuffer {
  var made: CVPixelBuffer?
  guard CVPixelBufferCreate(nil, width, height, format, nil, &made) == kCVReturnSuccess, let made else {
    throw StatusError(kVTAllocationFailedErr)
  }
  return made
}
