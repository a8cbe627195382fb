// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

/// The edge filters of a macroblock against 8.7.2.3 and 8.7.2.4, sample by sample.
@Suite struct DeblockTests {
  /// The filtering process for one set of samples p3 ... q3 across an edge (8.7.2.2 on).
  static func filter(
    _ p: inout [Int], _ q: inout [Int], bS4: Bool, tC0: Int, alpha: Int, beta: Int, chroma: Bool
  ) {
    let (p0, p1, q0, q1) = (p[0], p[1], q[0], q[1])
    guard abs(p0 - q0) < alpha && abs(p1 - p0) < beta && abs(q1 - q0) < beta else { return }
    let ap = chroma ? Int.max : abs(p[2] - p0)
    let aq = chroma ? Int.max : abs(q[2] - q0)
    if !bS4 {
      let tC = chroma ? tC0 + 1 : tC0 + (ap < beta ? 1 : 0) + (aq < beta ? 1 : 0)
      let delta = clip3(-tC, tC, (((q0 - p0) << 2) + (p1 - q1) + 4) >> 3)
      p[0] = clip1(p0 + delta)
      q[0] = clip1(q0 - delta)
      if ap < beta { p[1] = p1 + clip3(-tC0, tC0, (p[2] + ((p0 + q0 + 1) >> 1) - (p1 << 1)) >> 1) }
      if aq < beta { q[1] = q1 + clip3(-tC0, tC0, (q[2] + ((p0 + q0 + 1) >> 1) - (q1 << 1)) >> 1) }
    } else {
      let small = abs(p0 - q0) < ((alpha >> 2) + 2)
      if ap < beta && small {
        let (p2, p3) = (p[2], p[3])
        p[0] = (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3
        p[1] = (p2 + p1 + p0 + q0 + 2) >> 2
        p[2] = (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3
      } else {
        p[0] = (2 * p1 + p0 + q1 + 2) >> 2
      }
      if aq < beta && small {
        let (q2, q3) = (q[2], q[3])
        q[0] = (p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3
        q[1] = (p0 + q0 + q1 + q2 + 2) >> 2
        q[2] = (2 * q3 + 3 * q2 + q1 + q0 + p0 + 4) >> 3
      } else {
        q[0] = (2 * q1 + q0 + p1 + 2) >> 2
      }
    }
  }

  /// Runs a model over an edge. Luma 16 sample sets, chroma 8 pairs.
  static func edge(
    _ area: Area, vertical: Bool, chroma: Bool, tC0: [Int8]?, alpha: Int, beta: Int
  ) {
    for c in 0...(chroma ? 1 : 0) {
      for i in 0..<(chroma ? 8 : 16) {
        let t = tC0.map { Int($0[i / (chroma ? 2 : 4)]) } ?? 0
        if t < 0 { continue }
        let at = { (k: Int) -> (Int, Int) in
          let step = chroma ? 2 : 1
          return vertical ? (k * step + c, i) : (i * step + c, k)
        }
        let reach = chroma ? 2 : 4
        var p = (0..<reach).map { k in area[at(-1 - k).0, at(-1 - k).1] }
        var q = (0..<reach).map { k in area[at(k).0, at(k).1] }
        filter(&p, &q, bS4: tC0 == nil, tC0: t, alpha: alpha, beta: beta, chroma: chroma)
        for k in 0..<reach {
          area[at(-1 - k).0, at(-1 - k).1] = p[k]
          area[at(k).0, at(k).1] = q[k]
        }
      }
    }
  }

  /// Samples with steps of every size, so that each branch is met.
  static func area(_ round: Int, _ random: inout Random) -> Area {
    if round % 4 == 0 {
      return Area(width: 24, height: 24, Content.allCases[round / 4 % Content.allCases.count], &random)
    }
    let area = Area(width: 24, height: 24, .random, &random)
    let spread = [2, 6, 20][round % 3]
    let (left, right) = (random.int(0...255), random.int(0...255))
    for y in -8..<24 {
      for x in -8..<24 {
        let near = random.int(0...40)
        let level = round % 5 == 0 ? (x < 0 || y < 0 ? left : right) : left + (x < 0 || y < 0 ? near / 4 : 0)
        area[x, y] = clip1(level + random.int(-spread...spread))
      }
    }
    return area
  }

  /// All edges of a macroblock: the same model, an edge after the other.
  @Test(arguments: Path.available) func macroblocks(path: Path) {
    let k = Kernels(path).k
    var random = Random(61)
    var changed = 0
    for round in 0..<600 {
      let area = Self.area(round, &random)
      var edges = OVTEdges()
      let inner = random.int(0...3)  // how likely inner edges are
      let strengths = (0..<4).map { e -> [Int] in
        if e == 0 && random.int(0...3) == 0 { return [4, 4, 4, 4] }
        return (0..<4).map { _ in e > 0 && random.int(0...3) > inner ? 0 : random.int(0...3) }
      }
      let packed = strengths.map { $0.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
      edges.bS = (packed[0], packed[1], packed[2], packed[3])
      let alpha = (0..<2).map { _ in [0, 255, random.int(4...80)][min(2, random.int(0...9))] }
      let beta = (0..<2).map { _ in random.int(0...9) == 0 ? 0 : random.int(2...18) }
      let table = (0..<2).map { _ in (0..<4).map { _ in UInt8(random.int(0...25)) } }
      edges.alpha = (UInt8(alpha[0]), UInt8(alpha[1]))
      edges.beta = (UInt8(beta[0]), UInt8(beta[1]))
      edges.tC0.0 = (table[0][0], table[0][1], table[0][2], table[0][3])
      edges.tC0.1 = (table[1][0], table[1][1], table[1][2], table[1][3])

      typealias Run = (String, Bool, Bool, (Area) -> Void)
      let runs: [Run] = [
        ("luma vertical", true, false, { k.deblockLumaVerticalEdges($0.pointer, $0.stride, &edges) }),
        ("luma horizontal", false, false, { k.deblockLumaHorizontalEdges($0.pointer, $0.stride, &edges) }),
        ("chroma vertical", true, true, { k.deblockChromaVerticalEdges($0.pointer, $0.stride, &edges) }),
        ("chroma horizontal", false, true, { k.deblockChromaHorizontalEdges($0.pointer, $0.stride, &edges) }),
      ]
      for (name, vertical, chroma, run) in runs {
        let (mine, expected) = (area.copy(), area.copy())
        run(mine)
        for e in stride(from: 0, to: 4, by: chroma ? 2 : 1) {
          let inside = e > 0 ? 1 : 0
          let strong = strengths[e][0] == 4
          let tC0 = strengths[e].map { $0 == 0 ? Int8(-1) : $0 == 4 ? 0 : Int8(table[inside][$0]) }
          let step = chroma ? (vertical ? 4 * e : 2 * e) : 4 * e
          let at = expected.moved(x: vertical ? step : 0, y: vertical ? 0 : step)
          Self.edge(
            at, vertical: vertical, chroma: chroma, tC0: strong ? nil : tC0, alpha: alpha[inside],
            beta: beta[inside])
        }
        #expect(
          mine.memory.values == expected.memory.values,
          "\(name), bS \(strengths), alpha \(alpha), beta \(beta)")
        if expected.memory.values != area.memory.values { changed += 1 }
      }
    }
    // The samples above do meet the filters.
    #expect(changed > 1000)
  }
}
