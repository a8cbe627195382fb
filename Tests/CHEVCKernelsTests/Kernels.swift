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
    _ = OVTHEVCKernels8.fill(eight, path.mask)
    let ten = UnsafeMutablePointer<OVTHEVCKernels16>.allocate(capacity: 1)
    ten.initialize(to: OVTHEVCKernels16())
    _ = OVTHEVCKernels16.fill(ten, path.mask)
    self.eight = UnsafePointer(eight)
    self.ten = UnsafePointer(ten)
  }

  var residual: UnsafePointer<OVTHEVCResidualKernels> { OVTHEVCKernels8.residual(eight) }
}

/// Samples with room around a block: all of it is compared, so that a stray write shows.
struct Plane<Sample: FixedWidthInteger> {
  static var stride: Int { 112 }
  let memory: Memory<Sample>

  /// - Parameters:
  ///   - depth: the bits of a sample.
  ///   - kind: 0 noise, 1 extremes, 2 nearly flat, 3 a slope.
  init(depth: Int, kind: Int, _ random: inout Random) {
    let top = 1 << depth - 1
    let level = random.int(0...top)
    memory = Memory(
      (0..<Plane.stride * 96).map { i -> Sample in
        switch kind {
        case 0: return Sample(random.int(0...top))
        case 1: return Sample(random.int(0...1) * top)
        case 2: return Sample(min(max(level + random.int(-3...3), 0), top))
        default: return Sample((level + i % Plane.stride * 2 + i / Plane.stride) & top)
        }
      })
  }

  private init(_ memory: Memory<Sample>) { self.memory = memory }
  func copy() -> Plane { Plane(memory.copy()) }

  /// The sample of a block that lies 24 samples from the left and 12 rows from the top.
  func index(_ x: Int, _ y: Int) -> Int { (12 + y) * Plane.stride + 24 + x }
  var pointer: UnsafeMutablePointer<Sample> { memory.base + index(0, 0) }
  subscript(x: Int, y: Int) -> Int {
    get { Int(memory[index(x, y)]) }
    nonmutating set { memory[index(x, y)] = Sample(newValue) }
  }
}

/// Clip1 of a bit depth (5.8).
func clip(_ v: Int, _ depth: Int) -> Int { min(max(v, 0), 1 << depth - 1) }
