// SPDX-License-Identifier: Apache-2.0
@testable import H264Encoder

// B slices.
extension SliceParser {
  /// Table 9-37 (b): mb_type 0 to 22, then the prefix of intra types.
  private static let typeBins = [
    "0", "100", "101", "110000", "110001", "110010", "110011", "110100", "110101", "110110", "110111",
    "111110",
    "1110000", "1110001", "1110010", "1110011", "1110100", "1110101", "1110110", "1110111", "1111000",
    "1111001",
    "111111", "111101",
  ]
  /// Table 9-38: sub_mb_type 0 to 12.
  private static let subTypeBins = [
    "0", "100", "101", "11000", "11001", "11010", "11011", "111000", "111001", "111010", "111011", "11110",
    "11111",
  ]

  /// Reads bins until they are one of `strings`; `context` gives that of a bin from those before
  /// it.
  private func number(_ strings: [String], _ context: (String) -> Int) throws -> Int {
    var bins = ""
    while bins.count < 8 {
      bins += try arithmetic.decision(context(bins), &reader) == 1 ? "1" : "0"
      if let number = strings.firstIndex(of: bins) { return number }
    }
    throw ParseError(what: "bins \(bins)")
  }

  /// Lists of the partitions by mb_type 4 to 21 (Table 7-14), those of 16x8; 8x16 has the same.
  private static let lists: [([Int], [Int])] = [
    ([0], [0]), ([1], [1]), ([0], [1]), ([1], [0]), ([0], [0, 1]), ([1], [0, 1]), ([0, 1], [0]),
    ([0, 1], [1]),
    ([0, 1], [0, 1]),
  ]

  func bidirectionalType() throws {
    var number: Int
    if cabac {
      func counts(_ mb: ParsedMacroblock?) -> Int {
        guard let mb else { return 0 }
        return mb.isSkip || mb.type == MacroblockType.direct ? 0 : 1
      }
      let inc = counts(left) + counts(top)
      number = try self.number(Self.typeBins) { bins in
        switch bins.count {
        case 0: 27 + inc
        case 1: 27 + 3
        case 2: 27 + (bins.hasSuffix("1") ? 4 : 5)
        default: 27 + 5
        }
      }
      if number == 23 { return try intraType(number: intraTypeCABAC(prefix: 32, base: 32, inP: true)) }
    } else {
      number = try reader.ue()
      if number > 22 { return try intraType(number: number - 23) }
    }
    mbs[m].references = [-1, -1, -1, -1]
    switch number {
    case 0:
      mbs[m].type = MacroblockType.direct
      mbs[m].direct = [true, true, true, true]
    case 1...3:
      mbs[m].type = MacroblockType.inter16x16
      let lists = [[0], [1], [0, 1]][number - 1]
      for i in 0..<4 { use(lists, i) }
    case 22: mbs[m].type = MacroblockType.inter8x8
    default:
      let isTall = number % 2 == 1
      mbs[m].type = isTall ? MacroblockType.inter8x16 : MacroblockType.inter16x8
      let (first, second) = Self.lists[(number - 4) / 2]
      for i in 0..<4 { use((isTall ? i & 1 : i >> 1) == 0 ? first : second, i) }
    }
  }

  /// Marks a list as used by an 8x8 block: its index is 0 until one is read.
  private func use(_ lists: [Int], _ block: Int) {
    mbs[m].references[block] = lists.contains(0) ? 0 : -1
    mbs[m].referencesL1[block] = lists.contains(1) ? 0 : -1
  }

  func bidirectionalSubType(_ block: Int) throws {
    let number =
      try cabac
      ? self.number(Self.subTypeBins) { bins in
        switch bins.count {
        case 0: 36
        case 1: 37
        case 2: bins.hasSuffix("1") ? 38 : 39
        default: 39
        }
      } : reader.ue()
    guard number <= 12 else { throw ParseError(what: "sub_mb_type \(number)") }
    // Table 7-18: shape and lists.
    let shapes = [0, 0, 0, 0, 1, 2, 1, 2, 1, 2, 3, 3, 3]
    let lists = [[], [0], [1], [0, 1], [0], [0], [1], [1], [0, 1], [0, 1], [0], [1], [0, 1]]
    mbs[m].sub[block] = shapes[number]
    mbs[m].direct[block] = number == 0
    use(lists[number], block)
  }

  func bidirectionalPrediction() throws {
    if mbs[m].type == MacroblockType.direct { return }
    let parts: [(x: Int, y: Int, w: Int, h: Int)]
    switch mbs[m].type {
    case MacroblockType.inter16x16: parts = [(0, 0, 4, 4)]
    case MacroblockType.inter16x8: parts = [(0, 0, 4, 2), (0, 2, 4, 2)]
    case MacroblockType.inter8x16: parts = [(0, 0, 2, 4), (2, 0, 2, 4)]
    default: parts = [(0, 0, 2, 2), (2, 0, 2, 2), (0, 2, 2, 2), (2, 2, 2, 2)]
    }
    for list1 in [false, true] {
      let active = list1 ? slice.activeReferencesL1 : slice.activeReferences
      for part in parts where active > 1 {
        let first = part.y / 2 * 2 + part.x / 2
        if (list1 ? mbs[m].referencesL1 : mbs[m].references)[first] < 0 { continue }
        let index = try reference(part.x / 2, part.y / 2, list1: list1)
        guard index < active else { throw ParseError(what: "ref_idx \(index)") }
        for y in part.y / 2..<(part.y + part.h) / 2 {
          for x in part.x / 2..<(part.x + part.w) / 2 {
            if list1 { mbs[m].referencesL1[y * 2 + x] = index } else { mbs[m].references[y * 2 + x] = index }
          }
        }
      }
    }
    for list1 in [false, true] {
      for (i, part) in parts.enumerated() {
        let first = part.y / 2 * 2 + part.x / 2
        if (list1 ? mbs[m].referencesL1 : mbs[m].references)[first] < 0 { continue }
        var (w, h) = (part.w, part.h)
        if mbs[m].type == MacroblockType.inter8x8 {
          (w, h) = [(2, 2), (2, 1), (1, 2), (1, 1)][mbs[m].sub[i]]
        }
        for y in stride(from: part.y, to: part.y + part.h, by: h) {
          for x in stride(from: part.x, to: part.x + part.w, by: w) {
            let dx = try difference(x, y, vertical: false, list1: list1)
            let dy = try difference(x, y, vertical: true, list1: list1)
            for by in y..<y + h {
              for bx in x..<x + w {
                if list1 {
                  mbs[m].mvdXL1[by * 4 + bx] = dx
                  mbs[m].mvdYL1[by * 4 + bx] = dy
                } else {
                  mbs[m].mvdX[by * 4 + bx] = dx
                  mbs[m].mvdY[by * 4 + bx] = dy
                }
              }
            }
          }
        }
      }
    }
  }
}
