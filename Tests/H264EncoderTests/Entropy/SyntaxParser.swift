// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

@testable import H264Encoder

// A parser of slice data written from the standard's decoding processes, to check the writers
// against. It favours being close to the text over speed and shares nothing with the writers but
// the tables.

struct ParseError: Error { var what: String }

/// One macroblock as a decoder understands it.
struct ParsedMacroblock {
  var slice = -1
  var type: UInt8 = 0
  var transform8x8 = 0
  var intra16x16Mode = 0
  var chromaMode = 0
  var pattern = 0
  var qp = 0
  var delta = 0
  var sub = [0, 0, 0, 0]
  var references = [0, 0, 0, 0]
  /// x, y of each 4x4 block.
  var mvdX = [Int](repeating: 0, count: 16)
  var mvdY = [Int](repeating: 0, count: 16)
  /// The same of list 1 in B slices, where -1 is a list that is not used; direct blocks have 0 and
  /// no difference.
  var referencesL1 = [-1, -1, -1, -1]
  var mvdXL1 = [Int](repeating: 0, count: 16)
  var mvdYL1 = [Int](repeating: 0, count: 16)
  /// Of the four 8x8 blocks.
  var direct = [false, false, false, false]
  var modes = [Int](repeating: 2, count: 16)
  var levels = [Int](repeating: 0, count: LevelLayout.count)
  /// total_coeff of CAVLC, or coded_block_flag of CABAC: 16 luma raster, 4 Cb, 4 Cr.
  var counts = [Int](repeating: 0, count: 24)
  var dcFlags = [0, 0, 0]
  var pcm: [UInt8] = []

  var isIntra: Bool { MacroblockType.isIntra(type) }
  var isSkip: Bool { type == MacroblockType.skip }
  var isPCM: Bool { type == MacroblockType.pcm }
  var isNxN: Bool { type == MacroblockType.intra4x4 || type == MacroblockType.intra8x8 }
}

struct BitReader {
  let bytes: [UInt8]
  var position: Int

  mutating func bit() throws -> Int {
    guard position < bytes.count * 8 else { throw ParseError(what: "end of data") }
    defer { position += 1 }
    return Int(bytes[position >> 3] >> (7 - UInt8(position & 7))) & 1
  }

  mutating func u(_ count: Int) throws -> Int {
    var value = 0
    for _ in 0..<count { value = value << 1 | (try bit()) }
    return value
  }

  mutating func ue() throws -> Int {
    var zeros = 0
    while try bit() == 0 { zeros += 1 }
    guard zeros < 40 else { throw ParseError(what: "ue") }
    return (1 << zeros) - 1 + (try u(zeros))
  }

  mutating func se() throws -> Int {
    let k = try ue()
    return k & 1 == 1 ? (k + 1) / 2 : -(k / 2)
  }

  /// more_rbsp_data()
  var hasMore: Bool {
    var last = bytes.count * 8 - 1
    while last >= 0 && bytes[last >> 3] >> (7 - UInt8(last & 7)) & 1 == 0 { last -= 1 }
    return position < last
  }
}

/// Removes emulation_prevention_three_byte from a NAL unit and its header byte.
func rawPayload(_ unit: ArraySlice<UInt8>, headerLength: Int = 1) -> [UInt8] {
  var out: [UInt8] = []
  var zeros = 0
  for byte in unit.dropFirst(headerLength) {
    if zeros >= 2 && byte == 3 {
      zeros = 0
      continue
    }
    out.append(byte)
    zeros = byte == 0 ? zeros + 1 : 0
  }
  return out
}

final class SliceParser {
  let width: Int
  let slice: SliceParameters
  let cabac: Bool
  var reader: BitReader
  var arithmetic: ArithmeticDecoder
  var mbs: [ParsedMacroblock]
  let sliceNumber: Int
  var m: Int
  var qp: Int

  /// `mbs` holds what was parsed of the picture so far.
  init(
    payload: [UInt8], dataBit: Int, first: Int, width: Int, slice: SliceParameters, cabac: Bool,
    sliceNumber: Int, mbs: [ParsedMacroblock]
  ) {
    self.width = width
    self.slice = slice
    self.cabac = cabac
    self.sliceNumber = sliceNumber
    self.mbs = mbs
    reader = BitReader(bytes: payload, position: dataBit)
    arithmetic = ArithmeticDecoder()
    m = first
    qp = slice.qp
  }

  /// slice_data(); returns the macroblock after the last.
  func parse() throws -> Int {
    if cabac {
      while reader.position & 7 != 0 {
        guard try reader.bit() == 1 else { throw ParseError(what: "cabac_alignment_one_bit") }
      }
      arithmetic.initialiseContexts(slice)
      try arithmetic.start(&reader)
    }
    var previousSkipped = false
    while true {
      guard m < mbs.count else { throw ParseError(what: "too many macroblocks") }
      if slice.isP || slice.isB {
        if cabac {
          begin()
          if try skipFlag() == 1 {
            skip()
          } else {
            try macroblockLayer()
          }
        } else {
          let run = try reader.ue()
          for _ in 0..<run {
            guard m < mbs.count else { throw ParseError(what: "mb_skip_run") }
            begin()
            skip()
            m += 1
          }
          previousSkipped = run > 0
          if previousSkipped && !reader.hasMore { return m }
          guard m < mbs.count else { throw ParseError(what: "too many macroblocks") }
          begin()
          try macroblockLayer()
        }
      } else {
        begin()
        try macroblockLayer()
      }
      m += 1
      if cabac {
        if try arithmetic.terminate(&reader) == 1 { return m }
      } else if !reader.hasMore {
        return m
      }
    }
  }

  private func begin() {
    mbs[m] = ParsedMacroblock()
    mbs[m].slice = sliceNumber
  }

  private func skip() {
    mbs[m].type = MacroblockType.skip
    if slice.isB { mbs[m].direct = [true, true, true, true] }
    mbs[m].qp = qp
    mbs[m].delta = 0
  }

  // MARK: Neighbours (6.4.9 to 6.4.11)

  func macroblock(_ dx: Int, _ dy: Int) -> ParsedMacroblock? {
    let x = m % width + dx
    let y = m / width + dy
    guard x >= 0, x < width, y >= 0 else { return nil }
    let n = y * width + x
    return mbs[n].slice == sliceNumber ? mbs[n] : nil
  }

  var left: ParsedMacroblock? { macroblock(-1, 0) }
  var top: ParsedMacroblock? { macroblock(0, -1) }

  /// The macroblock and the raster index of the block to the left of (x, y) on a grid of `size`
  /// blocks a side, and of the one above.
  func leftBlock(_ x: Int, _ y: Int, _ size: Int) -> (ParsedMacroblock, Int)? {
    if x > 0 { return (mbs[m], y * size + x - 1) }
    return left.map { ($0, y * size + size - 1) }
  }

  func topBlock(_ x: Int, _ y: Int, _ size: Int) -> (ParsedMacroblock, Int)? {
    if y > 0 { return (mbs[m], (y - 1) * size + x) }
    return top.map { ($0, (size - 1) * size + x) }
  }

  // MARK: macroblock_layer() (7.3.5)

  private func macroblockLayer() throws {
    try macroblockType()
    if mbs[m].isPCM {
      if cabac {
        // The arithmetic decoder has read nine bits at its start: all up to the last of the
        // codeword.
        reader.position = arithmetic.position(reader)
      }
      while reader.position & 7 != 0 {
        guard try reader.bit() == 0 else { throw ParseError(what: "pcm_alignment_zero_bit") }
      }
      for _ in 0..<384 { mbs[m].pcm.append(UInt8(try reader.u(8))) }
      if cabac { try arithmetic.start(&reader) }
      mbs[m].pattern = 0x2F
      mbs[m].dcFlags = [1, 1, 1]
      mbs[m].counts = [Int](repeating: cabac ? 1 : 16, count: 24)
      mbs[m].qp = 0
      return
    }
    if mbs[m].type == MacroblockType.inter8x8 {
      for i in 0..<4 { if slice.isB { try bidirectionalSubType(i) } else { mbs[m].sub[i] = try subType() } }
    } else if mbs[m].isNxN && slice.transform8x8Mode {
      mbs[m].transform8x8 = try transformFlag()
      mbs[m].type = mbs[m].transform8x8 == 1 ? MacroblockType.intra8x8 : MacroblockType.intra4x4
    }
    if mbs[m].isIntra {
      try intraPrediction()
    } else if slice.isB {
      try bidirectionalPrediction()
    } else {
      try interPrediction()
    }
    if mbs[m].type != MacroblockType.intra16x16 {
      mbs[m].pattern = try codedBlockPattern()
      if mbs[m].pattern & 15 > 0 && slice.transform8x8Mode && !mbs[m].isIntra
        && (mbs[m].type != MacroblockType.inter8x8 || mbs[m].sub == [0, 0, 0, 0])
      {
        mbs[m].transform8x8 = try transformFlag()
      }
    }
    if mbs[m].pattern > 0 || mbs[m].type == MacroblockType.intra16x16 {
      let delta = try qpDelta()
      guard (-26...25).contains(delta) else { throw ParseError(what: "mb_qp_delta \(delta)") }
      mbs[m].delta = delta
      qp = (qp + delta + 52) % 52
      mbs[m].qp = qp
      try residual()
    } else {
      mbs[m].qp = qp
    }
  }

  private func macroblockType() throws {
    if slice.isB {
      refsOmitted = false
      return try bidirectionalType()
    }
    if cabac {
      if slice.isP {
        if try arithmetic.decision(14, &reader) == 0 {
          if try arithmetic.decision(15, &reader) == 0 {
            mbs[m].type =
              try arithmetic.decision(16, &reader) == 0
              ? MacroblockType.inter16x16 : MacroblockType.inter8x8
          } else {
            mbs[m].type =
              try arithmetic.decision(17, &reader) == 0
              ? MacroblockType.inter8x16 : MacroblockType.inter16x8
          }
        } else {
          try intraType(number: try intraTypeCABAC(prefix: 17, base: 17, inP: true))
        }
      } else {
        let inc = [left, top].reduce(0) { $0 + (($1.map { !$0.isNxN } ?? false) ? 1 : 0) }
        try intraType(number: try intraTypeCABAC(prefix: 3 + inc, base: 3, inP: false))
      }
    } else {
      var number = try reader.ue()
      if slice.isP {
        if number < 5 {
          mbs[m].type =
            [
              MacroblockType.inter16x16, MacroblockType.inter16x8, MacroblockType.inter8x16,
              MacroblockType.inter8x8, MacroblockType.inter8x8,
            ][number]
          refsOmitted = number == 4
          return
        }
        number -= 5
      }
      try intraType(number: number)
    }
    refsOmitted = false
  }

  /// P_8x8ref0
  private var refsOmitted = false

  /// Table 7-11.
  func intraType(number: Int) throws {
    switch number {
    case 0: mbs[m].type = MacroblockType.intra4x4
    case 25: mbs[m].type = MacroblockType.pcm
    case 1...24:
      mbs[m].type = MacroblockType.intra16x16
      mbs[m].intra16x16Mode = (number - 1) % 4
      mbs[m].pattern = ((number - 1) / 4 % 3) << 4 | (number >= 13 ? 15 : 0)
    default: throw ParseError(what: "mb_type \(number)")
    }
    mbs[m].references = [-1, -1, -1, -1]
  }

  /// Table 9-36 with the contexts of 9.3.3.1.2.
  func intraTypeCABAC(prefix: Int, base: Int, inP: Bool) throws -> Int {
    if try arithmetic.decision(prefix, &reader) == 0 { return 0 }
    if try arithmetic.terminate(&reader) == 1 { return 25 }
    let inc = inP ? [1, 2, 2, 3, 3, 3] : [3, 4, 5, 6, 6, 7]
    var number = 1
    if try arithmetic.decision(base + inc[0], &reader) == 1 { number += 12 }
    if try arithmetic.decision(base + inc[1], &reader) == 1 {
      number += 4
      if try arithmetic.decision(base + inc[2], &reader) == 1 { number += 4 }
      // binIdx 5 with b3 = 1, then binIdx 6.
      number += 2 * (try arithmetic.decision(base + inc[3], &reader))
      number += try arithmetic.decision(base + inc[5], &reader)
    } else {
      number += 2 * (try arithmetic.decision(base + inc[4], &reader))
      number += try arithmetic.decision(base + inc[5], &reader)
    }
    return number
  }

  private func skipFlag() throws -> Int {
    let inc = [left, top].reduce(0) { $0 + (($1.map { !$0.isSkip } ?? false) ? 1 : 0) }
    return try arithmetic.decision((slice.isB ? 24 : 11) + inc, &reader)
  }

  private func subType() throws -> Int {
    guard cabac else { return try reader.ue() }
    if try arithmetic.decision(21, &reader) == 1 { return 0 }
    if try arithmetic.decision(22, &reader) == 0 { return 1 }
    return try arithmetic.decision(23, &reader) == 1 ? 2 : 3
  }

  private func transformFlag() throws -> Int {
    guard cabac else { return try reader.bit() }
    let inc = (left?.transform8x8 ?? 0) + (top?.transform8x8 ?? 0)
    return try arithmetic.decision(399 + inc, &reader)
  }

  private func intraPrediction() throws {
    if mbs[m].isNxN {
      let size = mbs[m].type == MacroblockType.intra8x8 ? 2 : 1
      for block in stride(from: 0, to: 16, by: size * size) {
        let x = (block >> 2 & 1) * 2 + (block & 1)
        let y = (block >> 3) * 2 + (block >> 1 & 1)
        let predicted = predictedMode(x, y)
        var mode = predicted
        if try cabac ? arithmetic.decision(68, &reader) == 0 : reader.bit() == 0 {
          var rest = 0
          if cabac {
            for i in 0..<3 { rest |= (try arithmetic.decision(69, &reader)) << i }
          } else {
            rest = try reader.u(3)
          }
          mode = rest < predicted ? rest : rest + 1
        }
        for dy in 0..<size { for dx in 0..<size { mbs[m].modes[(y + dy) * 4 + x + dx] = mode } }
      }
    }
    if cabac {
      let inc = [left, top].reduce(0) {
        $0 + (($1.map { $0.isIntra && !$0.isPCM && $0.chromaMode != 0 } ?? false) ? 1 : 0)
      }
      if try arithmetic.decision(64 + inc, &reader) == 1 {
        mbs[m].chromaMode = 1
        while mbs[m].chromaMode < 3, try arithmetic.decision(67, &reader) == 1 { mbs[m].chromaMode += 1 }
      }
    } else {
      mbs[m].chromaMode = try reader.ue()
    }
    guard mbs[m].chromaMode <= 3 else { throw ParseError(what: "intra_chroma_pred_mode") }
  }

  private func predictedMode(_ x: Int, _ y: Int) -> Int {
    guard let (a, i) = leftBlock(x, y, 4), let (b, j) = topBlock(x, y, 4) else { return 2 }
    if slice.constrainedIntraPrediction && (!a.isIntra || !b.isIntra) { return 2 }
    return min(a.isNxN ? a.modes[i] : 2, b.isNxN ? b.modes[j] : 2)
  }

  private func interPrediction() throws {
    let parts: [(x: Int, y: Int, w: Int, h: Int)]
    switch mbs[m].type {
    case MacroblockType.inter16x16: parts = [(0, 0, 4, 4)]
    case MacroblockType.inter16x8: parts = [(0, 0, 4, 2), (0, 2, 4, 2)]
    case MacroblockType.inter8x16: parts = [(0, 0, 2, 4), (2, 0, 2, 4)]
    default: parts = [(0, 0, 2, 2), (2, 0, 2, 2), (0, 2, 2, 2), (2, 2, 2, 2)]
    }
    if slice.activeReferences > 1 && !refsOmitted {
      for part in parts {
        let index = try reference(part.x / 2, part.y / 2)
        guard index < slice.activeReferences else { throw ParseError(what: "ref_idx \(index)") }
        for y in stride(from: part.y / 2, to: (part.y + part.h) / 2, by: 1) {
          for x in stride(from: part.x / 2, to: (part.x + part.w) / 2, by: 1) {
            mbs[m].references[y * 2 + x] = index
          }
        }
      }
    }
    for (i, part) in parts.enumerated() {
      var (w, h) = (part.w, part.h)
      if mbs[m].type == MacroblockType.inter8x8 {
        guard mbs[m].sub[i] < 4 else { throw ParseError(what: "sub_mb_type") }
        (w, h) = [(2, 2), (2, 1), (1, 2), (1, 1)][mbs[m].sub[i]]
      }
      for y in stride(from: part.y, to: part.y + part.h, by: h) {
        for x in stride(from: part.x, to: part.x + part.w, by: w) {
          let dx = try difference(x, y, vertical: false)
          let dy = try difference(x, y, vertical: true)
          for by in y..<y + h {
            for bx in x..<x + w {
              mbs[m].mvdX[by * 4 + bx] = dx
              mbs[m].mvdY[by * 4 + bx] = dy
            }
          }
        }
      }
    }
  }

  func reference(_ x: Int, _ y: Int, list1: Bool = false) throws -> Int {
    let active = list1 ? slice.activeReferencesL1 : slice.activeReferences
    if !cabac { return active > 2 ? try reader.ue() : 1 - (try reader.bit()) }
    func isAbove0(_ neighbour: (ParsedMacroblock, Int)?) -> Bool {
      guard let (mb, i) = neighbour else { return false }
      return (list1 ? mb.referencesL1 : mb.references)[i] > 0 && !mb.direct[i]
    }
    var context = 54
    if isAbove0(leftBlock(x, y, 2)) { context += 1 }
    if isAbove0(topBlock(x, y, 2)) { context += 2 }
    var index = 0
    while try arithmetic.decision(context, &reader) == 1 {
      index += 1
      context = index == 1 ? 58 : 59
      guard index < 40 else { throw ParseError(what: "ref_idx") }
    }
    return index
  }

  func difference(_ x: Int, _ y: Int, vertical: Bool, list1: Bool = false) throws -> Int {
    if !cabac { return try reader.se() }
    func size(_ neighbour: (ParsedMacroblock, Int)?) -> Int {
      guard let (mb, i) = neighbour else { return 0 }
      return abs(
        list1 ? (vertical ? mb.mvdYL1 : mb.mvdXL1)[i] : (vertical ? mb.mvdY : mb.mvdX)[i])
    }
    let sum = size(leftBlock(x, y, 4)) + size(topBlock(x, y, 4))
    let base = vertical ? 47 : 40
    let first = sum < 3 ? 0 : sum > 32 ? 2 : 1
    var value = 0
    while value < 9 {
      let inc = [first, 3, 4, 5, 6, 6, 6, 6, 6][value]
      if try arithmetic.decision(base + inc, &reader) == 0 { break }
      value += 1
    }
    if value == 9 { value += try arithmetic.expGolomb(3, &reader) }
    if value != 0, try arithmetic.bypass(&reader) == 1 { value = -value }
    return value
  }

  private func codedBlockPattern() throws -> Int {
    if !cabac {
      let number = try reader.ue()
      let table = ovt_coded_block_pattern(mbs[m].isIntra ? 0 : 1)!
      for pattern in 0..<48 where Int(table[pattern]) == number { return pattern }
      throw ParseError(what: "coded_block_pattern")
    }
    func coded(_ neighbour: (ParsedMacroblock, Int)?) -> Bool {
      guard let (mb, i) = neighbour else { return true }
      return mb.isPCM || (!mb.isSkip && mb.pattern >> i & 1 == 1)
    }
    for i in 0..<4 {
      let a = coded(leftBlock(i & 1, i >> 1, 2)) ? 0 : 1
      let b = coded(topBlock(i & 1, i >> 1, 2)) ? 0 : 2
      mbs[m].pattern |= (try arithmetic.decision(73 + a + b, &reader)) << i
    }
    let chroma = [left, top].map { $0.map { $0.isPCM ? 2 : $0.isSkip ? 0 : $0.pattern >> 4 } ?? 0 }
    var pattern = mbs[m].pattern
    if try arithmetic.decision(77 + (chroma[0] != 0 ? 1 : 0) + (chroma[1] != 0 ? 2 : 0), &reader) == 1 {
      let inc = (chroma[0] == 2 ? 1 : 0) + (chroma[1] == 2 ? 2 : 0)
      pattern |= 16 << (try arithmetic.decision(81 + inc, &reader))
    }
    return pattern
  }

  private func qpDelta() throws -> Int {
    if !cabac { return try reader.se() }
    // The previous macroblock in decoding order, in this slice.
    var inc = 0
    if m > 0, mbs[m - 1].slice == sliceNumber, mbs[m - 1].delta != 0 { inc = 1 }
    var value = 0
    var context = 60 + inc
    while try arithmetic.decision(context, &reader) == 1 {
      value += 1
      context = value == 1 ? 62 : 63
      guard value < 200 else { throw ParseError(what: "mb_qp_delta") }
    }
    return value & 1 == 1 ? (value + 1) / 2 : -(value / 2)
  }
}
