// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import Testing
import VideoEncoding

@testable import HEVCEncoder

@Suite("Blocks without a transform")
struct TransformSkipTests {
  /// What a block coder makes of a block of 4x4 samples over a prediction of 100.
  private struct Coded {
    var result = BlockResult()
    var levels = [Int16](repeating: 0, count: 16)
    var samples = [UInt8](repeating: 0, count: 16)
  }

  private static func code(_ source: [UInt8], qp: Int, isDST: Bool = true) -> Coded {
    var memory = EncoderMemory()
    let kernels = memory.allocate(OVTHEVCKernels8.self, count: 1)
    _ = OVTHEVCKernels8.fill(kernels, ovt_cpu_detect())
    let coder = BlockCoder<UInt8>(
      kernels: kernels, costs: ContextCosts(memory: &memory), memory: &memory)
    let samples = memory.allocate(UInt8.self, count: 16)
    let prediction = memory.allocate(UInt8.self, count: 16)
    let output = memory.allocate(UInt8.self, count: 16)
    let levels = memory.allocate(Int16.self, count: 16)
    for i in 0..<16 { (samples[i], prediction[i]) = (source[i], 100) }
    var coded = Coded()
    coded.result = coder.code(
      TransformBlock(
        log2Size: 2, qp: qp, deadZone: 171, isDST: isDST, codedFlag: Contexts.lumaCBF, hasLimit: false,
        lambda: 256),
      source: samples, 4, prediction: prediction, 4, output: output, 4, levels: levels)
    coded.levels = (0..<16).map { levels[$0] }
    coded.samples = (0..<16).map { output[$0] }
    return coded
  }

  @Test(
    "Single bright samples are coded without a transform, as 8.6.4.2 reconstructs them",
    arguments: [
      4, 17, 22, 27, 30, 36,
    ])
  func dots(qp: Int) {
    var source = [UInt8](repeating: 100, count: 16)
    (source[1], source[11]) = (250, 20)
    let coded = Self.code(source, qp: qp)
    #expect(coded.result.isCoded && coded.result.skipsTransform)
    // levelScale of 8.6.4.2, and the residual of 8.6.4.2 with tsShift 7 and bdShift 12.
    let scale = [40, 45, 51, 57, 64, 72][qp % 6] << (qp / 6)
    var error = 0
    for i in 0..<16 {
      let coefficient = (Int(coded.levels[i]) * 16 * scale + 16) >> 5
      let residual = ((coefficient << 7) + 2048) >> 12
      #expect(Int(coded.samples[i]) == min(max(100 + residual, 0), 255))
      let difference = Int(coded.samples[i]) - Int(source[i])
      error += difference * difference
    }
    #expect(coded.result.error == error)
  }

  @Test("A block of one brightness keeps its transform")
  func flat() {
    let coded = Self.code([UInt8](repeating: 131, count: 16), qp: 27, isDST: false)
    #expect(coded.result.isCoded && !coded.result.skipsTransform)
  }
}
