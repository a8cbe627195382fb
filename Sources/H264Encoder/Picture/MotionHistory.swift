// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The macroblocks of the last I and P pictures: the motion search of each picture takes candidates
/// from the picture before it.
final class MotionHistory {
  /// The arrays of each picture, used in turn.
  private let pictures: [PictureSyntax]
  /// Owns the memory of `pictures`.
  private let memory: EncoderMemory
  /// The index in `pictures` of the newest picture.
  private var at = 0
  /// The macroblocks of the newest picture.
  var syntax: PictureSyntax { pictures[at] }
  /// The macroblocks of the picture before it.
  var previous: PictureSyntax { pictures[at == 0 ? pictures.count - 1 : at - 1] }
  /// Whether the picture before the newest one has vectors: it is a P picture.
  private(set) var hasPrevious = false
  /// Whether the newest picture is a P picture.
  private var isPredicted = false

  /// Allocates the arrays.
  /// - Parameters:
  ///   - geometry: the size of the pictures.
  ///   - count: the number of pictures: two, and one more for each picture that may be coded at the
  ///     same time as another.
  ///   - is444: whether the pictures are 4:4:4.
  init(_ geometry: PictureGeometry, pictures count: Int, is444: Bool = false) {
    var memory = EncoderMemory()
    var pictures: [PictureSyntax] = []
    for _ in 0..<max(count, 2) {
      pictures.append(PictureSyntax(geometry, memory: &memory, is444: is444))
    }
    self.pictures = pictures
    self.memory = memory
  }

  /// Moves on to the next picture.
  /// - Parameter isPredicted: whether it is a P picture.
  func advance(isPredicted: Bool) {
    hasPrevious = self.isPredicted
    self.isPredicted = isPredicted
    at = at + 1 == pictures.count ? 0 : at + 1
  }
}
