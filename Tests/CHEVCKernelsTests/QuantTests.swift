// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport
import Testing

@Suite struct QuantTests {
  static func values(_ n: Int, _ round: Int, _ random: inout Random) -> [Int16] {
    (0..<n).map { _ in
      switch round % 4 {
      case 0: return Int16(random.int(-32767...32767))
      case 1: return Int16(random.int(-40...40))
      case 2: return random.int(0...20) == 0 ? Int16(random.int(-300...300)) : 0
      default: return [-32767, Int16.max, 0, 1, -1].randomElement(using: &random)!
      }
    }
  }

  static func describe(_ levels: [Int16], _ n: Int) -> (groups: UInt64, count: Int, sum: Int) {
    var groups: UInt64 = 0
    for (i, level) in levels.enumerated() where level != 0 { groups |= 1 << (i / n / 4 * 8 + i % n / 4) }
    return (groups, levels.count { $0 != 0 }, levels.reduce(0) { $0 + abs(Int($1)) })
  }

  static func expectAlike(_ result: OVTHEVCLevels, _ levels: [Int16], _ n: Int) {
    let model = describe(levels, n)
    #expect(result.groups == model.groups && result.count == model.count && result.sum == model.sum)
    let indices = levels.indices.filter { levels[$0] != 0 }
    let (columns, rows) = (indices.map { $0 % n + 1 }.max() ?? 0, indices.map { $0 / n + 1 }.max() ?? 0)
    #expect(ovt_hevc_columns(result.groups) == (columns + 3) / 4 * 4)
    #expect(ovt_hevc_rows(result.groups) == (rows + 3) / 4 * 4)
  }

  @Test(arguments: Path.available) func quantise(path: Path) {
    let k = Kernels(path).residual.pointee
    let factors = [26214, 23302, 20560, 18396, 16384, 14564]
    var random = Random(30)
    for log2 in 2...5 {
      for round in 0..<120 {
        let n = 1 << log2
        let depth = round % 2 == 0 ? 8 : 10
        let (qP, deadZone) = (random.int(0...(51 + 6 * (depth - 8))), random.int(0...511))
        let values = Self.values(n * n, round / 2, &random)
        let shift = 29 + qP / 6 - depth - log2
        let model = values.map { c -> Int16 in
          let magnitude = min((abs(Int(c)) * factors[qP % 6] + deadZone << (shift - 9)) >> shift, 32767)
          return Int16(c < 0 ? -magnitude : magnitude)
        }
        let block = Memory(values)
        var result = OVTHEVCLevels()
        k.quantise(block.base, block.base, Int32(log2), Int32(qP), Int32(depth), Int32(deadZone), &result)
        #expect(block.values == model)
        Self.expectAlike(result, model, n)
        var again = OVTHEVCLevels()
        k.describe(block.base, Int32(log2), &again)
        Self.expectAlike(again, model, n)
      }
    }
  }

  /// Compares the kernel with 8.6.3, computed in 64 bits.
  @Test(arguments: Path.available) func dequantise(path: Path) {
    let k = Kernels(path).residual.pointee
    let levelScale = [40, 45, 51, 57, 64, 72]
    var random = Random(31)
    for log2 in 2...5 {
      for depth in [8, 10] {
        for qP in 0...(51 + 6 * (depth - 8)) {
          let n = 1 << log2
          let values = Self.values(n * n, random.int(0...3), &random)
          let shift = depth + log2 - 5
          let model = values.map {
            Int16(
              clip3(
                -32768, 32767, (Int($0) * 16 * (levelScale[qP % 6] << (qP / 6)) + 1 << (shift - 1)) >> shift))
          }
          let (coef, level) = (Memory<Int16>(n * n), Memory(values))
          k.dequantise(coef.base, level.base, Int32(log2), Int32(qP), Int32(depth))
          #expect(coef.values == model, "\(n), qP \(qP)")
        }
      }
    }
  }

  /// Generates the scans of 6.5.3, 6.5.4 and 6.5.5 as the standard states them.
  static func scan(_ kind: Int, _ size: Int) -> [(x: Int, y: Int)] {
    if kind == 1 { return (0..<size * size).map { ($0 % size, $0 / size) } }
    if kind == 2 { return (0..<size * size).map { ($0 / size, $0 % size) } }
    var (order, x, y) = ([(x: Int, y: Int)](), 0, 0)
    while order.count < size * size {
      while y >= 0 {
        if x < size && y < size { order.append((x, y)) }
        y -= 1
        x += 1
      }
      y = x
      x = 0
    }
    return order
  }

  @Test(arguments: Path.available) func scans(path: Path) {
    let k = Kernels(path).residual.pointee
    var random = Random(32)
    for kind in 0..<3 {
      let order = Self.scan(kind, 4)
      for round in 0..<60 {
        let level = Memory(Self.values(32 * 4, round, &random))
        let out = Memory<Int16>(16)
        let mask = k.scanGroup(out.base, level.base + round % 29, 32, Int32(kind))
        let model = order.map { level[round % 29 + 32 * $0.y + $0.x] }
        #expect(out.values == model)
        #expect((0..<16).allSatisfy { (mask >> $0 & 1 == 1) == (model[$0] != 0) } && mask < 65536)
      }
    }
  }

  @Test func scanTables() {
    withUnsafeBytes(of: ovt_hevc_scan4x4) { table in
      for kind in 0..<3 {
        #expect(Self.scan(kind, 4).map { UInt8($0.y * 4 + $0.x) } == Array(table[16 * kind..<16 * kind + 16]))
      }
    }
    let inverse = withUnsafeBytes(of: ovt_hevc_group_positions) { Array($0) }
    withUnsafeBytes(of: ovt_hevc_scan_groups) { table in
      for kind in 0..<3 {
        for log2 in 0..<4 {
          for (i, place) in Self.scan(kind, 1 << log2).enumerated() {
            let at = 256 * kind + 64 * log2
            #expect(table[at + i] == place.y * 8 + place.x)
            #expect(inverse[at + place.y * 8 + place.x] == i)
          }
        }
      }
    }
  }

  @Test(arguments: Path.available) func ssd(path: Path) {
    let k = Kernels(path).residual.pointee
    var random = Random(33)
    for n in [16, 48, 64, 256, 1024] {
      for limit in [16383, 30] {
        let a = Memory((0..<n).map { _ in Int16(limit > 30 && n > 64 ? limit : random.int(-limit...limit)) })
        let b = Memory((0..<n).map { _ in Int16(limit > 30 && n > 64 ? -limit : random.int(-limit...limit)) })
        let model = (0..<n).reduce(0) { $0 + (Int(a[$1]) - Int(b[$1])) * (Int(a[$1]) - Int(b[$1])) }
        #expect(k.ssdCoefficients(a.base, b.base, Int32(n)) == UInt64(model))
      }
    }
  }
}
