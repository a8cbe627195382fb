// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
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

  @Test(arguments: Path.available) func planesOfABlock(path: Path) {
    let k = Kernels(path).k
    var random = Random(41)
    for stride in [8, 9, 24, 100] {
      let u = Memory<UInt8>(7 * stride + 8, .random, &random)
      let v = Memory<UInt8>(7 * (stride + 3) + 8, .random, &random)
      let block = Memory<UInt8>(128)
      k.interleave8x8Planes(block.base, u.base, stride, v.base, stride + 3)
      let model = (0..<128).map { i in
        i & 1 == 0 ? u[(i >> 4) * stride + (i & 15) / 2] : v[(i >> 4) * (stride + 3) + (i & 15) / 2]
      }
      #expect(block.values == model)
    }
  }
}
