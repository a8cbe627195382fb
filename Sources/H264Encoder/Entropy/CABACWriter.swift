// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream
import VideoEncoding

/// Writes slice data by CABAC (7.3.4, 9.3).
struct CABACWriter: EntropyCoder {
  /// The slice's parameters.
  private(set) var slice = SliceParameters()
  /// The picture's macroblocks.
  private(set) var picture: PictureSyntax
  /// The arithmetic encoder.
  var engine: CABACEngine
  /// The memory of the slice, with the slice header.
  private var bits: BitWriter
  /// QP_Y,PRED of the next macroblock.
  var qp = 0
  /// Whether the previous macroblock of the slice has an mb_qp_delta that is not 0.
  var previousDelta = false
  /// Whether the next macroblock is the slice's first.
  var isFirst = true

  /// The context variables in use, followed by those that `save` has stored.
  private let contextMemory: UnsafeMutablePointer<UInt8>
  /// Bytes from the first to the second.
  private let contextStride: Int
  /// The positions of the current block's levels that are not zero.
  let positions: UnsafeMutablePointer<UInt8>
  /// The state that `save` has stored.
  private var saved: Saved?

  /// The state before a macroblock.
  private struct Saved {
    var engine: CABACEngine
    var qp: Int
    var previousDelta: Bool
    var isFirst: Bool
    /// The last byte before `engine.next` that a carry would increment, all bytes after it being
    /// 0xFF; nil if no byte was written.
    var carryPosition: UnsafeMutablePointer<UInt8>?
    /// The value of that byte.
    var carryByte: UInt8
  }

  /// Makes a writer without a slice.
  ///
  /// - Parameters:
  ///   - picture: any picture's macroblocks.
  ///   - is444: whether slices may be of 4:4:4 pictures, which have more contexts.
  ///   - memory: owns the writer's memory.
  init(picture: PictureSyntax, is444: Bool = false, memory: inout EncoderMemory) {
    self.picture = picture
    contextStride = is444 ? CABACEngine.componentContextCount : 512
    contextMemory = memory.allocate(UInt8.self, count: 2 * contextStride)
    positions = memory.allocate(UInt8.self, count: 64)
    // Points to an empty buffer until `begin` is called.
    bits = BitWriter(contextMemory, capacity: 0)
    engine = CABACEngine(contexts: contextMemory, at: contextMemory, end: contextMemory)
  }

  var bitCount: Int { engine.bitCount(since: bits.start) }
  var overflowed: Bool { bits.overflowed || engine.overflowed }
  var predictedQP: Int { qp }

  mutating func begin(_ slice: SliceParameters, picture: PictureSyntax, after header: BitWriter) {
    self.slice = slice
    self.picture = picture
    bits = header
    bits.align(with: 1)  // cabac_alignment_one_bit
    bits.flush()
    engine = CABACEngine(contexts: contextMemory, at: bits.next, end: bits.end)
    engine.initialiseContexts(column: slice.isP || slice.isB ? 1 + slice.cabacInitIDC : 0, qp: slice.qp)
    if slice.is444 { engine.initialiseComponentContexts() }
    qp = slice.qp
    previousDelta = false
    isFirst = true
    saved = nil
  }

  mutating func finish() -> Int {
    engine.terminate()  // end_of_slice_flag and the stop bit
    return engine.next - bits.start
  }

  mutating func save() {
    var position = engine.next > bits.start ? engine.next - 1 : nil
    while let byte = position, byte > bits.start, byte.pointee == 0xFF { position = byte - 1 }
    saved = Saved(
      engine: engine, qp: qp, previousDelta: previousDelta, isFirst: isFirst, carryPosition: position,
      carryByte: position?.pointee ?? 0)
    (contextMemory + contextStride).update(from: contextMemory, count: contextStride)
  }

  mutating func restore() {
    guard let saved else { return }
    if let carried = saved.carryPosition, carried.pointee != saved.carryByte {
      carried.pointee = saved.carryByte
      var position = carried + 1
      while position < saved.engine.next {
        position.pointee = 0xFF
        position += 1
      }
    }
    engine = saved.engine
    qp = saved.qp
    previousDelta = saved.previousDelta
    isFirst = saved.isFirst
    contextMemory.update(from: contextMemory + contextStride, count: contextStride)
    self.saved = nil
  }

  // MARK: Macroblock layer

  mutating func encode(macroblock m: Int, levels: UnsafePointer<Int16>, pcm: UnsafePointer<UInt8>?) {
    if slice.isB {
      encodeBidirectional(macroblock: m, levels: levels, pcm: pcm)
      return
    }
    var e = engine
    let mb = picture.info + m
    let type = mb.pointee.type
    let available = mb.pointee.available
    let left = mb - 1
    let top = mb - picture.widthInMbs
    let hasLeft = available & Availability.left != 0
    let hasTop = available & Availability.top != 0

    if isFirst { isFirst = false } else { e.continueSlice() }  // end_of_slice_flag of the one before

    if slice.isP {
      // mb_skip_flag
      var context = 11
      if hasLeft && left.pointee.type != MacroblockType.skip { context &+= 1 }
      if hasTop && top.pointee.type != MacroblockType.skip { context &+= 1 }
      if type == MacroblockType.skip {
        e.encode(1, context)
        mb.pointee.qp = UInt8(truncatingIfNeeded: qp)
        mb.pointee.codedBlockPattern = 0
        mb.pointee.codedDC = 0
        mb.pointee.transform8x8 = 0
        previousDelta = false
        engine = e
        return
      }
      e.encode(0, context)
    }

    // mb_type
    if type >= MacroblockType.inter16x16 {
      e.encode(0, 14)
      switch type {
      case MacroblockType.inter16x16:
        e.encode(0, 15)
        e.encode(0, 16)
      case MacroblockType.inter8x8:
        e.encode(0, 15)
        e.encode(1, 16)
      default:
        e.encode(1, 15)
        e.encode(type == MacroblockType.inter16x8 ? 1 : 0, 17)
      }
      engine = e
      interPrediction(m, mb)
      e = engine
    } else {
      var first = 17
      if slice.isP {
        e.encode(1, 14)
      } else {
        first = 3
        if hasLeft && left.pointee.type > MacroblockType.intra8x8 { first &+= 1 }
        if hasTop && top.pointee.type > MacroblockType.intra8x8 { first &+= 1 }
      }
      // The contexts of the bins after the first begin at 6 in I slices and at 18 in P slices.
      if intraType(&e, mb, first, slice.isP ? 18 : 6, spread: slice.isP ? 0 : 1) {
        engine = e
        encodePCM(mb, pcm)
        return
      }
      engine = e
      intraPrediction(m, mb)
      e = engine
    }

    engine = e
    patternAndResidual(m, mb, levels)
  }

  /// Writes mb_type of an intra macroblock, after the prefix that P and B slices have, and
  /// transform_size_8x8_flag.
  ///
  /// - Parameters:
  ///   - e: the engine.
  ///   - mb: the macroblock.
  ///   - first: ctxIdx of the first bin.
  ///   - base: ctxIdx of the first bin of the Intra_16x16 types that has a context.
  ///   - spread: 1 in I slices, where later bins have contexts of their own; 0 in P and B slices.
  /// - Returns: whether it is I_PCM, whose samples have to follow.
  @inline(__always) func intraType(
    _ e: inout CABACEngine, _ mb: UnsafeMutablePointer<MacroblockInfo>, _ first: Int, _ base: Int,
    spread: Int
  ) -> Bool {
    let type = mb.pointee.type
    if type <= MacroblockType.intra8x8 {
      e.encode(0, first)
      if slice.transform8x8Mode {
        e.encode(type == MacroblockType.intra8x8 ? 1 : 0, transformFlagContext(mb))
      }
      return false
    }
    e.encode(1, first)
    if type == MacroblockType.pcm { return true }
    e.continueSlice()  // not I_PCM
    let pattern = mb.pointee.codedBlockPattern
    e.encode(pattern & 15 != 0 ? 1 : 0, base)
    if pattern >= 16 {
      e.encode(1, base &+ 1)
      e.encode(pattern >= 32 ? 1 : 0, base &+ 1 &+ spread)
    } else {
      e.encode(0, base &+ 1)
    }
    let mode = UInt32(mb.pointee.intra16x16Mode)
    e.encode(mode &>> 1, base &+ 2 &+ spread)
    e.encode(mode & 1, base &+ 2 &+ 2 &* spread)
    mb.pointee.transform8x8 = 0
    return false
  }

  /// Writes the samples of an I_PCM macroblock.
  ///
  /// - Parameters:
  ///   - mb: the macroblock.
  ///   - pcm: 256 luma, 64 Cb and 64 Cr samples; at 4:4:4, 256 of each.
  mutating func encodePCM(_ mb: UnsafeMutablePointer<MacroblockInfo>, _ pcm: UnsafePointer<UInt8>?) {
    engine.terminate()  // mb_type's second bin; the samples begin at the next byte
    if !engine.overflowed, let pcm {
      var samples = bits.moved(to: engine.next, overflowed: false)
      samples.append(pcm, count: LevelLayout.samples(is444: slice.is444))
      bits = bits.moved(to: bits.next, overflowed: samples.overflowed)
      engine.restart(at: samples.next)
    }
    mb.pointee.qp = 0
    mb.pointee.transform8x8 = 0
    mb.pointee.codedBlockPattern = 0x2F
    mb.pointee.codedDC = 7
    previousDelta = false
  }
}
