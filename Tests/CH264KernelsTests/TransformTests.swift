// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

@Suite struct TransformTests {
  static let core = [[1, 1, 1, 1], [2, 1, -1, -2], [1, -1, -1, 1], [1, -2, 2, -1]]
  /// The 8x8 transform's basis, eight times too large.
  static let core8 = [
    [8, 8, 8, 8, 8, 8, 8, 8], [12, 10, 6, 3, -3, -6, -10, -12], [8, 4, -4, -8, -8, -4, 4, 8],
    [10, -3, -12, -6, 6, 12, 3, -10], [8, -8, -8, 8, 8, -8, -8, 8], [6, -12, 3, 10, -10, -3, 12, -6],
    [4, -8, 8, -4, -4, 8, -8, 4], [3, -6, 10, -12, 12, -10, 6, -3],
  ]

  /// Where the 4x4 blocks of a macroblock lie, by luma4x4BlkIdx (6.4.3).
  static func position(_ block: Int) -> (x: Int, y: Int) {
    (8 * (block / 4 % 2) + 4 * (block % 2), 8 * (block / 8) + 4 * (block / 2 % 2))
  }

  // MARK: - Forward

  @Test(arguments: Path.available) func forward4x4(path: Path) {
    let k = Kernels(path).k
    var random = Random(20)
    for round in 0..<2 {
      for a in Content.allCases {
        for b in Content.allCases {
          let source = Memory<UInt8>(256, a, &random)
          let pred = Area(width: 16, height: 16, b, &random)
          let model = (0..<16).flatMap { block -> [Int16] in
            let (x, y) = Self.position(block)
            let d = (0..<4).map { j in
              (0..<4).map { i in Int(source[16 * (y + j) + x + i]) - pred[x + i, y + j] }
            }
            return multiply(multiply(Self.core, d), transpose(Self.core)).joined().map(Int16.init)
          }
          let all = Memory<Int16>(256)
          k.forward4x4x16(all.base, source.base, pred.pointer, pred.stride)
          #expect(all.values == model, "x16")
          for block in 0..<16 {
            let (x, y) = Self.position(block)
            let one = Memory<Int16>(16)
            k.forward4x4(one.base, source.base + 16 * y + x, pred.pointer + y * pred.stride + x, pred.stride)
            #expect(one.values == Array(model[16 * block..<16 * block + 16]), "x1, round \(round)")
          }

          let chroma = Memory<UInt8>((0..<128).map { source[$0] })
          let chromaModel = (0..<8).flatMap { block -> [Int16] in
            let (c, x, y) = (block / 4, 4 * (block % 2), 4 * (block / 2 % 2))
            let d = (0..<4).map { j in
              (0..<4).map { i in
                Int(chroma[16 * (y + j) + 2 * (x + i) + c]) - pred[2 * (x + i) + c, y + j]
              }
            }
            return multiply(multiply(Self.core, d), transpose(Self.core)).joined().map(Int16.init)
          }
          let eight = Memory<Int16>(128)
          k.forwardNV12(eight.base, chroma.base, pred.pointer, pred.stride)
          #expect(eight.values == chromaModel, "NV12")
        }
      }
    }
  }

  @Test func forward8x8Twin() {
    var random = Random(21)
    for _ in 0..<100 {
      for content in Content.allCases {
        let source = Memory<UInt8>(256, content, &random)
        let pred = Area(width: 8, height: 8, .random, &random)
        let coef = Memory<Int16>(64)
        Kernels.c.k.forward8x8(coef.base, source.base, pred.pointer, pred.stride)
        let d = (0..<8).map { y in (0..<8).map { x in Int(source[16 * y + x]) - pred[x, y] } }
        let exact = multiply(multiply(Self.core8, d), transpose(Self.core8))
        for i in 0..<64 {
          // The shifts lose less than 1 + 1/2 + 1/4 in each dimension, the first's loss grows up to
          // fourfold.
          let loss = abs(Double(coef[i]) - Double(exact[i / 8][i % 8]) / 64)
          #expect(loss < 12, "coefficient \(i)")
        }
        #expect(Int(coef[0]) * 64 == exact[0][0])
      }
    }
  }

  @Test(arguments: Path.simd) func forward8x8(path: Path) {
    let k = Kernels(path).k
    var random = Random(22)
    for _ in 0..<6 {
      for a in Content.allCases {
        for b in Content.allCases {
          let source = Memory<UInt8>(256, a, &random)
          let pred = Area(width: 16, height: 16, b, &random)
          let (mine, twin) = (Memory<Int16>(256), Memory<Int16>(256))
          k.forward8x8x4(mine.base, source.base, pred.pointer, pred.stride)
          Kernels.c.k.forward8x8x4(twin.base, source.base, pred.pointer, pred.stride)
          #expect(mine.values == twin.values)
          for quarter in 0..<4 {
            let (x, y) = Self.position(4 * quarter)
            let one = Memory<Int16>(64)
            k.forward8x8(one.base, source.base + 16 * y + x, pred.pointer + y * pred.stride + x, pred.stride)
            #expect(one.values == Array(twin.values[64 * quarter..<64 * quarter + 64]))
          }
        }
      }
    }
  }

  // MARK: - Inverse

  /// 8.5.12.2, equation by equation, to the residual r.
  static func residual4x4(_ c: [Int]) -> [[Int]] {
    let d = (0..<4).map { i in (0..<4).map { j in c[4 * i + j] } }
    func one(_ v: [Int]) -> [Int] {
      let e = [v[0] + v[2], v[0] - v[2], (v[1] >> 1) - v[3], v[1] + (v[3] >> 1)]
      return [e[0] + e[3], e[1] + e[2], e[1] - e[2], e[0] - e[3]]
    }
    let h = transpose(transpose(d.map(one)).map(one))
    return h.map { $0.map { ($0 + 32) >> 6 } }
  }

  /// 8.5.13.2, equation by equation.
  static func residual8x8(_ c: [Int]) -> [[Int]] {
    let d = (0..<8).map { i in (0..<8).map { j in c[8 * i + j] } }
    func one(_ v: [Int]) -> [Int] {
      let a = [
        v[0] + v[4], -v[3] + v[5] - v[7] - (v[7] >> 1), v[0] - v[4], v[1] + v[7] - v[3] - (v[3] >> 1),
        (v[2] >> 1) - v[6], -v[1] + v[7] + v[5] + (v[5] >> 1), v[2] + (v[6] >> 1),
        v[3] + v[5] + v[1] + (v[1] >> 1),
      ]
      let b = [
        a[0] + a[6], a[1] + (a[7] >> 2), a[2] + a[4], a[3] + (a[5] >> 2), a[2] - a[4], (a[3] >> 2) - a[5],
        a[0] - a[6], a[7] - (a[1] >> 2),
      ]
      return [
        b[0] + b[7], b[2] + b[5], b[4] + b[3], b[6] + b[1], b[6] - b[1], b[4] - b[3], b[2] - b[5],
        b[0] - b[7],
      ]
    }
    let m = transpose(transpose(d.map(one)).map(one))
    return m.map { $0.map { ($0 + 32) >> 6 } }
  }

  /// Coefficients as they come: few and small, many, or those of a block of extremes.
  static func coefficients(_ n: Int, kind: Int, _ random: inout Random) -> [Int16] {
    switch kind % 5 {
    case 0:
      return (0..<n).map { _ in random.int(0...7) == 0 ? Int16(random.int(-2000...2000)) : 0 }
    case 1:
      return (0..<n).map { _ in Int16(random.int(-64...64)) }
    case 2:
      return (0..<n).map { $0 % 64 == 0 ? Int16(random.int(-16320...16320)) : 0 }
    case 3:
      return (0..<n).map { _ in Int16(random.int(-255...255)) * Int16(random.int(-1...1)) }
    default:
      // A transformed block of +-255, scaled as the inverse wants it.
      return (0..<n / 16).flatMap { _ -> [Int16] in
        let d = (0..<4).map { _ in (0..<4).map { _ in random.next() & 1 == 0 ? -255 : 255 } }
        let t = multiply(multiply(core, d), transpose(core))
        return (0..<16).map { i in
          let norm = [[16.0, 25.6, 20.2385770]][0]
          let odd = (i / 4 & 1) + (i & 1)
          let scale = odd == 0 ? norm[0] / 4 : odd == 2 ? norm[1] / 16 : norm[2] / 8
          return Int16(clip3(-32768 / 4, 32767 / 4, Int(Double(t[i / 4][i % 4]) * scale)))
        }
      }
    }
  }

  @Test func matrices() {
    // Where no shift loses a bit the equations are the matrices of the transform.
    var random = Random(23)
    for _ in 0..<200 {
      let c4 = (0..<16).map { _ in 4 * random.int(-200...200) }
      let half = transpose([[2, 2, 2, 2], [2, 1, -1, -2], [2, -2, -2, 2], [1, -2, 2, -1]])
      let rows4 = (0..<4).map { Array(c4[4 * $0..<4 * $0 + 4]) }
      let r4 = multiply(multiply(half, rows4), transpose(half)).map { $0.map { ($0 / 4 + 32) >> 6 } }
      let c8 = (0..<64).map { _ in 64 * random.int(-30...30) }
      let rows8 = (0..<8).map { Array(c8[8 * $0..<8 * $0 + 8]) }
      let basis = transpose(Self.core8)
      let r8 = multiply(multiply(basis, rows8), Self.core8).map { $0.map { ($0 / 64 + 32) >> 6 } }
      #expect(Self.residual4x4(c4) == r4)
      #expect(Self.residual8x8(c8) == r8)
    }
  }

  @Test(arguments: Path.available) func inverse4x4(path: Path) {
    let k = Kernels(path).k
    var random = Random(24)
    for round in 0..<300 {
      let content = Content.allCases[round % Content.allCases.count]
      let coef = Memory(Self.coefficients(256, kind: round, &random))
      let before = coef.values
      let area = Area(width: 16, height: 16, content, &random)
      let model = area.copy()
      for block in 0..<16 {
        let (x, y) = Self.position(block)
        let r = Self.residual4x4(before[16 * block..<16 * block + 16].map(Int.init))
        for i in 0..<16 {
          model[x + i % 4, y + i / 4] = clip1(model[x + i % 4, y + i / 4] + r[i / 4][i % 4])
        }
      }
      let (all, four, one) = (area.copy(), area.copy(), area.copy())
      k.inverse4x4x16(all.pointer, all.stride, coef.base)
      for quarter in 0..<4 {
        let (x, y) = Self.position(4 * quarter)
        k.inverse4x4x4(four.pointer + y * four.stride + x, four.stride, coef.base + 64 * quarter)
      }
      for block in 0..<16 {
        let (x, y) = Self.position(block)
        k.inverse4x4(one.pointer + y * one.stride + x, one.stride, coef.base + 16 * block)
      }
      #expect(all.memory.values == model.memory.values, "x16, \(content)")
      #expect(four.memory.values == model.memory.values, "x4, \(content)")
      #expect(one.memory.values == model.memory.values, "x1, \(content)")

      let chromaModel = area.copy()
      let chroma = area.copy()
      for block in 0..<8 {
        let (c, x, y) = (block / 4, 4 * (block % 2), 4 * (block / 2 % 2))
        let r = Self.residual4x4(before[16 * block..<16 * block + 16].map(Int.init))
        for i in 0..<16 {
          let px = 2 * (x + i % 4) + c
          chromaModel[px, y + i / 4] = clip1(chromaModel[px, y + i / 4] + r[i / 4][i % 4])
        }
      }
      k.inverseNV12(chroma.pointer, chroma.stride, coef.base)
      #expect(chroma.memory.values == chromaModel.memory.values, "NV12, \(content)")

      let dc = random.int(-16384...16383)
      let dcModel = area.copy()
      let dcArea = area.copy()
      for i in 0..<16 { dcModel[i % 4, i / 4] = clip1(dcModel[i % 4, i / 4] + ((dc + 32) >> 6)) }
      k.inverse4x4DC(dcArea.pointer, dcArea.stride, Int32(dc))
      #expect(dcArea.memory.values == dcModel.memory.values, "DC \(dc)")
      #expect(coef.values == before, "coefficients are only read")
    }
  }

  @Test(arguments: Path.available) func inverse8x8(path: Path) {
    let k = Kernels(path).k
    var random = Random(25)
    for round in 0..<300 {
      let content = Content.allCases[round % Content.allCases.count]
      let coef = Memory(Self.coefficients(64, kind: round % 4, &random))
      let area = Area(width: 8, height: 8, content, &random)
      let model = area.copy()
      let r = Self.residual8x8(coef.values.map(Int.init))
      for i in 0..<64 { model[i % 8, i / 8] = clip1(model[i % 8, i / 8] + r[i / 8][i % 8]) }
      k.inverse8x8(area.pointer, area.stride, coef.base)
      #expect(area.memory.values == model.memory.values, "\(content), \(round)")
    }
  }

  /// The finest quantisation of the encoder: residuals of +-255 go through forward, QP 0 and back.
  @Test(arguments: Path.available) func roundTrip(path: Path) {
    let k = Kernels(path).k
    var random = Random(26)
    // 4x4: quantiser and scale of QP 0 (2^15 / (scale * norm), in 16 bits), 8x8 likewise.
    let mf4: [UInt16] = (0..<16).map { [26214, 16132, 10486][($0 / 4 & 1) + ($0 & 1)] }
    let scale4: [Int16] = (0..<16).map { [10, 13, 16][($0 / 4 & 1) + ($0 & 1)] }
    let bias: [UInt16] = (0..<16).map { _ in 1 }
    for _ in 0..<200 {
      let source = Memory<UInt8>(256, .extremes, &random)
      let area = Area(width: 16, height: 16, .extremes, &random)
      let coef = Memory<Int16>(256)
      k.forward4x4x16(coef.base, source.base, area.pointer, area.stride)
      for quarter in 0..<4 {
        #expect(k.quant4x4x4(coef.base + 64 * quarter, mf4, bias) & ~15 == 0)
        k.scale4x4x4(coef.base + 64 * quarter, scale4)
      }
      k.inverse4x4x16(area.pointer, area.stride, coef.base)
      for i in 0..<256 { #expect(abs(Int(source[i]) - area[i % 16, i / 16]) <= 1) }
    }
  }

  // MARK: - Hadamard

  @Test(arguments: Path.available) func hadamard(path: Path) {
    let k = Kernels(path).k
    var random = Random(27)
    let h = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, -1, 1], [1, -1, 1, -1]]
    for round in 0..<300 {
      let limit = round % 2 == 0 ? 4080 : 100
      let dc = (0..<16).map { _ in
        round % 5 == 0 ? (random.next() & 1 == 0 ? -limit : limit - 1) : random.int(-limit...limit - 1)
      }
      let rows = (0..<4).map { Array(dc[4 * $0..<4 * $0 + 4]) }
      let t = multiply(multiply(h, rows), h).joined()
      let forward = Memory(dc.map(Int16.init))
      k.hadamard4x4Forward(forward.base)
      #expect(forward.values == t.map { Int16(($0 + 1) >> 1) })
      let inverse = Memory(dc.map { Int16($0 / 2) })
      let inverseModel = multiply(multiply(h, rows.map { $0.map { $0 / 2 } }), h).joined()
      k.hadamard4x4Inverse(inverse.base)
      #expect(inverse.values == inverseModel.map(Int16.init))
    }
  }
}
