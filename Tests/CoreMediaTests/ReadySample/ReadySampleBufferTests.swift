// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation
import Testing

@Suite struct ReadySampleBufferTests {
  private static func time(_ value: Int64) -> CMTime { CMTime(value: value, timescale: 30) }

  /// Eight rows.
  private static func picture(width: Int) throws -> CVReadOnlyPixelBuffer {
    CVReadOnlyPixelBuffer(
      try CVMutablePixelBuffer(
        CVPixelBufferCreationAttributes(
          pixelFormatType: CVPixelFormatType(rawValue: kCVPixelFormatType_32BGRA),
          size: CVImageSize(width: width, height: 8))))
  }

  @Test func pictureBuffersTellTheirFormat() throws {
    let picture = try Self.picture(width: 16)
    let ready = CMReadySampleBuffer(
      pixelBuffer: picture, presentationTimeStamp: Self.time(3), duration: Self.time(1))
    #expect(ready.presentationTimeStamp == Self.time(3) && ready.duration == Self.time(1))
    #expect(ready.formatDescription.dimensions.width == 16)
    #expect(ready.content.withUnsafeBuffer { a in picture.withUnsafeBuffer { a === $0 } })
    // As dynamic content, and back.
    let dynamic = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(ready)
    guard case .pixelBuffer(let content) = dynamic.content else {
      Issue.record("no picture")
      return
    }
    #expect(content.size == CVImageSize(width: 16, height: 8))
    #expect(CMReadySampleBuffer<CVReadOnlyPixelBuffer>(dynamic)?.presentationTimeStamp == Self.time(3))
    #expect(CMReadySampleBuffer<CMReadOnlyDataBlockBuffer>(dynamic) == nil)
  }

  /// Whoever took the buffer may have made it invalid: what was there stays.
  @Test func theContentOfInvalidBuffersStays() throws {
    let picture = try Self.picture(width: 8)
    let ready = CMReadySampleBuffer(pixelBuffer: picture, presentationTimeStamp: Self.time(3))
    ready.withUnsafeSampleBuffer { _ = CMSampleBufferInvalidate($0) }
    #expect(ready.content.size == CVImageSize(width: 8, height: 8))
    #expect(ready.formatDescription.dimensions.width == 8)
    let data = CMReadySampleBuffer<CMReadOnlyDataBlockBuffer>(
      unsafeWithDataBuffer: try Self.dataSample([1, 2, 3]))
    data.withUnsafeSampleBuffer { _ = CMSampleBufferInvalidate($0) }
    #expect(Array(data.content) == [1, 2, 3])
    _ = (data.presentationTimeStamp, data.sampleProperties, data.totalSampleSize, data.outputSampleTimings)
  }

  private static func dataSample(_ bytes: [UInt8]) throws -> sending CMSampleBuffer {
    let block = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
    try bytes.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    let format = try CMFormatDescription(
      audioStreamBasicDescription: AudioStreamBasicDescription(
        mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM, mFormatFlags: kAudioFormatFlagIsPacked,
        mBytesPerPacket: 1, mFramesPerPacket: 1, mBytesPerFrame: 1, mChannelsPerFrame: 1, mBitsPerChannel: 8,
        mReserved: 0))
    return try CMSampleBuffer(
      dataBuffer: block, formatDescription: format, numSamples: bytes.count,
      sampleTimings: [
        CMSampleTimingInfo(duration: Self.time(1), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
      ], sampleSizes: [1])
  }

  @Test func timesOfACopyLeaveTheOriginal() throws {
    let picture = try Self.picture(width: 8)
    let first = CMReadySampleBuffer(pixelBuffer: picture, presentationTimeStamp: Self.time(3))
    var other = first
    other.presentationTimeStamp = Self.time(5)
    other.duration = Self.time(2)
    other.sampleAttachments.displayImmediately = true
    // The one it was copied from stays as it was.
    #expect(first.presentationTimeStamp == Self.time(3) && !first.sampleAttachments.displayImmediately)
    #expect(other.presentationTimeStamp == Self.time(5) && other.duration == Self.time(2))
    #expect(other.sampleAttachments.displayImmediately)
    #expect(other.withUnsafeSampleBuffer { $0.sampleAttachments[0][.displayImmediately] as? Bool } == true)
  }

  /// Three samples in two pieces of memory.
  @Test func dataBuffersHoldTheirSamples() async throws {
    let format = try CMFormatDescription(
      mediaType: .video, mediaSubType: .init(rawValue: kCMVideoCodecType_H264))
    var block = CMReadOnlyDataBlockBuffer(Data([1, 2, 3, 4]))
    block += CMReadOnlyDataBlockBuffer(Data([5, 6]))
    #expect(Array(block) == [1, 2, 3, 4, 5, 6] && !block.isContiguous && block[4] == 5)
    #expect(block.withContiguousStorageIfAvailable { $0.count } == nil)
    var notSync = CMSampleBuffer.SampleAttachments()
    notSync.isNotSync = true
    let ready = CMReadySampleBuffer(
      dataBuffer: block, formatDescription: format,
      sampleProperties: CMSampleBuffer.SamplePropertiesCollection(
        sampleCount: 3, sizes: [1, 2, 3],
        timings: .sequential(presentationTimeOfFirstSample: Self.time(9), uniformDuration: Self.time(1)),
        attachments: [.init(), notSync, notSync]))
    #expect(ready.sampleCount == 3 && ready.totalSampleSize == 6 && ready.duration == Self.time(3))
    #expect(ready.sampleProperties.map(\.size) == [1, 2, 3])
    #expect(ready.sampleProperties.map(\.timing.presentationTimeStamp) == [9, 10, 11].map(Self.time))
    #expect(ready.sampleProperties.map(\.attachments.isNotSync) == [false, true, true])
    let parts = ready.splitSamples()
    #expect(parts.map { Array($0.content) } == [[1], [2, 3], [4, 5, 6]])
    #expect(parts.map(\.presentationTimeStamp) == [9, 10, 11].map(Self.time))
    // As another task sees it, which does not know what it holds.
    let dynamic = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(ready)
    let bytes = await Task.detached { () -> [UInt8] in
      guard case .dataBuffer(let data) = dynamic.content else { return [] }
      return Array(data)
    }.value
    #expect(bytes == [1, 2, 3, 4, 5, 6] && dynamic.contentType == .dataBuffer)
    #expect(CMReadySampleBuffer<CMReadOnlyDataBlockBuffer>(dynamic)?.sampleCount == 3)
    #expect(CMReadySampleBuffer<CVReadOnlyPixelBuffer>(dynamic) == nil)
    #expect(CMReadySampleBuffer<Never>(dynamic) == nil)
  }

  @Test func audioBuffersHoldTheirFrames() throws {
    var basic = AudioStreamBasicDescription()
    basic.mSampleRate = 8000
    basic.mFormatID = kAudioFormatLinearPCM
    basic.mFormatFlags = kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked
    basic.mBytesPerPacket = 2
    basic.mFramesPerPacket = 1
    basic.mBytesPerFrame = 2
    basic.mChannelsPerFrame = 1
    basic.mBitsPerChannel = 16
    let format = try CMFormatDescription(audioStreamBasicDescription: basic)
    var memory = try CMMutableDataBlockBuffer(count: 8)
    memory.replaceAll(repeating: 0)
    memory[2] = 7
    memory.replaceSubrange(4..<6, with: [1, 2])
    #expect(memory.withContiguousMutableStorageIfAvailable { Array($0) } == [0, 0, 7, 0, 1, 2, 0, 0])
    let ready = CMReadySampleBuffer(
      audioDataBuffer: CMReadOnlyDataBlockBuffer(memory), formatDescription: format, sampleCount: 4,
      presentationTimeStamp: CMTime(value: 80, timescale: 8000))
    #expect(ready.sampleCount == 4 && ready.duration == CMTime(value: 4, timescale: 8000))
    var samples = [Int16](repeating: -1, count: 2)
    try samples.withUnsafeMutableBytes { bytes in
      var list = AudioBufferList(
        mNumberBuffers: 1,
        mBuffers: AudioBuffer(
          mNumberChannels: 1, mDataByteSize: UInt32(bytes.count), mData: bytes.baseAddress))
      try ready.copyPCMData(fromRange: 1..<3, into: &list)
    }
    #expect(samples == [7, 0x0201])
  }

  @Test func referencesKeepTheirPlaces() throws {
    let format = try CMFormatDescription(
      mediaType: .video, mediaSubType: .init(rawValue: kCMVideoCodecType_H264))
    let place = CMSampleDataReference(containerLocation: URL(fileURLWithPath: "/a/b.mov"), byteOffset: 1234)
    let ready = CMReadySampleBuffer(
      sampleDataReference: place, formatDescription: format,
      sampleProperties: .init([
        .init(
          size: 10,
          timing: .init(
            duration: Self.time(1), presentationTimeStamp: .zero, decodeTimeStamp: .invalid))
      ]))
    #expect(ready.content == place && ready.totalSampleSize == 10)
    guard case .sampleReference(let found) = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(ready).content
    else {
      Issue.record("no reference")
      return
    }
    #expect(found == place)
  }

  /// Whether the reference is to be propagated or not.
  @Test func partsOfReferencesKeepThePlace() throws {
    let url = URL(fileURLWithPath: "/a/b.mov")
    let buffer = try CMSampleBuffer(
      dataBuffer: nil,
      formatDescription: CMFormatDescription(
        mediaType: .video, mediaSubType: .init(rawValue: kCMVideoCodecType_H264)),
      numSamples: 3,
      sampleTimings: [
        .init(duration: Self.time(1), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
      ], sampleSizes: [10])
    for (key, value) in [
      (kCMSampleBufferAttachmentKey_SampleReferenceURL, url.absoluteString as CFString),
      (kCMSampleBufferAttachmentKey_SampleReferenceByteOffset, NSNumber(value: 12)),
    ] as [(CFString, AnyObject)] {
      CMSetAttachment(
        buffer, key: key, value: value, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    }
    let parts = CMReadySampleBuffer<CMSampleDataReference>(unsafeSampleDataReferenceBuffer: buffer)
      .splitSamples()
    try #require(parts.count == 3)
    for (index, part) in parts.enumerated() {
      #expect(part.presentationTimeStamp == Self.time(Int64(index)))
      guard
        case .sampleReference(let found) = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(part).content
      else {
        Issue.record("no reference")
        return
      }
      #expect(found == CMSampleDataReference(containerLocation: url, byteOffset: 12) && part.content == found)
    }
  }

  @Test func markersHaveNoSamples() throws {
    var made: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: nil, formatDescription: nil, sampleCount: 0,
      sampleTimingEntryCount: 0, sampleTimingArray: nil, sampleSizeEntryCount: 0, sampleSizeArray: nil,
      sampleBufferOut: &made)
    let ready = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>(unsafeBuffer: try #require(made))
    guard case .markerOnly = ready.content else {
      Issue.record("no marker")
      return
    }
    #expect(ready.sampleCount == 0 && ready.contentType == .markerOnly)
    let own = CMReadySampleBuffer(markerAt: Self.time(4))
    #expect(own.markerTimeStamp == Self.time(4) && own.formatDescription == nil)
    #expect(CMReadySampleBuffer<Never>(ready) != nil)
  }
}
