// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

/// Whether a macroblock's residual quantises to nothing, against the transform and quantisation one
/// after the other.
@Suite struct EmptyResidualTests {
  /// A quantiser as a QP gives it: three values by position, the same for rows and columns.
  private static func quantiser(_ random: inout Random) -> (mf: [UInt16], bias: [UInt16], dc: (Int, Int)) {
    let step = Double(1 << random.int(0...9)) * Double(random.int(10...19)) / 10
    let parts = [26214.0, 10486.0, 16384.0].map { $0 / step }
    func value(_ i: Int) -> Double {
      let (y, x) = (i / 4, i % 4)
      return (x | y) & 1 == 0 ? parts[0] : x & y & 1 == 1 ? parts[1] : parts[2]
    }
    let share = random.int(0...1) == 0 ? 1.0 / 6 : 1.0 / 3
    let mf = (0..<16).map { UInt16(value($0)) }
    let bias = mf.map { UInt16(min(share * 65536 / Double(max($0, 1)), 16000)) }
    return (mf, bias, (Int(mf[0]) / 2, Int(bias[0]) * 2))
  }

  @Test(arguments: Path.available) func emptyResidual(path: Path) {
    let k = Kernels(path).k
    var random = Random(50)
    var found = (lumaEmpty: 0, lumaNot: 0, chromaEmpty: 0, chromaNot: 0)
    for round in 0..<6000 {
      let (mf, bias, dc) = Self.quantiser(&random)
      let source = Memory<UInt8>(256, round % 5 == 0 ? .extremes : .random, &random)
      let pred = Area(width: 16, height: 16, .random, &random)
      // A residual of noise, of a step, or of a single sample.
      let noise = random.int(0...40)
      let at = random.int(0...255)
      let kind = random.int(0...3)
      for i in 0..<256 {
        let d: Int
        switch kind {
        case 0: d = random.int(-noise...noise)
        case 1: d = noise
        case 2: d = i == at ? noise * 6 : 0
        default: d = i & 1 == 0 ? noise / 4 : 0
        }
        pred[i % 16, i / 16] = clip1(Int(source[i]) + d)
      }
      let luma = Memory<Int16>(256)
      Kernels.c.k.forward4x4x16(luma.base, source.base, pred.pointer, pred.stride)
      var any: Int32 = 0
      for b in 0..<4 { any |= Kernels.c.k.quant4x4x4(luma.base + 64 * b, mf, bias) }
      #expect(k.isEmpty16x16(source.base, pred.pointer, pred.stride, mf, bias) == (any == 0 ? 1 : 0))
      if any == 0 { found.lumaEmpty += 1 } else { found.lumaNot += 1 }

      let chroma = Memory<Int16>(128)
      Kernels.c.k.forwardNV12(chroma.base, source.base, pred.pointer, pred.stride)
      any = 0
      for c in [0, 64] {
        let (a, b, d, e) = (chroma[c], chroma[c + 16], chroma[c + 32], chroma[c + 48])
        let four = Memory<Int16>([a + b + d + e, a - b + d - e, a + b - d - e, a - b - d + e])
        any |= Kernels.c.k.quantDC(four.base, 4, Int32(dc.0), Int32(dc.1))
        for b in 0..<4 { chroma[c + 16 * b] = 0 }
        any |= Kernels.c.k.quant4x4x4(chroma.base + c, mf, bias)
      }
      let result = k.isEmptyNV12(
        source.base, pred.pointer, pred.stride, mf, bias, Int32(dc.0), Int32(dc.1))
      #expect(result == (any == 0 ? 1 : 0))
      if any == 0 { found.chromaEmpty += 1 } else { found.chromaNot += 1 }
    }
    #expect(min(found.lumaEmpty, found.lumaNot, found.chromaEmpty, found.chromaNot) > 500, "\(found)")
  }
}
