// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import KernelTestSupport
import Testing

@Suite struct PictureTests {
  static let lengths = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 100, 320, 639, 640]

  @Test(arguments: Path.available) func rows(path: Path) {
    let k = Kernels(path).k
    var random = Random(40)
    for n in Self.lengths {
      for content in Content.allCases {
        // The source of the exact length, and destinations with a margin that must stay.
        let u = Memory<UInt8>(n, content, &random)
        let v = Memory<UInt8>(n, .random, &random)
        let exact = Memory((0..<n).flatMap { [u[$0], v[$0]] })
        let (u2, v2) = (Memory<UInt8>(n + 64), Memory<UInt8>(n + 64))
        k.deinterleaveRow(u2.base, v2.base, exact.base, Int32(n))
        #expect(u2.values == u.values + [UInt8](repeating: 0, count: 64))
        #expect(v2.values == v.values + [UInt8](repeating: 0, count: 64))
      }
    }
  }

  @Test func halves() {
    var random = Random(42)
    for n in Self.lengths {
      for content in Content.allCases {
        let a = Memory<UInt8>(2 * n, content, &random)
        let b = Memory<UInt8>(2 * n, .random, &random)
        let half = Memory<UInt8>(n + 64)
        ovt_halve_row(half.base, a.base, b.base, Int32(n))
        let model = (0..<n).map { i in
          UInt8((Int(a[2 * i]) + Int(a[2 * i + 1]) + Int(b[2 * i]) + Int(b[2 * i + 1]) + 2) / 4)
        }
        #expect(half.values == model + [UInt8](repeating: 0, count: 64))
      }
    }
  }

  @Test func squaredErrors() {
    var random = Random(44)
    for n in Self.lengths + [4096, 4097, 9000] {
      for content in Content.allCases {
        for step in 1...2 {
          // No sample after the last one is there.
          let count = max(n - 1, 0) * step + min(n, 1)
          let a = Memory<UInt8>(count, content, &random)
          let b = Memory<UInt8>(count, .random, &random)
          #expect(
            ovt_squared_errors_8(a.base, b.base, Int32(n), Int32(step))
              == (0..<n).reduce(0) { $0 + squared(Int(a[$1 * step]) - Int(b[$1 * step])) })
          let (a16, b16) = (
            Memory(a.values.map { UInt16($0) * 257 }), Memory(b.values.map { UInt16($0) << 6 })
          )
          #expect(
            ovt_squared_errors_16(a16.base, b16.base, Int32(n), Int32(step))
              == (0..<n).reduce(0) { $0 + squared(Int(a16[$1 * step]) - Int(b16[$1 * step])) })
        }
      }
    }
    func squared(_ value: Int) -> UInt64 { UInt64(value * value) }
  }

  @Test func sums() {
    var random = Random(43)
    for n in Self.lengths {
      for content in Content.allCases {
        for step in 1...3 {
          // No sample after the last one is there.
          let p = Memory<UInt8>(max(n - 1, 0) * step + min(n, 1), content, &random)
          let samples = (0..<n).map { UInt32(p[$0 * step]) }
          var (sum, squares): (UInt32, UInt32) = (1, 2)
          ovt_sums(p.base, Int32(n), Int32(step), &sum, &squares)
          #expect(sum == 1 + samples.reduce(0, +))
          #expect(squares == 2 + samples.reduce(0) { $0 + $1 * $1 })
        }
        let blocks = n / 32
        let p = Memory<UInt8>(blocks * 32, content, &random)
        let sums = Memory<UInt32>(blocks + 1)
        var squares: UInt32 = 3
        ovt_block_sums(p.base, Int32(blocks), sums.base, &squares, p.base)
        ovt_block_sums(p.base, Int32(blocks), sums.base, &squares, p.base)
        let model = (0..<blocks).map { b in (0..<32).reduce(UInt32(0)) { $0 + UInt32(p[b * 32 + $1]) } }
        #expect(sums.values == model.map { 2 * $0 } + [0])
        #expect(squares == 3 + 2 * p.values.reduce(0) { $0 + UInt32($1) * UInt32($1) })
      }
    }
    // Two thousand blocks of the brightest samples fit.
    let white = Memory<UInt8>([UInt8](repeating: 255, count: 2048 * 32))
    let sums = Memory<UInt32>(2048)
    var squares: UInt32 = 0
    ovt_block_sums(white.base, 2048, sums.base, &squares, white.base)
    #expect(squares == 2048 * 32 * 255 * 255)
  }

  @Test(arguments: Path.available) func planesOfABlock(path: Path) {
    let k = Kernels(path).k
    var random = Random(41)
    for stride in [8, 9, 24, 100] {
      let u = Memory<UInt8>(7 * stride + 8, .random, &random)
      let v = Memory<UInt8>(7 * (stride + 3) + 8, .random, &random)
      let rows = random.int(16...40)
      let block = Memory<UInt8>(7 * rows + 16)
      k.interleave8x8Planes(block.base, rows, u.base, stride, v.base, stride + 3)
      let model = (0..<block.count).map { i in
        let (x, y) = (i % rows, i / rows)
        return x >= 16 ? 0 : x & 1 == 0 ? u[y * stride + x / 2] : v[y * (stride + 3) + x / 2]
      }
      #expect(block.values == model)
    }
  }
}
