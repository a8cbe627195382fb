// SPDX-License-Identifier: Apache-2.0
/// The motion of a reference picture, as B pictures need it that take it as colocated picture (8.4.1.2.1): of each
/// 8x8 block the vector and the reference of the 4x4 block at the macroblock's corner (direct_8x8_inference_flag).
struct StoredMotion {
  /// 4 for each macroblock; zero for intra.
  let vectors: UnsafeMutablePointer<MotionVector>
  /// 4 for each macroblock: the reference index in list 0, or `ReferencePlanes.list1` and that in list 1 where list 0 is
  /// not used; -1 for intra.
  let references: UnsafeMutablePointer<Int8>
  /// PicOrderCnt of what the indices refer to.
  let orderCounts: UnsafeMutablePointer<Int32>

  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    let count = geometry.macroblockCount * 4
    vectors = memory.allocate(MotionVector.self, count: count)
    references = memory.allocate(Int8.self, count: count)
    orderCounts = memory.allocate(Int32.self, count: 2 * ReferencePlanes.list1)
  }

  /// Takes a coded row over.
  func store(row: Int, _ syntax: PictureSyntax, bidirectional: Bool) {
    let first = row &* syntax.widthInMbs
    for m in first..<(first &+ syntax.widthInMbs) {
      for i in 0..<4 {
        let at = m &* 4 &+ i
        var reference = syntax.referenceIndex[at]
        var vector = syntax.motion[at]
        if reference < 0, bidirectional, syntax.referenceIndexL1[at] >= 0 {
          reference = syntax.referenceIndexL1[at] &+ Int8(ReferencePlanes.list1)
          vector = syntax.motionL1[at]
        }
        references[at] = reference
        vectors[at] = vector
      }
    }
  }
}
