// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport
import Testing

@Suite struct FilterTests {
  /// 8.7.2.5.3, 8.7.2.5.6 and 8.7.2.5.7 for a segment of four lines: s(i, k) is sample i of line k,
  /// q0 being 0 and p0 being -1. Returns which filter was applied: 0 none, 1 weak, 2 strong.
  static func luma(
    _ depth: Int, _ beta: Int, _ tc: Int, _ get: (Int, Int) -> Int, _ set: (Int, Int, Int) -> Void
  ) -> Int {
    func p(_ i: Int, _ k: Int) -> Int { get(-1 - i, k) }
    func q(_ i: Int, _ k: Int) -> Int { get(i, k) }
    let dp0 = abs(p(2, 0) - 2 * p(1, 0) + p(0, 0))
    let dp3 = abs(p(2, 3) - 2 * p(1, 3) + p(0, 3))
    let dq0 = abs(q(2, 0) - 2 * q(1, 0) + q(0, 0))
    let dq3 = abs(q(2, 3) - 2 * q(1, 3) + q(0, 3))
    let (dpq0, dpq3, dp, dq, d) = (dp0 + dq0, dp3 + dq3, dp0 + dp3, dq0 + dq3, dp0 + dq0 + dp3 + dq3)
    guard d < beta else { return 0 }
    func sam(_ dpq: Int, _ k: Int) -> Bool {
      dpq < beta >> 2 && abs(p(3, k) - p(0, k)) + abs(q(0, k) - q(3, k)) < beta >> 3
        && abs(p(0, k) - q(0, k)) < (5 * tc + 1) >> 1
    }
    let isStrong = sam(2 * dpq0, 0) && sam(2 * dpq3, 3)
    let side = (beta + beta >> 1) >> 3
    let (dEp, dEq) = (dp < side, dq < side)
    var applied = isStrong ? 2 : 0
    for k in 0..<4 {
      let (p0, p1, p2, p3) = (p(0, k), p(1, k), p(2, k), p(3, k))
      let (q0, q1, q2, q3) = (q(0, k), q(1, k), q(2, k), q(3, k))
      if isStrong {
        let near = { (old: Int, new: Int) in clip3(old - 2 * tc, old + 2 * tc, new) }
        set(-1, k, near(p0, (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3))
        set(-2, k, near(p1, (p2 + p1 + p0 + q0 + 2) >> 2))
        set(-3, k, near(p2, (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3))
        set(0, k, near(q0, (p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3))
        set(1, k, near(q1, (p0 + q0 + q1 + q2 + 2) >> 2))
        set(2, k, near(q2, (p0 + q0 + q1 + 3 * q2 + 2 * q3 + 4) >> 3))
        continue
      }
      var delta = (9 * (q0 - p0) - 3 * (q1 - p1) + 8) >> 4
      guard abs(delta) < tc * 10 else { continue }
      applied = 1
      delta = clip3(-tc, tc, delta)
      set(-1, k, clip(p0 + delta, depth))
      set(0, k, clip(q0 - delta, depth))
      if dEp {
        set(-2, k, clip(p1 + clip3(-(tc >> 1), tc >> 1, (((p2 + p0 + 1) >> 1) - p1 + delta) >> 1), depth))
      }
      if dEq {
        set(1, k, clip(q1 + clip3(-(tc >> 1), tc >> 1, (((q2 + q0 + 1) >> 1) - q1 - delta) >> 1), depth))
      }
    }
    return applied
  }

  func deblocking<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(60)
    let top = 1 << k.depth - 1
    var applied = [0, 0, 0]
    for round in 0..<1200 {
      let plane = Plane<Sample>(depth: k.depth, kind: 2, &random)
      let scale = 1 << (k.depth - 8)
      let (level, size) = (random.int(0...top), random.int(-25...25) * scale)
      let noise = round % 4 == 3 ? 60 : random.int(0...3) * scale
      let isVertical = round % 2 == 0
      for y in -8..<16 {
        for x in -8..<16 {
          let isBefore = isVertical ? x < 0 : y < 0
          plane[x, y] = clip(level + (isBefore ? size : 0) + random.int(-noise...noise), k.depth)
        }
      }
      let beta = random.int(0...64) * scale
      let tc = (0..<2).map { _ in random.int(0...3) == 0 ? 0 : random.int(1...24) * scale }
      let (mine, model) = (plane.copy(), plane.copy())
      k.deblockLuma(isVertical, mine.pointer, Plane<Sample>.stride, Int32(beta), tc.map(Int16.init))
      for half in 0..<2 {
        let at = { (i: Int, line: Int) in isVertical ? (i, 4 * half + line) : (4 * half + line, i) }
        let filter = Self.luma(
          k.depth, beta, tc[half], { model[at($0, $1).0, at($0, $1).1] },
          { model[at($0, $1).0, at($0, $1).1] = $2 })
        applied[tc[half] == 0 ? 0 : filter] += 1
      }
      #expect(mine.memory.values == model.memory.values, "luma, \(isVertical), beta \(beta), tc \(tc)")

      // 8.7.2.5.8.
      let (chroma, chromaModel) = (plane.copy(), plane.copy())
      k.deblockChroma(isVertical, chroma.pointer, Plane<Sample>.stride, tc.map(Int16.init))
      for line in 0..<4 {
        let s = { (i: Int) in isVertical ? plane[i, line] : plane[line, i] }
        let t = tc[line / 2]
        let delta = clip3(-t, t, (((s(0) - s(-1)) << 2) + s(-2) - s(1) + 4) >> 3)
        let (p0, q0) = (clip(s(-1) + delta, k.depth), clip(s(0) - delta, k.depth))
        if isVertical {
          (chromaModel[-1, line], chromaModel[0, line]) = (p0, q0)
        } else {
          (chromaModel[line, -1], chromaModel[line, 0]) = (p0, q0)
        }
      }
      #expect(chroma.memory.values == chromaModel.memory.values, "chroma, \(isVertical), tc \(tc)")
    }
    // The samples above do meet the filters.
    #expect(applied.allSatisfy { $0 > 100 }, "\(applied)")
  }
  @Test(arguments: Path.available) func deblocking8(path: Path) {
    deblocking(SampleKernels(Kernels(path).eight))
  }
  @Test(arguments: Path.available) func deblocking10(path: Path) {
    deblocking(SampleKernels(Kernels(path).ten))
  }

  /// 8.7.3, and sums over its categories.
  func offsets<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(61)
    let stride = Plane<Sample>.stride
    let neighbours = [((-1, 0), (1, 0)), ((0, -1), (0, 1)), ((-1, -1), (1, 1)), ((1, -1), (-1, 1))]
    for round in 0..<120 {
      let rec = Plane<Sample>(depth: k.depth, kind: round % 4, &random)
      let source = Plane<Sample>(depth: k.depth, kind: round / 4 % 3, &random)
      let (width, height) = (random.int(1...64), random.int(1...20))
      let offsets = (0..<4).map { _ in random.int(-31...31) }
      let position = random.int(0...31)
      let (wide, tall, values) = (Int32(width), Int32(height), offsets.map(Int8.init))
      for direction in 0..<4 {
        let (mine, model) = (source.copy(), source.copy())
        var (sums, counts) = ([Int32](1...4), [Int32](5...8))
        var (sumModel, countModel) = (sums, counts)
        k.saoEdge(mine.pointer, stride, rec.pointer, stride, wide, tall, Int32(direction), values)
        k.saoEdgeStatistics(
          &sums, &counts, source.pointer, stride, rec.pointer, stride, wide, tall, Int32(direction))
        let (a, b) = neighbours[direction]
        for y in 0..<height {
          for x in 0..<width {
            let s = rec[x, y]
            var edgeIdx = 2 + (s - rec[x + a.0, y + a.1]).signum() + (s - rec[x + b.0, y + b.1]).signum()
            if edgeIdx < 3 { edgeIdx = edgeIdx == 2 ? 0 : edgeIdx + 1 }
            model[x, y] = clip(s + (edgeIdx == 0 ? 0 : offsets[edgeIdx - 1]), k.depth)
            guard edgeIdx > 0 else { continue }
            sumModel[edgeIdx - 1] += Int32(source[x, y] - s)
            countModel[edgeIdx - 1] += 1
          }
        }
        #expect(mine.memory.values == model.memory.values, "direction \(direction), \(width)x\(height)")
        #expect(sums == sumModel && counts == countModel, "direction \(direction), \(width)x\(height)")
      }
      var bandTable = Array(repeating: 0, count: 32)
      for i in 0..<4 { bandTable[(i + position) & 31] = i + 1 }
      let (mine, model) = (source.copy(), source.copy())
      var (sums, counts) = (Array(repeating: Int32(3), count: 32), Array(repeating: Int32(4), count: 32))
      var (sumModel, countModel) = (sums, counts)
      k.saoBand(mine.pointer, stride, rec.pointer, stride, wide, tall, Int32(position), values)
      k.saoBandStatistics(&sums, &counts, source.pointer, stride, rec.pointer, stride, wide, tall)
      for y in 0..<height {
        for x in 0..<width {
          let band = rec[x, y] >> (k.depth - 5)
          model[x, y] = clip(rec[x, y] + (bandTable[band] == 0 ? 0 : offsets[bandTable[band] - 1]), k.depth)
          sumModel[band] += Int32(source[x, y] - rec[x, y])
          countModel[band] += 1
        }
      }
      #expect(mine.memory.values == model.memory.values, "band \(position), \(width)x\(height)")
      #expect(sums == sumModel && counts == countModel)
    }
  }
  @Test(arguments: Path.available) func offsets8(path: Path) { offsets(SampleKernels(Kernels(path).eight)) }
  @Test(arguments: Path.available) func offsets10(path: Path) { offsets(SampleKernels(Kernels(path).ten)) }
}
