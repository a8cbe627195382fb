// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import KernelTestSupport
import Testing

@Suite struct CopyTests {
  /// Every width, and no sample outside the block is written.
  @Test(arguments: Path.available) func copyAndAverage(path: Path) {
    let k = Kernels(path).k
    let copies = [k.copy.0!, k.copy.1!, k.copy.2!, k.copy.3!, k.copy.4!]
    let averages = [k.average.0!, k.average.1!, k.average.2!, k.average.3!, k.average.4!]
    var random = Random(10)
    for (index, width) in [16, 8, 4, 32, 64].enumerated() {
      for height in [1, 2, 4, 8, 16, 64] {
        for content in Content.allCases {
          let a = Area(width: 64, height: 64, content, &random)
          // Both sources of an average share one stride.
          let b = a.copy()
          for i in 0..<b.memory.count { b.memory[i] = Content.random.sample(i, &random) }
          let dst = Area(width: 64, height: 64, .random, &random)
          let (copied, averaged) = (dst.copy(), dst.copy())
          let (copiedModel, averagedModel) = (dst.copy(), dst.copy())
          for y in 0..<height {
            for x in 0..<width {
              copiedModel[x, y] = a[x, y]
              averagedModel[x, y] = (a[x, y] + b[x, y] + 1) >> 1
            }
          }
          copies[index](copied.pointer, dst.stride, a.pointer, a.stride, Int32(height))
          averages[index](
            averaged.pointer, dst.stride, a.pointer, b.pointer, a.stride,
            Int32(height))
          #expect(copied.memory.values == copiedModel.memory.values, "copy \(width)x\(height)")
          #expect(averaged.memory.values == averagedModel.memory.values, "average \(width)x\(height)")
        }
      }
    }
  }
}
