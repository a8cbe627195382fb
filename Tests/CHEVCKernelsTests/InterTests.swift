// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport
import Testing

@Suite struct InterTests {
  static let lumaTaps = [
    [0, 0, 0, 64, 0, 0, 0, 0], [-1, 4, -10, 58, 17, -5, 1, 0], [-1, 4, -11, 40, 40, -11, 4, -1],
    [0, 1, -5, 17, 58, -10, 4, -1],
  ]
  static let chromaTaps = [
    [0, 64, 0, 0], [-2, 58, 10, -2], [-4, 54, 16, -2], [-6, 46, 28, -4], [-4, 36, 36, -4], [-4, 28, 46, -6],
    [-2, 16, 54, -4], [-2, 10, 58, -2],
  ]

  /// predSampleLX of 8.5.3.3.3.1 and 8.5.3.3.3.2, case by case.
  static func sample<Sample>(
    _ plane: Plane<Sample>, _ depth: Int, _ x: Int, _ y: Int, isLuma: Bool, _ xFrac: Int, _ yFrac: Int
  ) -> Int {
    let taps = isLuma ? lumaTaps : chromaTaps
    let (count, before) = isLuma ? (8, 3) : (4, 1)
    let (shift1, shift2, shift3) = (min(4, depth - 8), 6, max(2, 14 - depth))
    if xFrac == 0 && yFrac == 0 { return plane[x, y] << shift3 }
    let along = { (row: Int) in
      (0..<count).reduce(0) { $0 + taps[xFrac][$1] * plane[x + $1 - before, row] } >> shift1
    }
    if yFrac == 0 { return along(y) }
    if xFrac == 0 {
      return (0..<count).reduce(0) { $0 + taps[yFrac][$1] * plane[x, y + $1 - before] } >> shift1
    }
    return (0..<count).reduce(0) { $0 + taps[yFrac][$1] * along(y + $1 - before) } >> shift2
  }

  func interpolation<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(50)
    for isLuma in [true, false] {
      let fractions = isLuma ? 4 : 8
      for round in 0..<(isLuma ? 64 : 128) {
        let plane = Plane<Sample>(depth: k.depth, kind: round % 5 == 0 ? 1 : round % 4, &random)
        let (xFrac, yFrac) = (round % fractions, round / fractions % fractions)
        let width = round % 7 == 6 ? 64 : random.int(1...6) * (isLuma ? 4 : 2)
        let height = random.int(1...9)
        if round % 3 == 0 {  // what makes the largest and the smallest values
          let taps = isLuma ? Self.lumaTaps : Self.chromaTaps
          let (count, before) = isLuma ? (8, 3) : (4, 1)
          for j in 0..<count {
            for i in 0..<count {
              let sign = taps[xFrac][i] * taps[yFrac][j] * (round % 2 == 0 ? 1 : -1)
              plane[1 + i - before, j - before] = sign > 0 ? 1 << k.depth - 1 : 0
            }
          }
        }
        let (mine, high) = (plane.copy(), Memory<Int16>(80 * 16))
        k.interpolate(
          isLuma, mine.pointer + 2000, Plane<Sample>.stride, plane.pointer, Plane<Sample>.stride,
          Int32(width),
          Int32(height), Int32(xFrac), Int32(yFrac))
        k.interpolateHigh(
          isLuma, high.base + 5, 80, plane.pointer, Plane<Sample>.stride, Int32(width), Int32(height),
          Int32(xFrac),
          Int32(yFrac))
        let (model, highModel) = (plane.copy(), Memory<Int16>(80 * 16))
        let shift = 14 - k.depth
        for y in 0..<height {
          for x in 0..<width {
            let value = Self.sample(plane, k.depth, x, y, isLuma: isLuma, xFrac, yFrac)
            highModel[5 + 80 * y + x] = Int16(value - 8192)
            model.pointer[2000 + y * Plane<Sample>.stride + x] =
              Sample(clip((value + 1 << (shift - 1)) >> shift, k.depth))
          }
        }
        #expect(mine.memory.values == model.memory.values, "\(isLuma) \(width)x\(height), \(xFrac), \(yFrac)")
        #expect(high.values == highModel.values, "\(isLuma) \(width)x\(height), \(xFrac), \(yFrac)")
      }
    }
  }
  @Test(arguments: Path.available) func interpolation8(path: Path) {
    interpolation(SampleKernels(Kernels(path).eight))
  }
  @Test(arguments: Path.available) func interpolation10(path: Path) {
    interpolation(SampleKernels(Kernels(path).ten))
  }

  /// The planes of half samples are what interpolation gives for each.
  func halves<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(52)
    let stride = Plane<Sample>.stride
    for round in 0..<40 {
      let plane = Plane<Sample>(depth: k.depth, kind: round % 4, &random)
      let (width, height) = (Int32(random.int(1...16) * 4), Int32(random.int(1...12)))
      let mine = (0..<3).map { _ in plane.copy() }
      k.halves(
        mine[0].pointer + 2000, mine[1].pointer + 2000, mine[2].pointer + 2000, plane.pointer, stride,
        width, height)
      for (i, (xFrac, yFrac)) in [(2, 0), (0, 2), (2, 2)].enumerated() {
        let model = plane.copy()
        k.interpolate(
          true, model.pointer + 2000, stride, plane.pointer, stride, width, height, Int32(xFrac),
          Int32(yFrac))
        #expect(
          mine[i].memory.values == model.memory.values, "\(width)x\(height), \(xFrac), \(yFrac)")
      }
    }
  }
  @Test(arguments: Path.available) func halves8(path: Path) { halves(SampleKernels(Kernels(path).eight)) }
  @Test(arguments: Path.available) func halves10(path: Path) { halves(SampleKernels(Kernels(path).ten)) }

  /// 8.5.3.3.4.2 and 8.5.3.3.4.3.
  func weights<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(51)
    let stride = Plane<Sample>.stride
    for round in 0..<80 {
      let plane = Plane<Sample>(depth: k.depth, kind: 0, &random)
      let (width, height) = (random.int(1...32) * 2, random.int(1...8))
      let range = round % 2 == 0 ? -25100...25100 : -8192...8191
      let a = Memory((0..<640).map { _ in Int16(random.int(range)) })
      let b = Memory((0..<640).map { _ in Int16(random.int(range)) })
      let shift1 = 14 - k.depth
      let log2WD = random.int(0...7) + shift1
      let w = [random.int(-128...255), random.int(-128...255)]
      let o = [random.int(-128...127) << (k.depth - 8), random.int(-128...127) << (k.depth - 8)]
      let (wide, tall, log2) = (Int32(width), Int32(height), Int32(log2WD))
      let runs: [(String, (UnsafeMutablePointer<Sample>) -> Void, (Int, Int) -> Int)] = [
        (
          "one", { k.round($0, stride, a.base, 70, wide, tall) },
          { a, _ in (a + 1 << (shift1 - 1)) >> shift1 }
        ),
        (
          "both", { k.average($0, stride, a.base, b.base, 70, wide, tall) },
          { a, b in (a + b + 1 << shift1) >> (shift1 + 1) }
        ),
        (
          "weighed", { k.weigh($0, stride, a.base, 70, wide, tall, log2, Int32(w[0]), Int32(o[0])) },
          { a, _ in ((a * w[0] + 1 << (log2WD - 1)) >> log2WD) + o[0] }
        ),
        (
          "both weighed",
          {
            k.weighBoth(
              $0, stride, a.base, b.base, 70, wide, tall, log2,
              [Int32(w[0]), Int32(w[1]), Int32(o[0]), Int32(o[1])])
          }, { a, b in (a * w[0] + b * w[1] + (o[0] + o[1] + 1) << log2WD) >> (log2WD + 1) }
        ),
      ]
      for (name, run, value) in runs {
        let (mine, model) = (plane.copy(), plane.copy())
        run(mine.pointer)
        for y in 0..<height {
          for x in 0..<width {
            model[x, y] = clip(value(Int(a[70 * y + x]) + 8192, Int(b[70 * y + x]) + 8192), k.depth)
          }
        }
        #expect(
          mine.memory.values == model.memory.values, "\(name), \(width)x\(height), \(w), \(o), \(log2WD)")
      }
    }
  }
  @Test(arguments: Path.available) func weights8(path: Path) { weights(SampleKernels(Kernels(path).eight)) }
  @Test(arguments: Path.available) func weights10(path: Path) { weights(SampleKernels(Kernels(path).ten)) }
}
