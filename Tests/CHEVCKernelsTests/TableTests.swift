// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport
import Testing

@Suite struct TableTests {
  /// A table has the sets that it was asked for and that the CPU has, and no others.
  @Test func masks() {
    for mask in Int32(0)..<16 {
      var (eight, ten) = (OVTHEVCKernels8(), OVTHEVCKernels16())
      #expect(OVTHEVCKernels8.fill(&eight, mask) == mask & ovt_cpu_features())
      #expect(OVTHEVCKernels16.fill(&ten, mask) == mask & ovt_cpu_features())
      #expect(eight.residual.cpu == mask & ovt_cpu_features() && ten.residual.cpu == eight.residual.cpu)
    }
  }

  /// Every entry of every table is filled, and those of plain C are no set's. AVX-512 has no
  /// kernels here.
  @Test(arguments: Path.available) func entries(path: Path) {
    func entries<Table>(_ table: UnsafePointer<Table>) -> [UInt] {
      let count = MemoryLayout<Table>.size / MemoryLayout<UInt>.size
      return table.withMemoryRebound(to: UInt.self, capacity: count) { words in
        (1..<count).map { words[$0] }
      }
    }
    let (these, plain) = (Kernels(path), Kernels(.c))
    #expect(!entries(these.eight).contains(0) && !entries(these.ten).contains(0))
    let hasNone = path.mask & ~Int32(OVT_CPU_AVX512) == 0
    #expect((entries(these.ten) == entries(plain.ten)) == hasNone)
  }
}
