// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO
import VideoToolbox

/// Writes pixels as PNG, in a file that is whole or not there.
enum SnapshotFile {
  static func write(_ image: CVPixelBuffer, to path: String) throws {
    var picture: CGImage?
    let status = VTCreateCGImageFromCVPixelBuffer(image, options: nil, imageOut: &picture)
    let data = NSMutableData()
    guard status == noErr, let picture,
      let destination = CGImageDestinationCreateWithData(
        data as CFMutableData, "public.png" as CFString, 1, nil)
    else { throw Failure("the snapshot cannot be made (\(status))") }
    CGImageDestinationAddImage(destination, picture, nil)
    guard CGImageDestinationFinalize(destination) else { throw Failure("the snapshot cannot be made") }
    do {
      try (data as Data).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw Failure("cannot write the snapshot '\(path)': \(Failure.describe(error))")
    }
  }
}
