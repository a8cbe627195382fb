// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

// residual() of 4:4:4 pictures (7.3.5.3, ChromaArrayType 3): Cb and Cr are coded as luma is, with
// contexts of their own.
extension CABACWriter {
  /// The contexts of a component's blocks.
  private struct ComponentKinds {
    /// ctxBlockCat 0, 6 and 10.
    let dc: BlockKind
    /// ctxBlockCat 1, 7 and 11.
    let ac: BlockKind
    /// ctxBlockCat 2, 8 and 12.
    let block4x4: BlockKind
    /// ctxBlockCat 5, 9 and 13.
    let block8x8: BlockKind

    static let luma = ComponentKinds(
      dc: .lumaDC, ac: .lumaAC, block4x4: .luma4x4,
      block8x8: BlockKind(codedFlag: 1012, significant: 402, last: 417, magnitude: 426, count: 64))
    static let cb = ComponentKinds(
      dc: BlockKind(codedFlag: 460, significant: 484, last: 572, magnitude: 952, count: 16),
      ac: BlockKind(codedFlag: 464, significant: 499, last: 587, magnitude: 962, count: 15),
      block4x4: BlockKind(codedFlag: 468, significant: 513, last: 601, magnitude: 972, count: 16),
      block8x8: BlockKind(codedFlag: 1016, significant: 660, last: 690, magnitude: 708, count: 64))
    static let cr = ComponentKinds(
      dc: BlockKind(codedFlag: 472, significant: 528, last: 616, magnitude: 982, count: 16),
      ac: BlockKind(codedFlag: 476, significant: 543, last: 631, magnitude: 992, count: 15),
      block4x4: BlockKind(codedFlag: 480, significant: 557, last: 645, magnitude: 1002, count: 16),
      block8x8: BlockKind(codedFlag: 1020, significant: 718, last: 748, magnitude: 766, count: 64))
  }

  /// Writes the levels of a macroblock.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  ///   - levels: its levels, a `LevelLayout` for each component.
  @inline(never)
  mutating func componentResidual(
    _ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>, _ levels: UnsafePointer<Int16>
  ) {
    component(0, .luma, m, mb, levels)
    component(1, .cb, m, mb, levels + LevelLayout.count)
    component(2, .cr, m, mb, levels + 2 &* LevelLayout.count)
  }

  /// Writes the levels of a component.
  ///
  /// - Parameters:
  ///   - c: the component.
  ///   - kinds: its contexts.
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  ///   - levels: the component's levels.
  private mutating func component(
    _ c: Int, _ kinds: ComponentKinds, _ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>,
    _ levels: UnsafePointer<Int16>
  ) {
    let width = picture.widthInMbs
    let type = mb.pointee.type
    let pattern = mb.pointee.codedBlockPattern
    let hasLeft = mb.pointee.available & Availability.left != 0
    let hasTop = mb.pointee.available & Availability.top != 0
    let outside: UInt32 = MacroblockType.isIntra(type) ? 0xFFFF : 0
    let counts = picture.nonZero + (c &* picture.componentCounts &+ m &* 24)
    let coded = ovt_nonzero_counts24(counts)
    var leftCoded = hasLeft ? ovt_nonzero_counts24(counts - 24) : outside
    var topCoded = hasTop ? ovt_nonzero_counts24(counts - width &* 24) : outside

    let isIntra16x16 = type == MacroblockType.intra16x16
    if isIntra16x16 {
      var context = kinds.dc.codedFlag
      if !hasLeft || Self.hasDC(mb - 1, c) { context &+= 1 }
      if !hasTop || Self.hasDC(mb - width, c) { context &+= 2 }
      flaggedBlock(
        levels + LevelLayout.lumaDC, mb.pointee.codedDC &>> UInt8(c) & 1 != 0, context, kinds.dc)
    }
    guard pattern & 15 != 0 else { return }
    let is8x8 = mb.pointee.transform8x8 != 0
    if is8x8 {
      // Of a neighbour without the 8x8 transform, no block is available; I_PCM counts as coded
      // (9.3.3.1.1.9).
      if hasLeft { leftCoded = Self.coded8x8(mb - 1, leftCoded) }
      if hasTop { topCoded = Self.coded8x8(mb - width, topCoded) }
    }
    // Flags of the blocks at the left (A) and above (B) of each block, in raster order.
    let a = (coded &<< 1 & 0xEEEE) | (leftCoded &>> 3 & 0x1111)
    let b = (coded &<< 4 & 0xFFF0) | (topCoded &>> 12 & 0x000F)
    for i in 0..<4 where pattern &>> UInt8(truncatingIfNeeded: i) & 1 != 0 {
      let corner = (i & 1) &* 2 &+ (i & 2) &* 4
      if is8x8 {
        let raster = UInt32(truncatingIfNeeded: corner)
        let inc = Int(truncatingIfNeeded: a &>> raster & 1 &+ (b &>> raster & 1) &* 2)
        let context = kinds.block8x8.codedFlag &+ inc
        if coded &>> raster & 1 != 0 {
          engine.encode(1, context)
          block8x8(levels + i &* 64, kinds.block8x8)
        } else {
          engine.encode(0, context)
        }
        continue
      }
      for j in 0..<4 {
        let raster = UInt32(truncatingIfNeeded: corner &+ (j & 1) &+ (j & 2) &* 2)
        let inc = Int(truncatingIfNeeded: a &>> raster & 1 &+ (b &>> raster & 1) &* 2)
        let flag = coded &>> raster & 1 != 0
        let block = levels + (i &* 4 &+ j) &* 16
        if isIntra16x16 {
          flaggedBlock(block + 1, flag, kinds.ac.codedFlag &+ inc, kinds.ac)
        } else {
          flaggedBlock(block, flag, kinds.block4x4.codedFlag &+ inc, kinds.block4x4)
        }
      }
    }
  }

  /// Whether a neighbour has coded DC levels of a component, which only Intra_16x16 macroblocks and
  /// I_PCM can have.
  private static func hasDC(_ mb: UnsafeMutablePointer<MacroblockInfo>, _ c: Int) -> Bool {
    mb.pointee.codedDC &>> UInt8(c) & 1 != 0
      && (mb.pointee.type == MacroblockType.intra16x16 || mb.pointee.type == MacroblockType.pcm)
  }

  /// The coded blocks of a neighbour as the flag of an 8x8 block counts them.
  private static func coded8x8(_ mb: UnsafeMutablePointer<MacroblockInfo>, _ coded: UInt32) -> UInt32 {
    mb.pointee.transform8x8 != 0 || mb.pointee.type == MacroblockType.pcm ? coded : 0
  }
}

extension CABACEngine {
  /// The number of context variables of 4:4:4 pictures (frame macroblocks).
  static let componentContextCount = 1024

  /// Initialises the contexts of Cb and Cr, whose values of m and n are those of luma (Tables 9-24
  /// to 9-33). Those of luma must have been initialised.
  func initialiseComponentContexts() {
    func copy(_ from: Int, _ count: Int, to first: Int, _ second: Int) {
      (contexts + first).update(from: contexts + from, count: count)
      (contexts + second).update(from: contexts + from, count: count)
    }
    // coded_block_flag, significant_coeff_flag, last_significant_coeff_flag and
    // coeff_abs_level_minus1 of DC, AC and 4x4 blocks.
    copy(85, 12, to: 460, 472)
    copy(105, 44, to: 484, 528)
    copy(166, 44, to: 572, 616)
    copy(227, 30, to: 952, 982)
    // The same syntax elements of 8x8 blocks, for which coded_block_flag is also sent in luma.
    copy(402, 15, to: 660, 718)
    copy(417, 9, to: 690, 748)
    copy(426, 10, to: 708, 766)
    copy(93, 4, to: 1012, 1016)
    (contexts + 1020).update(from: contexts + 93, count: 4)
  }
}
