// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

@Suite struct QuantTests {
  static func coefficients(_ n: Int, _ round: Int, _ random: inout Random) -> [Int16] {
    (0..<n).map { _ in
      switch round % 4 {
      case 0: return Int16(random.int(-16320...16320))
      case 1: return Int16(random.int(-40...40))
      case 2: return random.int(0...20) == 0 ? Int16(random.int(-300...300)) : 0
      default: return [Int16.min, Int16.max, 0, 1, -1].randomElement(using: &random)!
      }
    }
  }

  static func level(_ c: Int16, _ mf: Int, _ bias: Int) -> Int16 {
    let level = ((abs(Int(c)) + bias) * mf) >> 16
    return Int16(truncatingIfNeeded: c == 0 ? 0 : c < 0 ? -level : level)
  }

  @Test(arguments: Path.available) func quantise(path: Path) {
    let k = Kernels(path).k
    var random = Random(30)
    for round in 0..<200 {
      // Small multipliers leave blocks without a level; the largest is that of QP 0.
      let top = [26214, 4000, 300, 65535][round / 4 % 4]
      let mf = (0..<64).map { _ in UInt16(random.int(top / 3...top)) }
      let bias = (0..<64).map { _ in UInt16(random.int(0...(round % 7 == 0 ? 32767 : 100))) }
      let values = Self.coefficients(64, round, &random)
      let model4 = values.indices.map { Self.level(values[$0], Int(mf[$0 % 16]), Int(bias[$0 % 16])) }
      let model8 = values.indices.map { Self.level(values[$0], Int(mf[$0]), Int(bias[$0])) }
      let bits = (0..<4).map { b in model4[16 * b..<16 * b + 16].contains { $0 != 0 } }

      let four = Memory(values)
      let mask = k.quant4x4x4(four.base, mf, bias)
      #expect(four.values == model4)
      #expect((0..<4).map { mask >> $0 & 1 == 1 } == bits && mask < 16)

      let one = Memory(values)
      for b in 0..<4 { #expect(k.quant4x4(one.base + 16 * b, mf, bias) == (bits[b] ? 1 : 0)) }
      #expect(one.values == model4)

      let eight = Memory(values)
      #expect(k.quant8x8(eight.base, mf, bias) == (model8.contains { $0 != 0 } ? 1 : 0))
      #expect(eight.values == model8)

      for n in [4, 16] {
        let dc = Memory(Array(values.prefix(n)))
        let model = dc.values.map { Self.level($0, Int(mf[0]), Int(bias[0])) }
        #expect(
          k.quantDC(dc.base, Int32(n), Int32(mf[0]), Int32(bias[0])) == (model.contains { $0 != 0 } ? 1 : 0))
        #expect(dc.values == model)
      }
    }
  }

  @Test(arguments: Path.available) func scale(path: Path) {
    let k = Kernels(path).k
    var random = Random(31)
    for round in 0..<120 {
      let values = Self.coefficients(64, round, &random)
      let scales = (0..<64).map { _ in Int16(random.int(0...(round % 3 == 0 ? 32767 : 4096))) }
      let model4 = values.indices.map { values[$0] &* scales[$0 % 16] }
      let (four, one) = (Memory(values), Memory(values))
      k.scale4x4x4(four.base, scales)
      for b in 0..<4 { k.scale4x4(one.base + 16 * b, scales) }
      #expect(four.values == model4)
      #expect(one.values == model4)
      for shift in 0...6 {
        let eight = Memory(values)
        let model = values.indices.map { i -> Int16 in
          let product = Int(values[i]) * Int(scales[i])
          return Int16(clip3(-32768, 32767, shift == 0 ? product : (product + 1 << (shift - 1)) >> shift))
        }
        k.scale8x8(eight.base, scales, Int32(shift))
        #expect(eight.values == model)
      }
    }
  }

  /// The zig-zag of figures 8-8 and 8-9, walked: up to the right, down to the left, turning at the
  /// borders.
  static func zigzag(_ n: Int) -> [Int] {
    var order: [Int] = []
    for diagonal in 0...(2 * n - 2) {
      let ys = (0..<n).filter { (0..<n).contains(diagonal - $0) }
      for y in diagonal % 2 == 1 ? ys : ys.reversed() { order.append(y * n + diagonal - y) }
    }
    return order
  }

  @Test(arguments: Path.available) func scans(path: Path) {
    let k = Kernels(path).k
    var random = Random(32)
    for round in 0..<50 {
      let values = Self.coefficients(64, round, &random)
      let coef = Memory(values)
      let (four, eight, dealt) = (Memory<Int16>(16), Memory<Int16>(64), Memory<Int16>(64))
      k.scan4x4(four.base, coef.base)
      k.scan8x8(eight.base, coef.base)
      k.interleave8x8(dealt.base, coef.base)
      #expect(four.values == Self.zigzag(4).map { values[$0] })
      #expect(eight.values == Self.zigzag(8).map { values[$0] })
      let dealtModel = (0..<64).map { (i: Int) -> Int16 in values[4 * (i % 16) + i / 16] }
      #expect(dealt.values == dealtModel)
    }
    #expect(Self.zigzag(4).prefix(5) == [0, 1, 4, 8, 5])
  }

  /// The inlined functions.
  @Test func masks() {
    var random = Random(33)
    for round in 0..<400 {
      let level = Memory(
        (0..<64).map { _ in
          random.int(0...round % 9) == 0
            ? [Int16.min, -256, -1, 1, 256, Int16.max].randomElement(using: &random)! : 0
        })
      var mask: UInt64 = 0
      for i in 0..<64 where level[i] != 0 { mask |= 1 << UInt64(i) }
      #expect(ovt_nonzero_levels64(level.base) == mask)
      for b in 0..<4 {
        #expect(ovt_nonzero_levels16(level.base + 16 * b) == UInt32(mask >> UInt64(16 * b) & 0xFFFF))
      }
    }
  }
}
