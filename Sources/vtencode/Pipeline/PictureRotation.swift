// SPDX-License-Identifier: Apache-2.0
import CoreGraphics
import VideoToolbox

/// A rotation by clockwise quarter turns, after an optional horizontal mirroring, as cameras store
/// their orientation.
struct PictureRotation: Sendable, Equatable {
  var quarters: Int
  var isMirrored: Bool

  var swapsSides: Bool { quarters % 2 != 0 }

  /// No rotation, to which another one is added.
  static let none = PictureRotation(quarters: 0, isMirrored: false)

  init(quarters: Int, isMirrored: Bool) { (self.quarters, self.isMirrored) = (quarters, isMirrored) }

  /// - Parameter transform: a track's transform. The result is nil if it changes nothing, or is no
  ///   such rotation.
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

  /// The rotation in words, for messages.
  var text: String {
    let words = [quarters > 0 ? "turned by \(quarters * 90) degrees" : nil, isMirrored ? "mirrored" : nil]
    return words.compactMap(\.self).joined(separator: " and ")
  }
}

/// Rotates decoded pictures upright. Used by one thread.
final class PictureRotator {
  let turn: PictureRotation
  private var session: VTPixelRotationSession?
  private var pool = PicturePool()

  init(_ turn: PictureRotation) { self.turn = turn }

  func upright(_ image: CVPixelBuffer) throws -> CVPixelBuffer {
    let session = try session ?? makeSession()
    self.session = session
    let sides = (CVPixelBufferGetWidth(image), CVPixelBufferGetHeight(image))
    let (width, height) = turn.swapsSides ? (sides.1, sides.0) : sides
    let target = try pool.picture(width: width, height: height, CVPixelBufferGetPixelFormatType(image))
    let status = VTPixelRotationSessionRotateImage(session, image, target)
    guard status == noErr else {
      throw Failure("the movie's pictures cannot be rotated upright (error \(status))")
    }
    return target
  }

  private func makeSession() throws -> VTPixelRotationSession {
    var made: VTPixelRotationSession?
    VTPixelRotationSessionCreate(kCFAllocatorDefault, &made)
    guard let made else { throw Failure("out of memory for the movie's pictures") }
    let rotations = [kVTRotation_0, kVTRotation_CW90, kVTRotation_180, kVTRotation_CCW90]
    // The session mirrors after rotating: a horizontal mirroring before a quarter turn is a
    // vertical one after it.
    let properties: [CFString: Any] = [
      kVTPixelRotationPropertyKey_Rotation: rotations[turn.quarters],
      kVTPixelRotationPropertyKey_FlipHorizontalOrientation: turn.isMirrored && !turn.swapsSides,
      kVTPixelRotationPropertyKey_FlipVerticalOrientation: turn.isMirrored && turn.swapsSides,
    ]
    let status = VTSessionSetProperties(made, propertyDictionary: properties as CFDictionary)
    guard status == noErr else {
      throw Failure("the movie's pictures cannot be rotated upright (error \(status))")
    }
    return made
  }
}

/// Allocates pictures of one size and pixel format at a time from a pool.
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
