// SPDX-License-Identifier: Apache-2.0

/// The prediction of motion: merge candidates (8.5.3.2.2) and vector predictors (8.5.3.2.6) of P
/// and B slices.
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

  /// The motion of a neighbouring block; it uses no list where it is not available.
  /// - Parameters:
  ///   - x: the position of the neighbour in luma samples.
  ///   - y: the position of the neighbour in luma samples.
  ///   - block: the prediction block.
  @inline(__always) private func motion(_ x: Int, _ y: Int, _ block: PredictionBlock) -> MotionPair {
    // A neighbour within the coding unit is the first prediction unit, which is known.
    let isInside =
      x >= block.unitX && y >= block.unitY && x < block.unitX &+ block.unitSize
      && y < block.unitY &+ block.unitSize
    if isInside {
      // The second of two parts refers to the first; what follows in the unit is not known yet.
      guard block.part == 1, x < block.x || y < block.y else { return MotionPair() }
      return picture.target.motion[map.index(x, y)]
    }
    guard isAvailable(x, y, block.unitX, block.unitY) else { return MotionPair() }
    return picture.target.motion[map.index(x, y)]
  }

  // MARK: Merge

  /// Makes mergeCandList.
  /// - Parameters:
  ///   - block: the prediction block.
  ///   - list: receives the candidates, `mergeCount` of them.
  func merge(_ block: PredictionBlock, _ list: UnsafeMutablePointer<MotionPair>) {
    let (x, y, w, h) = (block.x, block.y, block.width, block.height)
    var count = 0
    var a1 = motion(x &- 1, y &+ h &- 1, block)
    if block.part == 1 && block.mode == .vertical { a1 = MotionPair() }
    if a1.isInter {
      list[count] = a1
      count &+= 1
    }
    // Two blocks that use no list are never equal here: the first condition excludes them.
    var b1 = motion(x &+ w &- 1, y &- 1, block)
    if block.part == 1 && block.mode == .horizontal { b1 = MotionPair() }
    if b1.isInter && a1 != b1 {
      list[count] = b1
      count &+= 1
    }
    let b0 = motion(x &+ w, y &- 1, block)
    if b0.isInter && b1 != b0 {
      list[count] = b0
      count &+= 1
    }
    let a0 = motion(x &- 1, y &+ h, block)
    if a0.isInter && a1 != a0 {
      list[count] = a0
      count &+= 1
    }
    if count < 4 {
      let b2 = motion(x &- 1, y &- 1, block)
      if b2.isInter && a1 != b2 && b1 != b2 {
        list[count] = b2
        count &+= 1
      }
    }
    if count < Self.mergeCount, picture.hasTemporalMotion {
      var pair = MotionPair()
      pair.first = temporal(block, list: 0, reference: 0) ?? Motion()
      if picture.isBidirectional { pair.second = temporal(block, list: 1, reference: 0) ?? Motion() }
      if pair.isInter {
        list[count] = pair
        count &+= 1
      }
    }
    if picture.isBidirectional { combine(list, &count) }
    var zero: Int16 = 0
    let references =
      picture.isBidirectional
      ? min(picture.referenceCount, picture.referenceCountL1) : picture.referenceCount
    while count < Self.mergeCount {
      let reference = Int(zero) < references ? zero : 0
      var pair = MotionPair()
      pair.first.reference = reference
      if picture.isBidirectional { pair.second.reference = reference }
      list[count] = pair
      zero &+= 1
      count &+= 1
    }
  }

  /// l0CandIdx and l1CandIdx by combIdx (table 8-8), four bits each.
  private static let combinations: [UInt8] = [
    0x01, 0x10, 0x02, 0x20, 0x12, 0x21, 0x03, 0x30, 0x13, 0x31, 0x23, 0x32,
  ]

  /// Appends the combined bi-predictive candidates of B slices (8.5.3.2.4).
  private func combine(_ list: UnsafeMutablePointer<MotionPair>, _ count: inout Int) {
    let original = count
    guard original > 1 else { return }
    var i = 0
    while count < Self.mergeCount && i < original &* (original &- 1) {
      let indices = Int(Self.combinations[i])
      i &+= 1
      let (first, second) = (list[indices &>> 4].first, list[indices & 15].second)
      guard first.reference >= 0, second.reference >= 0 else { continue }
      let isSame =
        picture.identity(0, first.reference).order == picture.identity(1, second.reference).order
        && first.x == second.x && first.y == second.y
      if isSame { continue }
      list[count] = MotionPair(first: first, second: second)
      count &+= 1
    }
  }

  // MARK: Vector predictors

  /// Makes mvpListLX.
  /// - Parameters:
  ///   - block: the prediction block.
  ///   - list: the list of its vector, 0 or 1.
  ///   - reference: the reference index of its vector.
  /// - Returns: both predictors.
  func predictors(_ block: PredictionBlock, list: Int, reference: Int) -> (Motion, Motion) {
    let (x, y, w, h) = (block.x, block.y, block.width, block.height)
    let referenceIndex = Int16(truncatingIfNeeded: reference)
    let target = picture.identity(list, referenceIndex)
    let a0 = motion(x &- 1, y &+ h, block)
    let a1 = motion(x &- 1, y &+ h &- 1, block)
    let isScaled = a0.isInter || a1.isInter
    let a =
      matching(a0, list, target) ?? matching(a1, list, target) ?? scaled(a0, list, target)
      ?? scaled(a1, list, target)
    let b0 = motion(x &+ w, y &- 1, block)
    let b1 = motion(x &+ w &- 1, y &- 1, block)
    let b2 = motion(x &- 1, y &- 1, block)
    var b =
      matching(b0, list, target) ?? matching(b1, list, target) ?? matching(b2, list, target)
    var left = a
    if !isScaled {
      if b != nil { left = b }
      b = scaled(b0, list, target) ?? scaled(b1, list, target) ?? scaled(b2, list, target)
    }
    var first = Motion(x: 0, y: 0, reference: referenceIndex)
    var second = first
    var count = 0
    if let left {
      first = left
      count = 1
    }
    if let b, !(count == 1 && first.x == b.x && first.y == b.y) {
      if count == 0 { first = b } else { second = b }
      count &+= 1
    }
    if count < 2, picture.hasTemporalMotion,
      let temporal = temporal(block, list: list, reference: reference)
    {
      if count == 0 { first = temporal } else { second = temporal }
    }
    first.reference = referenceIndex
    second.reference = referenceIndex
    return (first, second)
  }

  /// The vector of a neighbour that refers to the reference picture that is predicted from, of the
  /// same list first; nil where there is none.
  @inline(__always) private func matching(
    _ neighbour: MotionPair, _ list: Int, _ target: ReferenceIdentity
  ) -> Motion? {
    let own = neighbour[list]
    if own.reference >= 0 && picture.identity(list, own.reference).order == target.order { return own }
    guard picture.isBidirectional else { return nil }
    let other = neighbour[1 &- list]
    if other.reference >= 0 && picture.identity(1 &- list, other.reference).order == target.order {
      return other
    }
    return nil
  }

  /// A vector of a neighbour scaled to the reference picture that is predicted from (8.5.3.2.7), of
  /// the same list first; nil where the neighbour is not available, or only one of both is a
  /// long-term picture.
  @inline(__always) private func scaled(
    _ neighbour: MotionPair, _ list: Int, _ target: ReferenceIdentity
  ) -> Motion? {
    if let own = scaled(neighbour[list], of: list, target) { return own }
    guard picture.isBidirectional else { return nil }
    return scaled(neighbour[1 &- list], of: 1 &- list, target)
  }

  @inline(__always) private func scaled(
    _ motion: Motion, of list: Int, _ target: ReferenceIdentity
  ) -> Motion? {
    guard motion.reference >= 0 else { return nil }
    let from = picture.identity(list, motion.reference)
    guard from.isLongTerm == target.isLongTerm else { return nil }
    var result = motion
    if from.order != target.order && !from.isLongTerm {
      Self.scale(&result, from: picture.order &- from.order, to: picture.order &- target.order)
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
  private func temporal(_ block: PredictionBlock, list: Int, reference: Int) -> Motion? {
    let (right, below) = (block.x &+ block.width, block.y &+ block.height)
    if block.y >> 5 == below >> 5, below < height, right < width,
      let motion = collocated(right, below, list, reference)
    {
      return motion
    }
    return collocated(block.x &+ block.width / 2, block.y &+ block.height / 2, list, reference)
  }

  /// The candidate from the collocated picture at a luma sample (8.5.3.2.9).
  @inline(__always) private func collocated(
    _ x: Int, _ y: Int, _ list: Int, _ reference: Int
  ) -> Motion? {
    let collocated = picture.collocated
    let pair = collocated.motion[map.index(x & ~15, y & ~15)]
    var other = 0
    if pair.first.reference < 0 {
      guard pair.second.reference >= 0 else { return nil }
      other = 1
    } else if pair.second.reference >= 0 {
      // List N, where N is collocated_from_l0_flag.
      other = picture.hasOnlyEarlierReferences ? list : 1 &- picture.collocatedList
    }
    var motion = pair[other]
    let identity = collocated.references[other &* PictureContext.listSize &+ Int(motion.reference)]
    let target = picture.identity(list, Int16(truncatingIfNeeded: reference))
    guard identity.isLongTerm == target.isLongTerm else { return nil }
    let from = picture.identity(picture.collocatedList, 0).order &- identity.order
    let to = picture.order &- target.order
    if !target.isLongTerm && from != to { Self.scale(&motion, from: from, to: to) }
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
