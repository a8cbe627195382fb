// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import Foundation
import Testing
import VideoEncoding

@testable import HEVCEncoder

@Suite("Blocks of 32x32 with low frequencies alone")
struct LowFrequencyTests {
  /// What a block coder makes of a block of 32x32 samples over a prediction of one brightness.
  private struct Coded: Equatable {
    var error = 0
    var levels: [Int16] = []
    var hasHighLevels: Bool { levels.indices.contains { levels[$0] != 0 && ($0 % 32 > 15 || $0 / 32 > 15) } }
  }

  /// - Parameter source: the residual in samples of 8 bits.
  private static func code<Sample: HEVCSample>(
    _: Sample.Type, _ source: [Double], qp: Int, limits: Bool
  ) -> Coded {
    var memory = EncoderMemory()
    let kernels = Sample.Kernels.make(&memory, cpu: ovt_cpu_detect())
    var coder = BlockCoder<Sample>(
      kernels: kernels, costs: ContextCosts(memory: &memory), memory: &memory)
    coder.limitsFrequencies = limits
    coder.hidesSigns = false
    let samples = memory.allocate(Sample.self, count: 1024)
    let prediction = memory.allocate(Sample.self, count: 1024)
    let output = memory.allocate(Sample.self, count: 1024)
    let levels = memory.allocate(Int16.self, count: 1024)
    let range = Double(1 << (Sample.bitDepth - 8))
    for i in 0..<1024 {
      prediction[i] = Sample(100 * range)
      samples[i] = Sample(((100 + source[i]) * range).rounded())
    }
    let lambda = 0.4 * exp2(Double(qp - 12) / 3) * range * range
    let result = coder.code(
      TransformBlock(
        log2Size: 5, qp: qp, deadZone: 171, codedFlag: Contexts.lumaCBF, hasLimit: false,
        lambda: Int(lambda * 256)),
      source: samples, 32, prediction: prediction, 32, output: output, 32, levels: levels)
    guard result.isCoded else { return Coded(error: result.error) }
    return Coded(error: result.error, levels: (0..<1024).map { levels[$0] })
  }

  private static func codeBoth(_ depth: Int, _ source: [Double], qp: Int) -> (limited: Coded, whole: Coded) {
    depth == 8
      ? (code(UInt8.self, source, qp: qp, limits: true), code(UInt8.self, source, qp: qp, limits: false))
      : (code(UInt16.self, source, qp: qp, limits: true), code(UInt16.self, source, qp: qp, limits: false))
  }

  /// A horizontal cosine whose coefficient is a number of quantisation steps. Two steps have 64
  /// times lambda as energy, where 1,536 are allowed.
  private static func cosine(_ frequency: Int, steps: Double, qp: Int) -> [Double] {
    let amplitude: Double = steps * exp2(Double(qp - 4) / 6) * 2.squareRoot() / 32
    return (0..<1024).map { i in
      let phase = Double((2 * (i % 32) + 1) * frequency)
      return amplitude * cos(phase * .pi / 64)
    }
  }

  @Test("Noise keeps all frequencies at fine QPs", arguments: [8, 10], [8, 12, 16, 20, 24])
  func noise(depth: Int, qp: Int) {
    var state: UInt32 = 7
    let source = (0..<1024).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return Double(state >> 24) * 40 / 255 - 20
    }
    let coded = Self.codeBoth(depth, source, qp: qp)
    #expect(coded.limited == coded.whole && coded.whole.hasHighLevels)
  }

  @Test("A weak pattern of a high frequency is left out", arguments: [8, 10], [24, 30, 36])
  func weakPattern(depth: Int, qp: Int) {
    let source = Self.cosine(20, steps: 2, qp: qp).map { $0 + 20 }
    let coded = Self.codeBoth(depth, source, qp: qp)
    #expect(!coded.limited.levels.isEmpty && !coded.limited.hasHighLevels)
    #expect(depth == 8 && qp < 30 || coded.whole.hasHighLevels)
  }

  @Test("Strong low frequencies do not count as high ones", arguments: [8, 10])
  func strongLow(depth: Int) {
    let qp = 24
    let high = Self.cosine(20, steps: 2, qp: qp)
    let low = Self.cosine(3, steps: 200, qp: qp)
    let source = (0..<1024).map { low[$0] + high[$0] }
    #expect(!Self.codeBoth(depth, source, qp: qp).limited.hasHighLevels)
  }
}
