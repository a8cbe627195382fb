// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Foundation
import KernelTestSupport
import Testing

@Suite struct CPUTests {
  @Test func names() {
    #expect(ovt_cpu_parse("c") == 0)
    #expect(ovt_cpu_parse("sse4") == Int32(OVT_CPU_SSE4))
    #expect(ovt_cpu_parse("c,avx2,sse4") == Int32(OVT_CPU_SSE4 | OVT_CPU_AVX2))
    #expect(ovt_cpu_parse("neon,avx512") == Int32(OVT_CPU_NEON | OVT_CPU_AVX512))
    for wrong in ["", "AVX2", "avx", "avx22", "sse4,", ",sse4", "sse4 avx2", "3"] {
      #expect(ovt_cpu_parse(wrong) == -1, "\(wrong)")
    }
    for set in [OVT_CPU_C, OVT_CPU_SSE4, OVT_CPU_AVX2, OVT_CPU_AVX512, OVT_CPU_NEON] {
      #expect(ovt_cpu_name(Int32(set)).map(ovt_cpu_parse) == Int32(set))
    }
    #expect(ovt_cpu_name(Int32(OVT_CPU_SSE4 | OVT_CPU_AVX2)) == nil)
  }

  /// A table has the sets that it was asked for and that the CPU has, and no others.
  @Test func masks() {
    for mask in Int32(0)..<16 {
      var table = OVTVideoKernels()
      #expect(ovt_video_kernels_init(&table, mask) == mask & ovt_cpu_features())
      #expect(table.cpu == mask & ovt_cpu_features())
    }
    #if arch(x86_64) || arch(arm64)
      #expect(Kernels.c.k.cpu == 0 && !Path.simd.isEmpty)
    #endif
  }

  /// Every entry of every table is filled, and those of plain C belong to no set.
  @Test(arguments: Path.available) func entries(path: Path) {
    let count = MemoryLayout<OVTVideoKernels>.size / MemoryLayout<UInt>.size
    func entries(_ kernels: Kernels) -> [UInt] {
      kernels.table.withMemoryRebound(to: UInt.self, capacity: count) { words in
        (1..<count).map { words[$0] }
      }
    }
    let (these, plain) = (entries(Kernels(path)), entries(.c))
    #expect(!these.contains(0))
    #expect((these == plain) == (path == .c))
  }

  /// The environment restricts what an encoder uses; a wrong word is said, and restricts nothing.
  @Test func environment() async throws {
    await #expect(processExitsWith: .success) {
      setenv("OVT_CPU", "c", 1)
      exit(ovt_cpu_detect() == 0 ? 0 : 1)
    }
    await #expect(processExitsWith: .success) {
      setenv("OVT_CPU", "sse4,neon", 1)
      exit(ovt_cpu_detect() == ovt_cpu_features() & Int32(OVT_CPU_SSE4 | OVT_CPU_NEON) ? 0 : 1)
    }
    let wrong = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      setenv("OVT_CPU", "mmx", 1)
      exit(ovt_cpu_detect() == ovt_cpu_features() & ~Int32(OVT_CPU_AVX512) ? 0 : 1)
    }
    #expect(String(decoding: wrong.standardErrorContent, as: UTF8.self).contains("'mmx'"))
  }
}
