// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import Testing

@Suite struct FormatTests {
  @Test("A standard format has floats of 32 bits, each channel on its own")
  func standard() throws {
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 2))
    #expect(format.isStandard && !format.isInterleaved)
    #expect(format.commonFormat == .pcmFormatFloat32)
    let basic = format.streamDescription.pointee
    #expect(basic.mFormatID == kAudioFormatLinearPCM)
    // Float, packed, non-interleaved: 1, 8 and 32.
    #expect(basic.mFormatFlags == 41)
    #expect(basic.mBytesPerFrame == 4 && basic.mBytesPerPacket == 4 && basic.mFramesPerPacket == 1)
    #expect(basic.mBitsPerChannel == 32 && basic.mChannelsPerFrame == 2)
    #expect(format.description == "2 ch, 44100 Hz, Float32, deinterleaved")
  }

  @Test(
    "Common formats have the sizes of their samples",
    arguments: [
      (AVAudioCommonFormat.pcmFormatFloat32, 4), (.pcmFormatFloat64, 8), (.pcmFormatInt16, 2),
      (.pcmFormatInt32, 4),
    ], [true, false])
  func common(_ kind: (AVAudioCommonFormat, Int), _ interleaved: Bool) throws {
    let format = try #require(
      AVAudioFormat(commonFormat: kind.0, sampleRate: 48_000, channels: 2, interleaved: interleaved))
    #expect(format.commonFormat == kind.0 && format.isInterleaved == interleaved)
    #expect(Int(format.streamDescription.pointee.mBytesPerFrame) == kind.1 * (interleaved ? 2 : 1))
    var basic = format.streamDescription.pointee
    let again = try #require(AVAudioFormat(streamDescription: &basic))
    #expect(again == format && again.hash == format.hash)
    let bySettings = try #require(AVAudioFormat(settings: format.settings))
    #expect(bySettings == format)
  }

  @Test("More than two channels need a layout, and impossible numbers make no format")
  func refusals() throws {
    #expect(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 3) == nil)
    #expect(AVAudioFormat(standardFormatWithSampleRate: .nan, channels: 1) == nil)
    #expect(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 0) == nil)
    #expect(
      AVAudioFormat(commonFormat: .otherFormat, sampleRate: 48_000, channels: 1, interleaved: true) == nil)
    #expect(AVAudioFormat(settings: [:]) == nil)
    #expect(
      AVAudioFormat(settings: [
        AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 48_000, AVNumberOfChannelsKey: 1,
        AVLinearPCMBitDepthKey: 12,
      ]) == nil)
    var basic = AudioStreamBasicDescription()
    basic.mFormatID = kAudioFormatLinearPCM
    basic.mChannelsPerFrame = 1
    basic.mSampleRate = .infinity
    #expect(AVAudioFormat(streamDescription: &basic) == nil)
    let layout = try #require(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_MPEG_5_1_A))
    let surround = AVAudioFormat(standardFormatWithSampleRate: 48_000, channelLayout: layout)
    #expect(surround.channelCount == 6 && surround.channelLayout == layout)
    #expect(AVAudioFormat(settings: surround.settings) == surround)
    basic = surround.streamDescription.pointee
    #expect(AVAudioFormat(streamDescription: &basic) == nil)
    #expect(AVAudioFormat(streamDescription: &basic, channelLayout: layout) == surround)
    let stereo = AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_Stereo)
    #expect(AVAudioFormat(streamDescription: &basic, channelLayout: stereo) == nil)
  }

  @Test("A format of Core Media comes back with its cookie and its layout")
  func formatDescriptions() throws {
    var basic = AudioStreamBasicDescription()
    basic.mFormatID = kAudioFormatMPEG4AAC
    basic.mSampleRate = 44_100
    basic.mChannelsPerFrame = 2
    basic.mFramesPerPacket = 1024
    let cookie = Data([1, 2, 3])
    let description = try CMFormatDescription(
      audioStreamBasicDescription: basic,
      layout: ManagedAudioChannelLayout(tag: kAudioChannelLayoutTag_Stereo),
      magicCookie: cookie)
    let format = AVAudioFormat(cmAudioFormatDescription: description)
    #expect(format.magicCookie == cookie && format.commonFormat == .otherFormat)
    #expect(format.channelLayout?.layoutTag == kAudioChannelLayoutTag_Stereo)
    #expect(CMFormatDescriptionEqual(format.formatDescription, otherFormatDescription: description))
    format.magicCookie = Data([4])
    #expect(format.formatDescription.magicCookie == Data([4]))
    #expect(format != AVAudioFormat(cmAudioFormatDescription: description))
  }

  @Test("A layout that is not said is that of mono or stereo")
  func impliedLayout() throws {
    let layout = try #require(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_Stereo))
    let said = AVAudioFormat(standardFormatWithSampleRate: 8000, channelLayout: layout)
    let other = try #require(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_MidSide))
    #expect(said == AVAudioFormat(standardFormatWithSampleRate: 8000, channels: 2))
    #expect(said != AVAudioFormat(standardFormatWithSampleRate: 8000, channelLayout: other))
  }

  @Test("Layouts count their channels by tag, by bits and by descriptions")
  func layouts() throws {
    #expect(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_UseChannelDescriptions) == nil)
    var bits = AudioChannelLayout()
    bits.mChannelLayoutTag = kAudioChannelLayoutTag_UseChannelBitmap
    bits.mChannelBitmap = [.bit_Left, .bit_Right, .bit_Center]
    #expect(AVAudioChannelLayout(layout: &bits).channelCount == 3)
    let managed = ManagedAudioChannelLayout(channelDescriptions: [
      AudioChannelDescription(mChannelLabel: 1, mChannelFlags: [], mCoordinates: (0, 0, 0)),
      AudioChannelDescription(mChannelLabel: 2, mChannelFlags: [], mCoordinates: (0, 0, 0)),
    ])
    let described = managed.withUnsafePointer { AVAudioChannelLayout(layout: $0) }
    #expect(described.channelCount == 2 && described.layout.pointee.mNumberChannelDescriptions == 2)
    #expect(described == managed.withUnsafePointer { AVAudioChannelLayout(layout: $0) })
  }
}
