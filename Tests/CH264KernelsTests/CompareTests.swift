// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Testing

@Suite struct CompareTests {
  static let hadamard = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, -1, 1], [1, -1, 1, -1]]

  /// Offsets in the macroblock cache where a block of this shape can start.
  static func sourceOffsets(_ shape: (width: Int, height: Int)) -> [Int] {
    stride(from: 0, to: 16, by: shape.height).flatMap { y in
      stride(from: 0, to: 16, by: shape.width).map { x in 16 * y + x }
    }
  }

  /// SATD by its definition, over 4x4 blocks whose samples lie `step` apart.
  static func satd(_ d: (Int, Int) -> Int, width: Int, height: Int) -> Int {
    var sum = 0
    for y in stride(from: 0, to: height, by: 4) {
      for x in stride(from: 0, to: width, by: 4) {
        let block = (0..<4).map { j in (0..<4).map { i in d(x + i, y + j) } }
        let t = multiply(multiply(hadamard, block), transpose(hadamard))
        sum += t.joined().reduce(0) { $0 + abs($1) }
      }
    }
    return sum / 2
  }

  @Test(arguments: Path.available) func blocks(path: Path) {
    let kernels = Kernels(path)
    var random = Random(1)
    for sourceContent in Content.allCases {
      for refContent in Content.allCases {
        let source = Memory<UInt8>(256, sourceContent, &random)
        for (shape, size) in shapes.enumerated() {
          for offset in Self.sourceOffsets(size) {
            let area = Area(width: 24, height: 24, refContent, &random)
            let (ref, src) = (area.pointer, source.base + offset)
            let d = { (x: Int, y: Int) in Int(source[offset + 16 * y + x]) - area[x, y] }
            var sad = 0
            var ssd = 0
            for y in 0..<size.height {
              for x in 0..<size.width {
                sad += abs(d(x, y))
                ssd += d(x, y) * d(x, y)
              }
            }
            let satd = Self.satd(d, width: size.width, height: size.height)
            #expect(Int(ovt_sad(kernels.table, Int32(shape), src, ref, area.stride)) == sad, "sad \(size)")
            #expect(Int(ovt_ssd(kernels.table, Int32(shape), src, ref, area.stride)) == ssd, "ssd \(size)")
            #expect(Int(ovt_satd(kernels.table, Int32(shape), src, ref, area.stride)) == satd, "satd \(size)")

            let candidates = (0..<4).map { _ in ref + random.int(-4...4) + area.stride * random.int(-4...4) }
            var out = [Int32](repeating: -1, count: 6)
            ovt_sad_x4(
              kernels.table, Int32(shape), src, candidates[0], candidates[1], candidates[2], candidates[3],
              area.stride, &out)
            let each = candidates.map { ovt_sad(Kernels.c.table, Int32(shape), src, $0, area.stride) }
            #expect(out == each + [-1, -1], "sadX4 \(size)")
          }
        }
      }
    }
  }

  /// Quarter-sample positions, by the average of 8.4.2.2.1.
  @Test(arguments: Path.available) func averages(path: Path) {
    let k = Kernels(path).k
    var random = Random(3)
    for sourceContent in Content.allCases {
      for refContent in Content.allCases {
        for _ in 0..<4 {
          let source = Memory<UInt8>(256, sourceContent, &random)
          let a = Area(width: 16, height: 16, refContent, &random)
          let (dx, dy) = (random.int(-4...4), random.int(-4...4))
          let d = { (x: Int, y: Int) in Int(source[16 * y + x]) - (a[x, y] + a[x + dx, y + dy] + 1) / 2 }
          var sad = 0
          for y in 0..<16 { for x in 0..<16 { sad += abs(d(x, y)) } }
          let second = a.pointer + dx + dy * a.stride
          #expect(Int(k.sadOfAverage(source.base, a.pointer, second, a.stride)) == sad)
          #expect(
            Int(k.satdOfAverage(source.base, a.pointer, second, a.stride))
              == Self.satd(d, width: 16, height: 16))
        }
      }
    }
  }

  @Test(arguments: Path.available) func chroma(path: Path) {
    let k = Kernels(path).k
    var random = Random(2)
    for _ in 0..<8 {
      for sourceContent in Content.allCases {
        for refContent in Content.allCases {
          let source = Memory<UInt8>(128, sourceContent, &random)
          let area = Area(width: 16, height: 8, refContent, &random)
          var ssd = [0, 0]
          var satd = 0
          for c in 0...1 {
            let d = { (x: Int, y: Int) in Int(source[16 * y + 2 * x + c]) - area[2 * x + c, y] }
            for i in 0..<64 { ssd[c] += d(i % 8, i / 8) * d(i % 8, i / 8) }
            satd += Self.satd(d, width: 8, height: 8)
          }
          var out = [Int32](repeating: -1, count: 3)
          k.ssdNV12(source.base, area.pointer, area.stride, &out)
          #expect(out == [Int32(ssd[0]), Int32(ssd[1]), -1])
          #expect(Int(k.satdNV12(source.base, area.pointer, area.stride)) == satd)
        }
      }
    }
  }

  @Test(arguments: Path.available) func variance(path: Path) {
    let k = Kernels(path).k
    var random = Random(3)
    for content in Content.allCases {
      for _ in 0..<10 {
        let area = Area(width: 16, height: 16, content, &random)
        var sum = 0
        var squares = 0
        for i in 0..<256 {
          sum += area[i % 16, i / 16]
          squares += area[i % 16, i / 16] * area[i % 16, i / 16]
        }
        #expect(k.variance16x16(area.pointer, area.stride) == UInt64(squares) << 32 | UInt64(sum))
        // A block without a byte around it.
        let block = Memory<UInt8>(256, content, &random)
        #expect(k.variance16x16(block.base, 16) == Kernels.c.k.variance16x16(block.base, 16))
      }
    }
  }

  @Test(arguments: Path.available) func rows(path: Path) {
    let k = Kernels(path).k
    var random = Random(4)
    for n in [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 640, 1279, 1280, 4096, 32768] {
      for (a, b) in [
        (Content.random, Content.random), (.zero, .full), (.extremes, .extremes), (.gentle, .random),
      ] {
        let (x, y) = (Memory<UInt8>(n, a, &random), Memory<UInt8>(n, b, &random))
        var sum = 0
        for i in 0..<n { sum += (Int(x[i]) - Int(y[i])) * (Int(x[i]) - Int(y[i])) }
        #expect(k.ssdRow(x.base, y.base, Int32(n)) == UInt64(sum), "\(n) samples")
      }
    }
  }
}
