// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@Suite struct BitsTests {
  @Test("Bits come back as they were written, with emulation prevention in between and without")
  func bits() {
    var random = RandomSyntax(21)
    for round in 0..<300 {
      var fields: [(kind: Int, value: Int, count: Int)] = []
      for _ in 0..<random.int(0...400) {
        let count = random.int(0...62)
        let kind = random.int(0...3)
        let value =
          switch kind {
          case 0: random.chance(30) ? 0 : Int(truncatingIfNeeded: random.next()) & ((1 << count) - 1)
          case 1: random.syntax(0...0xFFFF_FFFE)
          case 2: random.syntax(-0x7FFF_FFFF...0x7FFF_FFFF)
          default: random.int(0...1)
          }
        fields.append((kind, value, count))
      }
      let payload = BitWriter.bytes { bits in
        for (kind, value, count) in fields {
          var value = value
          switch kind {
          case 0: bits.u(&value, count)
          case 1: bits.ue(value)
          case 2: bits.se(value)
          default: bits.flag(value == 1)
          }
        }
        bits.trailingBits()
      }
      let escaped = round % 2 == 0
      let unit = escaped ? EmulationPrevention.adding(header: [], payload: payload) : payload
      if escaped { #expect(EmulationPrevention.removing(from: unit) == payload) }
      unit.withUnsafeBufferPointer { bytes in
        var reader = BitReader(bytes, hasEmulationPrevention: escaped)
        for (index, (kind, value, count)) in fields.enumerated() {
          if index % 50 == 0 { #expect(reader.hasMoreData) }
          let read =
            switch kind {
            case 0: reader.u(count)
            case 1: reader.ue()
            case 2: reader.se()
            default: reader.flag() ? 1 : 0
            }
          #expect(read == value)
        }
        #expect(!reader.hasMoreData)
        #expect(reader.failure == nil)
        reader.skip(1)
        #expect(reader.failure == nil)
        reader.skip(1000)
        #expect(reader.failure == .truncated)
      }
    }
  }

  @Test("Start codes are found as a look at each place finds them")
  func startCodes() {
    var random = RandomSyntax(22)
    for _ in 0..<2000 {
      let zeros = [0, 20, 60, 95][random.int(0...3)]
      let bytes = random.list(random.int(0...120)) { r in
        r.chance(zeros) ? UInt8(0) : r.chance() ? UInt8(r.int(0...3)) : UInt8(r.int(0...255))
      }
      var expected: [Int] = []
      for index in bytes.indices.dropLast(2) where bytes[index...].prefix(3).elementsEqual([0, 0, 1]) {
        expected.append(index)
      }
      bytes.withUnsafeBytes { raw in
        var found: [Int] = []
        var position = 0
        while let code = ByteStream.nextStartCode(in: raw, from: position) {
          found.append(code)
          position = code + 1
        }
        #expect(found == expected)
        var units: [[UInt8]] = []
        ByteStream.forEachUnit(in: raw) { units.append(Array(raw[$0])) }
        var wanted: [[UInt8]] = []
        for (index, code) in expected.enumerated() {
          let end = index + 1 < expected.count ? expected[index + 1] : bytes.count
          var unit = Array(bytes[min(code + 3, end)..<end])
          while unit.last == 0 { unit.removeLast() }
          if !unit.isEmpty { wanted.append(unit) }
        }
        #expect(units == wanted)
      }
    }
  }

  @Test("Length prefixes are read back; truncated ones are errors")
  func lengths() {
    var random = RandomSyntax(23)
    for size in [1, 2, 4] {
      for _ in 0..<200 {
        let units = random.list(random.int(0...6)) { r in
          r.list(r.int(1...200)) { UInt8($0.int(0...255)) }
        }
        var bytes: [UInt8] = []
        for unit in units {
          var length = [UInt8](repeating: 0, count: size)
          length.withUnsafeMutableBytes { memory in
            if let base = memory.baseAddress { LengthPrefix.write(unit.count, lengthSize: size, to: base) }
          }
          bytes += length + unit
        }
        var read: [[UInt8]] = []
        let isWhole = bytes.withUnsafeBytes { raw in
          LengthPrefix.forEachUnit(in: raw, lengthSize: size) {
            read.append(Array(raw[$0]))
            return true
          }
        }
        #expect(isWhole && read == units)
        guard let last = units.last else { continue }
        let cut = bytes.dropLast(random.int(1...last.count))
        let isCutWhole = Array(cut).withUnsafeBytes { raw in
          LengthPrefix.forEachUnit(in: raw, lengthSize: size) { _ in true }
        }
        #expect(!isCutWhole)
      }
    }
    #expect(LengthPrefix.fits(255, lengthSize: 1) && !LengthPrefix.fits(256, lengthSize: 1))
    #expect(LengthPrefix.fits(65535, lengthSize: 2) && !LengthPrefix.fits(65536, lengthSize: 2))
  }
}
