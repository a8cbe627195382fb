// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import Testing

@Suite struct AnnexBTests {
  @Test func startCodesOfBothLengths() throws {
    let stream = Data(
      [
        9, 9, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 3, 1, 0, 0, 0, 0, 0, 1, 0x65, 3, 0, 0, 1, 0, 0, 1,
        0x41, 0, 0,
      ])
    let units = AnnexB.units(in: stream)
    #expect(units.map { [UInt8]($0) } == [[0x67, 1], [0x68, 2, 0, 0, 3, 1], [0x65, 3], [0x41]])
    let prefixed = try AnnexB.lengthPrefixed(stream: stream)
    #expect([UInt8](prefixed.prefix(12)) == [0, 0, 0, 2, 0x67, 1, 0, 0, 0, 6, 0x68, 2])
    #expect(try AnnexB.units(inLengthPrefixed: prefixed) == units)
    #expect(AnnexB.units(in: try AnnexB.stream(lengthPrefixed: prefixed)) == units)
    #expect(AnnexB.stream(of: units).starts(with: [0, 0, 0, 1, 0x67]))
    #expect(AnnexB.units(in: Data()).isEmpty && AnnexB.units(in: Data([0, 0, 1])).isEmpty)
    #expect(AnnexB.units(in: Data([0, 0, 0, 1, 0, 0, 1, 5])).count == 1)
    // The parts of a larger Data keep their indices.
    #expect(AnnexB.units(in: stream.dropFirst(7)).count == 3)
  }

  @Test func lengthsOfEachSize() throws {
    let unit = Data(repeating: 7, count: 255)
    #expect(try AnnexB.lengthPrefixed([unit], lengthSize: 1).count == 256)
    #expect(throws: ElementaryStreamError.unitTooLong(256)) {
      try AnnexB.lengthPrefixed([Data(repeating: 7, count: 256)], lengthSize: 1)
    }
    #expect(throws: ElementaryStreamError.unitTooLong(65536)) {
      try AnnexB.lengthPrefixed([Data(repeating: 7, count: 65536)], lengthSize: 2)
    }
    for size in [-1, 0, 3, 5, 8] {
      #expect(throws: ElementaryStreamError.invalidLengthSize(size)) {
        try AnnexB.lengthPrefixed([unit], lengthSize: size)
      }
    }
    for data in [[0], [0, 0, 0], [0, 0, 0, 5, 1, 2], [0xFF, 0xFF, 0xFF, 0xFF, 1]] as [[UInt8]] {
      #expect(throws: ElementaryStreamError.truncatedUnit) { try AnnexB.units(inLengthPrefixed: Data(data)) }
    }
    #expect(try AnnexB.units(inLengthPrefixed: Data([0, 0, 0, 0, 0, 0, 0, 1, 9])) == [Data([9])])
  }

  /// Random streams of few byte values, in which start codes are frequent: against the plainest
  /// search, and in pieces.
  @Test func matchesAPlainSearch() throws {
    var generator = SplitMix(seed: 3)
    for _ in 0..<3000 {
      let count = Int.random(in: 0...60, using: &generator)
      let bytes = (0..<count).map { _ in UInt8([0, 0, 0, 0, 1, 1, 2, 3].randomElement(using: &generator)!) }
      var expected: [[UInt8]] = []
      var starts: [Int] = []
      var index = 0
      while index + 2 < count {
        if bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
          starts.append(index)
          index += 3
        } else {
          index += 1
        }
      }
      for (number, start) in starts.enumerated() {
        var unit = Array(bytes[(start + 3)..<(number + 1 < starts.count ? starts[number + 1] : count)])
        while unit.last == 0 { unit.removeLast() }
        if !unit.isEmpty { expected.append(unit) }
      }
      #expect(AnnexB.units(in: Data(bytes)).map { [UInt8]($0) } == expected)
      var parser = AnnexBParser()
      var found: [Data] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 1...5, using: &generator))
        found += parser.append(Data(piece))
        rest = rest.dropFirst(piece.count)
      }
      found += parser.finish()
      #expect(found.map { [UInt8]($0) } == expected)
      #expect(parser.finish().isEmpty)
    }
  }
}
