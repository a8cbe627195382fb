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
/// macroblocks that its vectors point at, in the pictures that it will refer to. What comes together there is what bits
/// spent there are worth.
struct MacroblockTree {
  private let geometry: PictureGeometry
  /// Steps of QP for each doubling of a macroblock's worth.
  private let strength: Float

  init(_ geometry: PictureGeometry, strength: Float = 1.8) {
    self.geometry = geometry
    self.strength = strength
  }

  /// Fills in the offsets of the first `count` of these pictures, which follow each other as they are shown and are a run
  /// of their own.
  /// - Parameters:
  ///   - planned: pictures in runs (`QueuedPicture.plannedRun`); those after them each refer to the one before.
  ///   - middle: which picture of a run of so many is a B picture that others refer to.
  func run(_ pictures: [QueuedPicture], finish count: Int, planned: Int, middle: (Int) -> Int?) {
    let size = geometry.macroblockCount
    for picture in pictures { picture.propagatedCosts.update(repeating: 0, count: size) }
    for at in stride(from: pictures.count - 1, to: max(planned - 1, 0), by: -1)
    where !pictures[at].kind.isKey {
      let (picture, before) = (pictures[at], pictures[at - 1])
      for y in 0..<geometry.heightInMbs {
        for x in 0..<geometry.widthInMbs {
          let m = y &* geometry.widthInMbs &+ x
          guard picture.interCosts[m] < picture.intraCosts[m] else { continue }
          let amount = worth(picture, m, cost: picture.interCosts[m]) * MacroblockTree.kept
          give(amount, x, y, picture.vectors[m], before.propagatedCosts)
        }
      }
    }
    var end = planned
    while end > 0 {
      var start = end - 1
      while start > 0, start != count, pictures[start].plannedRun == 0 { start -= 1 }
      if start < count { start = 0 }
      propagate(pictures, start..<end, middle(end - start).map { start + $0 })
      end = start
    }
    for picture in pictures.prefix(count) {
      switch picture.kind {
      case .idr, .openKey, .predicted: finish(picture, strength)
      case .bidirectionalReference: finish(picture, strength * MacroblockTree.middlePart)
      case .bidirectional: leave(picture)
      }
    }
  }

  /// Of its worth, what a B picture that few pictures refer to has.
  private static let middlePart: Float = 0.4
  /// Of what a picture inherits, the part that it hands on: the rest is coded anew on the way.
  private static let kept: Float = 0.95
  /// Of what a B picture would hand on, the part that counts: it is coded coarser.
  private static let bidirectionalPart: Float = 0.6

  /// Offsets by activity alone, where there is no propagation.
  func leave(_ picture: QueuedPicture) {
    picture.offsets.update(from: picture.activityOffsets, count: geometry.macroblockCount)
  }

  private func finish(_ picture: QueuedPicture, _ strength: Float) {
    for m in 0..<geometry.macroblockCount {
      let own = picture.weights[m]
      picture.offsets[m] =
        picture.activityOffsets[m] - strength * log2f((own + picture.propagatedCosts[m]) / own)
    }
  }

  /// The pictures of a run hand on what they inherit, those first that are coded last.
  private func propagate(_ pictures: [QueuedPicture], _ run: Range<Int>, _ middle: Int?) {
    let last = run.upperBound - 1
    let before = run.lowerBound > 0 ? pictures[run.lowerBound - 1] : nil
    for i in run.lowerBound..<last where i != middle {
      let a = middle.flatMap { i > $0 ? pictures[$0] : nil } ?? before
      let b = middle.flatMap { i < $0 ? pictures[$0] : nil } ?? pictures[last]
      propagate(pictures[i], to: a, b, MacroblockTree.bidirectionalPart)
    }
    if let middle {
      propagate(pictures[middle], to: before, pictures[last], MacroblockTree.bidirectionalPart)
    }
    if !pictures[last].kind.isKey { propagate(pictures[last], to: before, nil, 1) }
  }

  private func propagate(_ picture: QueuedPicture, to a: QueuedPicture?, _ b: QueuedPicture?, _ part: Float) {
    let (a, b) = (a?.propagatedCosts, b?.propagatedCosts)
    for y in 0..<geometry.heightInMbs {
      for x in 0..<geometry.widthInMbs {
        let m = y &* geometry.widthInMbs &+ x
        let lists = picture.lists[m]
        if lists == 0 { continue }
        let amount = worth(picture, m, cost: picture.costs[m]) * (lists == 3 ? part * 0.5 : part)
        if lists & 1 != 0, let a { give(amount, x, y, picture.forward[m], a) }
        if lists & 2 != 0, let b { give(amount, x, y, picture.backward[m], b) }
      }
    }
  }

  /// What a macroblock hands on, that leaves so much to code.
  @inline(__always) private func worth(_ picture: QueuedPicture, _ m: Int, cost: Int32) -> Float {
    let intra = Float(picture.intraCosts[m])
    return (picture.weights[m] + picture.propagatedCosts[m] * MacroblockTree.kept) * (1 - Float(cost) / intra)
  }

  /// To the four macroblocks that a vector points at.
  @inline(__always) private func give(
    _ amount: Float, _ x: Int, _ y: Int, _ vector: SIMD2<Int16>, _ target: UnsafeMutablePointer<Float>
  ) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
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
