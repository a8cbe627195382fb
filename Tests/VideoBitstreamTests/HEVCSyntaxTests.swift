// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

/// A slice's NAL unit: the header and a few bytes of data after it.
private func nalUnit(
  _ header: HEVCSliceHeader, _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
) -> [UInt8] {
  let payload = BitWriter.bytes {
    header.write(to: &$0, sps: sps, pps: pps)
    for _ in 0..<4 { $0.put(0x55, 8) }
  }
  return EmulationPrevention.adding(header: header.nal.bytes, payload: payload)
}

@Suite struct HEVCSyntaxTests {
  @Test("Parameter sets come back as they were written")
  func parameterSets() throws {
    var random = RandomSyntax(31)
    for _ in 0..<600 {
      let vps = random.hevcVideoParameterSet()
      #expect(try HEVCVideoParameterSet(nalUnit: vps.nalUnit) == vps)
      let sps = random.hevcSequenceParameterSet()
      #expect(try HEVCSequenceParameterSet(nalUnit: sps.nalUnit) == sps)
      let pps = random.hevcPictureParameterSet()
      #expect(try HEVCPictureParameterSet(nalUnit: pps.nalUnit) == pps)
    }
  }

  @Test("Slice headers come back as they were written")
  func sliceHeaders() throws {
    var random = RandomSyntax(32)
    for _ in 0..<2000 {
      let sps = random.hevcSequenceParameterSet()
      var pps = random.hevcPictureParameterSet()
      pps.sequenceParameterSetID = sps.id
      let header = random.hevcSliceHeader(sps, pps)
      let read = try HEVCSliceHeader(
        nalUnit: nalUnit(header, sps, pps), sequences: [sps.id: sps], pictures: [pps.id: pps])
      #expect(read == header)
    }
  }

  @Test("Damaged parameter sets and slices are refused or have values in range")
  func damaged() {
    var random = RandomSyntax(33)
    for _ in 0..<1500 {
      let vps = random.hevcVideoParameterSet()
      _ = try? HEVCVideoParameterSet(nalUnit: random.damaged(vps.nalUnit))
      let sps = random.hevcSequenceParameterSet()
      let readSPS = try? HEVCSequenceParameterSet(nalUnit: random.damaged(sps.nalUnit))
      if let readSPS {
        #expect(readSPS.width > 0 && readSPS.height > 0 && readSPS.referencePictureSets.count <= 64)
        #expect((try? HEVCSequenceParameterSet(nalUnit: readSPS.nalUnit)) != nil)
      }
      var pps = random.hevcPictureParameterSet()
      pps.sequenceParameterSetID = sps.id
      let readPPS = try? HEVCPictureParameterSet(nalUnit: random.damaged(pps.nalUnit))
      let header = random.hevcSliceHeader(sps, pps)
      _ = try? HEVCSliceHeader(
        nalUnit: random.damaged(nalUnit(header, sps, pps)), sequences: [sps.id: readSPS ?? sps],
        pictures: [pps.id: readPPS ?? pps])
    }
  }

  @Test("Headers of NAL units and levels")
  func headersAndLevels() {
    for type in 0..<64 as Range<UInt8> {
      for layer in [0, 1, 31, 32, 63] as [UInt8] {
        let header = HEVCNALUnitHeader(type: .init(rawValue: type), layerID: layer, temporalID: type % 7)
        #expect(HEVCNALUnitHeader(of: header.bytes) == header)
      }
    }
    #expect(HEVCNALUnitHeader(of: [0x42]) == nil && HEVCNALUnitHeader(of: [0x42, 0]) == nil)
    #expect(HEVCLevel.numbered(31)?.allows(width: 1280, height: 720) == true)
    #expect(HEVCLevel.numbered(31)?.allows(width: 1920, height: 1080) == false)
    #expect(HEVCLevel.all.map(\.pictureSize) == HEVCLevel.all.map(\.pictureSize).sorted())
    #expect(HEVCLevel.all.map(\.sampleRate) == HEVCLevel.all.map(\.sampleRate).sorted())
  }
}

@Suite struct ColorCodePointTests {
  @Test("Names and code points agree both ways")
  func names() {
    for table in [ColorCodePoints.primaries, .transferFunctions, .matrices] {
      for code in 0...255 {
        guard let name = table.name(of: code) else { continue }
        #expect(table.code(of: name).flatMap { table.name(of: $0) } == name)
      }
      #expect(table.name(of: Int(ColorDescription.unspecified)) == nil && table.code(of: "none") == nil)
    }
    #expect(ColorCodePoints.matrices.code(of: "ITU_R_601_4") == 6)
    #expect(ColorCodePoints.transferFunctions.code(of: "ITU_R_709_2") == 1)
    #expect(ColorCodePoints.primaries.code(of: "SMPTE_C") == 6)
  }
}
