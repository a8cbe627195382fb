// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

/// Audio between sample buffers and lists of buffers, and packets that are described one by one.
@Suite struct AudioListTests {
  private func pcm(channels: UInt32, interleaved: Bool = true) throws -> CMFormatDescription {
    let flags = kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked
    let frame = interleaved ? 2 * channels : 2
    return try CMFormatDescription(
      audioStreamBasicDescription: AudioStreamBasicDescription(
        mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
        mFormatFlags: interleaved ? flags : flags | kAudioFormatFlagIsNonInterleaved, mBytesPerPacket: frame,
        mFramesPerPacket: 1, mBytesPerFrame: frame, mChannelsPerFrame: channels, mBitsPerChannel: 16,
        mReserved: 0))
  }

  private func aac() throws -> CMFormatDescription {
    try CMFormatDescription(
      audioStreamBasicDescription: AudioStreamBasicDescription(
        mSampleRate: 44100, mFormatID: kAudioFormatMPEG4AAC, mFormatFlags: 0, mBytesPerPacket: 0,
        mFramesPerPacket: 1024, mBytesPerFrame: 0, mChannelsPerFrame: 2, mBitsPerChannel: 0, mReserved: 0))
  }

  private func block(_ bytes: [UInt8]) throws -> CMBlockBuffer {
    let buffer = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
    try bytes.withUnsafeBytes { try buffer.replaceDataBytes(with: $0) }
    return buffer
  }

  /// A part of channels that stand one after the other is in no one place.
  @Test func onlyInterleavedAudioIsDivided() throws {
    for isInterleaved in [true, false] {
      var made: CMSampleBuffer?
      #expect(
        CMAudioSampleBufferCreateReadyWithPacketDescriptions(
          allocator: nil, dataBuffer: try block([UInt8](0..<32)),
          formatDescription: try pcm(channels: 2, interleaved: isInterleaved),
          sampleCount: 8, presentationTimeStamp: .zero, packetDescriptions: nil, sampleBufferOut: &made)
          == noErr)
      let sample = try #require(made)
      var part: CMSampleBuffer?
      let status = CMSampleBufferCopySampleBufferForRange(
        allocator: nil, sampleBuffer: sample, sampleRange: CFRange(location: 2, length: 3),
        sampleBufferOut: &part)
      #expect(status == (isInterleaved ? noErr : kCMSampleBufferError_CannotSubdivide))
      #expect(
        try part?.dataBuffer.map { [UInt8](try $0.dataBytes()) } == (isInterleaved ? [UInt8](8..<20) : nil))
      var whole: CMSampleBuffer?
      #expect(
        CMSampleBufferCopySampleBufferForRange(
          allocator: nil, sampleBuffer: sample, sampleRange: CFRange(location: 0, length: 8),
          sampleBufferOut: &whole) == noErr)
      #expect(whole?.dataBuffer?.dataLength == 32)
    }
  }

  /// As a recorder does it: a sample buffer without data, then the microphone's buffers.
  private func recorded(_ format: CMFormatDescription, _ channels: [[Int16]], frames: Int) throws
    -> (status: OSStatus, sample: CMSampleBuffer)
  {
    var made: CMSampleBuffer?
    #expect(
      CMAudioSampleBufferCreateWithPacketDescriptions(
        allocator: kCFAllocatorDefault, dataBuffer: nil, dataReady: false, makeDataReadyCallback: nil,
        refcon: nil, formatDescription: format, sampleCount: frames,
        presentationTimeStamp: CMTime(value: 480, timescale: 48000), packetDescriptions: nil,
        sampleBufferOut: &made) == noErr)
    let sample = try #require(made)
    #expect(!CMSampleBufferDataIsReady(sample))
    let list = AudioBufferList.allocate(maximumBuffers: channels.count)
    defer { free(list.unsafeMutablePointer) }
    var memory = channels
    for index in channels.indices {
      memory[index].withUnsafeMutableBytes {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, $0.count), alignment: 16)
        if let base = $0.baseAddress { copy.copyMemory(from: base, byteCount: $0.count) }
        list[index] = AudioBuffer(mNumberChannels: 1, mDataByteSize: UInt32($0.count), mData: copy)
      }
    }
    defer { for buffer in list { buffer.mData?.deallocate() } }
    let status = CMSampleBufferSetDataBufferFromAudioBufferList(
      sample, blockBufferAllocator: nil, blockBufferMemoryAllocator: nil, flags: 0,
      bufferList: list.unsafePointer)
    return (status, sample)
  }

  @Test func separateChannelsComeBackAsTheyWere() throws {
    let left: [Int16] = [1, 2, 3, 4, 5]
    let right: [Int16] = [-1, -2, -3, -4, -5]
    let (status, sample) = try recorded(
      try pcm(channels: 2, interleaved: false), [left, right], frames: 5)
    #expect(status == noErr && CMSampleBufferDataIsReady(sample))
    #expect(sample.numSamples == 5 && sample.duration == CMTime(value: 5, timescale: 48000))
    #expect(CMSampleBufferGetTotalSampleSize(sample) == 20)
    for flags in [CMSampleBuffer.Flags(), .audioBufferListAssure16ByteAlignment] {
      let channels = try sample.withAudioBufferList(flags: flags) { list, block in
        #expect(CMBlockBufferGetDataLength(block) >= 20)
        return list.map { buffer -> [Int16] in
          #expect(buffer.mNumberChannels == 1)
          if flags == .audioBufferListAssure16ByteAlignment {
            #expect(UInt(bitPattern: buffer.mData) % 16 == 0)
          }
          return Array(
            UnsafeRawBufferPointer(start: buffer.mData, count: Int(buffer.mDataByteSize)).bindMemory(
              to: Int16.self))
        }
      }
      #expect(channels == [left, right])
    }
  }

  @Test func whatDoesNotFitIsRefused() throws {
    let format = try pcm(channels: 2, interleaved: false)
    // One channel is missing, or one is short.
    #expect(
      try recorded(format, [[1, 2]], frames: 2).status == kCMSampleBufferError_RequiredParameterMissing)
    let short = try recorded(format, [[1, 2], [1]], frames: 2)
    #expect(short.status == kCMSampleBufferError_RequiredParameterMissing)
    #expect(!CMSampleBufferDataIsReady(short.sample) && short.sample.dataBuffer == nil)
    let good = try recorded(format, [[1, 2], [3, 4]], frames: 2).sample
    var list = AudioBufferList()
    #expect(
      CMSampleBufferSetDataBufferFromAudioBufferList(
        good, blockBufferAllocator: nil, blockBufferMemoryAllocator: nil, flags: 0, bufferList: &list)
        == kCMSampleBufferError_AlreadyHasDataBuffer)
  }

  @Test func theSizeOfAListIsAskedForFirst() throws {
    let sample = try recorded(try pcm(channels: 2, interleaved: false), [[1], [2]], frames: 1).sample
    var size = 0
    func get(
      _ list: UnsafeMutablePointer<AudioBufferList>?, _ room: Int,
      _ out: UnsafeMutablePointer<CMBlockBuffer?>?
    )
      -> OSStatus
    {
      CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
        sample, bufferListSizeNeededOut: &size, bufferListOut: list, bufferListSize: room,
        blockBufferAllocator: nil, blockBufferMemoryAllocator: nil, flags: 0, blockBufferOut: out)
    }
    #expect(get(nil, 0, nil) == noErr && size == AudioBufferList.sizeInBytes(maximumBuffers: 2))
    var one = AudioBufferList()
    var kept: CMBlockBuffer?
    #expect(get(&one, MemoryLayout<AudioBufferList>.size, &kept) == kCMSampleBufferError_ArrayTooSmall)
    #expect(kept == nil)
    let video = try CMFormatDescription(videoCodecType: .h264, width: 64, height: 48)
    let other = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: video, numSamples: 0, sampleTimings: [], sampleSizes: [])
    #expect(throws: (any Error).self) { try other.withAudioBufferList { list, _ in list.count } }
  }

  @Test func packetsOfCompressedAudioAreDescribed() throws {
    let sizes: [UInt32] = [3, 5, 4]
    var offset: Int64 = 100
    let packets = sizes.map { size in
      defer { offset += Int64(size) }
      return AudioStreamPacketDescription(
        mStartOffset: offset, mVariableFramesInPacket: 0, mDataByteSize: size)
    }
    let start = CMTime(value: 7, timescale: 1)
    let data = try block(Array(0..<12))
    var made: CMSampleBuffer?
    #expect(
      CMAudioSampleBufferCreateReadyWithPacketDescriptions(
        allocator: nil, dataBuffer: data, formatDescription: try aac(), sampleCount: 3,
        presentationTimeStamp: start, packetDescriptions: packets, sampleBufferOut: &made) == noErr)
    let sample = try #require(made)
    #expect(sample.numSamples == 3 && CMSampleBufferDataIsReady(sample))
    #expect(try sample.sampleSizes() == [3, 5, 4])
    #expect(sample.duration == CMTime(value: 3072, timescale: 44100))
    #expect(
      try sample.sampleTimingInfo(at: 2).presentationTimeStamp == start
        + CMTime(value: 2048, timescale: 44100))
    // Read back, they count from the data's start.
    let wanted = [(0, 3), (3, 5), (8, 4)].map { (start: Int, size: Int) in
      AudioStreamPacketDescription(
        mStartOffset: Int64(start), mVariableFramesInPacket: 0, mDataByteSize: UInt32(size))
    }
    #expect(try sample.audioStreamPacketDescriptions() == wanted)
    #expect(try sample.withUnsafeAudioStreamPacketDescriptions { Array($0) } == wanted)
    var pointer: UnsafePointer<AudioStreamPacketDescription>?
    var size = 0
    #expect(
      CMSampleBufferGetAudioStreamPacketDescriptionsPtr(
        sample, packetDescriptionsPointerOut: &pointer, sizeOut: &size) == noErr)
    #expect(size == 3 * MemoryLayout<AudioStreamPacketDescription>.stride && pointer?[1] == wanted[1])
    var copies = [AudioStreamPacketDescription](repeating: .init(), count: 3)
    #expect(
      CMSampleBufferGetAudioStreamPacketDescriptions(
        sample, allocatedSize: size, packetDescriptionsOut: &copies, packetDescriptionsSizeNeededOut: nil)
        == noErr)
    #expect(copies == wanted)
    #expect(
      CMSampleBufferGetAudioStreamPacketDescriptions(
        sample, allocatedSize: size - 1, packetDescriptionsOut: &copies,
        packetDescriptionsSizeNeededOut: &size) == kCMSampleBufferError_ArrayTooSmall)
    // One buffer of both channels.
    let list = try sample.withAudioBufferList { list, _ in
      (list.count, list[0].mNumberChannels, list[0].mDataByteSize)
    }
    #expect(list == (1, 2, 12))
  }

  @Test func packetsThatMakeNoSenseAreRefused() throws {
    let gap = [
      AudioStreamPacketDescription(mStartOffset: 0, mVariableFramesInPacket: 0, mDataByteSize: 3),
      AudioStreamPacketDescription(mStartOffset: 4, mVariableFramesInPacket: 0, mDataByteSize: 3),
    ]
    let data = try block(Array(0..<7))
    let format = try aac()
    #expect(throws: (any Error).self) {
      _ = try CMSampleBuffer(
        dataBuffer: data, formatDescription: format, numSamples: 2, presentationTimeStamp: .zero,
        packetDescriptions: gap)
    }
    var made: CMSampleBuffer?
    // AAC has packets of no fixed size.
    #expect(
      CMAudioSampleBufferCreateReadyWithPacketDescriptions(
        allocator: nil, dataBuffer: data, formatDescription: format, sampleCount: 2,
        presentationTimeStamp: .zero, packetDescriptions: nil, sampleBufferOut: &made)
        == kCMSampleBufferError_RequiredParameterMissing)
    #expect(made == nil)
    let variable = [960, 480].enumerated().map { index, frames in
      AudioStreamPacketDescription(
        mStartOffset: Int64(index), mVariableFramesInPacket: UInt32(frames), mDataByteSize: 1)
    }
    let sample = try CMSampleBuffer(
      dataBuffer: data, formatDescription: format, numSamples: 2, presentationTimeStamp: .zero,
      packetDescriptions: variable)
    #expect(sample.duration == CMTime(value: 1440, timescale: 44100))
  }
}
