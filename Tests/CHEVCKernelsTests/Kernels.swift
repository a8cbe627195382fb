// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport

/// The tables of kernels for one path, for the length of the test run.
struct Kernels: @unchecked Sendable {  // the tables are never written after they are made
  let eight: UnsafePointer<OVTHEVCKernels8>
  let ten: UnsafePointer<OVTHEVCKernels16>

  /// One pair of tables for each path, kept: every test asks for it.
  private static let tables = Dictionary(
    uniqueKeysWithValues: Path.available.map { ($0, Kernels(making: $0)) })

  init(_ path: Path) { self = Kernels.tables[path] ?? Kernels(making: path) }

  private init(making path: Path) {
    let eight = UnsafeMutablePointer<OVTHEVCKernels8>.allocate(capacity: 1)
    eight.initialize(to: OVTHEVCKernels8())
    _ = ovt_hevc_kernels_init8(eight, path.mask)
    let ten = UnsafeMutablePointer<OVTHEVCKernels16>.allocate(capacity: 1)
    ten.initialize(to: OVTHEVCKernels16())
    _ = ovt_hevc_kernels_init16(ten, path.mask)
    self.eight = UnsafePointer(eight)
    self.ten = UnsafePointer(ten)
  }

  var residual: UnsafePointer<OVTHEVCResidualKernels> { ovt_hevc_residual8(eight) }
}
