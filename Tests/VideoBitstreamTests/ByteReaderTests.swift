// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import VideoBitstream

/// Bytes and integers in network byte order, from slices of any collection, compared with the text
/// of the same bytes.
@Suite struct ByteReaderTests {
  /// The bytes as one number, through their hexadecimal text.
  private static func number(_ bytes: some Sequence<UInt8>) -> UInt64? {
    UInt64(bytes.map { String(format: "%02x", $0) }.joined(), radix: 16)
  }

  /// Reads parts of random sizes until fewer bytes are left than one asks for.
  private func check<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, _ random: inout RandomSyntax)
  where Bytes.SubSequence == Bytes {
    var reader = ByteReader(bytes)
    var rest = Array(bytes)
    while true {
      let size = [1, 2, 4, 8][random.int(0...3)]
      let isNumber = random.chance()
      let number: UInt64? =
        switch size {
        case _ where !isNumber: (try? reader.bytes(size)).flatMap { Self.number($0) }
        case 1: (try? reader.uint8()).map(UInt64.init)
        case 2: (try? reader.uint16()).map(UInt64.init)
        case 4: (try? reader.uint32()).map(UInt64.init)
        default: try? reader.uint64()
        }
      guard rest.count >= size else {
        #expect(number == nil && reader.remaining == rest.count, "nothing is read")
        #expect((try? reader.bytes(rest.count)).map { Array($0) } == rest)
        return
      }
      #expect(number == Self.number(rest.prefix(size)))
      rest.removeFirst(size)
      #expect(reader.remaining == rest.count)
    }
  }

  @Test func numbersAreThoseOfTheBytes() {
    var random = RandomSyntax(8)
    for _ in 0..<200 {
      let bytes = (0..<random.int(0...60)).map { _ in UInt8(random.int(0...255)) }
      check(bytes[...], &random)
      check(bytes.dropFirst(3), &random)
      check(Data(bytes), &random)
      check(Data([1, 2] + bytes).dropFirst(2), &random)
    }
  }

  @Test(arguments: [-1, .min, 5, .max]) func countsThatCannotBeAreRefused(count: Int) {
    var reader = ByteReader([1, 2, 3, 4] as ArraySlice<UInt8>)
    #expect(throws: SyntaxError.truncated) { try reader.bytes(count) }
    #expect(reader.remaining == 4)
  }
}
