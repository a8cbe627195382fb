// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport
import Testing

@Suite struct IntraTests {
  /// intraPredAngle and invAngle (tables 8-5, 8-6).
  static let angles: [Int: Int] = [
    2: 32, 3: 26, 4: 21, 5: 17, 6: 13, 7: 9, 8: 5, 9: 2, 10: 0, 11: -2, 12: -5, 13: -9, 14: -13, 15: -17,
    16: -21,
    17: -26, 18: -32, 19: -26, 20: -21, 21: -17, 22: -13, 23: -9, 24: -5, 25: -2, 26: 0, 27: 2, 28: 5, 29: 9,
    30: 13,
    31: 17, 32: 21, 33: 26, 34: 32,
  ]
  static let inverses: [Int: Int] = [
    11: -4096, 12: -1638, 13: -910, 14: -630, 15: -482, 16: -390, 17: -315, 18: -256, 19: -315, 20: -390,
    21: -482,
    22: -630, 23: -910, 24: -1638, 25: -4096,
  ]

  /// 8.4.4.2.4 to 8.4.4.2.6: predSamples[x][y] from p[x][y].
  static func predict(_ mode: Int, _ n: Int, _ depth: Int, _ filtersEdges: Bool, _ p: (Int, Int) -> Int)
    -> [[Int]]
  {
    var pred = Array(repeating: Array(repeating: 0, count: n), count: n)  // [y][x]
    let log2 = n.trailingZeroBitCount
    if mode == 0 {
      for y in 0..<n {
        for x in 0..<n {
          let sides = (n - 1 - x) * p(-1, y) + (x + 1) * p(n, -1)
          pred[y][x] = (sides + (n - 1 - y) * p(x, -1) + (y + 1) * p(-1, n) + n) >> (log2 + 1)
        }
      }
      return pred
    }
    if mode == 1 {
      let dc = ((0..<n).reduce(0) { $0 + p($1, -1) + p(-1, $1) } + n) >> (log2 + 1)
      pred = pred.map { $0.map { _ in dc } }
      guard filtersEdges else { return pred }
      pred[0][0] = (p(-1, 0) + 2 * dc + p(0, -1) + 2) >> 2
      for i in 1..<n {
        pred[0][i] = (p(i, -1) + 3 * dc + 2) >> 2
        pred[i][0] = (p(-1, i) + 3 * dc + 2) >> 2
      }
      return pred
    }
    let angle = angles[mode]!
    var ref: [Int: Int] = [:]
    let isVertical = mode >= 18
    for x in 0...n { ref[x] = isVertical ? p(-1 + x, -1) : p(-1, -1 + x) }
    if angle < 0 {
      let last = (n * angle) >> 5
      if last < -1 {
        for x in last...(-1) {
          let at = -1 + ((x * inverses[mode]! + 128) >> 8)
          ref[x] = isVertical ? p(-1, at) : p(at, -1)
        }
      }
    } else {
      for x in (n + 1)...(2 * n) { ref[x] = isVertical ? p(-1 + x, -1) : p(-1, -1 + x) }
    }
    for along in 0..<n {
      for across in 0..<n {
        let (whole, fraction) = (((across + 1) * angle) >> 5, ((across + 1) * angle) & 31)
        let first = ref[along + whole + 1]!
        let value =
          fraction == 0 ? first : ((32 - fraction) * first + fraction * ref[along + whole + 2]! + 16) >> 5
        if isVertical { pred[across][along] = value } else { pred[along][across] = value }
      }
    }
    if mode == 26 && filtersEdges {
      for y in 0..<n { pred[y][0] = clip(p(0, -1) + ((p(-1, y) - p(-1, -1)) >> 1), depth) }
    }
    if mode == 10 && filtersEdges {
      for x in 0..<n { pred[0][x] = clip(p(-1, 0) + ((p(x, -1) - p(-1, -1)) >> 1), depth) }
    }
    return pred
  }

  func predictions<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(40)
    for log2 in 2...5 {
      let n = 1 << log2
      for mode in 0...34 {
        for round in 0..<8 {
          let source = Plane<Sample>(depth: k.depth, kind: round % 4, &random)
          let edge = source.pointer + 300
          let p = { (x: Int, y: Int) in Int(y == -1 ? edge[1 + x] : edge[-1 - y]) }
          let (mine, model) = (source.copy(), source.copy())
          let filtersEdges = round / 2 % 2 == 1
          k.intra(
            Int32(mode), mine.pointer + 3000, Plane<Sample>.stride, edge, Int32(log2), filtersEdges ? 1 : 0)
          let pred = Self.predict(mode, n, k.depth, filtersEdges, p)
          for y in 0..<n {
            for x in 0..<n { model.pointer[3000 + y * Plane<Sample>.stride + x] = Sample(pred[y][x]) }
          }
          #expect(mine.memory.values == model.memory.values, "\(n)x\(n), mode \(mode), round \(round)")
        }
      }
    }
  }
  @Test(arguments: Path.available) func predictions8(path: Path) {
    predictions(SampleKernels(Kernels(path).eight))
  }
  @Test(arguments: Path.available) func predictions10(path: Path) {
    predictions(SampleKernels(Kernels(path).ten))
  }

  /// Modes from 2 to 17 are those from 34 down of reversed neighbours, transposed.
  func transposition<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(42)
    let stride = Plane<Sample>.stride
    for log2 in 3...5 {
      let n = 1 << log2
      for mode in 2...17 {
        let source = Plane<Sample>(depth: k.depth, kind: mode % 4, &random)
        let edge = source.pointer + 300
        let reversed = Memory<Sample>(300)
        for i in -2 * n...2 * n { reversed[150 + i] = edge[-i] }
        let (direct, other, back) = (source.copy(), source.copy(), source.copy())
        k.intra(Int32(mode), direct.pointer + 3000, stride, edge, Int32(log2), 1)
        k.intra(Int32(36 - mode), other.pointer + 3000, stride, reversed.base + 150, Int32(log2), 1)
        k.transpose(back.pointer + 3000, stride, other.pointer + 3000, stride, Int32(log2))
        #expect(back.memory.values == direct.memory.values, "\(n)x\(n), mode \(mode)")
      }
    }
  }
  @Test(arguments: Path.available) func transposition8(path: Path) {
    transposition(SampleKernels(Kernels(path).eight))
  }
  @Test(arguments: Path.available) func transposition10(path: Path) {
    transposition(SampleKernels(Kernels(path).ten))
  }

  /// 8.4.4.2.3.
  func smoothing<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(41)
    var bilinear = 0
    for log2 in 2...5 {
      let n = 1 << log2
      for round in 0..<60 {
        let source = Plane<Sample>(depth: k.depth, kind: round % 4, &random)
        let edge = source.pointer + 300
        let p = { (x: Int, y: Int) in Int(y == -1 ? edge[1 + x] : edge[-1 - y]) }
        let strong = log2 == 5 && round / 4 % 2 == 1
        let (mine, model) = (source.copy(), source.copy())
        k.smooth(mine.pointer + 900, edge, Int32(log2), strong ? 1 : 0)
        let out = model.pointer + 900
        let limit = 1 << (k.depth - 5)
        if strong && abs(p(-1, -1) + p(n * 2 - 1, -1) - 2 * p(n - 1, -1)) < limit
          && abs(p(-1, -1) + p(-1, n * 2 - 1) - 2 * p(-1, n - 1)) < limit
        {
          bilinear += 1
          out[0] = Sample(p(-1, -1))
          for i in 0...62 {
            out[-1 - i] = Sample(((63 - i) * p(-1, -1) + (i + 1) * p(-1, 63) + 32) >> 6)
            out[1 + i] = Sample(((63 - i) * p(-1, -1) + (i + 1) * p(63, -1) + 32) >> 6)
          }
          out[-64] = Sample(p(-1, 63))
          out[64] = Sample(p(63, -1))
        } else {
          out[0] = Sample((p(-1, 0) + 2 * p(-1, -1) + p(0, -1) + 2) >> 2)
          for i in 0..<(2 * n - 1) {
            out[-1 - i] = Sample((p(-1, i + 1) + 2 * p(-1, i) + p(-1, i - 1) + 2) >> 2)
            out[1 + i] = Sample((p(i - 1, -1) + 2 * p(i, -1) + p(i + 1, -1) + 2) >> 2)
          }
          out[-2 * n] = Sample(p(-1, 2 * n - 1))
          out[2 * n] = Sample(p(2 * n - 1, -1))
        }
        #expect(mine.memory.values == model.memory.values, "\(n), round \(round)")
      }
    }
    #expect(bilinear > 5)
  }
  @Test(arguments: Path.available) func smoothing8(path: Path) {
    smoothing(SampleKernels(Kernels(path).eight))
  }
  @Test(arguments: Path.available) func smoothing10(path: Path) {
    smoothing(SampleKernels(Kernels(path).ten))
  }
}
