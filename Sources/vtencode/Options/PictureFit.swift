// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoToolbox

/// How the source's pictures become the encoded ones: sizes as a person sees them, after rotation and with square
/// samples, against sizes as they are stored.
struct PictureFit: Sendable, Equatable {
  /// Of the encoded picture, as stored.
  var width: Int
  var height: Int
  /// One of the `kVTScalingMode_` values for a picture that is not encoded as it is; nil if it is.
  var scaling: String?
  /// Of the source's sample; nil where the encoded picture has square ones.
  var keepsPixelAspect = true
  /// What a person should know about it.
  var notice: String?

  /// All of the picture, of square samples.
  init(stretchedTo width: Int, _ height: Int) {
    (self.width, self.height) = (width, height)
    keepsPixelAspect = false
  }

  /// - Parameters:
  ///   - source: the movie's stored size, the shape of its samples, and whether it is shown on its side.
  ///   - wish: the size asked for, as a person sees it.
  init(source: SourceShape, wish: Dimensions?, scaling choice: Scaling) {
    guard let wish else {
      width = source.width
      height = source.height
      // 4:2:0 streams have even sides: the session repeats the last column or row, for scaling would blur all of them.
      let coded = ((width + 1) & ~1, (height + 1) & ~1)
      if coded != (width, height) {
        notice =
          "\(width)x\(height) has an odd side, which 4:2:0 has not; coded as \(coded.0)x\(coded.1), with the last samples "
          + "repeated, and a movie's clean aperture says \(width)x\(height)"
      }
      return
    }
    // Stored on its side, the picture is encoded on its side too.
    width = source.isOnItsSide ? wish.height : wish.width
    height = source.isOnItsSide ? wish.width : wish.height
    keepsPixelAspect = false
    guard width != source.width || height != source.height || source.pixelAspect != 1 else { return }
    scaling = choice.mode as String
    let shape = Double(source.width) * source.pixelAspect / Double(source.height)
    let room = Double(width) / Double(height)
    guard choice == .letterbox, abs(shape / room - 1) > 0.01 else { return }
    // What black bars leave, as a person sees it.
    let fitted =
      shape > room
      ? (width, Int((Double(width) / shape / 2).rounded()) * 2)
      : (Int((Double(height) * shape / 2).rounded()) * 2, height)
    let seen = source.isOnItsSide ? (fitted.1, fitted.0) : fitted
    notice =
      "the picture keeps its shape: \(seen.0)x\(seen.1) within \(wish.width)x\(wish.height), with black bars; "
      + "--scaling trim or stretch fills the frame"
  }
}

/// The shape of a movie's pictures.
struct SourceShape: Sendable, Equatable {
  /// As stored.
  var width: Int
  var height: Int
  /// Width of a sample for a height of 1.
  var pixelAspect = 1.0
  /// Shown after a quarter turn.
  var isOnItsSide = false
}

extension MovieSource {
  /// Of a call's pictures, whose samples are square.
  ///
  /// - Parameter wish: the size asked for; nil for the movie's own.
  /// - Throws: a `Failure` for sizes that no encoder takes.
  func callSize(_ wish: Dimensions?) throws -> (width: Int, height: Int) {
    // A call has no clean aperture: an odd side is cut by one sample.
    func even(_ side: Int) -> Int { max(side & ~1, 2) }
    let square = even(Int(clamping: (Double(width) * shape.pixelAspect).rounded()))
    // A shape that no picture has is not believed.
    let shown = Dimensions.encodable.contains(square) ? square : even(width)
    let size = (width: wish?.width ?? shown, height: wish?.height ?? even(height))
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
