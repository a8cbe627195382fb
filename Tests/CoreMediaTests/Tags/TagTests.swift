// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation
import Testing

@Suite struct TagTests {
  private func picture(_ width: Int) throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, 8, kCVPixelFormatType_32BGRA, nil, &made)
    return try #require(made)
  }

  @Test func tagsAreFoundByTheirCategory() {
    let tags: [CMTag] = [.videoLayerID(7), .stereoView(.leftEye), .mediaType(.video), .trackID(3)]
    #expect(tags.contains(.stereoView(.leftEye)) && !tags.contains(.stereoView(.rightEye)))
    #expect(!tags.contains(.channelID(7)), "another category")
    #expect(tags.firstValue(matchingCategory: .videoLayerID) == 7)
    #expect(tags.first(matchingCategory: .stereoView)?.value == .leftEye)
    #expect(tags.firstValue(matchingCategory: .packingType) == nil)
    #expect(tags[3].value(onlyIfMatching: .trackID) == 3 && tags[3].value(onlyIfMatching: .mediaType) == nil)
    #expect((tags + [.videoLayerID(8)]).filter(matchingCategory: .videoLayerID).map(\.value) == [7, 8])
  }

  /// The codes are those of Apple's headers.
  @Test func codesAreThoseOfApplesHeaders() {
    func text(_ code: FourCharCode) -> String {
      String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) }, as: UTF8.self)
    }
    let tags: [(CMTag, String, CMTag.Value)] = [
      (.mediaType(.video), "mdia", .osType(0x7669_6465)),
      (.mediaSubType(.init(rawValue: kCMVideoCodecType_HEVC)), "msub", .osType(0x6876_6331)),
      (.trackID(2), "trak", .int64(2)), (.channelID(1), "vchn", .int64(1)),
      (.videoLayerID(1), "vlay", .int64(1)),
      (.pixelFormat(kCVPixelFormatType_32BGRA), "pixf", .osType(kCVPixelFormatType_32BGRA)),
      (.packingType(.sideBySide), "pack", .osType(0x7369_6465)),
      (.projectionType(.halfEquirectangular), "proj", .osType(0x6865_7175)),
      (.stereoView([.leftEye, .rightEye]), "eyes", .flags(3)),
      (.stereoViewInterpretation([.stereoOrderReversed]), "eyip", .flags(1)),
    ]
    for (tag, category, value) in tags {
      #expect(text(tag.rawCategory) == category && tag.rawTagValue == value)
      #expect(tag == CMTag(rawCategory: tag.rawCategory, rawTagValue: value))
      #expect(tag.description.contains(category))
    }
    // A value of another type, or one that is not known, is none.
    #expect(
      CMTag(rawCategory: tags[6].0.rawCategory, rawTagValue: .osType(1)).value(onlyIfMatching: .packingType)
        == nil)
    #expect(
      CMTag(rawCategory: tags[2].0.rawCategory, rawTagValue: .int64(1 << 40)).value(onlyIfMatching: .trackID)
        == nil)
    #expect(CMTag(rawCategory: tags[2].0.rawCategory, rawTagValue: .float64(2)) != tags[2].0)
  }

  /// A category of the program's own.
  @Test func ownCategoriesHoldTheirValues() {
    let category = CMTypedTag<Double>.Category(
      rawCategory: 0x6F77_6E21,
      valueForTagValue: { if case .float64(let number) = $0 { number } else { nil } },
      tagValueForValue: { .float64($0) })
    let tag: CMTag = CMTypedTag(category: category, value: 0.25)
    #expect(tag.rawTagValue == .float64(0.25) && [tag].firstValue(matchingCategory: category) == 0.25)
  }

  @Test func groupsOfBuffersAreFoundByTags() throws {
    let (left, right) = (try picture(8), try picture(16))
    let group = [
      CMTaggedBuffer(tags: [.videoLayerID(0), .stereoView(.leftEye)], pixelBuffer: left),
      CMTaggedBuffer(tags: [.videoLayerID(1), .stereoView(.rightEye)], buffer: .pixelBuffer(right)),
    ]
    let format = try CMTaggedBufferGroupFormatDescription(taggedBuffers: group)
    #expect(format.mediaType == .taggedBufferGroup && format.mediaSubType == .taggedBufferGroup)
    let time = CMTime(value: 5, timescale: 30)
    let sample = try CMSampleBuffer(
      taggedBuffers: group, presentationTimeStamp: time, duration: CMTime(value: 1, timescale: 30),
      formatDescription: format)
    #expect(sample.presentationTimeStamp == time && sample.numSamples == 1 && sample.imageBuffer == nil)
    #expect(sample.contentType == .taggedBuffers && sample.dataReadiness == .ready)
    let eye = sample.taggedBuffers?.first { $0.tags.contains(.stereoView(.rightEye)) }
    guard case .pixelBuffer(let found)? = eye?.buffer else {
      Issue.record("no picture for the right eye")
      return
    }
    #expect(found === right)
    // A copy has them too, and data cannot be added.
    #expect(try CMSampleBuffer(copying: sample).taggedBuffers?.count == 2)
    #expect(throws: CMSampleBuffer.Error.alreadyHasDataBuffer) {
      try sample.setDataBuffer(CMBlockBuffer(length: 4, flags: .assureMemoryNow))
    }
    // Values that are not groups.
    let video = try CMVideoFormatDescription(imageBuffer: left)
    #expect(throws: CMSampleBuffer.Error.invalidMediaFormat) {
      _ = try CMSampleBuffer(
        taggedBuffers: group, presentationTimeStamp: time, duration: .invalid, formatDescription: video)
    }
    #expect(throws: CMSampleBuffer.Error.requiredParameterMissing) {
      _ = try CMSampleBuffer(
        taggedBuffers: [], presentationTimeStamp: time, duration: .invalid, formatDescription: format)
    }
    let plain = try CMSampleBuffer(
      imageBuffer: left, formatDescription: video,
      sampleTiming: .init(duration: .invalid, presentationTimeStamp: time, decodeTimeStamp: .invalid))
    #expect(plain.taggedBuffers == nil)
  }

  @Test func readyGroupsKeepTheirBuffers() throws {
    let eyes: [CMStereoViewComponents] = [.leftEye, .rightEye]
    let group = try eyes.enumerated().map { index, eye in
      CMTaggedDynamicBuffer(
        tags: [.videoLayerID(Int64(index)), .stereoView(eye)],
        content: .pixelBuffer(CVReadOnlyPixelBuffer(unsafeBuffer: try picture(8 << index))))
    }
    var ready = CMReadySampleBuffer(
      taggedBuffers: group, formatDescription: CMTaggedBufferGroupFormatDescription(taggedBuffers: group),
      presentationTimeStamp: .zero)
    ready.presentationTimeStamp = CMTime(value: 1, timescale: 10)
    #expect(ready.presentationTimeStamp == CMTime(value: 1, timescale: 10))
    let sizes = ready.content.map { part -> Int in
      guard case .pixelBuffer(let picture) = part.content else { return 0 }
      return picture.size.width
    }
    #expect(sizes == [8, 16])
    let dynamic = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(ready)
    guard case .taggedBuffers(let found) = dynamic.content else {
      Issue.record("no group")
      return
    }
    #expect(found.map { $0.tags.firstValue(matchingCategory: .stereoView) } == eyes)
    #expect(CMReadySampleBuffer<[CMTaggedDynamicBuffer]>(dynamic)?.content.count == 2)
    #expect(CMReadySampleBuffer<CVReadOnlyPixelBuffer>(dynamic) == nil)
  }

  /// A sample in a group may not be ready, or no longer valid: it is returned with its present
  /// content.
  @Test func unreadyGroupsGiveTheContentThereIs() throws {
    let inner = try CMSampleBuffer(
      dataBuffer: nil, dataReady: false, formatDescription: nil, numSamples: 1, sampleTimings: [],
      sampleSizes: []
    ) { _ in noErr }
    let group = [CMTaggedBuffer(tags: [.stereoView(.leftEye)], sampleBuffer: inner)]
    let sample = try CMSampleBuffer(
      taggedBuffers: group, presentationTimeStamp: .zero, duration: .invalid,
      formatDescription: CMFormatDescription(taggedBuffers: group))
    let ready = CMReadySampleBuffer<[CMTaggedDynamicBuffer]>(unsafeWithTaggedBuffers: sample)
    guard case .taggedBuffers(let members) = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(ready).content
    else {
      Issue.record("no group")
      return
    }
    for member in members + ready.content {
      guard case .sampleBuffer(let buffer) = member.content, case .markerOnly = buffer.content else {
        Issue.record("content that is not there")
        return
      }
    }
    #expect(members.count == 1 && ready.content.count == 1)
  }
}
