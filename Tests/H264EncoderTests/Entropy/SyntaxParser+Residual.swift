// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

@testable import H264Encoder

// residual() (7.3.5.3) for both entropy coding modes.
extension SliceParser {
  func residual() throws {
    let mb = mbs[m]
    if mb.type == MacroblockType.intra16x16 {
      try block(kind: 0, component: 0, x: 0, y: 0, count: 16, at: LevelLayout.lumaDC)
    }
    for i in 0..<4 where mb.pattern >> i & 1 == 1 {
      if mb.transform8x8 == 1 && cabac {
        try block8x8(i)
        continue
      }
      for j in 0..<4 {
        let x = (i & 1) * 2 + (j & 1)
        let y = (i >> 1) * 2 + (j >> 1)
        let at = LevelLayout.luma + (i * 4 + j) * 16
        if mb.type == MacroblockType.intra16x16 {
          try block(kind: 1, component: 0, x: x, y: y, count: 15, at: at + 1)
        } else {
          try block(kind: 2, component: 0, x: x, y: y, count: 16, at: at)
        }
      }
    }
    if mb.pattern >> 4 != 0 {
      for c in 0..<2 {
        try block(kind: 3, component: c + 1, x: 0, y: 0, count: 4, at: LevelLayout.chromaDC + c * 4)
      }
    }
    if mb.pattern >> 4 == 2 {
      for c in 0..<2 {
        for i in 0..<4 {
          try block(
            kind: 4, component: c + 1, x: i & 1, y: i >> 1, count: 15,
            at: LevelLayout.chromaAC + (c * 4 + i) * 16 + 1)
        }
      }
    }
  }

  /// Where total_coeff or coded_block_flag of a block is kept.
  private func index(_ kind: Int, _ component: Int, _ i: Int) -> Int {
    kind == 4 ? 16 + (component - 1) * 4 + i : i
  }

  private func block(kind: Int, component: Int, x: Int, y: Int, count: Int, at: Int) throws {
    let size = kind == 4 ? 2 : 4
    let own = index(kind, component, y * size + x)
    if cabac {
      let flag = try codedBlockFlag(kind, component, x, y, size)
      switch kind {
      case 0: mbs[m].dcFlags[0] = flag
      case 3: mbs[m].dcFlags[component] = flag
      default: mbs[m].counts[own] = flag
      }
      if flag == 1 {
        let levels = try arithmetic.block(
          kind: kind, count: count, significant: { $0 }, last: { $0 }, &reader)
        for (i, level) in levels.enumerated() { mbs[m].levels[at + i] = level }
      }
    } else {
      var nC = -1
      if kind != 3 {
        let a = leftBlock(x, y, size).map { $0.0.counts[index(kind, component, $0.1)] }
        let b = topBlock(x, y, size).map { $0.0.counts[index(kind, component, $0.1)] }
        switch (a, b) {
        case (let a?, let b?): nC = (a + b + 1) >> 1
        case (let a?, nil): nC = a
        case (nil, let b?): nC = b
        default: nC = 0
        }
      }
      let levels = try variableLengthBlock(count: count, nC: nC)
      if kind == 1 || kind == 2 || kind == 4 { mbs[m].counts[own] = levels.count { $0 != 0 } }
      for (i, level) in levels.enumerated() { mbs[m].levels[at + i] = level }
    }
  }

  private func block8x8(_ i: Int) throws {
    let significant = ovt_significant8x8()!
    let last = ovt_last8x8()!
    let levels = try arithmetic.block(
      kind: 5, count: 64, significant: { Int(significant[$0]) }, last: { Int(last[$0]) }, &reader)
    for (k, level) in levels.enumerated() { mbs[m].levels[LevelLayout.luma + i * 64 + k] = level }
    for dy in 0..<2 {
      for dx in 0..<2 { mbs[m].counts[((i >> 1) * 2 + dy) * 4 + (i & 1) * 2 + dx] = 1 }
    }
  }

  /// coded_block_flag (9.3.3.1.1.9).
  private func codedBlockFlag(_ kind: Int, _ component: Int, _ x: Int, _ y: Int, _ size: Int) throws -> Int {
    func condition(_ mb: ParsedMacroblock?, _ block: Int) -> Int {
      guard let mb else { return mbs[m].isIntra ? 1 : 0 }
      if mb.isPCM { return 1 }
      if mb.isSkip { return 0 }
      switch kind {
      case 0: return mb.type == MacroblockType.intra16x16 ? mb.dcFlags[0] : 0
      case 3: return mb.pattern >> 4 != 0 ? mb.dcFlags[component] : 0
      case 4: return mb.pattern >> 4 == 2 ? mb.counts[index(kind, component, block)] : 0
      default:
        let i8 = (block / 4 / 2) * 2 + block % 4 / 2
        return mb.pattern >> i8 & 1 == 1 ? mb.counts[block] : 0
      }
    }
    let a: Int
    let b: Int
    if kind == 0 || kind == 3 {
      a = condition(left, 0)
      b = condition(top, 0)
    } else {
      let l = leftBlock(x, y, size)
      let t = topBlock(x, y, size)
      a = condition(l?.0, l?.1 ?? 0)
      b = condition(t?.0, t?.1 ?? 0)
    }
    return try arithmetic.decision(85 + [0, 4, 8, 12, 16][kind] + a + 2 * b, &reader)
  }

  // MARK: CAVLC (9.2)

  /// Looks a code up among code << 8 | length entries.
  private func code(_ entries: [UInt16]) throws -> Int {
    var bits = 0
    for length in 1...16 {
      bits = bits << 1 | (try reader.bit())
      if let found = entries.firstIndex(where: { Int($0 & 0xFF) == length && Int($0 >> 8) == bits }) {
        return found
      }
    }
    throw ParseError(what: "no such code")
  }

  private func variableLengthBlock(count: Int, nC: Int) throws -> [Int] {
    let tokens = nC < 0 ? 4 : nC < 2 ? 0 : nC < 4 ? 1 : nC < 8 ? 2 : 3
    let token = try code(Array(UnsafeBufferPointer(start: ovt_coeff_token(Int32(tokens))!, count: 68)))
    let total = token / 4
    let trailing = token % 4
    var levels = [Int](repeating: 0, count: count)
    guard total > 0 else { return levels }
    guard total <= count else { throw ParseError(what: "coeff_token") }

    var values: [Int] = []
    var suffixLength = total > 10 && trailing < 3 ? 1 : 0
    for i in 0..<total {
      if i < trailing {
        values.append(1 - 2 * (try reader.bit()))
        continue
      }
      var prefix = 0
      while try reader.bit() == 0 { prefix += 1 }
      var levelCode = min(15, prefix) << suffixLength
      let suffixSize = prefix == 14 && suffixLength == 0 ? 4 : prefix >= 15 ? prefix - 3 : suffixLength
      levelCode += try reader.u(suffixSize)
      if prefix >= 15 && suffixLength == 0 { levelCode += 15 }
      if prefix >= 16 { levelCode += (1 << (prefix - 3)) - 4096 }
      if i == trailing && trailing < 3 { levelCode += 2 }
      values.append(levelCode % 2 == 0 ? (levelCode + 2) >> 1 : (-levelCode - 1) >> 1)
      if suffixLength == 0 { suffixLength = 1 }
      if abs(values[i]) > 3 << (suffixLength - 1) && suffixLength < 6 { suffixLength += 1 }
    }

    var zerosLeft = 0
    if total < count {
      let entries =
        count == 4
        ? UnsafeBufferPointer(start: ovt_total_zeros_dc()! + total * 4, count: 4)
        : UnsafeBufferPointer(start: ovt_total_zeros()! + total * 16, count: 16)
      zerosLeft = try code(Array(entries))
    }
    var position = zerosLeft + total - 1
    guard position < count else { throw ParseError(what: "total_zeros") }
    for (i, value) in values.enumerated() {
      levels[position] = value
      if i == total - 1 { break }
      var run = 0
      if zerosLeft > 0 {
        let entries = UnsafeBufferPointer(start: ovt_run_before()! + min(zerosLeft, 7) * 16, count: 16)
        run = try code(Array(entries))
        zerosLeft -= run
        guard zerosLeft >= 0 else { throw ParseError(what: "run_before") }
      }
      position -= run + 1
    }
    return levels
  }
}

/// The arithmetic decoder of 9.3.3.2, bit by bit.
struct ArithmeticDecoder {
  private var range = 510
  private var offset = 0
  private var states = [(state: Int, mps: Int)](repeating: (0, 0), count: 460)

  mutating func initialiseContexts(_ slice: SliceParameters) {
    let table = ovt_cabac_init(slice.isP || slice.isB ? Int32(1 + slice.cabacInitIDC) : 0)!
    for i in 0..<460 {
      let pre = max(
        1, min(126, ((Int(table[2 * i]) * max(0, min(51, slice.qp))) >> 4) + Int(table[2 * i + 1])))
      states[i] = pre <= 63 ? (63 - pre, 0) : (pre - 64, 1)
    }
  }

  mutating func start(_ reader: inout BitReader) throws {
    range = 510
    offset = try reader.u(9)
  }

  /// Where the bits after the codeword begin when `terminate` gave 1: decoding does not read ahead
  /// of it.
  func position(_ reader: BitReader) -> Int { reader.position }

  mutating func decision(_ context: Int, _ reader: inout BitReader) throws -> Int {
    let (state, mps) = states[context]
    let row = ovt_cabac_transitions()! + (state << 1 | mps) * 2
    let lps = Int(ovt_cabac_ranges()![state * 4 + (range >> 6 & 3)] & 0xFF)
    range -= lps
    var bin = mps
    if offset >= range {
      bin = 1 - mps
      offset -= range
      range = lps
    }
    let next = Int(bin == mps ? row[0] : row[1])
    states[context] = (next >> 1, next & 1)
    while range < 256 {
      range <<= 1
      offset = offset << 1 | (try reader.bit())
    }
    return bin
  }

  mutating func bypass(_ reader: inout BitReader) throws -> Int {
    offset = offset << 1 | (try reader.bit())
    if offset >= range {
      offset -= range
      return 1
    }
    return 0
  }

  mutating func terminate(_ reader: inout BitReader) throws -> Int {
    range -= 2
    if offset >= range { return 1 }
    while range < 256 {
      range <<= 1
      offset = offset << 1 | (try reader.bit())
    }
    return 0
  }

  /// The Exp-Golomb suffix of UEGk (9.3.2.3).
  mutating func expGolomb(_ order: Int, _ reader: inout BitReader) throws -> Int {
    var k = order
    var value = 0
    while try bypass(&reader) == 1 {
      value += 1 << k
      k += 1
      guard k < 32 else { throw ParseError(what: "Exp-Golomb suffix") }
    }
    for i in stride(from: k - 1, through: 0, by: -1) { value += (try bypass(&reader)) << i }
    return value
  }

  /// residual_block_cabac() after coded_block_flag.
  mutating func block(
    kind: Int, count: Int, significant: (Int) -> Int, last: (Int) -> Int, _ reader: inout BitReader
  ) throws -> [Int] {
    let significantBase = kind == 5 ? 402 : 105 + [0, 15, 29, 44, 47][kind]
    let lastBase = kind == 5 ? 417 : 166 + [0, 15, 29, 44, 47][kind]
    let magnitudeBase = kind == 5 ? 426 : 227 + [0, 10, 20, 30, 39][kind]
    var positions: [Int] = []
    var ended = false
    for i in 0..<count - 1 {
      // Chroma DC: min(i / NumC8x8, 2) with NumC8x8 = 1.
      let inc = kind == 3 ? min(i, 2) : significant(i)
      if try decision(significantBase + inc, &reader) == 1 {
        positions.append(i)
        let inc = kind == 3 ? min(i, 2) : last(i)
        if try decision(lastBase + inc, &reader) == 1 {
          ended = true
          break
        }
      }
    }
    if !ended { positions.append(count - 1) }
    var levels = [Int](repeating: 0, count: count)
    var equalOne = 0
    var larger = 0
    for position in positions.reversed() {
      var value = 0
      while value < 14 {
        let inc =
          value == 0
          ? (larger != 0 ? 0 : min(4, 1 + equalOne)) : 5 + min(4 - (kind == 3 ? 1 : 0), larger)
        if try decision(magnitudeBase + inc, &reader) == 0 { break }
        value += 1
      }
      if value == 14 { value += try expGolomb(0, &reader) }
      let magnitude = value + 1
      if magnitude == 1 { equalOne += 1 } else { larger += 1 }
      levels[position] = try bypass(&reader) == 1 ? -magnitude : magnitude
    }
    return levels
  }
}
