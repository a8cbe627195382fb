// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import Testing
import VideoEncoding

@testable import HEVCEncoder

@Suite("Levels by rate and distortion")
struct LevelDecisionTests {
  /// What was decided over many blocks.
  private struct Sums {
    /// Estimated bits and bits that were written.
    var estimated = 0.0
    var written = 0.0
    /// Squared error in steps of the quantiser, and the sum of magnitudes.
    var error = 0.0
    var magnitudes = 0
    var emptyBlocks = 0
  }

  /// Decides the levels of random blocks at QP 26, whose coefficients become smaller with the
  /// frequency, and writes them.
  private static func decide(log2Size: Int, scan: Int, isChroma: Bool, lambda: Int) -> Sums {
    var memory = EncoderMemory()
    let kernels = memory.allocate(OVTHEVCResidualKernels.self, count: 1)
    _ = ovt_hevc_residual_kernels_init(kernels, ovt_cpu_detect())
    let costs = ContextCosts(memory: &memory)
    costs.load(.i, qp: 26)
    let tables = ScanTables(memory: &memory)
    let decision = LevelDecision(costs: costs, tables: tables, kernels: kernels, memory: &memory)
    let writer = ResidualWriter(kernels: kernels, tables: tables)
    let count = 1 << (2 * log2Size)
    let levels = memory.allocate(Int16.self, count: count)
    let coefficients = memory.allocate(Int16.self, count: count)
    let contexts = memory.allocate(UInt8.self, count: Contexts.count)
    let bytes = memory.allocate(UInt8.self, count: 65536)
    var generator = SeededGenerator(seed: UInt64(log2Size * 10 + scan))
    var sums = Sums()
    // The step of QP 26 with the gain of the transform.
    let step = 12.7 * Double(1 << (7 - log2Size))
    for _ in 0..<60 {
      for i in 0..<count {
        let (x, y) = (i % (1 << log2Size), i >> log2Size)
        let range = 4 * step / Double(1 + (x + y) / 2)
        coefficients[i] = Int16(Double.random(in: -range...range, using: &generator))
      }
      var info = OVTHEVCLevels()
      kernels.pointee.quantise(levels, coefficients, Int32(log2Size), 26, 8, 205, &info)
      guard info.count > 0 else { continue }
      let block = LevelDecision.Block(
        log2Size: log2Size, qp: 26, isChroma: isChroma, scan: scan,
        codedFlag: isChroma ? Contexts.chromaCBF : Contexts.lumaCBF, lambda: lambda, hidesSigns: true)
      guard let bits = decision.decide(levels, coefficients, groups: info.groups, block, depth: 8) else {
        sums.emptyBlocks += 1
        continue
      }
      Contexts.reset(contexts, .i, qp: 26)
      var engine = CABACEngine(contexts: contexts, at: bytes, end: bytes + 65536)
      let before = engine.bitCount(since: bytes)
      writer.write(levels, log2Size: log2Size, isChroma: isChroma, scan: scan, &engine)
      sums.estimated += Double(bits) / 256
      sums.written += Double(engine.bitCount(since: bytes) - before)
      for i in 0..<count {
        let error = Double(coefficients[i]) / step - Double(levels[i])
        sums.error += error * error
        sums.magnitudes += abs(Int(levels[i]))
      }
    }
    return sums
  }

  @Test("They take the bits that are estimated", arguments: 2...5, [0, 1, 2])
  func bits(log2Size: Int, scan: Int) {
    // Only blocks of 4x4 and 8x8 have other scans than the diagonal one.
    guard scan == 0 || log2Size < 4 else { return }
    let luma = Self.decide(log2Size: log2Size, scan: scan, isChroma: false, lambda: 2600)
    #expect(abs(luma.estimated / luma.written - 1) < 0.12, "\(luma)")
    guard log2Size < 5 else { return }
    let chroma = Self.decide(log2Size: log2Size, scan: scan, isChroma: true, lambda: 2600)
    #expect(abs(chroma.estimated / chroma.written - 1) < 0.12, "\(chroma)")
  }

  @Test("The more a bit is worth, the fewer bits they take and the larger is their error")
  func lambdas() {
    let sums = [100, 2600, 10000].map {
      Self.decide(log2Size: 3, scan: 0, isChroma: false, lambda: $0)
    }
    #expect(sums[0].written > sums[1].written && sums[1].written > sums[2].written)
    #expect(sums[0].magnitudes > sums[1].magnitudes && sums[1].magnitudes > sums[2].magnitudes)
    #expect(sums[0].emptyBlocks == 0 && sums[0].error < sums[1].error)
    let none = Self.decide(log2Size: 3, scan: 0, isChroma: false, lambda: 10_000_000)
    #expect(none.emptyBlocks == 60 && none.written == 0)
  }
}
