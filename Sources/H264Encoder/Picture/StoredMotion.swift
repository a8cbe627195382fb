// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The motion of a reference picture as B pictures need it that take it as colocated picture
/// (8.4.1.2.1). For each 8x8 block it is that of the 4x4 block at the corner of the macroblock
/// (direct_8x8_inference_flag).
struct StoredMotion {
  /// The vector of each 8x8 block in quarter samples, 4 per macroblock; zero in intra macroblocks.
  let vectors: UnsafeMutablePointer<MotionVector>
  /// The reference of each 8x8 block, 4 per macroblock: the index in list 0 or, where list 0 is not
  /// used, `ReferencePlanes.list1` plus the index in list 1; -1 in intra macroblocks.
  let references: UnsafeMutablePointer<Int8>
  /// PicOrderCnt of the reference pictures, by the values of `references`.
  let orderCounts: UnsafeMutablePointer<Int32>

  /// Allocates the motion of a picture.
  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    let count = geometry.macroblockCount * 4
    vectors = memory.allocate(MotionVector.self, count: count)
    references = memory.allocate(Int8.self, count: count)
    orderCounts = memory.allocate(Int32.self, count: 2 * ReferencePlanes.list1)
  }

  /// Stores the motion of a macroblock row that was coded.
  /// - Parameters:
  ///   - row: the index of the row.
  ///   - syntax: the macroblocks of the picture.
  ///   - bidirectional: whether it is a B picture.
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
