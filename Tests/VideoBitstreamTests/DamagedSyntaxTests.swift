// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

/// Input that was cut, changed or made to hurt: every read ends, with an error or with values in
/// range.
@Suite struct DamagedSyntaxTests {
  @Test("Damaged H.264 parameter sets and slices")
  func h264() {
    var random = RandomSyntax(11)
    for _ in 0..<6000 {
      let sps = random.h264SequenceParameterSet()
      var pps = random.h264PictureParameterSet(chromaFormat: sps.chromaFormat)
      pps.sequenceParameterSetID = sps.id
      let header = random.h264SliceHeader(sps, pps)
      let readSPS = try? H264SequenceParameterSet(nalUnit: random.damaged(sps.nalUnit))
      if let readSPS {
        #expect(
          readSPS.width > 0 && readSPS.height > 0 && readSPS.width <= 65536 && readSPS.height <= 131_072)
        #expect(readSPS.orderCycle.offsetsForReferenceFrames.count <= 255)
        // A set that could be read can be written.
        #expect((try? H264SequenceParameterSet(nalUnit: readSPS.nalUnit)) != nil)
      }
      let readPPS = try? H264PictureParameterSet(nalUnit: random.damaged(pps.nalUnit()))
      let unit = random.damaged(nalUnit(header, sps, pps))
      let read = try? H264SliceHeader(
        nalUnit: unit, sequences: [sps.id: readSPS ?? sps], pictures: [pps.id: readPPS ?? pps])
      if let read {
        #expect(1...32 ~= read.activeReferences && read.modifications.count <= 34)
        #expect((read.memoryManagement ?? []).count <= 67)
      }
    }
  }

  @Test("Truncated at each byte, parameter sets are refused or keep their values")
  func truncation() throws {
    var random = RandomSyntax(12)
    for _ in 0..<200 {
      let set = random.h264SequenceParameterSet()
      let unit = set.nalUnit
      for count in 0..<unit.count {
        guard let read = try? H264SequenceParameterSet(nalUnit: unit.prefix(count)) else { continue }
        // Only VUI parameters may be missing, or the trailing bits.
        #expect(set.vui != nil || count == unit.count - 1)
        var (a, b) = (read, set)
        a.vui = nil
        b.vui = nil
        #expect(a == b)
      }
    }
  }

  @Test("A map of slice groups is no larger than a picture")
  func mapUnits() throws {
    for (count, isValid) in [(139_264, true), (139_265, false)] {
      var set = H264PictureParameterSet()
      set.sliceGroups = H264SliceGroups(
        count: 8, map: .explicit((0..<count).map { UInt8(truncatingIfNeeded: $0 & 7) }))
      let read = try? H264PictureParameterSet(nalUnit: set.nalUnit())
      #expect(read == (isValid ? set : nil))
    }
  }

  @Test("Entry points are no more than rows of blocks in columns of tiles")
  func entryPoints() {
    // 64 rows of 16 samples.
    var sps = HEVCSequenceParameterSet()
    (sps.codedWidth, sps.codedHeight) = (1024, 1024)
    var pps = HEVCPictureParameterSet()
    pps.isSynchronised = true
    for columns in [1, 3] {
      if columns > 1 {
        var tiles = HEVCPictureParameterSet.Tiles()
        tiles.columns = columns
        pps.tiles = tiles
      }
      for (count, isValid) in [(64 * columns, true), (64 * columns + 1, false)] {
        var header = HEVCSliceHeader()
        header.nal = HEVCNALUnitHeader(type: .idrWithoutLeading)
        header.entryPoints = Array(repeating: 1, count: count)
        let payload = BitWriter.bytes {
          header.write(to: &$0, sps: sps, pps: pps)
          for _ in 0..<4 { $0.put(0x55, 8) }
        }
        let unit = EmulationPrevention.adding(header: header.nal.bytes, payload: payload)
        let read = try? HEVCSliceHeader(nalUnit: unit, sequences: [0: sps], pictures: [0: pps])
        // The data after the order is read as far as possible.
        #expect((read?.entryPoints == header.entryPoints) == isValid)
      }
    }
    (sps.codedWidth, sps.codedHeight) = (65_535, 65_535)
    pps.tiles?.columns = 1024
    #expect(HEVCSliceHeader.maxEntryPoints(sps, pps) == 1 << 16)
  }

  @Test("Extreme values of ue(v) and se(v)")
  func extremes() {
    for value in [0, 1, 254, 255, 65534, 65535, 0x7FFF_FFFE, 0x7FFF_FFFF, 0xFFFF_FFFD, 0xFFFF_FFFE] {
      let bytes = BitWriter.bytes {
        $0.ue(value)
        $0.trailingBits()
      }
      bytes.withUnsafeBufferPointer { bytes in
        var reader = BitReader(bytes, hasEmulationPrevention: false)
        #expect(reader.ue() == value && reader.failure == nil)
        #expect(!reader.hasMoreData)
      }
    }
    for value in [0, 1, -1, 0x7FFF_FFFF, -0x7FFF_FFFF] {
      let bytes = BitWriter.bytes {
        $0.se(value)
        $0.trailingBits()
      }
      bytes.withUnsafeBufferPointer { bytes in
        var reader = BitReader(bytes, hasEmulationPrevention: false)
        #expect(reader.se() == value && reader.failure == nil)
      }
    }
    // 32 zeros: no code has so many.
    let zeros: [UInt8] = [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    zeros.withUnsafeBufferPointer { bytes in
      var reader = BitReader(bytes, hasEmulationPrevention: false)
      var value = 7
      reader.ue(&value)
      #expect(value == 7 && reader.failure == .invalid)
      reader.u(&value, 8)
      #expect(value == 7)
    }
    for count in 0...4 {
      let bytes = [UInt8](repeating: 0, count: count)
      bytes.withUnsafeBufferPointer { bytes in
        var reader = BitReader(bytes, hasEmulationPrevention: false)
        #expect(reader.ue() == 0 && reader.failure == (count == 4 ? .invalid : .truncated))
      }
    }
  }

  @Test("A unit of many tiny messages, or of one that claims to be huge, takes one pass")
  func messages() {
    var many = [UInt8](repeating: 6, count: 200_001)
    for index in stride(from: 2, to: many.count, by: 2) { many[index] = 0 }
    #expect(SupplementalInformation.messages(nalUnit: many + [0x80], headerLength: 1).count == 100_000)
    let huge = [UInt8](repeating: 255, count: 1_000_000)
    #expect(SupplementalInformation.messages(nalUnit: huge, headerLength: 1).isEmpty)
  }
}

/// Fails from the start, and counts how often it is asked whether it has.
private struct BrokenCoder: SyntaxCoder {
  final class Counter { var looks = 0 }

  static var isReading: Bool { true }
  let counter = Counter()

  var failure: SyntaxError? {
    counter.looks += 1
    return .truncated
  }

  mutating func fail(_ error: SyntaxError) {}
  mutating func flag(_ value: inout Bool) {}
  mutating func u(_ value: inout Int, _ count: Int) {}
  mutating func ue(_ value: inout Int, _ range: ClosedRange<Int>) {}
  mutating func se(_ value: inout Int, _ range: ClosedRange<Int>, above origin: Int) {}
  mutating func moreData(_ hasMore: inout Bool) {}
}

/// A header of a few bytes may claim a list of millions: each one would cost as many steps.
@Suite struct LongListTests {
  @Test("A list ends with the first error, not with its count")
  func endsWithTheError() {
    var coder = BrokenCoder()
    var values = [1]
    coder.list(&values, count: 1 << 20, 0) { $0.u(&$1, 8) }
    #expect(values.isEmpty)
    #expect(coder.counter.looks < 10)
  }
}
