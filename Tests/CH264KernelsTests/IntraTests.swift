// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

/// Each mode against 8.3 written sample by sample with the standard's p[x, y].
@Suite struct IntraTests {
  // MARK: - Intra_16x16

  @Test(arguments: Path.available) func intra16x16(path: Path) {
    let kernels = Kernels(path)
    var random = Random(50)
    for content in Content.allCases {
      for _ in 0..<6 {
        let area = Area(width: 16, height: 16, content, &random)
        let p = { (x: Int, y: Int) in area[x, y] }
        let top = (0..<16).reduce(0) { $0 + p($1, -1) }
        let left = (0..<16).reduce(0) { $0 + p(-1, $1) }
        let h = (0..<8).reduce(0) { $0 + ($1 + 1) * (p(8 + $1, -1) - p(6 - $1, -1)) }
        let v = (0..<8).reduce(0) { $0 + ($1 + 1) * (p(-1, 8 + $1) - p(-1, 6 - $1)) }
        let (b, c) = ((5 * h + 32) >> 6, (5 * v + 32) >> 6)
        let a = 16 * (p(-1, 15) + p(15, -1))
        let models: [(Int, Int) -> Int] = [
          { x, _ in p(x, -1) }, { _, y in p(-1, y) }, { _, _ in (top + left + 16) >> 5 },
          { x, y in clip1((a + b * (x - 7) + c * (y - 7) + 16) >> 5) }, { _, _ in (left + 8) >> 4 },
          { _, _ in (top + 8) >> 4 }, { _, _ in 128 },
        ]
        for (mode, model) in models.enumerated() {
          let (mine, expected) = (area.copy(), area.copy())
          for i in 0..<256 { expected[i % 16, i / 16] = model(i % 16, i / 16) }
          ovt_intra16x16(kernels.table, Int32(mode), mine.pointer, mine.stride)
          #expect(mine.memory.values == expected.memory.values, "mode \(mode), \(content)")
        }
      }
    }
  }

  // MARK: - Chroma

  @Test(arguments: Path.available) func intraChroma(path: Path) {
    let kernels = Kernels(path)
    var random = Random(51)
    for content in Content.allCases {
      for _ in 0..<6 {
        let area = Area(width: 16, height: 8, content, &random)
        for mode in 0..<7 {
          let (mine, expected) = (area.copy(), area.copy())
          for component in 0...1 {
            let p = { (x: Int, y: Int) in area[2 * x + component, y] }
            /// 8.3.4.1 to 8.3.4.3 for the 4x4 block that holds (x, y).
            func dc(_ x: Int, _ y: Int, left hasLeft: Bool, top hasTop: Bool) -> Int {
              let (xO, yO) = (x / 4 * 4, y / 4 * 4)
              let top = (0..<4).reduce(0) { $0 + p(xO + $1, -1) }
              let left = (0..<4).reduce(0) { $0 + p(-1, yO + $1) }
              let prefersTop = xO > 0 && yO == 0
              let prefersLeft = xO == 0 && yO > 0
              if hasTop && hasLeft && !prefersTop && !prefersLeft { return (top + left + 4) >> 3 }
              if hasTop && (prefersTop || !hasLeft) { return (top + 2) >> 2 }
              if hasLeft && (prefersLeft || !hasTop) { return (left + 2) >> 2 }
              return 128
            }
            let h = (0...3).reduce(0) { $0 + ($1 + 1) * (p(4 + $1, -1) - p(2 - $1, -1)) }
            let v = (0...3).reduce(0) { $0 + ($1 + 1) * (p(-1, 4 + $1) - p(-1, 2 - $1)) }
            let (b, c) = ((34 * h + 32) >> 6, (34 * v + 32) >> 6)
            let a = 16 * (p(-1, 7) + p(7, -1))
            for y in 0..<8 {
              for x in 0..<8 {
                let value: Int
                switch mode {
                case 0: value = dc(x, y, left: true, top: true)
                case 1: value = p(-1, y)
                case 2: value = p(x, -1)
                case 3: value = clip1((a + b * (x - 3) + c * (y - 3) + 16) >> 5)
                case 4: value = dc(x, y, left: true, top: false)
                case 5: value = dc(x, y, left: false, top: true)
                default: value = 128
                }
                expected[2 * x + component, y] = value
              }
            }
          }
          ovt_intra_chroma(kernels.table, Int32(mode), mine.pointer, mine.stride)
          #expect(mine.memory.values == expected.memory.values, "mode \(mode), \(content)")
        }
      }
    }
  }

  // MARK: - Intra_4x4 and Intra_8x8

  @Test(arguments: Path.available) func intraEdges(path: Path) {
    let kernels = Kernels(path)
    var random = Random(52)
    for content in Content.allCases {
      for _ in 0..<6 {
        let buffer = Memory<UInt8>(32, content, &random)
        let edge = buffer.base + 8
        // p[-1, -1] is edge[0] by way of p[x, -1] and of p[-1, y].
        let p = { (x: Int, y: Int) in Int(y == -1 ? edge[1 + x] : edge[-1 - y]) }
        for n in [4, 8] {
          for mode in 0..<12 {
            let area = Area(width: 16, height: 8, .random, &random)
            let expected = area.copy()
            for y in 0..<n {
              for x in 0..<n { expected[x, y] = predictFromEdge(mode, n, x, y, p) }
            }
            if n == 4 {
              ovt_intra4x4(kernels.table, Int32(mode), area.pointer, area.stride, edge)
            } else {
              ovt_intra8x8(kernels.table, Int32(mode), area.pointer, area.stride, edge)
            }
            #expect(area.memory.values == expected.memory.values, "\(n)x\(n) mode \(mode), \(content)")
          }
        }
      }
    }
  }

  /// 8.3.2.2.1, its cases in its order.
  @Test(arguments: Path.available) func filterEdge(path: Path) {
    let k = Kernels(path).k
    var random = Random(53)
    for content in Content.allCases {
      for available in 0..<8 {
        for _ in 0..<20 {
          let buffer = Memory<UInt8>(32, content, &random)
          let edge = buffer.base + 8
          let model = filteredEdge8x8(edge, available: available)
          let out = Memory<UInt8>(32)
          k.filterEdge8x8(out.base + 8, edge, Int32(available))
          for (i, value) in model {
            #expect(Int(out[8 + i]) == value, "sample \(i), available \(available), \(content)")
          }
        }
      }
    }
  }
}
