// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is referred to much is coded better (J. Garrett-Glaser, "A novel macroblock-tree algorithm for high-performance
/// optimization of dependent video coding in H.264/AVC"): from the last picture of the look-ahead back to the first,
/// each macroblock hands on what it inherits, as far as inter prediction saves what intra prediction would cost, to the
/// four macroblocks that its vector points at. What comes together there is what bits spent there are worth.
struct QualityPropagation {
  private let geometry: PictureGeometry
  /// Steps of QP for each doubling of a macroblock's worth.
  private let strength: Float

  init(_ geometry: PictureGeometry, strength: Float = 1.8) {
    self.geometry = geometry
    self.strength = strength
  }

  /// Fills in the offsets of the first `count` of these pictures, which follow each other as they are shown. What B
  /// pictures hand on comes through the pictures between.
  func run(_ pictures: [QueuedPicture], finish count: Int) {
    let size = geometry.macroblockCount
    for picture in pictures { picture.heritage.update(repeating: 0, count: size) }
    var at = pictures.count - 1
    while at > 0 {
      if pictures[at].kind != .idr { handOn(pictures[at], to: pictures[at - 1]) }
      at -= 1
    }
    for picture in pictures.prefix(count) {
      switch picture.kind {
      case .idr, .predicted: finish(picture, strength)
      case .bidirectionalReference: finish(picture, strength * QualityPropagation.middlePart)
      case .bidirectional: leave(picture)
      }
    }
  }

  /// Of its worth, what a B picture that few pictures refer to has.
  private static let middlePart: Float = 0.4
  /// Of what a picture inherits, the part that it hands on: the rest is coded anew on the way.
  private static let kept: Float = 0.9

  /// Offsets by activity alone, where there is no propagation.
  func leave(_ picture: QueuedPicture) {
    picture.offsets.update(from: picture.activityOffsets, count: geometry.macroblockCount)
  }

  private func finish(_ picture: QueuedPicture, _ strength: Float) {
    for m in 0..<geometry.macroblockCount {
      let own = Float(picture.intraCosts[m]) * exp2f(picture.activityOffsets[m] * (-1 / 6))
      picture.offsets[m] =
        picture.activityOffsets[m] - strength * log2f((own + picture.heritage[m]) / own)
    }
  }

  private func handOn(_ picture: QueuedPicture, to reference: QueuedPicture) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    let target = reference.heritage
    for y in 0..<h {
      for x in 0..<w {
        let m = y &* w &+ x
        let intra = Float(picture.intraCosts[m])
        let inter = Float(picture.interCosts[m])
        if inter >= intra { continue }
        // A macroblock that is coded better anyway is worth as much more.
        let scale = exp2f(picture.activityOffsets[m] * (-1 / 6))
        let kept = picture.heritage[m] * QualityPropagation.kept
        let amount = (intra * scale + kept) * (1 - inter / intra)
        let vector = picture.vectors[m]
        // In half samples: a macroblock is 16 wide.
        let left = x &* 16 &+ Int(vector.x)
        let top = y &* 16 &+ Int(vector.y)
        let column = left >> 4
        let row = top >> 4
        let fx = Float(left & 15) * (1 / 16)
        let fy = Float(top & 15) * (1 / 16)
        func give(_ column: Int, _ row: Int, _ part: Float) {
          if part > 0 && column >= 0 && column < w && row >= 0 && row < h {
            target[row &* w &+ column] += amount * part
          }
        }
        give(column, row, (1 - fx) * (1 - fy))
        give(column &+ 1, row, fx * (1 - fy))
        give(column, row &+ 1, (1 - fx) * fy)
        give(column &+ 1, row &+ 1, fx * fy)
      }
    }
  }
}
