// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing
import VideoBitstream

@testable import ElementaryStream

/// Where a stream does not say how far it is reordered, H.264 infers it (E.2.1), and the parser
/// waits for as long (C.4.5.3).
@Suite struct UnsaidOrderTests {
  private func unit(_ header: [UInt8], _ write: (inout BitWriter) -> Void) -> Data {
    let payload = BitWriter.bytes {
      write(&$0)
      $0.trailingBits()
      $0.flush()
    }
    return AnnexB.stream(of: [Data(EmulationPrevention.adding(header: header, payload: payload))])
  }

  /// Groups of an IDR picture and P pictures that are shown backwards, all before it.
  @Test(arguments: [66, 77, 100], [2, 3, 5, 7])
  func picturesThatAreShownBackwards(_ profile: Int, _ group: Int) throws {
    let level = try #require(H264Level.numbered(30))
    var sps = H264SequenceParameterSet(profile: .high, level: level, width: 176, height: 144)
    sps.profileIDC = profile
    sps.constraintFlags = 0
    sps.pictureOrderCountType = 0
    sps.log2MaxPictureOrderCountLSB = 8
    sps.vui = nil
    let pps = H264PictureParameterSet()
    var stream = AnnexB.stream(of: [Data(sps.nalUnit), Data(pps.nalUnit())])
    let groups = 6
    for index in 0..<groups * group {
      let place = index % group
      var header = H264SliceHeader()
      header.isIDR = place == 0
      header.refIDC = 3
      header.pictureOrderCountLSB = (256 - 2 * place) % 256
      header.idrPictureID = index / group % 2
      header.frameNum = place % 16
      let type: H264NALUnitType = header.isIDR ? .idrSlice : .slice
      stream += unit([H264NALUnitHeader(refIDC: 3, type: type).byte]) {
        header.write(to: &$0, sps: sps, pps: pps)
      }
    }
    var options = ElementaryStreamParser.Options()
    options.frameDuration = CMTime(value: 1, timescale: 25)
    var parser = try ElementaryStreamParser(codec: .h264, options: options)
    let samples = try parser.append(stream) + parser.finish()
    let shown = samples.map { Int($0.presentationTimeStamp.seconds * 25 + 0.5) }
    #expect(shown == (0..<groups * group).map { $0 / group * group + group - 1 - $0 % group })
    #expect(samples.allSatisfy { $0.decodeTimeStamp <= $0.presentationTimeStamp })
  }

  /// Values of the standard's table A-1 and clause E.2.1, by hand.
  @Test func theDepthThatIsInferred() throws {
    func depth(
      profile: Int, level: Int, _ width: Int, _ height: Int, flags: Int = 0, type: Int = 0,
      references: Int = 1
    ) throws -> Int {
      let any = try #require(H264Level.numbered(30))
      var sps = H264SequenceParameterSet(profile: .high, level: any, width: width, height: height)
      (sps.profileIDC, sps.levelIDC, sps.constraintFlags) = (profile, level, flags)
      (sps.pictureOrderCountType, sps.maxReferenceFrames, sps.vui) = (type, references, nil)
      return sps.maxReorderFrames
    }
    #expect(try depth(profile: 77, level: 40, 1920, 1080) == 4)
    #expect(try depth(profile: 66, level: 13, 352, 288) == 6)
    #expect(try depth(profile: 100, level: 51, 320, 240) == 16)
    #expect(try depth(profile: 100, level: 40, 1920, 1080, type: 2) == 0)
    // Intra profiles, by constraint_set3_flag.
    #expect(try depth(profile: 110, level: 41, 1920, 1080, flags: 0x10) == 0)
    #expect(try depth(profile: 44, level: 41, 1920, 1080) == 0)
    // A level that the stream exceeds tells nothing; nor does one that no table has.
    #expect(try depth(profile: 77, level: 10, 1920, 1080) == 16)
    #expect(try depth(profile: 77, level: 99, 1920, 1080) == 16)
    #expect(try depth(profile: 77, level: 40, 1920, 1080, references: 9) == 9)
  }
}
