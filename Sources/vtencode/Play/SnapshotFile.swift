// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO
import VideoToolbox

/// Encodes a picture as PNG.
enum SnapshotFile {
  static func data(_ image: CVPixelBuffer) throws -> Data {
    var picture: CGImage?
    let status = VTCreateCGImageFromCVPixelBuffer(image, options: nil, imageOut: &picture)
    let data = NSMutableData()
    guard status == noErr, let picture,
      let destination = CGImageDestinationCreateWithData(
        data as CFMutableData, "public.png" as CFString, 1, nil)
    else { throw Failure("the snapshot cannot be made (\(status))") }
    CGImageDestinationAddImage(destination, picture, nil)
    guard CGImageDestinationFinalize(destination) else { throw Failure("the snapshot cannot be made") }
    return data as Data
  }
}
