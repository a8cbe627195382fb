// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

@Suite struct MotionTests {
  /// 8.4.2.2.2 (8-270).
  @Test(arguments: Path.available) func chroma(path: Path) {
    let kernels = Kernels(path)
    var random = Random(11)
    for (index, width) in [8, 4, 2].enumerated() {
      for height in [2, 4, 8] {
        for xFrac in 0..<8 {
          for yFrac in 0..<8 {
            for content in [Content.random, .extremes, .full] {
              let src = Area(width: 24, height: 16, content, &random)
              let dst = Area(width: 24, height: 16, .random, &random)
              let model = dst.copy()
              for y in 0..<height {
                for x in 0..<width {
                  for c in 0...1 {
                    let s = { (i: Int, j: Int) in src[2 * (x + i) + c, y + j] }
                    model[2 * x + c, y] =
                      ((8 - xFrac) * (8 - yFrac) * s(0, 0) + xFrac * (8 - yFrac) * s(1, 0)
                        + (8 - xFrac) * yFrac * s(0, 1) + xFrac * yFrac * s(1, 1) + 32) >> 6
                  }
                }
              }
              ovt_chroma(
                kernels.table, Int32(index), dst.pointer, dst.stride, src.pointer, src.stride, Int32(xFrac),
                Int32(yFrac), Int32(height))
              #expect(dst.memory.values == model.memory.values, "\(width)x\(height) (\(xFrac), \(yFrac))")
            }
          }
        }
      }
    }
  }

  /// 8.4.2.2.1: b, h and j, the last from horizontal intermediates (the kernels go the other way).
  @Test(arguments: Path.available) func halfSample(path: Path) {
    let k = Kernels(path).k
    var random = Random(12)
    for width in [1, 2, 15, 16, 29, 30, 31, 32, 33, 48, 64, 80, 100] {
      for content in Content.allCases {
        let height = random.int(1...7)
        let src = Area(width: width, height: height, content, &random)
        let planes = (0..<3).map { _ -> Area in
          // The planes share the source's stride.
          let plane = src.copy()
          for i in 0..<plane.memory.count { plane.memory[i] = UInt8.random(in: 0...255, using: &random) }
          return plane
        }
        let before = planes.map { $0.copy() }
        let scratch = Memory<Int16>(width + 64)
        k.halfSample(
          planes[0].pointer, planes[1].pointer, planes[2].pointer, src.pointer, src.stride, Int32(width),
          Int32(height), scratch.base)

        func taps(_ s: (Int) -> Int) -> Int { s(-2) - 5 * s(-1) + 20 * s(0) + 20 * s(1) - 5 * s(2) + s(3) }
        for (plane, untouched) in zip(planes, before) {
          // Samples beyond the width may be overwritten; the rest is unchanged.
          for y in 0..<height {
            for x in width..<(width + 31) { untouched[x, y] = plane[x, y] }
          }
        }
        for y in 0..<height {
          for x in 0..<width {
            let b1 = { (v: Int) in taps { src[x + $0, y + v] } }
            before[0][x, y] = clip1((b1(0) + 16) >> 5)
            before[1][x, y] = clip1((taps { src[x, y + $0] } + 16) >> 5)
            before[2][x, y] = clip1((taps(b1) + 512) >> 10)
          }
        }
        for (name, i) in [("b", 0), ("h", 1), ("j", 2)] {
          #expect(planes[i].memory.values == before[i].memory.values, "\(name), width \(width), \(content)")
        }
      }
    }
  }

  /// The intermediates of j at their extremes: rows and columns that align with the taps' signs.
  @Test(arguments: Path.simd) func halfSampleExtremes(path: Path) {
    let k = Kernels(path).k
    var random = Random(13)
    let signs = [1, -1, 1, 1, -1, 1]
    for _ in 0..<200 {
      let src = Area(width: 64, height: 8, .extremes, &random)
      let (invertX, invertY) = (random.int(0...7), random.int(0...7))
      for y in -2..<11 {
        for x in -2..<67 {
          let sign = signs[(x + 2 + invertX) % 6] * signs[(y + 2 + invertY) % 6]
          if random.int(0...9) > 0 { src[x, y] = sign > 0 ? 255 : 0 }
        }
      }
      let mine = (0..<3).map { _ in src.copy() }
      let twin = (0..<3).map { _ in src.copy() }
      let scratch = Memory<Int16>(64 + 64)
      k.halfSample(
        mine[0].pointer, mine[1].pointer, mine[2].pointer, src.pointer, src.stride, 64, 8, scratch.base)
      Kernels.c.k.halfSample(
        twin[0].pointer, twin[1].pointer, twin[2].pointer, src.pointer, src.stride, 64, 8, scratch.base)
      for i in 0..<3 {
        for y in 0..<8 {
          for x in 0..<64 where mine[i][x, y] != twin[i][x, y] {
            Issue.record("plane \(i) at (\(x), \(y)): \(mine[i][x, y]), C \(twin[i][x, y])")
          }
        }
      }
    }
  }

  /// The last byte that half-sample planes may read is the last one of the memory (AddressSanitizer
  /// sees more).
  @Test(arguments: Path.available) func halfSampleAtTheEnd(path: Path) {
    let k = Kernels(path).k
    var random = Random(14)
    for width in [16, 27, 32, 48, 60, 64] {
      let stride = width + 2 + 3 + 31
      let src = Memory<UInt8>(6 * stride, .random, &random)
      let planes = (0..<6).map { _ in Memory<UInt8>(width + 31) }
      let scratch = Memory<Int16>(width + 64)
      let origin = src.base + 2 * stride + 2
      k.halfSample(
        planes[0].base, planes[1].base, planes[2].base, origin, stride, Int32(width), 1, scratch.base)
      Kernels.c.k.halfSample(
        planes[3].base, planes[4].base, planes[5].base, origin, stride, Int32(width), 1, scratch.base)
      for i in 0..<3 {
        #expect(planes[i].values.prefix(width) == planes[i + 3].values.prefix(width), "width \(width)")
      }
    }
  }
}
