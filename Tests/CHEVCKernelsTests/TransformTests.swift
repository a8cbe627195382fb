// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import Foundation
import KernelTestSupport
import Testing

/// transMatrix of 8.6.4.2 for n points, from the first columns as the standard lists them and the
/// symmetry of cosines: entry (k, x) is that of cos(k (2 x + 1) pi / 2 n).
func transformMatrix(_ n: Int) -> [[Int]] {
  // The first column of the matrix for 32 points.
  let column = [
    64, 90, 90, 90, 89, 88, 87, 85, 83, 82, 80, 78, 75, 73, 70, 67, 64, 61, 57, 54, 50, 46, 43, 38, 36, 31,
    25,
    22, 18, 13, 9, 4,
  ]
  return (0..<n).map { k in
    (0..<n).map { x in
      if k == 0 { return 64 }
      var step = k * (32 / n) * (2 * x + 1) % 128
      if step > 64 { step = 128 - step }
      return step > 32 ? -column[64 - step] : column[step]
    }
  }
}

let sineMatrix = [[29, 55, 74, 84], [74, 74, 0, -74], [84, -29, -74, 55], [55, -84, 74, -29]]

@Suite struct TransformTests {
  struct Shape: CustomStringConvertible, Sendable {
    let log2: Int
    let isSine: Bool
    var n: Int { 1 << log2 }
    var matrix: [[Int]] { isSine ? sineMatrix : transformMatrix(n) }
    var description: String { "\(n) points\(isSine ? ", sine" : "")" }
    static let all = (2...5).map { Shape(log2: $0, isSine: false) } + [Shape(log2: 2, isSine: true)]

    func forward(
      _ k: UnsafePointer<OVTHEVCResidualKernels>, _ coef: Memory<Int16>, _ residual: Memory<Int16>,
      _ depth: Int
    ) {
      if isSine {
        k.pointee.forwardDST4x4(coef.base, residual.base, n, Int32(depth))
      } else {
        ovt_hevc_forward(k, Int32(log2), coef.base, residual.base, n, Int32(depth))
      }
    }
    func inverse(
      _ k: UnsafePointer<OVTHEVCResidualKernels>, _ residual: Memory<Int16>, _ coef: Memory<Int16>,
      _ depth: Int,
      _ columns: Int, _ rows: Int
    ) {
      if isSine {
        k.pointee.inverseDST4x4(residual.base, n, coef.base, Int32(depth), Int32(columns), Int32(rows))
      } else {
        ovt_hevc_inverse(
          k, Int32(log2), residual.base, n, coef.base, Int32(depth), Int32(columns), Int32(rows))
      }
    }
  }

  /// The matrix in C is that of the standard; so is the one here, whose entries come from the first
  /// column.
  @Test func matrix() {
    let model = transformMatrix(32)
    withUnsafePointer(to: ovt_hevc_matrix) {
      $0.withMemoryRebound(to: Int8.self, capacity: 1024) { matrix in
        for i in 0..<1024 { #expect(Int(matrix[i]) == model[i / 32][i % 32]) }
      }
    }
    #expect(
      transformMatrix(4) == [
        [64, 64, 64, 64], [83, 36, -36, -83], [64, -64, -64, 64], [36, -83, 83, -36],
      ])
    #expect(transformMatrix(8)[3] == [75, -18, -89, -50, 50, 89, 18, -75])
    #expect(transformMatrix(16)[1].prefix(8) == [90, 87, 80, 70, 57, 43, 25, 9])
    #expect(model[1].prefix(16) == [90, 90, 88, 85, 82, 78, 73, 67, 61, 54, 46, 38, 31, 22, 13, 4])
    for k in 1..<32 {
      for x in 0..<32 {
        let exact = 64 * 2.0.squareRoot() * cos(Double(k * (2 * x + 1)) * Double.pi / 64)
        #expect(abs(Double(model[k][x]) - exact) < 1.6)
      }
    }
  }

  /// 8.6.4.2 in whole numbers of 64 bits: columns, rounding and clipping, rows.
  @Test(arguments: Path.available, Shape.all) func inverse(path: Path, shape: Shape) {
    let k = Kernels(path).residual
    var random = Random(UInt64(shape.log2))
    let (n, matrix) = (shape.n, shape.matrix)
    for round in 0..<60 {
      let depth = round % 2 == 0 ? 8 : 10
      let (columns, rows) = round % 3 == 0 ? (n, n) : (random.int(1...n), random.int(1...n))
      let limit = [32767, 2000, 60][round / 2 % 3]
      let values = (0..<n * n).map { i -> Int16 in
        if i % n >= columns || i / n >= rows { return 0 }
        return Int16(round % 5 == 4 ? (random.int(0...1) * 2 - 1) * limit : random.int(-limit...limit))
      }
      let c = (0..<n).map { y in (0..<n).map { Int(values[y * n + $0]) } }
      let first = multiply(transpose(matrix), c).map { $0.map { clip3(-32768, 32767, ($0 + 64) >> 7) } }
      let shift = 20 - depth
      let model = multiply(first, matrix).map {
        $0.map { clip3(-32768, 32767, ($0 + 1 << (shift - 1)) >> shift) }
      }
      let residual = Memory<Int16>(n * n)
      shape.inverse(k, residual, Memory(values), depth, columns, rows)
      #expect(residual.values.map(Int.init) == model.flatMap { $0 }, "round \(round)")
    }
  }

  @Test(arguments: Path.available, Shape.all) func forward(path: Path, shape: Shape) {
    let k = Kernels(path).residual
    var random = Random(UInt64(10 + shape.log2))
    let (n, matrix) = (shape.n, shape.matrix)
    for round in 0..<60 {
      let depth = round % 2 == 0 ? 8 : 10
      let limit = round % 3 == 0 ? 20 : 1 << depth - 1
      let values = (0..<n * n).map { i -> Int16 in
        switch round / 2 % 4 {
        case 0: return Int16(limit)  // the largest sum
        case 1:  // the largest of another coefficient
          let sign = matrix[round % n][i / n] * matrix[round / 3 % n][i % n]
          return Int16(sign < 0 ? -limit : limit)
        default: return Int16(random.int(-limit...limit))
        }
      }
      let r = (0..<n).map { y in (0..<n).map { Int(values[y * n + $0]) } }
      let (one, two) = (shape.log2 + depth - 9, shape.log2 + 6)
      let first = multiply(matrix, r).map { $0.map { ($0 + 1 << (one - 1)) >> one } }
      let model = multiply(first, transpose(matrix)).map { $0.map { ($0 + 1 << (two - 1)) >> two } }
      #expect((first + model).joined().allSatisfy { abs($0) < 32768 })
      let coef = Memory<Int16>(n * n)
      shape.forward(k, coef, Memory(values), depth)
      #expect(coef.values.map(Int.init) == model.flatMap { $0 }, "round \(round)")
      // The inverse gives the residual back but for rounding, and for rows of the matrix that are
      // not quite orthogonal.
      let back = Memory<Int16>(n * n)
      shape.inverse(k, back, coef, depth, n, n)
      #expect(zip(back.values, values).allSatisfy { abs(Int($0) - Int($1)) <= 2 + limit / 50 })
    }
  }

  /// The low frequencies are those of the whole transform.
  @Test(arguments: Path.available) func forwardLow(path: Path) {
    let k = Kernels(path).residual
    var random = Random(21)
    for round in 0..<30 {
      let depth = round % 2 == 0 ? 8 : 10
      let limit = round % 3 == 0 ? 20 : 1 << depth - 1
      let residual = Memory((0..<1024).map { _ in Int16(random.int(-limit...limit)) })
      let (all, low) = (Memory<Int16>(1024), Memory((0..<1024).map { Int16($0) }))
      ovt_hevc_forward(k, 5, all.base, residual.base, 32, Int32(depth))
      k.pointee.forwardLow32(low.base, residual.base, 32, Int32(depth))
      for i in 0..<1024 {
        #expect(low[i] == (i % 32 < 16 && i / 32 < 16 ? all[i] : 0), "round \(round), \(i)")
      }
    }
  }

  @Test func onlyDC() {
    let k = Kernels(.c).residual
    for log2 in 2...5 {
      for depth in [8, 10] {
        for dc in stride(from: -32768, through: 32767, by: 777) {
          let (coef, residual) = (Memory<Int16>(1 << (2 * log2)), Memory<Int16>(1 << (2 * log2)))
          coef[0] = Int16(dc)
          ovt_hevc_inverse(k, Int32(log2), residual.base, 1 << log2, coef.base, Int32(depth), 1, 1)
          let value = Int16(ovt_hevc_dc_residual(Int32(dc), Int32(depth)))
          #expect(residual.values.allSatisfy { $0 == value })
        }
      }
    }
  }

  /// tsShift and bdShift as the standard has them.
  @Test(arguments: Path.available) func skip(path: Path) {
    let k = Kernels(path).residual.pointee
    var random = Random(20)
    for log2 in 2...5 {
      for round in 0..<20 {
        let (n, depth) = (1 << log2, round % 2 == 0 ? 8 : 10)
        let limit = 1 << depth - 1
        let residual = Memory((0..<n * n).map { _ in Int16(random.int(-limit...limit)) })
        let (coef, back) = (Memory<Int16>(n * n), Memory<Int16>(n * n))
        k.forwardSkip(coef.base, residual.base, n, Int32(log2), Int32(depth))
        k.inverseSkip(back.base, n, coef.base, Int32(log2), Int32(depth))
        #expect(back.values == residual.values)
        let any = Memory((0..<n * n).map { _ in Int16(random.int(-32768...32767)) })
        k.inverseSkip(back.base, n, any.base, Int32(log2), Int32(depth))
        let shift = 20 - depth
        let model = any.values.map { (Int($0) << (5 + log2) + 1 << (shift - 1)) >> shift }
        #expect(back.values.map(Int.init) == model)
      }
    }
  }
}
