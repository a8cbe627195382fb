// SPDX-License-Identifier: Apache-2.0
import CoreGraphics
import VideoToolbox

/// Quarter turns to the right, after left and right are swapped or not: how cameras say that they were held.
struct PictureTurn: Sendable, Equatable {
  var quarters: Int
  var isMirrored: Bool

  var swapsSides: Bool { quarters % 2 != 0 }

  /// - Parameter transform: of a track; nil for one that changes nothing, or that is no such turn.
  init?(_ transform: CGAffineTransform) {
    let determinant = transform.a * transform.d - transform.b * transform.c
    let isMirrored = determinant < 0
    let (a, b) = isMirrored ? (-transform.a, -transform.b) : (transform.a, transform.b)
    let length = (a * a + b * b).squareRoot()
    guard length.isFinite, length > 0, determinant != 0 else { return nil }
    guard
      let quarters = [(1, 0), (0, 1), (-1, 0), (0, -1)].firstIndex(where: { cosine, sine in
        abs(a / length - CGFloat(cosine)) < 0.01 && abs(b / length - CGFloat(sine)) < 0.01
      }), quarters != 0 || isMirrored
    else { return nil }
    (self.quarters, self.isMirrored) = (quarters, isMirrored)
  }

  /// In a person's words.
  var text: String {
    let words = [quarters > 0 ? "turned by \(quarters * 90) degrees" : nil, isMirrored ? "mirrored" : nil]
    return words.compactMap(\.self).joined(separator: " and ")
  }
}

/// Turns decoded pictures upright. Used by one thread.
final class PictureTurner {
  let turn: PictureTurn
  private var session: VTPixelRotationSession?
  private var pool = PicturePool()

  init(_ turn: PictureTurn) { self.turn = turn }

  func upright(_ image: CVPixelBuffer) throws -> CVPixelBuffer {
    let session = try session ?? makeSession()
    self.session = session
    let sides = (CVPixelBufferGetWidth(image), CVPixelBufferGetHeight(image))
    let (width, height) = turn.swapsSides ? (sides.1, sides.0) : sides
    let target = try pool.picture(width: width, height: height, CVPixelBufferGetPixelFormatType(image))
    let status = VTPixelRotationSessionRotateImage(session, image, target)
    guard status == noErr else {
      throw Failure("the movie's pictures cannot be turned upright (error \(status))")
    }
    return target
  }

  private func makeSession() throws -> VTPixelRotationSession {
    var made: VTPixelRotationSession?
    VTPixelRotationSessionCreate(kCFAllocatorDefault, &made)
    guard let made else { throw Failure("out of memory for the movie's pictures") }
    let rotations = [kVTRotation_0, kVTRotation_CW90, kVTRotation_180, kVTRotation_CCW90]
    // The session mirrors what it has turned: left and right before a quarter turn are top and bottom after it.
    let properties: [CFString: Any] = [
      kVTPixelRotationPropertyKey_Rotation: rotations[turn.quarters],
      kVTPixelRotationPropertyKey_FlipHorizontalOrientation: turn.isMirrored && !turn.swapsSides,
      kVTPixelRotationPropertyKey_FlipVerticalOrientation: turn.isMirrored && turn.swapsSides,
    ]
    let status = VTSessionSetProperties(made, propertyDictionary: properties as CFDictionary)
    guard status == noErr else {
      throw Failure("the movie's pictures cannot be turned upright (error \(status))")
    }
    return made
  }
}

/// Pictures of one size and format at a time, whose memory is used again.
struct PicturePool {
  private var pool: CVPixelBufferPool?
  private var shape: (width: Int, height: Int, format: OSType) = (0, 0, 0)

  mutating func picture(width: Int, height: Int, _ format: OSType) throws -> CVPixelBuffer {
    if pool == nil || shape != (width, height, format) {
      let attributes: [CFString: Any] = [
        kCVPixelBufferWidthKey: width, kCVPixelBufferHeightKey: height,
        kCVPixelBufferPixelFormatTypeKey: format,
      ]
      pool = nil
      CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as CFDictionary, &pool)
      shape = (width, height, format)
    }
    var picture: CVPixelBuffer?
    if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &picture) }
    guard let picture else { throw Failure("out of memory for the movie's pictures") }
    return picture
  }
}
