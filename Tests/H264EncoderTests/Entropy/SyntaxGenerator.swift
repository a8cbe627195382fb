// SPDX-License-Identifier: Apache-2.0
@testable import H264Encoder

/// A small generator whose numbers are the same everywhere (splitmix64).
struct TestRandom: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) {
    // Far from the step of `next`, so that neighbouring seeds share nothing.
    state = (seed &+ 1) &* 0xD1B5_4A32_D192_ED03
    state = next()
  }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
  mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func chance(_ percent: Int) -> Bool { int(0...99) < percent }
}

/// Memory of a `PictureSyntax`, with the levels and PCM samples that the writers take.
final class SyntaxPicture {
  let syntax: PictureSyntax
  let levels: UnsafeMutablePointer<Int16>
  let pcm: UnsafeMutablePointer<UInt8>
  private let rubbish: UnsafeMutablePointer<Int16>
  let count: Int

  init(widthInMbs: Int, heightInMbs: Int) {
    count = widthInMbs * heightInMbs
    func memory<T>(_ n: Int, _ value: T) -> UnsafeMutablePointer<T> {
      let pointer = UnsafeMutablePointer<T>.allocate(capacity: n)
      pointer.initialize(repeating: value, count: n)
      return pointer
    }
    syntax = PictureSyntax(
      widthInMbs: widthInMbs, heightInMbs: heightInMbs, info: memory(count, MacroblockInfo()),
      nonZero: memory(count * 24, 0), intraModes: memory(count * 16, 2),
      referenceIndex: memory(count * 4, -1), motion: memory(count * 4, .zero),
      motionDifference: memory(count * 16, .zero), referenceIndexL1: memory(count * 4, -1),
      motionL1: memory(count * 4, .zero), motionDifferenceL1: memory(count * 16, .zero))
    levels = memory(count * LevelLayout.count, 0)
    pcm = memory(count * 384, 0)
    rubbish = memory(LevelLayout.count, 0)
  }

  /// The levels of a macroblock with rubbish wherever its other syntax says that nothing is coded:
  /// the writers must not look there.
  func levelsWithRubbish(_ m: Int) -> UnsafePointer<Int16> {
    rubbish.update(from: levels + m * LevelLayout.count, count: LevelLayout.count)
    func fill(_ at: Int, _ count: Int) { for i in at..<at + count { rubbish[i] = Int16(i % 7 - 3) } }
    let counts = syntax.nonZero + m * 24
    let dc = syntax.info[m].codedDC
    for i in 0..<16 {
      let raster = (i >> 3) * 8 + (i >> 2 & 1) * 2 + (i >> 1 & 1) * 4 + (i & 1)
      if counts[raster] == 0 { fill(LevelLayout.luma + i * 16, 16) }
    }
    for i in 0..<8 where counts[16 + i] == 0 { fill(LevelLayout.chromaAC + i * 16, 16) }
    if dc & 1 == 0 { fill(LevelLayout.lumaDC, 16) }
    if dc & 2 == 0 { fill(LevelLayout.chromaDC, 4) }
    if dc & 4 == 0 { fill(LevelLayout.chromaDC + 4, 4) }
    return UnsafePointer(rubbish)
  }

  deinit {
    rubbish.deallocate()
    syntax.info.deallocate()
    syntax.nonZero.deallocate()
    syntax.intraModes.deallocate()
    syntax.referenceIndex.deallocate()
    syntax.motion.deallocate()
    syntax.motionDifference.deallocate()
    syntax.referenceIndexL1.deallocate()
    syntax.motionL1.deallocate()
    syntax.motionDifferenceL1.deallocate()
    levels.deallocate()
    pcm.deallocate()
  }
}

/// Makes macroblocks at random that are valid for a decoder: prediction modes only where their
/// neighbours exist, everything else anyhow.
struct SyntaxGenerator {
  var random: TestRandom
  var slice: SliceParameters
  var cabac: Bool
  /// Percent of macroblocks.
  var skips = 20
  var pcms = 2
  var intra = 30
  /// Percent of 8x8 blocks that are coded, and of levels in them that are not zero.
  var coded = 50
  var density = 20
  var largest = 2063
  var largestDifference = 200
  var qpRange = 0...51
  var allowSmallPartitions = true

  mutating func fill(_ picture: SyntaxPicture, _ m: Int, slice number: Int, first: Int) {
    let s = picture.syntax
    let width = s.widthInMbs
    var mb = MacroblockInfo()
    mb.slice = UInt16(number)
    let x = m % width
    if x > 0 && m - 1 >= first { mb.available |= Availability.left }
    if m - width >= first { mb.available |= Availability.top }
    if x > 0 && m - width - 1 >= first { mb.available |= Availability.topLeft }
    if x < width - 1 && m - width + 1 >= first { mb.available |= Availability.topRight }

    let levels = picture.levels + m * LevelLayout.count
    levels.update(repeating: 0, count: LevelLayout.count)
    (s.nonZero + m * 24).update(repeating: 0, count: 24)
    (s.intraModes + m * 16).update(repeating: 2, count: 16)
    (s.referenceIndex + m * 4).update(repeating: -1, count: 4)
    (s.motion + m * 4).update(repeating: .zero, count: 4)
    (s.motionDifference + m * 16).update(repeating: .zero, count: 16)
    (s.referenceIndexL1 + m * 4).update(repeating: -1, count: 4)
    (s.motionL1 + m * 4).update(repeating: .zero, count: 4)
    (s.motionDifferenceL1 + m * 16).update(repeating: .zero, count: 16)
    // Fields that the writers must not take from here.
    mb.qp = UInt8(random.int(qpRange))

    if (slice.isP || slice.isB) && random.chance(skips) {
      mb.type = MacroblockType.skip
      (s.referenceIndex + m * 4).update(repeating: 0, count: 4)
      if slice.isB { for i in 0..<4 { infer(s, m, &mb, i) } }
      s.info[m] = mb
      return
    }
    if random.chance(pcms) {
      mb.type = MacroblockType.pcm
      for i in 0..<384 {
        picture.pcm[m * 384 + i] = random.chance(30) ? 0 : UInt8(random.int(0...255))
      }
      (s.nonZero + m * 24).update(repeating: 16, count: 24)
      s.info[m] = mb
      return
    }
    if !(slice.isP || slice.isB) || random.chance(intra) {
      fillIntra(picture, m, &mb)
    } else if slice.isB {
      fillBidirectional(picture, m, &mb)
    } else {
      fillInter(picture, m, &mb)
    }

    if mb.type == MacroblockType.intra16x16 {
      mb.codedBlockPattern = random.chance(coded) ? 15 : 0
    } else {
      for i in 0..<4 where random.chance(coded) { mb.codedBlockPattern |= 1 << UInt8(i) }
      if mb.type == MacroblockType.intra8x8 {
        mb.transform8x8 = 1
      } else if mb.type >= MacroblockType.inter16x16 && slice.transform8x8Mode
        && mb.codedBlockPattern & 15 != 0
        && (mb.type != MacroblockType.inter8x8 || mb.hasOnlyWholeSubMacroblocks)
      {
        mb.transform8x8 = random.chance(50) ? 1 : 0
      }
    }
    mb.codedBlockPattern |= UInt8(random.chance(coded) ? random.int(1...2) : 0) << 4
    fillLevels(picture, m, &mb)
    s.info[m] = mb
  }

  private func intraAvailable(_ picture: SyntaxPicture, _ m: Int, _ mb: MacroblockInfo) -> UInt8 {
    guard slice.constrainedIntraPrediction else { return mb.available }
    var available = mb.available
    let width = picture.syntax.widthInMbs
    for (bit, n) in [
      (Availability.left, m - 1), (Availability.top, m - width), (Availability.topRight, m - width + 1),
      (Availability.topLeft, m - width - 1),
    ] where available & bit != 0 && !MacroblockType.isIntra(picture.syntax.info[n].type) {
      available &= ~bit
    }
    return available
  }

  private mutating func fillIntra(_ picture: SyntaxPicture, _ m: Int, _ mb: inout MacroblockInfo) {
    let available = intraAvailable(picture, m, mb)
    let left = available & Availability.left != 0
    let top = available & Availability.top != 0
    let corner = available & Availability.topLeft != 0
    var chroma = [0]
    if left { chroma.append(1) }
    if top { chroma.append(2) }
    if left && top && corner { chroma.append(3) }
    mb.intraChromaMode = UInt8(chroma.randomElement(using: &random)!)
    mb.type = UInt8(random.int(0...2))
    if mb.type == MacroblockType.intra8x8 && !slice.transform8x8Mode { mb.type = MacroblockType.intra4x4 }
    if mb.type == MacroblockType.intra16x16 {
      var modes = [2]
      if top { modes.append(0) }
      if left { modes.append(1) }
      if left && top && corner { modes.append(3) }
      mb.intra16x16Mode = UInt8(modes.randomElement(using: &random)!)
      return
    }
    let size = mb.type == MacroblockType.intra8x8 ? 2 : 1
    for y in stride(from: 0, to: 4, by: size) {
      for x in stride(from: 0, to: 4, by: size) {
        let a = x > 0 || left
        let b = y > 0 || top
        let d = x > 0 ? (y > 0 || top) : y > 0 ? left : corner
        var modes: [Int8] = [2]
        if b { modes += [0, 3, 7] }
        if a { modes += [1, 8] }
        if a && b && d { modes += [4, 5, 6] }
        // Often what is predicted.
        let predicted = picture.syntax.predictedIntraModeForTest(
          m, x, y, mb, constrained: slice.constrainedIntraPrediction)
        let mode =
          random.chance(40) && modes.contains(predicted)
          ? predicted : modes.randomElement(using: &random)!
        for dy in 0..<size {
          for dx in 0..<size { picture.syntax.intraModes[m * 16 + (y + dy) * 4 + x + dx] = mode }
        }
      }
    }
  }

  private mutating func fillInter(_ picture: SyntaxPicture, _ m: Int, _ mb: inout MacroblockInfo) {
    let s = picture.syntax
    mb.type = UInt8(random.int(4...7))
    if mb.type == MacroblockType.inter8x8 && random.chance(60) && allowSmallPartitions {
      mb.subType = (
        UInt8(random.int(0...3)), UInt8(random.int(0...3)), UInt8(random.int(0...3)), UInt8(random.int(0...3))
      )
    }
    var parts: [(x: Int, y: Int, w: Int, h: Int)] = []
    switch mb.type {
    case MacroblockType.inter16x16: parts = [(0, 0, 4, 4)]
    case MacroblockType.inter16x8: parts = [(0, 0, 4, 2), (0, 2, 4, 2)]
    case MacroblockType.inter8x16: parts = [(0, 0, 2, 4), (2, 0, 2, 4)]
    default: parts = [(0, 0, 2, 2), (2, 0, 2, 2), (0, 2, 2, 2), (2, 2, 2, 2)]
    }
    let references = random.chance(50) ? 0 : slice.activeReferences - 1
    for (i, part) in parts.enumerated() {
      let reference = Int8(random.int(0...references))
      var (w, h) = (part.w, part.h)
      if mb.type == MacroblockType.inter8x8 {
        (w, h) = [(2, 2), (2, 1), (1, 2), (1, 1)][Int(mb.subMacroblockType(i))]
      }
      for y in stride(from: part.y, to: part.y + part.h, by: h) {
        for x in stride(from: part.x, to: part.x + part.w, by: w) {
          let range =
            random.chance(40) ? 0 : random.chance(70) ? min(5, largestDifference) : largestDifference
          let mvd = MotionVector(Int16(random.int(-range...range)), Int16(random.int(-range...range)))
          for by in y..<y + h {
            for bx in x..<x + w {
              s.motionDifference[m * 16 + by * 4 + bx] = mvd
              s.referenceIndex[m * 4 + by / 2 * 2 + bx / 2] = reference
            }
          }
        }
      }
    }
  }

  /// Makes an 8x8 block direct. What is inferred for it is anything here: writers must not send it.
  private mutating func infer(_ s: PictureSyntax, _ m: Int, _ mb: inout MacroblockInfo, _ block: Int) {
    mb.directBlocks |= 1 << UInt8(block)
    s.referenceIndex[m * 4 + block] = Int8(random.int(-1...2))
    s.referenceIndexL1[m * 4 + block] = Int8(random.int(0...2))
  }

  private mutating func fillBidirectional(_ picture: SyntaxPicture, _ m: Int, _ mb: inout MacroblockInfo) {
    let s = picture.syntax
    if random.chance(20) {
      mb.type = MacroblockType.direct
      for i in 0..<4 { infer(s, m, &mb, i) }
      return
    }
    // One list after the other, as if it were P; then the blocks that do not use it lose it.
    fillInter(picture, m, &mb)
    let shape = (mb.type, mb.subType)
    for i in 0..<4 { s.referenceIndexL1[m * 4 + i] = s.referenceIndex[m * 4 + i] }
    for i in 0..<16 { s.motionDifferenceL1[m * 16 + i] = s.motionDifference[m * 16 + i] }
    repeat { fillInter(picture, m, &mb) } while mb.type != shape.0
    mb.subType = shape.1
    var directions: [Int] = []
    for i in 0..<4 {
      let isFirst =
        mb.type == MacroblockType.inter8x8 || i == 0 || i == 1 && mb.type == MacroblockType.inter8x16
        || i == 2 && mb.type == MacroblockType.inter16x8
      let before = mb.type == MacroblockType.inter8x16 ? i - 2 : i & 2
      directions.append(
        isFirst ? random.int(0...2) : directions[mb.type == MacroblockType.inter16x16 ? 0 : before])
    }
    for i in 0..<4 {
      let corner = m * 16 + (i >> 1) * 8 + (i & 1) * 2
      let isDirect = mb.type == MacroblockType.inter8x8 && random.chance(30)
      for list in 0..<2 where isDirect || directions[i] == 1 - list {
        let differences = list == 0 ? s.motionDifference : s.motionDifferenceL1
        for at in [0, 1, 4, 5] { differences[corner + at] = .zero }
        (list == 0 ? s.referenceIndex : s.referenceIndexL1)[m * 4 + i] = -1
      }
      if isDirect {
        infer(s, m, &mb, i)
        mb.setWhole(i)
      } else if mb.type == MacroblockType.inter8x8 {
        // The differences of both lists follow the shape of the block.
        for list in 0..<2 where directions[i] != 1 - list {
          let d = (list == 0 ? s.motionDifference : s.motionDifferenceL1) + corner
          switch mb.subMacroblockType(i) {
          case SubMacroblockType.whole8x8: (d[1], d[4], d[5]) = (d[0], d[0], d[0])
          case SubMacroblockType.halves8x4: (d[1], d[5]) = (d[0], d[4])
          case SubMacroblockType.halves4x8: (d[4], d[5]) = (d[0], d[1])
          default: break
          }
        }
      }
    }
    // Indices within list 1.
    for i in 0..<4 where mb.directBlocks >> UInt8(i) & 1 == 0 {
      s.referenceIndexL1[m * 4 + i] = min(s.referenceIndexL1[m * 4 + i], Int8(slice.activeReferencesL1 - 1))
    }
  }

  private mutating func level() -> Int16 {
    let sign = random.chance(50) ? -1 : 1
    if random.chance(70) { return Int16(sign) }
    if random.chance(80) { return Int16(sign * random.int(1...20)) }
    return Int16(sign * random.int(1...largest))
  }

  /// Fills a list; returns how many levels are not zero.
  private mutating func list(_ levels: UnsafeMutablePointer<Int16>, _ count: Int, atLeastOne: Bool = false)
    -> UInt8
  {
    let density = random.chance(10) ? 0 : random.chance(10) ? 100 : self.density
    var total: UInt8 = 0
    for i in 0..<count where random.chance(density) {
      levels[i] = level()
      total += 1
    }
    if total == 0 && atLeastOne {
      levels[random.int(0...count - 1)] = level()
      total = 1
    }
    return total
  }

  private mutating func fillLevels(_ picture: SyntaxPicture, _ m: Int, _ mb: inout MacroblockInfo) {
    let levels = picture.levels + m * LevelLayout.count
    let counts = picture.syntax.nonZero + m * 24
    let isIntra16x16 = mb.type == MacroblockType.intra16x16
    if isIntra16x16 {
      if list(levels + LevelLayout.lumaDC, 16) > 0 { mb.codedDC |= 1 }
    }
    for i in 0..<4 where mb.codedBlockPattern >> UInt8(i) & 1 == 1 {
      if mb.transform8x8 == 1 && cabac {
        let total = list(levels + i * 64, 64, atLeastOne: true)
        for j in 0..<4 { counts[(i >> 1) * 8 + (i & 1) * 2 + (j >> 1) * 4 + (j & 1)] = total }
        continue
      }
      for j in 0..<4 {
        let block = levels + (i * 4 + j) * 16
        let total = isIntra16x16 ? list(block + 1, 15) : list(block, 16)
        counts[(i >> 1) * 8 + (i & 1) * 2 + (j >> 1) * 4 + (j & 1)] = total
      }
    }
    if mb.codedBlockPattern >= 16 {
      for c in 0..<2 where list(levels + LevelLayout.chromaDC + c * 4, 4) > 0 { mb.codedDC |= 2 << UInt8(c) }
    }
    if mb.codedBlockPattern >= 32 {
      for i in 0..<8 { counts[16 + i] = list(levels + LevelLayout.chromaAC + i * 16 + 1, 15) }
    }
  }
}

extension PictureSyntax {
  /// The mode that the neighbours predict, only to make equality with it frequent.
  fileprivate func predictedIntraModeForTest(
    _ m: Int, _ x: Int, _ y: Int, _ mb: MacroblockInfo, constrained: Bool
  ) -> Int8 {
    info[m] = mb
    return predictedIntraMode(macroblock: m, x: x, y: y, constrained: constrained)
  }
}

extension MacroblockInfo {
  fileprivate mutating func setWhole(_ i: Int) {
    switch i {
    case 0: subType.0 = 0
    case 1: subType.1 = 0
    case 2: subType.2 = 0
    default: subType.3 = 0
    }
  }
}
