// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport

/// A table of kernels for one path, for the length of the test run.
struct Kernels: @unchecked Sendable {
  let table: UnsafePointer<OVTKernels>

  /// One table for each path, kept: every test asks for it.
  private static let tables = Dictionary(
    uniqueKeysWithValues: Path.available.map { ($0, Kernels(making: $0)) })

  init(_ path: Path) { self = Kernels.tables[path] ?? Kernels(making: path) }

  private init(making path: Path) {
    let memory = UnsafeMutablePointer<OVTKernels>.allocate(capacity: 1)
    memory.initialize(to: OVTKernels())
    _ = ovt_kernels_init(memory, path.mask)
    table = UnsafePointer(memory)
  }

  var k: OVTKernels { table.pointee }

  static let c = Kernels(.c)
}
