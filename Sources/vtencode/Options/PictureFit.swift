// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoToolbox

/// How the source's pictures are fitted into the encoded picture. The user gives sizes as
/// displayed, after rotation and with square samples; `width` and `height` are sizes as stored.
struct PictureFit: Sendable, Equatable {
  /// The encoded picture's width and height in samples, as stored.
  var width: Int
  var height: Int
  /// The `kVTScalingMode_` value with which pictures are scaled; nil if they are encoded at their
  /// own size.
  var scaling: String?
  /// Whether the encoded picture has the source's sample aspect ratio; if not, its samples are
  /// square.
  var keepsPixelAspect = true
  /// A remark for the user about the size; nil if there is nothing to say.
  var notice: String?

  /// Stretches the whole picture to a size with square samples.
  init(stretchedTo width: Int, _ height: Int) {
    (self.width, self.height) = (width, height)
    keepsPixelAspect = false
  }

  /// Fits a movie's pictures into the size that the user asked for.
  /// - Parameters:
  ///   - source: the movie's stored size, sample aspect ratio and rotation.
  ///   - requested: the displayed size that was asked for; nil keeps the source's size.
  ///   - choice: how a picture with another aspect ratio is fitted.
  init(source: SourceShape, requested: Dimensions?, scaling choice: Scaling) {
    guard let requested else {
      width = source.width
      height = source.height
      // 4:2:0 streams have even sides. The session repeats the last column or row of an odd side,
      // because scaling would blur the whole picture.
      let coded = ((width + 1) & ~1, (height + 1) & ~1)
      if coded != (width, height) {
        notice =
          "\(width)x\(height) has an odd side, which 4:2:0 does not permit; it is coded as "
          + "\(coded.0)x\(coded.1) with the last samples repeated, and a movie's clean aperture is "
          + "\(width)x\(height)"
      }
      return
    }
    // A picture that is stored rotated by a quarter turn is encoded with the same rotation.
    width = source.isOnItsSide ? requested.height : requested.width
    height = source.isOnItsSide ? requested.width : requested.height
    keepsPixelAspect = false
    guard width != source.width || height != source.height || source.pixelAspect != 1 else { return }
    scaling = choice.mode as String
    let shape = Double(source.width) * source.pixelAspect / Double(source.height)
    let room = Double(width) / Double(height)
    guard choice == .letterbox, abs(shape / room - 1) > 0.01 else { return }
    // The part of the frame that the black bars leave, as displayed.
    let fitted =
      shape > room
      ? (width, Int((Double(width) / shape / 2).rounded()) * 2)
      : (Int((Double(height) * shape / 2).rounded()) * 2, height)
    let seen = source.isOnItsSide ? (fitted.1, fitted.0) : fitted
    notice =
      "the picture keeps its aspect ratio: \(seen.0)x\(seen.1) within \(requested.width)x\(requested.height), with "
      + "black bars; --scaling trim or stretch fills the frame"
  }
}

/// The size and aspect ratio of a movie's pictures.
struct SourceShape: Sendable, Equatable {
  /// The stored width and height in samples.
  var width: Int
  var height: Int
  /// The sample aspect ratio: a sample's width divided by its height.
  var pixelAspect = 1.0
  /// Whether the picture is displayed after a quarter turn.
  var isOnItsSide = false
}

extension MovieSource {
  /// Computes the size of the pictures in a call, which have square samples.
  /// - Parameter requested: the size asked for; nil for the movie's own.
  /// - Returns: the width and height in samples, both even unless `requested` says otherwise.
  /// - Throws: a `Failure` if no encoder takes the size.
  func callSize(_ requested: Dimensions?) throws -> (width: Int, height: Int) {
    // A call's stream has no clean aperture, so one sample of an odd side is cut off.
    func even(_ side: Int) -> Int { max(side & ~1, 2) }
    let square = even(Int(clamping: (Double(width) * shape.pixelAspect).rounded()))
    // If the sample aspect ratio gives a width that cannot be encoded, it is ignored.
    let shown = Dimensions.encodable.contains(square) ? square : even(width)
    let size = (width: requested?.width ?? shown, height: requested?.height ?? even(height))
    guard Dimensions.encodable.contains(size.width), Dimensions.encodable.contains(size.height) else {
      throw Failure(
        "'\(name)' has pictures of \(size.width) by \(size.height); give a size with --dimensions")
    }
    return size
  }

  var shape: SourceShape {
    var shape = SourceShape(width: width, height: height)
    if let aspect = pixelAspect { shape.pixelAspect = aspect.horizontal / aspect.vertical }
    shape.isOnItsSide = abs(transform.b) > abs(transform.a)
    return shape
  }
}
