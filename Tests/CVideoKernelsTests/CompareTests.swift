// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import KernelTestSupport
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

  /// The three measures of a difference by their definitions.
  static func measures(
    _ d: (Int, Int) -> Int, _ size: (width: Int, height: Int)
  ) -> (sad: Int, ssd: Int, satd: Int) {
    var (sad, ssd) = (0, 0)
    for y in 0..<size.height {
      for x in 0..<size.width {
        sad += abs(d(x, y))
        ssd += d(x, y) * d(x, y)
      }
    }
    return (sad, ssd, satd(d, width: size.width, height: size.height))
  }

  /// Compares all measures of a shape, and those of four candidates, with their definitions. The
  /// source has no byte after its last sample.
  static func check(
    _ k: OVTVideoKernels, _ shape: Int, _ source: Memory<UInt8>, at offset: Int, stride: Int,
    _ refContent: Content, _ random: inout Random
  ) {
    let size = shapes[shape]
    let area = Area(width: size.width + 8, height: size.height + 8, refContent, &random)
    let (ref, src) = (area.pointer, source.base + offset)
    func difference(_ x0: Int, _ y0: Int) -> (Int, Int) -> Int {
      { x, y in Int(source[offset + stride * y + x]) - area[x + x0, y + y0] }
    }
    let model = measures(difference(0, 0), size)
    #expect(
      Int(entry(k.sad, shape, as: OVTCompare.self)(src, stride, ref, area.stride)) == model.sad, "\(size)")
    #expect(
      Int(entry(k.ssd, shape, as: OVTCompare.self)(src, stride, ref, area.stride)) == model.ssd, "\(size)")
    #expect(
      Int(entry(k.satd, shape, as: OVTCompare.self)(src, stride, ref, area.stride)) == model.satd, "\(size)")

    let vectors = (0..<4).map { _ in (x: random.int(-4...4), y: random.int(-4...4)) }
    let candidates = vectors.map { ref + $0.x + area.stride * $0.y }
    var out = [Int32](repeating: -1, count: 6)
    entry(k.sadX4, shape, as: OVTCompareX4.self)(
      src, stride, candidates[0], candidates[1], candidates[2], candidates[3], area.stride, &out)
    var each: [Int32] = []
    for v in vectors {
      let d = difference(v.x, v.y)
      var sad = 0
      for y in 0..<size.height { for x in 0..<size.width { sad += abs(d(x, y)) } }
      each.append(Int32(sad))
    }
    #expect(out == each + [-1, -1], "sadX4 \(size)")
  }

  /// An entry of an array of functions, which Swift sees as a tuple.
  static func entry<Entries, Function>(_ entries: Entries, _ index: Int, as: Function.Type) -> Function {
    withUnsafeBytes(of: entries) { $0.bindMemory(to: Function.self)[index] }
  }

  /// The blocks of a macroblock, at all their places in a copy of it with rows of 16 samples, and
  /// in pictures.
  @Test(arguments: Path.available) func blocks(path: Path) {
    let k = Kernels(path).k
    var random = Random(1)
    for sourceContent in Content.allCases {
      for refContent in Content.allCases {
        let macroblock = Memory<UInt8>(256, sourceContent, &random)
        for shape in 0..<7 {
          let size = shapes[shape]
          for offset in Self.sourceOffsets(size) {
            Self.check(k, shape, macroblock, at: offset, stride: 16, refContent, &random)
          }
          let stride = random.int(size.width...100)
          let offset = random.int(0...40)
          let source = Memory<UInt8>(
            offset + stride * (size.height - 1) + size.width, sourceContent, &random)
          Self.check(k, shape, source, at: offset, stride: stride, refContent, &random)
        }
      }
    }
  }

  /// Blocks of more than 16x16 samples, whose sums are the largest.
  @Test(arguments: Path.available) func largerBlocks(path: Path) {
    let k = Kernels(path).k
    var random = Random(5)
    let contents: [(Content, Content)] = [
      (.random, .random), (.zero, .full), (.full, .zero), (.extremes, .extremes), (.checker, .stripes),
      (.gentle, .gentle),
    ]
    for (sourceContent, refContent) in contents {
      for shape in 7..<OVT_BLOCK_SHAPES {
        let size = shapes[shape]
        for stride in Set([16, 64, random.int(64...200)]) where stride >= size.width {
          let source = Memory<UInt8>(stride * (size.height - 1) + size.width, sourceContent, &random)
          Self.check(k, shape, source, at: 0, stride: stride, refContent, &random)
        }
      }
    }
  }

  /// Quarter-sample positions and bidirectional prediction, by the average of two references.
  @Test(arguments: Path.available) func averages(path: Path) {
    let k = Kernels(path).k
    var random = Random(3)
    for sourceContent in Content.allCases {
      for refContent in Content.allCases {
        for _ in 0..<4 {
          let stride = random.int(0...1) == 0 ? 16 : random.int(17...60)
          let source = Memory<UInt8>(15 * stride + 16, sourceContent, &random)
          let a = Area(width: 16, height: 16, refContent, &random)
          let (dx, dy) = (random.int(-4...4), random.int(-4...4))
          let d = { (x: Int, y: Int) in Int(source[stride * y + x]) - (a[x, y] + a[x + dx, y + dy] + 1) / 2 }
          var sad = 0
          for y in 0..<16 { for x in 0..<16 { sad += abs(d(x, y)) } }
          let second = a.pointer + dx + dy * a.stride
          #expect(Int(k.sadOfAverage(source.base, stride, a.pointer, second, a.stride)) == sad)
          #expect(
            Int(k.satdOfAverage(source.base, stride, a.pointer, second, a.stride))
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
          let stride = random.int(0...1) == 0 ? 16 : random.int(17...60)
          let source = Memory<UInt8>(7 * stride + 16, sourceContent, &random)
          let area = Area(width: 16, height: 8, refContent, &random)
          var ssd = [0, 0]
          var satd = 0
          for c in 0...1 {
            let d = { (x: Int, y: Int) in Int(source[stride * y + 2 * x + c]) - area[2 * x + c, y] }
            for i in 0..<64 { ssd[c] += d(i % 8, i / 8) * d(i % 8, i / 8) }
            satd += Self.satd(d, width: 8, height: 8)
          }
          var out = [Int32](repeating: -1, count: 3)
          k.ssdNV12(source.base, stride, area.pointer, area.stride, &out)
          #expect(out == [Int32(ssd[0]), Int32(ssd[1]), -1])
          #expect(Int(k.satdNV12(source.base, stride, area.pointer, area.stride)) == satd)
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
