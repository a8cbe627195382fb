// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The sets of instructions that kernels are written for, as this machine has them: each with those
/// before it, as an encoder uses them, and each alone, over plain C.
package struct Path: Hashable, Sendable, CustomStringConvertible {
  package let mask: Int32

  package init(mask: Int32) { self.mask = mask }

  package static let c = Path(mask: 0)

  private static let sets = (0..<Int32.bitWidth - 1).map { Int32(1) << $0 }.filter {
    ovt_cpu_features() & $0 != 0
  }

  package static let available: [Path] = {
    let upTo = sets.map { set in Path(mask: ovt_cpu_features() & (set | (set - 1))) }
    let alone = sets.map(Path.init(mask:)).filter { !upTo.contains($0) }
    return [.c] + upTo + alone
  }()

  /// Those that are compared with plain C.
  package static let simd = available.filter { $0 != .c }

  package var description: String {
    let names = Path.sets.filter { mask & $0 != 0 }.compactMap {
      ovt_cpu_name($0).map { String(cString: $0) }
    }
    return names.isEmpty ? "c" : names.joined(separator: ",")
  }
}

/// Repeatable random numbers (SplitMix64).
package struct Random: RandomNumberGenerator {
  private var state: UInt64

  package init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  package mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// The content of samples.
package enum Content: CaseIterable {
  case random, zero, full, checker, stripes, extremes, gentle

  package func sample(_ i: Int, _ random: inout Random) -> UInt8 {
    switch self {
    case .random: return UInt8.random(in: 0...255, using: &random)
    case .zero: return 0
    case .full: return 255
    case .checker: return i & 1 == 0 ? 255 : 0
    case .stripes: return i % 24 < 12 ? 0 : 255
    case .extremes: return random.next() & 1 == 0 ? 0 : 255
    case .gentle: return UInt8.random(in: 120...127, using: &random)
    }
  }
}

/// Memory of exactly the size that a kernel may touch (so that AddressSanitizer sees the rest), or
/// with a margin that a test compares.
package final class Memory<Element: FixedWidthInteger> {
  package let base: UnsafeMutablePointer<Element>
  package let count: Int

  package init(_ count: Int, alignment: Int = 32) {
    self.count = count
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Element>.stride, alignment: alignment)
    base = raw.bindMemory(to: Element.self, capacity: count)
    base.initialize(repeating: 0, count: count)
  }

  package convenience init(_ values: [Element]) {
    self.init(values.count)
    for i in 0..<count { base[i] = values[i] }
  }

  deinit { UnsafeMutableRawPointer(base).deallocate() }

  package var values: [Element] { Array(UnsafeBufferPointer(start: base, count: count)) }

  package func copy() -> Memory { Memory(values) }

  package subscript(i: Int) -> Element {
    get { base[i] }
    set { base[i] = newValue }
  }
}

extension Memory where Element == UInt8 {
  package convenience init(_ count: Int, _ content: Content, _ random: inout Random) {
    self.init(count)
    for i in 0..<count { base[i] = content.sample(i, &random) }
  }
}

/// A picture's part with room around it: all of it is compared, so that a stray write shows.
package struct Area {
  static let margin = 48
  package let memory: Memory<UInt8>
  package let stride: Int
  package let origin: Int

  package init(width: Int, height: Int, _ content: Content, _ random: inout Random, align: Int = 1) {
    stride = (width + 2 * Area.margin + random.int(0...40) + align - 1) / align * align
    origin = (8 * stride + Area.margin + random.int(0...31)) / align * align
    memory = Memory((height + 16) * stride + 2 * Area.margin, content, &random)
  }

  private init(_ memory: Memory<UInt8>, stride: Int, origin: Int) {
    self.memory = memory
    self.stride = stride
    self.origin = origin
  }

  package func copy() -> Area { Area(memory.copy(), stride: stride, origin: origin) }

  /// The same memory from another sample on.
  package func moved(x: Int, y: Int) -> Area { Area(memory, stride: stride, origin: origin + y * stride + x) }

  package var pointer: UnsafeMutablePointer<UInt8> { memory.base + origin }

  package subscript(x: Int, y: Int) -> Int {
    get { Int(memory[origin + y * stride + x]) }
    nonmutating set { memory[origin + y * stride + x] = UInt8(newValue) }
  }
}

package func clip1(_ v: Int) -> Int { min(max(v, 0), 255) }
package func clip3(_ low: Int, _ high: Int, _ v: Int) -> Int { min(max(v, low), high) }

/// Width and height by the OVT_* shape.
package let shapes: [(width: Int, height: Int)] = [
  (16, 16), (16, 8), (8, 16), (8, 8), (8, 4), (4, 8), (4, 4), (32, 32), (32, 16), (16, 32), (64, 32),
  (32, 64),
  (64, 64),
]

/// Integer matrices, for the transforms' definitions.
package func multiply(_ a: [[Int]], _ b: [[Int]]) -> [[Int]] {
  a.map { row in b[0].indices.map { j in zip(row, b).reduce(0) { $0 + $1.0 * $1.1[j] } } }
}

package func transpose(_ a: [[Int]]) -> [[Int]] { a[0].indices.map { j in a.map { $0[j] } } }
