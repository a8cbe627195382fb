// SPDX-License-Identifier: Apache-2.0

/// The macroblocks of the last pictures that were no B pictures: each of them takes start vectors from the one before.
final class MotionHistory {
  private let pictures: [PictureSyntax]
  private let memory: EncoderMemory
  private var at = 0
  /// Of the newest one and the one before it.
  var syntax: PictureSyntax { pictures[at] }
  var previous: PictureSyntax { pictures[at == 0 ? pictures.count - 1 : at - 1] }
  /// The one before the newest has vectors.
  private(set) var hasPrevious = false
  private var isPredicted = false

  /// - Parameter pictures: two, and one more for each that may be coded beside another.
  init(_ geometry: PictureGeometry, pictures count: Int) {
    var memory = EncoderMemory()
    var pictures: [PictureSyntax] = []
    for _ in 0..<max(count, 2) { pictures.append(PictureSyntax(geometry, memory: &memory)) }
    self.pictures = pictures
    self.memory = memory
  }

  /// The next picture begins.
  /// - Parameter isPredicted: it refers to others.
  func advance(isPredicted: Bool) {
    hasPrevious = self.isPredicted
    self.isPredicted = isPredicted
    at = at + 1 == pictures.count ? 0 : at + 1
  }
}
