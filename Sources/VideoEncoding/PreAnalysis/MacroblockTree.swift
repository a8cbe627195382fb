// SPDX-License-Identifier: Apache-2.0
/// Lowers the QP of macroblocks that many later pictures refer to (J. Garrett-Glaser, "A novel
/// macroblock-tree algorithm for high-performance optimization of dependent video coding in
/// H.264/AVC").
///
/// From the last picture of the look-ahead back to the first, each macroblock propagates a part of
/// its own cost and of the cost propagated to it: the part of its intra cost that inter prediction
/// saves. The amount goes to the macroblocks that its vectors point at, in the pictures that it
/// will refer to. The sum that a macroblock gets says how much later pictures gain if it is coded
/// better.
struct MacroblockTree {
  /// The size of the pictures.
  private let geometry: PictureGeometry
  /// The QP steps for each doubling of a macroblock's cost by what is propagated to it.
  private let strength: Float

  /// Creates a tree.
  /// - Parameters:
  ///   - geometry: the size of the pictures.
  ///   - strength: the QP steps for each doubling of a macroblock's cost by what is propagated to
  ///     it.
  init(_ geometry: PictureGeometry, strength: Float = 1.8) {
    self.geometry = geometry
    self.strength = strength
  }

  /// Computes the propagated costs of all given pictures, and the QP offsets of the first ones.
  /// - Parameters:
  ///   - pictures: the pictures of the look-ahead in output order.
  ///   - count: the number of pictures whose offsets are filled in; they form a run of B pictures
  ///     and the reference picture after them.
  ///   - planned: the number of pictures in planned runs (`QueuedPicture.plannedRun`). Each picture
  ///     after them is taken to refer to the one before it.
  ///   - middle: gives, for a run of a number of pictures, the index of the B picture that others
  ///     refer to; nil if there is none.
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
          let amount =
            propagatedAmount(picture, m, cost: picture.interCosts[m]) * MacroblockTree.propagatedFraction
          distribute(amount, x, y, picture.vectors[m], before.propagatedCosts)
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
      case .bidirectionalReference: finish(picture, strength * MacroblockTree.referenceBStrength)
      case .bidirectional: setActivityOffsets(picture)
      }
    }
  }

  /// The factor of `strength` for B pictures that others refer to: fewer pictures refer to them
  /// than to P pictures.
  private static let referenceBStrength: Float = 0.4
  /// The part of the propagated cost that a macroblock propagates further: the rest is the cost of
  /// the residuals on the way.
  private static let propagatedFraction: Float = 0.95
  /// The factor of the cost that B pictures propagate: they have a higher QP.
  private static let bidirectionalFraction: Float = 0.6

  /// Sets the QP offsets of a picture to those of its activity, where nothing is propagated.
  func setActivityOffsets(_ picture: QueuedPicture) {
    picture.offsets.update(from: picture.activityOffsets, count: geometry.macroblockCount)
  }

  /// Sets the QP offsets of a picture by its activity and by the cost propagated to it.
  private func finish(_ picture: QueuedPicture, _ strength: Float) {
    for m in 0..<geometry.macroblockCount {
      let own = picture.ownCosts[m]
      picture.offsets[m] =
        picture.activityOffsets[m] - strength * log2Approx((own + picture.propagatedCosts[m]) / own)
    }
  }

  /// Propagates the costs of a run of pictures, in the reverse of the order in which they are
  /// coded.
  /// - Parameters:
  ///   - pictures: the pictures of the look-ahead in output order.
  ///   - run: the indices of the run.
  ///   - middle: the index of the B picture that others refer to; nil if there is none.
  private func propagate(_ pictures: [QueuedPicture], _ run: Range<Int>, _ middle: Int?) {
    let last = run.upperBound - 1
    let before = run.lowerBound > 0 ? pictures[run.lowerBound - 1] : nil
    for i in run.lowerBound..<last where i != middle {
      let a = middle.flatMap { i > $0 ? pictures[$0] : nil } ?? before
      let b = middle.flatMap { i < $0 ? pictures[$0] : nil } ?? pictures[last]
      propagate(pictures[i], to: a, b, MacroblockTree.bidirectionalFraction)
    }
    if let middle {
      propagate(pictures[middle], to: before, pictures[last], MacroblockTree.bidirectionalFraction)
    }
    if !pictures[last].kind.isKey { propagate(pictures[last], to: before, nil, 1) }
  }

  /// Propagates the costs of a picture to the pictures that it will refer to.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - a: the reference picture of list 0; nil if it has left the look-ahead.
  ///   - b: that of list 1; nil for P pictures.
  ///   - part: the factor of the amounts, 0 to 1.
  private func propagate(_ picture: QueuedPicture, to a: QueuedPicture?, _ b: QueuedPicture?, _ part: Float) {
    let (a, b) = (a?.propagatedCosts, b?.propagatedCosts)
    for y in 0..<geometry.heightInMbs {
      for x in 0..<geometry.widthInMbs {
        let m = y &* geometry.widthInMbs &+ x
        let lists = picture.lists[m]
        if lists == 0 { continue }
        let amount = propagatedAmount(picture, m, cost: picture.costs[m]) * (lists == 3 ? part * 0.5 : part)
        if lists & 1 != 0, let a { distribute(amount, x, y, picture.forward[m], a) }
        if lists & 2 != 0, let b { distribute(amount, x, y, picture.backward[m], b) }
      }
    }
  }

  /// The amount that a macroblock propagates: its own cost and the cost propagated to it, times the
  /// share of its intra cost that inter prediction saves.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - m: the index of the macroblock.
  ///   - cost: its cost of inter prediction.
  @inline(__always) private func propagatedAmount(_ picture: QueuedPicture, _ m: Int, cost: Int32) -> Float {
    let intra = Float(picture.intraCosts[m])
    return (picture.ownCosts[m] + picture.propagatedCosts[m] * MacroblockTree.propagatedFraction)
      * (1 - Float(cost) / intra)
  }

  /// Divides an amount among the four macroblocks that a vector points at, by the area that each of
  /// them has in the block. What lies outside the picture is lost.
  /// - Parameters:
  ///   - amount: the amount.
  ///   - x: the column of the macroblock that propagates it.
  ///   - y: its row.
  ///   - vector: its vector, in half samples of the half-size picture.
  ///   - target: the propagated costs of the picture that the vector points into.
  @inline(__always) private func distribute(
    _ amount: Float, _ x: Int, _ y: Int, _ vector: SIMD2<Int16>, _ target: UnsafeMutablePointer<Float>
  ) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    // In half samples of the half-size picture a macroblock is 16 wide.
    let left = x &* 16 &+ Int(vector.x)
    let top = y &* 16 &+ Int(vector.y)
    let column = left >> 4
    let row = top >> 4
    let fx = Float(left & 15) * (1 / 16)
    let fy = Float(top & 15) * (1 / 16)
    func distribute(_ column: Int, _ row: Int, _ part: Float) {
      if part > 0 && column >= 0 && column < w && row >= 0 && row < h {
        target[row &* w &+ column] += amount * part
      }
    }
    distribute(column, row, (1 - fx) * (1 - fy))
    distribute(column &+ 1, row, fx * (1 - fy))
    distribute(column, row &+ 1, (1 - fx) * fy)
    distribute(column &+ 1, row &+ 1, fx * fy)
  }
}
