// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

/// Writes slice data by Exp-Golomb codes and CAVLC (7.3.4, 9.1, 9.2).
struct CAVLCWriter: EntropyCoder {
  /// The slice's parameters.
  private(set) var slice = SliceParameters()
  /// The picture's macroblocks.
  private(set) var picture: PictureSyntax
  /// The slice's bits.
  var bits: BitWriter
  /// QP_Y,PRED of the next macroblock.
  private var qp = 0
  /// mb_skip_run so far.
  private var skipRun = 0
  /// The state that `save` has stored.
  private var saved: (bits: BitWriter, qp: Int, skipRun: Int)?

  /// Makes a writer without a slice, which has no room to write.
  ///
  /// - Parameter picture: any picture's macroblocks.
  init(picture: PictureSyntax) {
    self.picture = picture
    bits = BitWriter(UnsafeMutablePointer(mutating: picture.nonZero), capacity: 0)
  }

  var bitCount: Int {
    guard skipRun > 0 else { return bits.bitCount }
    return bits.bitCount + EntropyCost.ue(skipRun)
  }
  var overflowed: Bool { bits.overflowed }
  var predictedQP: Int { qp }

  mutating func begin(_ slice: SliceParameters, picture: PictureSyntax, after header: BitWriter) {
    self.slice = slice
    self.picture = picture
    bits = header
    qp = slice.qp
    skipRun = 0
    saved = nil
  }

  mutating func finish() -> Int {
    if skipRun > 0 { bits.ue(skipRun) }
    skipRun = 0
    bits.trailingBits()
    bits.flush()
    return bits.next - bits.start
  }

  mutating func save() { saved = (bits, qp, skipRun) }

  mutating func restore() {
    guard let saved else { return }
    (bits, qp, skipRun) = saved
    self.saved = nil
  }

  // MARK: Macroblock layer

  mutating func encode(macroblock m: Int, levels: UnsafePointer<Int16>, pcm: UnsafePointer<UInt8>?) {
    let mb = picture.info + m
    let type = mb.pointee.type
    if type == MacroblockType.skip {
      skipRun &+= 1
      mb.pointee.qp = UInt8(truncatingIfNeeded: qp)
      mb.pointee.codedBlockPattern = 0
      mb.pointee.codedDC = 0
      mb.pointee.transform8x8 = 0
      return
    }
    var w = bits
    var intraOffset = 0
    if slice.isP || slice.isB {
      w.ue(skipRun)
      skipRun = 0
      intraOffset = slice.isP ? 5 : 23
    }
    let pattern = mb.pointee.codedBlockPattern

    // mb_type (Tables 7-11 and 7-13) and the prediction.
    switch type {
    case MacroblockType.intra4x4, MacroblockType.intra8x8:
      w.ue(intraOffset)
      if slice.transform8x8Mode { w.put(UInt32(type), 1) }
      intraModes(&w, m, mb)
      if !slice.is444 { w.ue(Int(mb.pointee.intraChromaMode)) }
    case MacroblockType.intra16x16:
      w.ue(
        intraOffset &+ 1 &+ Int(mb.pointee.intra16x16Mode) &+ 4 &* Int(pattern &>> 4)
          &+ (pattern & 15 != 0 ? 12 : 0))
      if !slice.is444 { w.ue(Int(mb.pointee.intraChromaMode)) }
      mb.pointee.transform8x8 = 0
    case MacroblockType.pcm:
      w.ue(intraOffset &+ 25)
      w.align(with: 0)
      if let pcm { w.append(pcm, count: LevelLayout.samples(is444: slice.is444)) }
      mb.pointee.qp = 0
      mb.pointee.transform8x8 = 0
      mb.pointee.codedBlockPattern = 0x2F
      mb.pointee.codedDC = 7
      bits = w
      return
    default:
      if slice.isB { bidirectionalPrediction(&w, m, mb) } else { interPrediction(&w, m, mb) }
    }

    if type != MacroblockType.intra16x16 {
      let isInter = type >= MacroblockType.inter16x16
      w.ue(
        slice.is444
          ? Self.patternNumber(pattern, isInter: isInter)
          : Int(ovt_coded_block_pattern(isInter ? 1 : 0)![Int(pattern)]))
      if isInter {
        if slice.transform8x8Mode && pattern & 15 != 0
          && (type != MacroblockType.inter8x8 || mb.pointee.hasOnlyWholeSubMacroblocks)
        {
          w.put(UInt32(mb.pointee.transform8x8), 1)
        } else {
          mb.pointee.transform8x8 = 0
        }
      }
      if pattern == 0 {
        mb.pointee.qp = UInt8(truncatingIfNeeded: qp)
        mb.pointee.codedDC = 0
        bits = w
        return
      }
    }

    // mb_qp_delta; QP wraps around in 0...51 (7.4.5).
    var delta = Int(mb.pointee.qp) &- qp
    qp = Int(mb.pointee.qp)
    if delta > 25 { delta &-= 52 } else if delta < -26 { delta &+= 52 }
    w.se(delta)
    bits = w
    if slice.is444 { componentResidual(m, mb, levels) } else { residual(m, mb, levels) }
  }

  /// Writes prev_intra4x4_pred_mode_flag and rem_intra4x4_pred_mode of each block, or those of 8x8.
  ///
  /// - Parameters:
  ///   - w: the writer of the slice's bits.
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  @inline(__always)
  private func intraModes(_ w: inout BitWriter, _ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>) {
    let modes = picture.intraModes + m &* 16
    let step = mb.pointee.type == MacroblockType.intra8x8 ? 4 : 1
    var block = 0  // luma4x4BlkIdx
    while block < 16 {
      let x = block & 1 &+ (block &>> 1 & 2)
      let y = block &>> 1 & 1 &+ (block &>> 2 & 2)
      let predicted = picture.predictedIntraMode(
        macroblock: m, x: x, y: y, constrained: slice.constrainedIntraPrediction)
      let mode = modes[y &* 4 &+ x]
      if mode == predicted {
        w.put(1, 1)
      } else {
        w.put(UInt32(truncatingIfNeeded: mode > predicted ? mode &- 1 : mode), 4)
      }
      block &+= step
    }
  }

  /// Writes mb_type, sub_mb_type, ref_idx_l0 and mvd_l0 of an inter macroblock in a P slice.
  ///
  /// - Parameters:
  ///   - w: the writer of the slice's bits.
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  @inline(__always)
  private func interPrediction(_ w: inout BitWriter, _ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>) {
    let type = mb.pointee.type
    let references = picture.referenceIndex + m &* 4
    let largest = slice.activeReferences &- 1
    if type == MacroblockType.inter8x8 {
      // P_8x8ref0 is sent where all four indices are 0.
      let allZero = references[0] | references[1] | references[2] | references[3] == 0
      let omit = largest > 0 && allZero
      w.ue(omit ? 4 : 3)
      for i in 0..<4 { w.ue(Int(mb.pointee.subMacroblockType(i))) }
      if largest > 0 && !omit {
        for i in 0..<4 { w.te(Int(references[i]), largest: largest) }
      }
    } else {
      w.ue(Int(type &- MacroblockType.inter16x16))
      if largest > 0 {
        w.te(Int(references[0]), largest: largest)
        if type == MacroblockType.inter16x8 {
          w.te(Int(references[2]), largest: largest)
        } else if type == MacroblockType.inter8x16 {
          w.te(Int(references[1]), largest: largest)
        }
      }
    }
    let differences = picture.motionDifference + m &* 16
    var (blocks, count) = picture.partitions(mb)
    while count > 0 {
      let difference = differences[Int(truncatingIfNeeded: blocks & 15)]
      w.se(Int(difference.x))
      w.se(Int(difference.y))
      blocks = blocks &>> 4
      count &-= 1
    }
  }
}
