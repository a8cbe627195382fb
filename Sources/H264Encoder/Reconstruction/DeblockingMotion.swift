// SPDX-License-Identifier: Apache-2.0
/// The motion of blocks as the derivation of bS compares it (8.7.2.1).
protocol DeblockingMotion {
  /// Whether an inter macroblock of this type has one motion.
  func isUniform(_ type: UInt8) -> Bool
  /// Whether two 8x8 blocks are predicted from different reference pictures, or by vectors that
  /// differ by a luma sample or more in a component.
  ///
  /// - Parameters:
  ///   - m: the first block's macroblock.
  ///   - block: the first block, 0 to 3.
  ///   - n: the second block's macroblock.
  ///   - other: the second block, 0 to 3.
  func differs(_ m: Int, _ block: Int, _ n: Int, _ other: Int) -> Bool
}

/// The motion of a P picture: each picture has one reference index.
struct ForwardMotion: DeblockingMotion {
  let syntax: PictureSyntax

  @inline(__always) func isUniform(_ type: UInt8) -> Bool {
    type == MacroblockType.skip || type == MacroblockType.inter16x16
  }

  @inline(__always) func differs(_ m: Int, _ block: Int, _ n: Int, _ other: Int) -> Bool {
    if syntax.referenceIndex[m &* 4 &+ block] != syntax.referenceIndex[n &* 4 &+ other] { return true }
    let a = syntax.motion[m &* 4 &+ block]
    let b = syntax.motion[n &* 4 &+ other]
    return a.isApart(from: b)
  }
}

/// The motion of a B picture: reference pictures are compared, whatever the lists and indices that
/// refer to them.
struct BidirectionalMotion: DeblockingMotion {
  let syntax: PictureSyntax
  /// `DeblockingFilter.pictureIdentities`
  let identities: UnsafePointer<Int8>

  @inline(__always) func isUniform(_ type: UInt8) -> Bool { type == MacroblockType.inter16x16 }

  /// The identity of the picture with an index in a list; -1 where the list is not used.
  @inline(__always) private func identity(_ index: Int8, list1: Bool) -> Int8 {
    index < 0 ? -1 : identities[Int(index) &+ (list1 ? ReferencePlanes.list1 : 0)]
  }

  func differs(_ m: Int, _ block: Int, _ n: Int, _ other: Int) -> Bool {
    let a = m &* 4 &+ block
    let b = n &* 4 &+ other
    let a0 = identity(syntax.referenceIndex[a], list1: false)
    let a1 = identity(syntax.referenceIndexL1[a], list1: true)
    let b0 = identity(syntax.referenceIndex[b], list1: false)
    let b1 = identity(syntax.referenceIndexL1[b], list1: true)
    let isStraight = a0 == b0 && a1 == b1
    let isCrossed = a0 == b1 && a1 == b0
    if !isStraight && !isCrossed { return true }
    // The vectors of a list that is not used are zero.
    let (va0, va1) = (syntax.motion[a], syntax.motionL1[a])
    let (vb0, vb1) = (syntax.motion[b], syntax.motionL1[b])
    if isStraight && !va0.isApart(from: vb0) && !va1.isApart(from: vb1) { return false }
    if isCrossed && !va0.isApart(from: vb1) && !va1.isApart(from: vb0) { return false }
    return true
  }
}

extension MotionVector {
  /// Whether two vectors differ by a luma sample or more in a component.
  @inline(__always) func isApart(from other: MotionVector) -> Bool {
    abs(Int(x) &- Int(other.x)) >= 4 || abs(Int(y) &- Int(other.y)) >= 4
  }
}
