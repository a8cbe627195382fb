// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import Testing

@Suite struct BufferTests {
  @Test("Channels on their own lie one after the other, and the lists say what is used and what there is")
  func planar() throws {
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 100))
    #expect(buffer.frameLength == 0 && buffer.frameCapacity == 100 && buffer.stride == 1)
    #expect(buffer.int16ChannelData == nil && buffer.int32ChannelData == nil)
    let data = try #require(buffer.floatChannelData)
    data[1][99] = 0.25
    buffer.frameLength = 50
    let used = UnsafeMutableAudioBufferListPointer(UnsafeMutablePointer(mutating: buffer.audioBufferList))
    #expect(used.count == 2 && used.allSatisfy { $0.mDataByteSize == 200 && $0.mNumberChannels == 1 })
    let whole = UnsafeMutableAudioBufferListPointer(buffer.mutableAudioBufferList)
    #expect(whole.allSatisfy { $0.mDataByteSize == 400 })
    #expect(whole[1].mData?.assumingMemoryBound(to: Float.self)[99] == 0.25)
    buffer.frameLength = 1000
    #expect(buffer.frameLength == 100)
  }

  @Test("Interleaved channels begin one sample after the other")
  func interleaved() throws {
    let format = try #require(
      AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 48_000, channels: 2, interleaved: true))
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 4))
    let data = try #require(buffer.int16ChannelData)
    #expect(buffer.stride == 2 && data[0] + 1 == data[1] && buffer.floatChannelData == nil)
    data[1][2 * buffer.stride] = 7
    let whole = UnsafeMutableAudioBufferListPointer(buffer.mutableAudioBufferList)
    #expect(whole.count == 1 && whole[0].mNumberChannels == 2 && whole[0].mDataByteSize == 16)
    #expect(whole[0].mData?.assumingMemoryBound(to: Int16.self)[5] == 7)
  }

  @Test("Memory of others is used as it is, and given back when the buffer goes")
  func noCopy() throws {
    let format = try #require(
      AVAudioFormat(commonFormat: .pcmFormatFloat32, sampleRate: 48_000, channels: 2, interleaved: true))
    var samples: [Float] = [1, 2, 3, 4, 5, 6]
    var freed = 0
    try samples.withUnsafeMutableBytes { bytes in
      var list = AudioBufferList(
        mNumberBuffers: 1,
        mBuffers: AudioBuffer(mNumberChannels: 2, mDataByteSize: 24, mData: bytes.baseAddress))
      try withUnsafePointer(to: &list) { pointer in
        var buffer = AVAudioPCMBuffer(pcmFormat: format, bufferListNoCopy: pointer) { _ in freed += 1 }
        #expect(buffer?.frameLength == 3 && buffer?.frameCapacity == 3)
        #expect(buffer?.floatChannelData?[1][4] == 6)
        let copy = try #require(buffer?.copy() as? AVAudioPCMBuffer)
        #expect(copy.frameLength == 3 && copy.floatChannelData?[0][2] == 3)
        #expect(copy.floatChannelData?[0] != buffer?.floatChannelData?[0])
        buffer = nil
        #expect(freed == 1)
        // Two buffers would be needed.
        let planar = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
        #expect(AVAudioPCMBuffer(pcmFormat: planar, bufferListNoCopy: pointer) == nil)
      }
    }
  }

  @Test("Compressed audio and too much of it make no buffer of frames")
  func refusals() throws {
    let aac = try #require(
      AVAudioFormat(settings: [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48_000, AVNumberOfChannelsKey: 2,
      ]))
    #expect(AVAudioPCMBuffer(pcmFormat: aac, frameCapacity: 10) == nil)
    let double = try #require(
      AVAudioFormat(commonFormat: .pcmFormatFloat64, sampleRate: 48_000, channels: 2, interleaved: true))
    #expect(AVAudioPCMBuffer(pcmFormat: double, frameCapacity: .max) == nil)
    let huge = AVAudioCompressedBuffer(format: aac, packetCapacity: .max, maximumPacketSize: .max)
    #expect(huge.packetCapacity == 0 && huge.byteCapacity == 0)
    huge.packetCount = 5
    huge.byteLength = 5
    #expect(huge.packetCount == 0 && huge.byteLength == 0)
  }

  @Test("A compressed buffer holds packets with their descriptions, and its copy as well")
  func compressed() throws {
    let aac = try #require(
      AVAudioFormat(settings: [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48_000, AVNumberOfChannelsKey: 2,
      ]))
    let buffer = AVAudioCompressedBuffer(format: aac, packetCapacity: 2, maximumPacketSize: 10)
    #expect(buffer.byteCapacity == 20 && buffer.maximumPacketSize == 10)
    let descriptions = try #require(buffer.packetDescriptions)
    buffer.data.copyMemory(from: [1, 2, 3, 4, 5] as [UInt8], byteCount: 5)
    buffer.byteLength = 5
    buffer.packetCount = 1
    descriptions[0] = AudioStreamPacketDescription(
      mStartOffset: 1, mVariableFramesInPacket: 0, mDataByteSize: 4)
    let copy = try #require(buffer.copy() as? AVAudioCompressedBuffer)
    #expect(copy.byteLength == 5 && copy.packetCount == 1 && copy.packetDescriptions?[0].mDataByteSize == 4)
    #expect(copy.data != buffer.data && copy.data.load(fromByteOffset: 4, as: UInt8.self) == 5)
    #expect(buffer.audioBufferList.pointee.mBuffers.mDataByteSize == 5)
  }
}
