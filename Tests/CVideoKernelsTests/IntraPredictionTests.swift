// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import KernelTestSupport
import Testing

@Suite struct IntraPredictionTests {
  /// The nine predictions against H.264 8.3.2.2 written sample by sample, and the least SATD of a
  /// block and them against the table's own SATD. An edge has no byte outside its 25 samples.
  @Test(arguments: Path.available) func predictionsAndLeastCost(path: Path) {
    let kernels = Kernels(path)
    var random = Random(60)
    for content in Content.allCases {
      for _ in 0..<20 {
        let samples = Memory<UInt8>(25, content, &random)
        let edge = samples.base + 8
        let filtered = filteredEdge8x8(edge, available: 7)
        let p = { (x: Int, y: Int) in filtered[y == -1 ? 1 + x : -1 - y] ?? 0 }
        var model: [UInt8] = []
        for mode in 0..<9 {
          for i in 0..<64 { model.append(UInt8(predictFromEdge(mode, 8, i % 8, i / 8, p))) }
        }
        let out = Memory<UInt8>(9 * 64)
        kernels.k.intraPredictions8x8(out.base, edge)
        #expect(out.values == model, "\(content)")

        let stride = random.int(8...40)
        let source = Memory<UInt8>(7 * stride + 8, content, &random)
        let costs = (0..<9).map { mode in
          let d = { (x: Int, y: Int) in Int(source[stride * y + x]) - Int(model[64 * mode + 8 * y + x]) }
          return CompareTests.satd(d, width: 8, height: 8)
        }
        #expect(Int(ovt_intra_cost8x8(kernels.table, source.base, stride, edge)) == costs.min())
      }
    }
  }
}
