// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Testing

/// The sets of instructions that kernels are written for, as this machine has them: each with those before it, as an
/// encoder uses them, and each alone, over plain C.
struct Path: Hashable, Sendable, CustomTestStringConvertible {
  let mask: Int32

  static let c = Path(mask: 0)

  private static let sets = (0..<Int32.bitWidth - 1).map { Int32(1) << $0 }.filter {
    ovt_cpu_features() & $0 != 0
  }

  static let available: [Path] = {
    let upTo = sets.map { set in Path(mask: ovt_cpu_features() & (set | (set - 1))) }
    let alone = sets.map(Path.init(mask:)).filter { !upTo.contains($0) }
    return [.c] + upTo + alone
  }()

  /// Those that are compared with plain C.
  static let simd = available.filter { $0 != .c }

  var testDescription: String {
    let names = Path.sets.filter { mask & $0 != 0 }.compactMap {
      ovt_cpu_name($0).map { String(cString: $0) }
    }
    return names.isEmpty ? "c" : names.joined(separator: ",")
  }
}

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

/// Repeatable random numbers (SplitMix64).
struct Random: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// What samples look like.
enum Content: CaseIterable {
  case random, zero, full, checker, stripes, extremes, gentle

  func sample(_ i: Int, _ random: inout Random) -> UInt8 {
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

/// Memory of exactly the size that a kernel may touch (so that AddressSanitizer sees the rest), or with
/// a margin that a test compares.
final class Memory<Element: FixedWidthInteger> {
  let base: UnsafeMutablePointer<Element>
  let count: Int

  init(_ count: Int, alignment: Int = 32) {
    self.count = count
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Element>.stride, alignment: alignment)
    base = raw.bindMemory(to: Element.self, capacity: count)
    base.initialize(repeating: 0, count: count)
  }

  convenience init(_ values: [Element]) {
    self.init(values.count)
    for i in 0..<count { base[i] = values[i] }
  }

  deinit { UnsafeMutableRawPointer(base).deallocate() }

  var values: [Element] { Array(UnsafeBufferPointer(start: base, count: count)) }

  func copy() -> Memory { Memory(values) }

  subscript(i: Int) -> Element {
    get { base[i] }
    set { base[i] = newValue }
  }
}

extension Memory where Element == UInt8 {
  convenience init(_ count: Int, _ content: Content, _ random: inout Random) {
    self.init(count)
    for i in 0..<count { base[i] = content.sample(i, &random) }
  }
}

/// A picture's part with room around it: all of it is compared, so that a stray write shows.
struct Area {
  static let margin = 48
  let memory: Memory<UInt8>
  let stride: Int
  let origin: Int

  init(width: Int, height: Int, _ content: Content, _ random: inout Random, align: Int = 1) {
    stride = (width + 2 * Area.margin + random.int(0...40) + align - 1) / align * align
    origin = (8 * stride + Area.margin + random.int(0...31)) / align * align
    memory = Memory((height + 16) * stride + 2 * Area.margin, content, &random)
  }

  private init(_ memory: Memory<UInt8>, stride: Int, origin: Int) {
    self.memory = memory
    self.stride = stride
    self.origin = origin
  }

  func copy() -> Area { Area(memory.copy(), stride: stride, origin: origin) }

  /// The same memory from another sample on.
  func moved(x: Int, y: Int) -> Area { Area(memory, stride: stride, origin: origin + y * stride + x) }

  var pointer: UnsafeMutablePointer<UInt8> { memory.base + origin }

  subscript(x: Int, y: Int) -> Int {
    get { Int(memory[origin + y * stride + x]) }
    nonmutating set { memory[origin + y * stride + x] = UInt8(newValue) }
  }
}

func clip1(_ v: Int) -> Int { min(max(v, 0), 255) }
func clip3(_ low: Int, _ high: Int, _ v: Int) -> Int { min(max(v, low), high) }

/// Width and height by the OVT_* shape.
let shapes: [(width: Int, height: Int)] = [(16, 16), (16, 8), (8, 16), (8, 8), (8, 4), (4, 8), (4, 4)]

/// Integer matrices, for the transforms' definitions.
func multiply(_ a: [[Int]], _ b: [[Int]]) -> [[Int]] {
  a.map { row in b[0].indices.map { j in zip(row, b).reduce(0) { $0 + $1.0 * $1.1[j] } } }
}

func transpose(_ a: [[Int]]) -> [[Int]] { a[0].indices.map { j in a.map { $0[j] } } }
