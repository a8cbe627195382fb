// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import TestSupport
import Testing
import VideoToolbox

/// The whole way through a session, with either codec, seen by ffmpeg.
@Suite(.serialized) struct EncodeBasicsTests {
  static let codecs = [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC]

  @Test(arguments: codecs) func everyFrameArrivesAndDecodes(_ codec: CMVideoCodecType) throws {
    let clip = TestClip()
    let session = try makeSession(codec, properties: [kVTCompressionPropertyKey_AverageBitRate: 800_000])
    let samples = try encode(session, clip, count: 60)
    #expect(samples.count == 60)

    // Presentation times: those that went in, each once. Decode times: increasing, never after
    // presentation.
    #expect(samples.map(\.presentationTimeStamp).sorted() == (0..<60).map(clip.time))
    let decodeTimes = samples.map(\.decodeTimeStamp)
    #expect(decodeTimes.allSatisfy { $0.isNumeric })
    for (a, b) in zip(decodeTimes, decodeTimes.dropFirst()) { #expect(a < b) }
    for sample in samples {
      #expect(sample.decodeTimeStamp <= sample.presentationTimeStamp)
      #expect(sample.duration == clip.frameDuration)
    }

    let isHEVC = codec == kCMVideoCodecType_HEVC
    let probe = try StreamProbe(annexB(samples), hevc: isHEVC)
    #expect(probe.errors.isEmpty, "\(probe.errors)")
    #expect(probe.frames.count == 60)
    #expect(probe.number("width") == 320 && probe.number("height") == 240)
    #expect(probe.text("r_frame_rate") == "30/1")
    // B frames were made, and the order was changed.
    #expect(probe.pictureTypes.contains("B"))
    #expect(samples.map(\.presentationTimeStamp) != samples.map(\.presentationTimeStamp).sorted())

    // The attachments are true: what nothing refers to can be left out and the rest decodes.
    #expect(samples[0].isSync && samples[0].flag(kCMSampleAttachmentKey_DependsOnOthers) == false)
    let needed = samples.filter { $0.flag(kCMSampleAttachmentKey_IsDependedOnByOthers) == true }
    #expect(needed.count < samples.count && needed.count > 5)
    let reduced = try StreamProbe(annexB(needed), hevc: isHEVC)
    #expect(reduced.errors.isEmpty, "\(reduced.errors)")
    #expect(reduced.frames.count == needed.count)
    let intra = samples.filter { $0.flag(kCMSampleAttachmentKey_DependsOnOthers) == false }.count
    #expect(intra == probe.pictureTypes.filter { $0 == "I" }.count)
    // One format description for all.
    let descriptions = samples.compactMap { CMSampleBufferGetFormatDescription($0) }.map {
      ObjectIdentifier($0)
    }
    #expect(Set(descriptions).count == 1)
  }
}
