// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

@Suite struct TableTests {
  /// A table has the sets that it was asked for and that the CPU has, and no others.
  @Test func masks() {
    for mask in Int32(0)..<16 {
      var table = OVTKernels()
      #expect(ovt_kernels_init(&table, mask) == mask & ovt_cpu_features())
      #expect(table.video.cpu == mask & ovt_cpu_features())
    }
    #if arch(x86_64) || arch(arm64)
      #expect(Kernels.c.k.video.cpu == 0 && !Path.simd.isEmpty)
    #endif
  }

  /// Every entry of every table is filled, and those of plain C belong to no set.
  @Test(arguments: Path.available) func entries(path: Path) {
    let count = MemoryLayout<OVTKernels>.size / MemoryLayout<UInt>.size
    func entries(_ kernels: Kernels) -> [UInt] {
      kernels.table.withMemoryRebound(to: UInt.self, capacity: count) { words in
        (1..<count).map { words[$0] }
      }
    }
    let (these, plain) = (entries(Kernels(path)), entries(.c))
    #expect(!these.contains(0))
    #expect((these == plain) == (path == .c))
  }
}
