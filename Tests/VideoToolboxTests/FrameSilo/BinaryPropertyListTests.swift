// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport

@testable import VideoToolbox

/// Property lists of untrusted silos.
struct BinaryPropertyListTests {
  private static func accepts(_ data: Data) -> Bool {
    data.withUnsafeBytes { BinaryPropertyList.holdsOnlyValues($0) }
  }

  /// A list of objects of at most 255 bytes in all; the first is the root.
  private static func list(_ objects: [UInt8]...) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
    for number in [UInt8(objects.count), 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    return Data(bytes)
  }

  @Test func whatFoundationWritesIsTaken() throws {
    let long = String(repeating: "x", count: 300)
    let many = Array(0..<300)
    let data = try #require(
      SiloRecord.pack([
        "text": "abc", "wide": "äöü€", "long": long, "data": Data(count: 70_000), "number": 7,
        "large": UInt64.max, "negative": -1, "real": 0.25, "flag": true,
        "date": Date(timeIntervalSince1970: 0),
        "list": ["one", ["two"]] as [Any], "many": many, "inner": ["a": ["b": Data([1])]],
        "none": [String: Any](),
      ]))
    #expect(Self.accepts(data))
    let read = try #require(data.withUnsafeBytes { SiloRecord.unpack($0) })
    #expect(read.count == 14)
    #expect(
      read["text"] as? String == "abc" && read["wide"] as? String == "äöü€" && read["long"] as? String == long
    )
    #expect(read["data"] as? Data == Data(count: 70_000))
    #expect(read["number"] as? Int == 7 && read["large"] as? UInt64 == .max && read["negative"] as? Int == -1)
    #expect(read["real"] as? Double == 0.25 && read["flag"] as? Bool == true)
    #expect(read["date"] as? Date == Date(timeIntervalSince1970: 0))
    let list = try #require(read["list"] as? [Any])
    #expect(list.count == 2 && list[0] as? String == "one" && list[1] as? [String] == ["two"])
    #expect(read["many"] as? [Int] == many)
    #expect(read["inner"] as? [String: [String: Data]] == ["a": ["b": Data([1])]])
    #expect((read["none"] as? [String: Any])?.isEmpty == true)
  }

  /// A million objects that are all the same dictionary of a million pairs.
  @Test(.timeLimit(.minutes(HangLimit.minutes))) func aMillionObjectsInEachOtherAreRefused() {
    let pairs = 1 << 20
    var bytes = Array("bplist00".utf8) + [0xDF, 0x12, 0, 0x10, 0, 0]
    bytes += [UInt8](repeating: 1, count: 2 * pairs)
    let key = bytes.count
    bytes += [0x51, 0x61]
    let table = bytes.count
    func word(_ n: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: n >> (24 - 8 * $0)) } }
    bytes += word(8) + word(key)
    for _ in 0..<1_000_000 { bytes += word(8) }
    bytes += [0, 0, 0, 0, 0, 0, 4, 1]
    for number in [1_000_002, 0, table] { bytes += [0, 0, 0, 0] + word(number) }
    #expect(!Self.accepts(Data(bytes)))
  }

  /// Each list holds the next one twice: a hundred objects that are 2^40 values.
  @Test(.timeLimit(.minutes(HangLimit.minutes)), arguments: [0xA2, 0xD2] as [UInt8])
  func listsThatDoubleWithoutEndAreRefused(marker: UInt8) {
    func nested(_ levels: Int) -> Data {
      var bytes = Array("bplist00".utf8)
      var offsets: [Int] = []
      func add(_ object: [UInt8]) {
        offsets.append(bytes.count)
        bytes += object
      }
      add([0xD1, 1, 3])
      add([0x51, 0x78])
      add([0x51, 0x79])
      for level in 0..<levels {
        let next = UInt8(4 + level)
        add([marker] + (marker == 0xD2 ? [1, 2] : []) + [next, next])
      }
      add([0xA0])
      let table = bytes.count
      for offset in offsets { bytes += [UInt8(offset >> 8), UInt8(offset & 255)] }
      bytes += [0, 0, 0, 0, 0, 0, 2, 1]
      for number in [offsets.count, 0, table] {
        bytes += [0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)]
      }
      return Data(bytes)
    }
    #expect(Self.accepts(nested(3)) && nested(3).withUnsafeBytes { SiloRecord.unpack($0) } != nil)
    #expect(!Self.accepts(nested(40)))
    #expect(nested(40).withUnsafeBytes { SiloRecord.unpack($0) } == nil)
    // As deep as that is none either.
    #expect(!Self.accepts(nested(BinaryPropertyList.maximumDepth + 1)))
  }

  @Test func listsInThemselvesAreRefused() {
    #expect(!Self.accepts(Self.list([0xD1, 1, 0], [0x51, 0x61])))
    #expect(!Self.accepts(Self.list([0xD1, 1, 2], [0x51, 0x61], [0xA1, 3], [0xA1, 2])))
    // A root that is not the first object.
    #expect(!Self.accepts(Self.list([0xD1, 1, 9], [0x51, 0x61])))
  }

  /// Stored once, and a value of its own wherever it is: a quarter of a megabyte so many times.
  @Test(arguments: [(2, true), (1000, false)]) func sharedTextCountsEachTime(times: Int, isTaken: Bool) {
    func word(_ n: Int) -> [UInt8] { [UInt8(n >> 16 & 255), UInt8(n >> 8 & 255), UInt8(n & 255)] }
    var bytes = Array("bplist00".utf8) + [0xD1, 1, 2, 0x51, 0x78]
    let list = bytes.count
    bytes += [0xAF, 0x11, UInt8(times >> 8), UInt8(times & 255)] + [UInt8](repeating: 3, count: times)
    let text = bytes.count
    bytes += [0x5F, 0x12, 0, 4, 0, 0] + [UInt8](repeating: 0x61, count: 1 << 18)
    let table = bytes.count
    bytes += word(8) + word(11) + word(list) + word(text) + [0, 0, 0, 0, 0, 0, 3, 1]
    for number in [4, 0, table] { bytes += [0, 0, 0, 0, 0] + word(number) }
    let data = Data(bytes)
    #expect(Self.accepts(data) == isTaken)
    let read = data.withUnsafeBytes { SiloRecord.unpack($0) }
    #expect((read?["x"] as? [String])?.map(\.utf8.count) == (isTaken ? [1 << 18, 1 << 18] : nil))
  }

  /// Foundation ends the process at the sets.
  @Test func whatNoPropertyListHoldsIsNot() {
    let number: [UInt8] = [0x10, 5]
    let key: [UInt8] = [0x51, 0x61]
    #expect(Self.accepts(Self.list([0xD1, 1, 2], key, number)))
    #expect(!Self.accepts(Self.list([0xC1, 1], number)))
    #expect(!Self.accepts(Self.list([0xD1, 1, 2], key, [0xC1, 3], number)))
    #expect(!Self.accepts(Self.list([0xD1, 1, 1], number)))
    #expect(!Self.accepts(Self.list([0xD1, 1, 2], [0xA1, 2], number)))
    #expect(!Self.accepts(Self.list([0xD1, 1, 2], key, [0x80, 5])))
    #expect(!Self.accepts(Self.list([0xD1, 1, 2], key, [0x00])))
    #expect(!Self.accepts(Self.list([0xD1, 9, 2], key, number)))
    #expect(!Self.accepts(Self.list([0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], key)))
    for file in [Self.list([0xC1, 1], number), Self.list([0xD1, 1, 2], key, [0xC1, 3], number)] {
      #expect(file.withUnsafeBytes { SiloRecord.unpack($0) } == nil)
    }
  }

  /// Whatever it becomes, it is read or refused: in exact memory, so that a sanitizer sees a byte
  /// beyond.
  @Test func changedBytesAreReadOrRefused() throws {
    let data = try #require(
      SiloRecord.pack(["a": [1, 2, 300] as [Any], "b": Data([1, 2, 3]), "c": ["d": "efg"]]))
    var random = SystemRandomNumberGenerator()
    var taken = 0
    for round in 0..<20_000 {
      var bytes = [UInt8](data)
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if round % 3 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
      let isTaken = bytes.withUnsafeBytes { bytes in
        _ = SiloRecord.unpack(bytes)
        return BinaryPropertyList.holdsOnlyValues(bytes)
      }
      if isTaken { taken += 1 }
    }
    #expect((1..<20_000).contains(taken))
  }
}
