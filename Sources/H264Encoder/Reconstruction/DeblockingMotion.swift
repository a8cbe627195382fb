// SPDX-License-Identifier: Apache-2.0
/// What deblocking asks of the motion on both sides of an edge (8.7.2.1).
protocol DeblockingMotion {
  /// Whether one motion serves the whole of an inter macroblock.
  func isUniform(_ type: UInt8) -> Bool
  /// Whether 8x8 blocks `block` of macroblock `m` and `other` of `n` (0 to 3) are predicted from different pictures, or
  /// by vectors that differ by a sample or more.
  func differs(_ m: Int, _ block: Int, _ n: Int, _ other: Int) -> Bool
}

/// One list, in which no picture stands twice.
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

/// Two lists: pictures count, not the lists and indices by which they are referred to.
struct BidirectionalMotion: DeblockingMotion {
  let syntax: PictureSyntax
  let identities: UnsafePointer<Int8>

  @inline(__always) func isUniform(_ type: UInt8) -> Bool { type == MacroblockType.inter16x16 }

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
    // Lists that are not used have zero vectors.
    let (va0, va1) = (syntax.motion[a], syntax.motionL1[a])
    let (vb0, vb1) = (syntax.motion[b], syntax.motionL1[b])
    if isStraight && !va0.isApart(from: vb0) && !va1.isApart(from: vb1) { return false }
    if isCrossed && !va0.isApart(from: vb1) && !va1.isApart(from: vb0) { return false }
    return true
  }
}

extension MotionVector {
  /// By a whole sample or more in a direction.
  @inline(__always) func isApart(from other: MotionVector) -> Bool {
    abs(Int(x) &- Int(other.x)) >= 4 || abs(Int(y) &- Int(other.y)) >= 4
  }
}
