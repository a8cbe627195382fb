// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import VideoEncoding

@Suite struct BitModelTests {
  private func histogram(_ bins: [Int: Float]) -> ResidualHistogram {
    var histogram = ResidualHistogram()
    for (bin, count) in bins { histogram.counts[bin] = count }
    return histogram
  }

  @Test("Bits fall with the QP and grow with the residual")
  func bitsFallWithTheQPAndGrowWithTheResidual() {
    for bin in 0..<31 {
      for qp in 0..<51 {
        let here = BitModel.units(histogram([bin: 100]), qp: Double(qp))
        #expect(here >= BitModel.units(histogram([bin: 100]), qp: Double(qp + 1)))
        #expect(here <= BitModel.units(histogram([bin + 1: 100]), qp: Double(qp)))
      }
    }
  }

  @Test("The QP for bits is the inverse of the bits at a QP", arguments: [3.0, 17.5, 26, 33.25, 48])
  func theQPForBitsIsTheInverseOfTheBitsAtAQP(_ qp: Double) {
    let content = histogram([3: 200, 12: 300, 18: 200, 24: 20])
    #expect(abs(BitModel.qp(content, units: BitModel.units(content, qp: qp)) - qp) < 0.05)
  }

  @Test("Unreachable bit counts return the nearest QP")
  func whatCannotBeReachedIsAnsweredByTheNearestQP() {
    let content = histogram([20: 500])
    #expect(BitModel.qp(content, units: 1e12) == 0)
    #expect(BitModel.qp(content, units: 0) == 51)
    #expect(BitModel.qp(ResidualHistogram(), units: 1) == 0)
  }

  @Test("A factor is learned, and nonsense is not")
  func aFactorIsLearned() {
    var ratio = BitRatio()
    for _ in 0..<20 { ratio.learn(bits: 5000, units: 10, weight: 0.3) }
    #expect(abs(ratio.value / 500 - 1) < 0.01)
    let before = ratio.value
    ratio.learn(bits: 0, units: 10, weight: 0.3)
    ratio.learn(bits: 10, units: 0, weight: 0.3)
    #expect(ratio.value == before)
    ratio.learn(bits: 1e300, units: 1e-300, weight: 1)
    #expect(ratio.value.isFinite)
  }

  @Test("Pictures with few bits change the model factor little, also before the first measurement")
  func whatSaysLittleChangesAFactorLittle() {
    var ratio = BitRatio()
    for _ in 0..<3 { ratio.learn(bits: 80_000, units: 3, weight: 0.3, informativeness: 0.01) }
    #expect(abs(ratio.value / BitModel.typicalRatio - 1) < 0.1, "\(ratio.value)")
    // A complete observation has its full weight soon after.
    ratio.learn(bits: 5000, units: 10, weight: 0.1)
    #expect(ratio.value > BitModel.typicalRatio * 1.4 && ratio.value < 500, "\(ratio.value)")
  }

  @Test("Macroblocks without residual take the same at each QP")
  func macroblocksWithoutResidualTakeTheSame() {
    let nothing = histogram([0: 900])
    let units = BitModel.units(nothing, 51)
    #expect((0...51).allSatisfy { BitModel.units(nothing, $0) == units })
    #expect(BitModel.informativeness(nothing, units: units) < 1e-3)
    let some = histogram([0: 500, 18: 400])
    #expect(BitModel.informativeness(some, units: BitModel.units(some, 26)) == 1)
  }
}
