// SPDX-License-Identifier: Apache-2.0

/// The prediction of motion: merge candidates (8.5.3.2.2) and vector predictors (8.5.3.2.6) of P
/// slices with one motion vector in each prediction unit.
struct MotionCandidates: BitwiseCopyable {
  let map: PictureMap
  let width: Int
  let height: Int
  var picture: PictureContext

  /// MaxNumMergeCand
  static let mergeCount = 5

  // MARK: Availability

  /// Whether the 8x8 block at a luma sample precedes a prediction block in decoding order (6.4.1):
  /// within the coding tree unit by z-scan order.
  /// - Parameters:
  ///   - x: the position of the neighbour in luma samples.
  ///   - y: the position of the neighbour in luma samples.
  ///   - currentX: the position of the coding unit.
  ///   - currentY: the position of the coding unit.
  @inline(__always) func isAvailable(_ x: Int, _ y: Int, _ currentX: Int, _ currentY: Int) -> Bool {
    guard x >= 0, y >= 0, x < width, y < height else { return false }
    let (row, currentRow) = (y >> 5, currentY >> 5)
    if row != currentRow { return row < currentRow }
    let (column, currentColumn) = (x >> 5, currentX >> 5)
    if column != currentColumn { return column < currentColumn }
    return LevelLayout.zIndex(x, y) < LevelLayout.zIndex(currentX, currentY)
  }

  /// The motion of a neighbouring block; its reference index is -1 where it is not available.
  /// - Parameters:
  ///   - x: the position of the neighbour in luma samples.
  ///   - y: the position of the neighbour in luma samples.
  ///   - block: the prediction block.
  @inline(__always) private func motion(_ x: Int, _ y: Int, _ block: PredictionBlock) -> Motion {
    // A neighbour within the coding unit is the first prediction unit, which is known.
    let isInside =
      x >= block.unitX && y >= block.unitY && x < block.unitX &+ block.unitSize
      && y < block.unitY &+ block.unitSize
    if isInside {
      // The second of two parts refers to the first; what follows in the unit is not known yet.
      guard block.part == 1, x < block.x || y < block.y else { return Motion() }
      return picture.target.motion[map.index(x, y)]
    }
    guard isAvailable(x, y, block.unitX, block.unitY) else { return Motion() }
    return picture.target.motion[map.index(x, y)]
  }

  // MARK: Merge

  /// Makes mergeCandList.
  /// - Parameters:
  ///   - block: the prediction block.
  ///   - list: receives the candidates, `mergeCount` of them.
  func merge(_ block: PredictionBlock, _ list: UnsafeMutablePointer<Motion>) {
    let (x, y, w, h) = (block.x, block.y, block.width, block.height)
    var count = 0
    var a1 = motion(x &- 1, y &+ h &- 1, block)
    if block.part == 1 && block.mode == .vertical { a1.reference = -1 }
    if a1.reference >= 0 {
      list[count] = a1
      count &+= 1
    }
    var b1 = motion(x &+ w &- 1, y &- 1, block)
    if block.part == 1 && block.mode == .horizontal { b1.reference = -1 }
    if b1.reference >= 0 && !(a1.reference >= 0 && a1 == b1) {
      list[count] = b1
      count &+= 1
    }
    let b0 = motion(x &+ w, y &- 1, block)
    if b0.reference >= 0 && !(b1.reference >= 0 && b1 == b0) {
      list[count] = b0
      count &+= 1
    }
    let a0 = motion(x &- 1, y &+ h, block)
    if a0.reference >= 0 && !(a1.reference >= 0 && a1 == a0) {
      list[count] = a0
      count &+= 1
    }
    if count < 4 {
      let b2 = motion(x &- 1, y &- 1, block)
      if b2.reference >= 0 && !(a1.reference >= 0 && a1 == b2) && !(b1.reference >= 0 && b1 == b2) {
        list[count] = b2
        count &+= 1
      }
    }
    if count < Self.mergeCount, picture.hasTemporalMotion,
      let temporal = temporal(block, reference: 0)
    {
      list[count] = temporal
      count &+= 1
    }
    var zero: Int16 = 0
    while count < Self.mergeCount {
      list[count] = Motion(x: 0, y: 0, reference: Int(zero) < picture.referenceCount ? zero : 0)
      zero &+= 1
      count &+= 1
    }
  }

  // MARK: Vector predictors

  /// Makes mvpListL0.
  /// - Parameters:
  ///   - block: the prediction block.
  ///   - reference: the reference index of its vector.
  /// - Returns: both predictors.
  func predictors(_ block: PredictionBlock, reference: Int) -> (Motion, Motion) {
    let (x, y, w, h) = (block.x, block.y, block.width, block.height)
    let wanted = Int16(truncatingIfNeeded: reference)
    let a0 = motion(x &- 1, y &+ h, block)
    let a1 = motion(x &- 1, y &+ h &- 1, block)
    let isScaled = a0.reference >= 0 || a1.reference >= 0
    var a = Motion()
    if a0.reference == wanted {
      a = a0
    } else if a1.reference == wanted {
      a = a1
    } else if let scaled = scaled(a0, wanted) ?? scaled(a1, wanted) {
      a = scaled
    }
    let b0 = motion(x &+ w, y &- 1, block)
    let b1 = motion(x &+ w &- 1, y &- 1, block)
    let b2 = motion(x &- 1, y &- 1, block)
    var b = Motion()
    if b0.reference == wanted {
      b = b0
    } else if b1.reference == wanted {
      b = b1
    } else if b2.reference == wanted {
      b = b2
    }
    if !isScaled {
      if b.reference >= 0 { a = b }
      b = scaled(b0, wanted) ?? scaled(b1, wanted) ?? scaled(b2, wanted) ?? Motion()
    }
    var first = Motion(x: 0, y: 0, reference: wanted)
    var second = first
    var count = 0
    if a.reference >= 0 {
      first = a
      count = 1
    }
    if b.reference >= 0 && !(count == 1 && a.x == b.x && a.y == b.y) {
      if count == 0 { first = b } else { second = b }
      count &+= 1
    }
    if count < 2, picture.hasTemporalMotion, let temporal = temporal(block, reference: reference) {
      if count == 0 { first = temporal } else { second = temporal }
    }
    first.reference = wanted
    second.reference = wanted
    return (first, second)
  }

  /// The vector of a neighbour scaled to another reference picture (8.5.3.2.7); nil where the
  /// neighbour is not available, or only one of both is a long-term picture.
  @inline(__always) private func scaled(_ motion: Motion, _ wanted: Int16) -> Motion? {
    guard motion.reference >= 0 else { return nil }
    let from = picture.identities[Int(motion.reference)]
    let to = picture.identities[Int(wanted)]
    guard from.isLongTerm == to.isLongTerm else { return nil }
    var result = motion
    result.reference = wanted
    if motion.reference != wanted && !from.isLongTerm {
      Self.scale(&result, from: picture.order &- from.order, to: picture.order &- to.order)
    }
    return result
  }

  /// Scales a vector by the ratio of two differences of picture order counts (8-179 to 8-183).
  private static func scale(_ motion: inout Motion, from: Int32, to: Int32) {
    let td = Int(min(max(from, -128), 127))
    let tb = Int(min(max(to, -128), 127))
    guard td != 0 else { return }
    let tx = (16384 &+ abs(td) / 2) / td
    let factor = min(max((tb &* tx &+ 32) >> 6, -4096), 4095)
    func scaled(_ value: Int16) -> Int16 {
      let product = factor &* Int(value)
      let magnitude = (abs(product) &+ 127) >> 8
      return Int16(truncatingIfNeeded: min(max(product < 0 ? -magnitude : magnitude, -32768), 32767))
    }
    motion.x = scaled(motion.x)
    motion.y = scaled(motion.y)
  }

  /// The temporal candidate (8.5.3.2.8); nil where there is none.
  private func temporal(_ block: PredictionBlock, reference: Int) -> Motion? {
    let (right, below) = (block.x &+ block.width, block.y &+ block.height)
    if block.y >> 5 == below >> 5, below < height, right < width,
      let motion = collocated(right, below, reference)
    {
      return motion
    }
    return collocated(block.x &+ block.width / 2, block.y &+ block.height / 2, reference)
  }

  /// The candidate from the collocated picture at a luma sample (8.5.3.2.9).
  @inline(__always) private func collocated(_ x: Int, _ y: Int, _ reference: Int) -> Motion? {
    let collocated = picture.references[0]
    var motion = collocated.motion[map.index(x & ~15, y & ~15)]
    guard motion.reference >= 0 else { return nil }
    let identity = collocated.references[Int(motion.reference)]
    let wanted = picture.identities[reference]
    guard identity.isLongTerm == wanted.isLongTerm else { return nil }
    let from = picture.identities[0].order &- identity.order
    let to = picture.order &- wanted.order
    if !wanted.isLongTerm && from != to { Self.scale(&motion, from: from, to: to) }
    motion.reference = Int16(truncatingIfNeeded: reference)
    return motion
  }
}

/// The position of a prediction block, in luma samples, and that of its coding unit.
struct PredictionBlock: BitwiseCopyable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int
  var unitX: Int
  var unitY: Int
  var unitSize: Int
  /// PartIdx
  var part = 0
  var mode = PartMode.whole

  /// A prediction block that is a whole coding unit.
  init(x: Int, y: Int, size: Int) {
    (self.x, self.y, width, height) = (x, y, size, size)
    (unitX, unitY, unitSize) = (x, y, size)
  }

  /// A part of a coding unit.
  init(x: Int, y: Int, size: Int, mode: PartMode, part: Int) {
    self.init(x: x, y: y, size: size)
    self.mode = mode
    self.part = part
    let half = size / 2
    switch mode {
    case .whole: break
    case .horizontal:
      height = half
      if part == 1 { self.y += half }
    case .vertical:
      width = half
      if part == 1 { self.x += half }
    }
  }
}
