// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

/// A slice's NAL unit: the header and a few bytes of data after it.
func nalUnit(
  _ header: H264SliceHeader, _ sps: H264SequenceParameterSet, _ pps: H264PictureParameterSet
) -> [UInt8] {
  let payload = BitWriter.bytes {
    header.write(to: &$0, sps: sps, pps: pps)
    $0.trailingBits()
    for _ in 0..<4 { $0.put(0x55, 8) }
  }
  let type: H264NALUnitType = header.isIDR ? .idrSlice : .slice
  return EmulationPrevention.adding(
    header: [H264NALUnitHeader(refIDC: UInt8(header.refIDC), type: type).byte], payload: payload)
}

@Suite struct H264SyntaxTests {
  @Test("Sequence parameter sets come back as they were written")
  func sequenceParameterSets() throws {
    var random = RandomSyntax(1)
    for _ in 0..<2000 {
      let set = random.h264SequenceParameterSet()
      let read = try H264SequenceParameterSet(nalUnit: set.nalUnit)
      #expect(read == set)
      #expect(read.nalUnit == set.nalUnit)
    }
  }

  @Test("Picture parameter sets come back as they were written")
  func pictureParameterSets() throws {
    var random = RandomSyntax(2)
    for _ in 0..<2000 {
      let chromaFormat = random.int(0...3)
      let set = random.h264PictureParameterSet(chromaFormat: chromaFormat)
      let unit = set.nalUnit(chromaFormat: chromaFormat)
      #expect(try H264PictureParameterSet(nalUnit: unit, chromaFormat: chromaFormat) == set)
    }
  }

  @Test("Slice headers come back as they were written")
  func sliceHeaders() throws {
    var random = RandomSyntax(3)
    for _ in 0..<4000 {
      let sps = random.h264SequenceParameterSet()
      var pps = random.h264PictureParameterSet(chromaFormat: sps.chromaFormat)
      pps.sequenceParameterSetID = sps.id
      let header = random.h264SliceHeader(sps, pps)
      let read = try H264SliceHeader(
        nalUnit: nalUnit(header, sps, pps), sequences: [sps.id: sps], pictures: [pps.id: pps])
      #expect(read == header)
    }
  }

  @Test("The small units come back as they were written")
  func auxiliaryUnits() throws {
    var random = RandomSyntax(4)
    for _ in 0..<500 {
      let header = H264ScalableHeader(
        isIDR: random.chance(), priorityID: random.int(0...63), temporalID: random.int(0...7),
        isDiscardable: random.chance())
      let (a, b, c) = header.bytes
      #expect(try H264ScalableHeader(nalUnit: [0x6E, a, b, c]) == header)

      let point = H264RecoveryPoint(frameCount: random.syntax(0...65535), isExact: random.chance())
      let unit = [6] + BitWriter.bytes { point.write(to: &$0) }
      let messages = SupplementalInformation.messages(nalUnit: unit, headerLength: 1)
      #expect(messages.map(\.type) == [H264RecoveryPoint.payloadType])
      #expect(try H264RecoveryPoint(payload: messages.first?.payload ?? []) == point)
    }
    for byte in 0...255 as ClosedRange<UInt8> {
      #expect(H264NALUnitHeader(byte: byte)?.byte == (byte < 0x80 ? byte : nil))
    }
  }

  @Test("Messages come back as they were written, and those that are whole from cut ones")
  func messages() {
    var random = RandomSyntax(5)
    for _ in 0..<300 {
      let messages = random.list(random.int(0...6)) { r in
        SupplementalInformation.Message(
          type: r.int(0...600),
          payload: r.list(r.syntax(0...600)) { UInt8($0.chance(30) ? 0 : $0.int(0...255)) })
      }
      let payload = BitWriter.bytes { SupplementalInformation.write(messages, to: &$0) }
      let unit = EmulationPrevention.adding(header: [6], payload: payload)
      #expect(SupplementalInformation.messages(nalUnit: unit, headerLength: 1) == messages)
      let cut = unit.prefix(random.int(0...unit.count))
      let read = SupplementalInformation.messages(nalUnit: cut, headerLength: 1)
      #expect(read.count <= messages.count + 1)
    }
  }

  @Test("Levels of parameter sets, 1b among them")
  func levels() {
    for profile in [H264Profile.constrainedBaseline, .main, .constrainedHigh, .high] {
      for level in H264Level.all {
        let set = H264SequenceParameterSet(profile: profile, level: level, width: 176, height: 144)
        #expect(set.level == level)
        #expect(set.width == 176 && set.height == 144)
      }
    }
    var set = H264SequenceParameterSet()
    set.levelIDC = 77
    #expect(set.level == nil)
  }
}
