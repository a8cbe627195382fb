// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport
import Testing

@Suite struct CompareTests {
  /// The Hadamard matrix of n rows in its natural order.
  static func hadamard(_ n: Int) -> [[Int]] {
    (0..<n).map { row in (0..<n).map { (row & $0).nonzeroBitCount % 2 == 0 ? 1 : -1 } }
  }

  static func transformed<Sample>(_ n: Int, _ x: Int, _ y: Int, _ a: Plane<Sample>, _ b: Plane<Sample>) -> Int
  {
    let h = hadamard(n)
    let d = (0..<n).map { j in (0..<n).map { a[x + $0, y + j] - b[x + $0, y + j] } }
    return multiply(multiply(h, d), h).joined().reduce(0) { $0 + abs($1) }
  }

  func comparison<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(70)
    let stride = Plane<Sample>.stride
    for round in 0..<12 {
      let a = Plane<Sample>(depth: k.depth, kind: round % 3, &random)
      let b = Plane<Sample>(depth: k.depth, kind: round / 3 % 3, &random)
      if round == 0 {  // the largest sums
        for i in 0..<a.memory.count { (a.memory[i], b.memory[i]) = (Sample(1 << k.depth - 1), 0) }
      }
      for (shape, size) in shapes.enumerated() {
        var (sad, satd, ssd) = (0, 0, 0)
        for y in 0..<size.height {
          for x in 0..<size.width {
            let d = a[x, y] - b[x, y]
            sad += abs(d)
            ssd += d * d
            if x % 4 == 0 && y % 4 == 0 { satd += Self.transformed(4, x, y, a, b) }
          }
        }
        let results = k.compare.map { $0[shape](a.pointer, stride, b.pointer, stride) }
        #expect(results == [sad, satd / 2, ssd], "\(size)")
        let (first, second) = (UnsafePointer<Sample>(a.pointer), UnsafePointer<Sample>(b.pointer))
        let others = [second, first, second.advanced(by: 1), second.advanced(by: stride)]
        let each = others.map { Int32(k.compare[0][shape](a.pointer, stride, $0, stride)) }
        #expect(k.sadX4[shape](a.pointer, stride, others, stride) == each)
      }
      for log2 in 3...6 {
        var sum = 0
        for y in Swift.stride(from: 0, to: 1 << log2, by: 8) {
          for x in Swift.stride(from: 0, to: 1 << log2, by: 8) {
            sum += (Self.transformed(8, x, y, a, b) + 2) >> 2
          }
        }
        #expect(k.satd8[log2 - 3](a.pointer, stride, b.pointer, stride) == sum, "\(1 << log2)")
      }
    }
  }
  @Test(arguments: Path.available) func comparison8(path: Path) {
    comparison(SampleKernels(Kernels(path).eight))
  }
  @Test(arguments: Path.available) func comparison10(path: Path) {
    comparison(SampleKernels(Kernels(path).ten))
  }

  func means<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(72)
    let stride = Plane<Sample>.stride
    for round in 0..<24 {
      let planes = (0..<3).map { Plane<Sample>(depth: k.depth, kind: (round + $0) % 4, &random) }
      let (width, height) = ([8, 16, 32][round % 3], random.int(1...8) * 4)
      let model = planes[2].copy()
      for y in 0..<height {
        for x in 0..<width { model[x, y] = (planes[0][x, y] + planes[1][x, y] + 1) / 2 }
      }
      k.mean(
        planes[2].pointer, stride, planes[0].pointer, planes[1].pointer, stride, Int32(width), Int32(height))
      #expect(planes[2].memory.values == model.memory.values, "\(width)x\(height)")
    }
  }
  @Test(arguments: Path.available) func means8(path: Path) { means(SampleKernels(Kernels(path).eight)) }
  @Test(arguments: Path.available) func means10(path: Path) { means(SampleKernels(Kernels(path).ten)) }

  func residuals<Sample>(_ k: SampleKernels<Sample>) {
    var random = Random(71)
    let stride = Plane<Sample>.stride
    for round in 0..<60 {
      let (a, b) = (
        Plane<Sample>(depth: k.depth, kind: round % 4, &random),
        Plane<Sample>(depth: k.depth, kind: 0, &random)
      )
      let (width, height) = (random.int(1...16) * 4, random.int(1...3) * 4)
      let limit = round % 3 == 0 ? 32767 : 300
      let residual = Memory((0..<70 * 16).map { _ in Int16(random.int(-limit...limit)) })
      let (out, outModel) = (residual.copy(), residual.copy())
      let (mine, model, dc, dcModel) = (b.copy(), b.copy(), b.copy(), b.copy())
      let constant = random.int(-limit...limit)
      k.difference(out.base, 70, a.pointer, stride, b.pointer, stride, Int32(width), Int32(height))
      k.reconstruct(
        mine.pointer, stride, mine.pointer, stride, residual.base, 70, Int32(width), Int32(height))
      k.reconstructDC(dc.pointer, stride, a.pointer, stride, Int32(constant), Int32(width), Int32(height))
      for y in 0..<height {
        for x in 0..<width {
          outModel[70 * y + x] = Int16(a[x, y] - b[x, y])
          model[x, y] = clip(b[x, y] + Int(residual[70 * y + x]), k.depth)
          dcModel[x, y] = clip(a[x, y] + constant, k.depth)
        }
      }
      #expect(
        out.values == outModel.values && mine.memory.values == model.memory.values, "\(width)x\(height)")
      #expect(dc.memory.values == dcModel.memory.values, "\(width)x\(height)")
    }
  }
  @Test(arguments: Path.available) func residuals8(path: Path) {
    residuals(SampleKernels(Kernels(path).eight))
  }
  @Test(arguments: Path.available) func residuals10(path: Path) {
    residuals(SampleKernels(Kernels(path).ten))
  }
}
