// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import Testing

@Suite struct ConverterTests {
  private func format(
    _ kind: AVAudioCommonFormat, _ rate: Double, _ channels: AVAudioChannelCount, interleaved: Bool = false
  ) throws -> AVAudioFormat {
    try #require(
      AVAudioFormat(commonFormat: kind, sampleRate: rate, channels: channels, interleaved: interleaved))
  }

  @Test("Samples of other formats match a recomputation")
  func kinds() throws {
    let values: [Float] = [0, 0.5, -0.5, 0.25, -1, 0.999, 1.5, -1.5]
    let input = try TestAudio.buffer([values, values.reversed()], rate: 48_000)
    let target = try format(.pcmFormatInt16, 48_000, 2, interleaved: true)
    let converter = try #require(AVAudioConverter(from: input.format, to: target))
    let output = try #require(AVAudioPCMBuffer(pcmFormat: target, frameCapacity: 8))
    try converter.convert(to: output, from: input)
    #expect(output.frameLength == 8)
    let data = try #require(output.int16ChannelData)
    for (index, value) in values.enumerated() {
      let expected = max(-32_768, min(32_767, (Double(value) * 32_768).rounded()))
      #expect(abs(Double(data[0][2 * index]) - expected) <= 1)
      #expect(data[0][2 * index] == data[1][2 * (7 - index)])
    }
    // And back, through 32 bits.
    let wide = try format(.pcmFormatInt32, 48_000, 2)
    let widen = try #require(AVAudioConverter(from: target, to: wide))
    let integers = try #require(AVAudioPCMBuffer(pcmFormat: wide, frameCapacity: 8))
    try widen.convert(to: integers, from: output)
    let samples = try #require(integers.int32ChannelData)
    for index in 0..<8 { #expect(samples[1][index] == Int32(data[1][2 * index]) << 16) }
  }

  @Test("Samples of 24 bits, big-endian, unsigned and in the upper bits are converted as well")
  func oddLayouts() throws {
    let values = (0..<256).map { Float($0 - 128) / 128 }
    let input = try TestAudio.buffer([values], rate: 48_000)
    let big24 = kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked | kAudioFormatFlagIsBigEndian
    let layouts: [(bits: UInt32, bytes: UInt32, flags: AudioFormatFlags)] = [
      (24, 3, big24), (8, 1, kAudioFormatFlagIsPacked),
      (24, 4, kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsAlignedHigh),
      (24, 4, kAudioFormatFlagIsSignedInteger), (16, 2, kAudioFormatFlagIsPacked),
      (64, 8, kAudioFormatFlagIsFloat | kAudioFormatFlagIsPacked | kAudioFormatFlagIsBigEndian),
    ]
    for layout in layouts {
      var basic = AudioStreamBasicDescription(
        mSampleRate: 48_000, mFormatID: kAudioFormatLinearPCM, mFormatFlags: layout.flags,
        mBytesPerPacket: layout.bytes, mFramesPerPacket: 1, mBytesPerFrame: layout.bytes,
        mChannelsPerFrame: 1,
        mBitsPerChannel: layout.bits, mReserved: 0)
      let odd = try #require(AVAudioFormat(streamDescription: &basic))
      #expect(odd.commonFormat == .otherFormat)
      let stored = try #require(AVAudioPCMBuffer(pcmFormat: odd, frameCapacity: 256))
      try #require(AVAudioConverter(from: input.format, to: odd)).convert(to: stored, from: input)
      let bytes = try #require(stored.audioBufferList.pointee.mBuffers.mData)
        .assumingMemoryBound(to: UInt8.self)
      // 0.5, from its bytes.
      let at = 192 * Int(layout.bytes)
      let word = (0..<Int(layout.bytes)).map { bytes[at + $0] }
      switch (layout.bits, layout.bytes, layout.flags & kAudioFormatFlagIsBigEndian != 0) {
      case (24, 3, true): #expect(word == [0x40, 0, 0])
      case (8, _, _): #expect(word == [0xC0])
      case (24, 4, _):
        #expect(
          word == (layout.flags & kAudioFormatFlagIsAlignedHigh != 0 ? [0, 0, 0, 0x40] : [0, 0, 0x40, 0]))
      case (16, _, _): #expect(word == [0, 0xC0])
      default: #expect(word == [0x3F, 0xE0, 0, 0, 0, 0, 0, 0])
      }
      let again = try #require(AVAudioPCMBuffer(pcmFormat: input.format, frameCapacity: 256))
      try #require(AVAudioConverter(from: odd, to: input.format)).convert(to: again, from: stored)
      #expect(try TestAudio.samples(again) == values, "\(layout)")
    }
  }

  @Test(
    "Conversion to another rate keeps the frequency and amplitude of a sine, and the duration",
    arguments: [(44_100.0, 48_000.0), (48_000.0, 44_100.0), (48_000.0, 16_000.0), (8000.0, 48_000.0)])
  func rates(_ rates: (from: Double, to: Double)) throws {
    let frames = Int(rates.from)
    let wave = TestAudio.sine(440, rate: rates.from, frames: frames)
    // In buffers of odd lengths.
    var buffers: [AVAudioPCMBuffer] = []
    var at = 0
    while at < frames {
      let end = min(frames, at + 777)
      buffers.append(try TestAudio.buffer([Array(wave[at..<end])], rate: rates.from))
      at = end
    }
    let converter = try #require(
      AVAudioConverter(from: buffers[0].format, to: try format(.pcmFormatFloat32, rates.to, 1)))
    let made = try TestAudio.convert(converter, buffers).flatMap { try TestAudio.samples($0) }
    #expect(abs(made.count - Int(rates.to)) <= 2)
    // Without the ends, which follow upon silence; the phase counts: output and input begin
    // together.
    let middle = Array(made[Int(rates.to) / 10..<Int(rates.to) * 9 / 10])
    let tone = TestAudio.tone(440, in: middle, rate: rates.to)
    #expect(abs(tone.amplitude - 0.5) < 0.002 && tone.rest < 0.001)
    for index in stride(from: Int(rates.to) / 4, to: Int(rates.to) / 2, by: 97) {
      let expected = 0.5 * sin(2 * .pi * 440 * Double(index) / rates.to)
      #expect(abs(Double(made[index]) - expected) < 0.003)
    }
  }

  @Test("If the input block has no data now, the converter returns, and later continues at the same position")
  func runDry() throws {
    let wave = TestAudio.sine(1000, rate: 48_000, frames: 960)
    let input = try TestAudio.buffer([wave], rate: 48_000)
    let target = try format(.pcmFormatInt16, 48_000, 1, interleaved: true)
    let converter = try #require(AVAudioConverter(from: input.format, to: target))
    let output = try #require(AVAudioPCMBuffer(pcmFormat: target, frameCapacity: 640))
    var asked: [AVAudioPacketCount] = []
    var isFirst = true
    let block: AVAudioConverterInputBlock = { count, status in
      asked.append(count)
      status.pointee = isFirst ? .haveData : .noDataNow
      defer { isFirst = false }
      return isFirst ? input : nil
    }
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .haveData)
    #expect(output.frameLength == 640 && asked == [640])
    #expect(converter.convert(to: output, error: nil, withInputFrom: block) == .inputRanDry)
    #expect(output.frameLength == 320 && asked == [640, 320])
    let sample = try #require(output.int16ChannelData)[0][10]
    #expect(abs(Double(sample) - (Double(wave[650]) * 32_768).rounded()) <= 1)
    // Empty data does not cause an endless loop.
    let empty = try #require(AVAudioPCMBuffer(pcmFormat: input.format, frameCapacity: 10))
    let status = converter.convert(to: output, error: nil) { _, status in
      status.pointee = .haveData
      return empty
    }
    #expect(status == .inputRanDry)
    #expect(converter.convert(to: output, error: nil, withInputFrom: TestAudio.input([])) == .endOfStream)
    // At the end it stays there, until it is reset.
    #expect(
      converter.convert(to: output, error: nil, withInputFrom: TestAudio.input([input])) == .endOfStream)
    converter.reset()
    #expect(converter.convert(to: output, error: nil, withInputFrom: TestAudio.input([input])) == .haveData)
  }

  @Test("Channels are copied, omitted and silent according to the map, and mixed on request")
  func channels() throws {
    let (left, right) = ([Float](repeating: 0.5, count: 64), [Float](repeating: 0.25, count: 64))
    let stereo = try TestAudio.buffer([left, right], rate: 48_000)
    func first(_ to: AVAudioFormat, from input: AVAudioPCMBuffer, _ set: (AVAudioConverter) -> Void) throws
      -> [Float]
    {
      let converter = try #require(AVAudioConverter(from: input.format, to: to))
      set(converter)
      let made = try #require(TestAudio.convert(converter, [input]).first)
      return try (0..<Int(to.channelCount)).map { try TestAudio.samples(made, channel: $0)[32] }
    }
    let mono = try format(.pcmFormatFloat32, 48_000, 1)
    #expect(try first(mono, from: stereo) { _ in } == [0.5])
    #expect(try first(mono, from: stereo) { $0.channelMap = [1] } == [0.25])
    #expect(try first(mono, from: stereo) { $0.channelMap = [-1] } == [0])
    // A map of another length is ignored.
    #expect(try first(mono, from: stereo) { $0.channelMap = [1, 0] } == [0.5])
    let mixed = try first(mono, from: stereo) { $0.downmix = true }
    #expect(abs(mixed[0] - 0.375) < 0.001)
    #expect(try first(stereo.format, from: stereo) { $0.channelMap = [1, 0] } == [0.25, 0.5])
    let single = try TestAudio.buffer([right], rate: 48_000)
    #expect(try first(stereo.format, from: single) { _ in } == [0.25, 0.25])
    let converter = try #require(AVAudioConverter(from: single.format, to: stereo.format))
    #expect(converter.channelMap == [0, 0])
  }

  @Test("Channels are reordered between layouts with the same labels")
  func layouts() throws {
    let from = try #require(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_MPEG_5_1_A))
    let to = try #require(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_MPEG_5_1_D))
    let input = AVAudioFormat(standardFormatWithSampleRate: 48_000, channelLayout: from)
    let output = AVAudioFormat(standardFormatWithSampleRate: 48_000, channelLayout: to)
    let converter = try #require(AVAudioConverter(from: input, to: output))
    // L R C LFE Ls Rs to C L R Ls Rs LFE.
    #expect(converter.channelMap == [2, 0, 1, 4, 5, 3])
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: input, frameCapacity: 8))
    buffer.frameLength = 8
    for channel in 0..<6 { buffer.floatChannelData?[channel][3] = Float(channel) / 8 }
    let made = try #require(AVAudioPCMBuffer(pcmFormat: output, frameCapacity: 8))
    try converter.convert(to: made, from: buffer)
    let values = try (0..<6).map { try TestAudio.samples(made, channel: $0)[3] * 8 }
    #expect(values == [2, 0, 1, 4, 5, 3])
  }

  @Test("Without priming the output is delayed by half the filter length, and has no trailing frames")
  func priming() throws {
    let wave = TestAudio.sine(440, rate: 48_000, frames: 48_000)
    let input = try TestAudio.buffer([wave], rate: 48_000)
    let target = try format(.pcmFormatFloat32, 24_000, 1)
    func made(_ method: AVAudioConverterPrimeMethod) throws -> [Float] {
      let converter = try #require(AVAudioConverter(from: input.format, to: target))
      converter.primeMethod = method
      return try TestAudio.convert(converter, [input]).flatMap { try TestAudio.samples($0) }
    }
    let converter = try #require(AVAudioConverter(from: input.format, to: target))
    let latency = Int(converter.primeInfo.leadingFrames)
    #expect(latency > 0 && converter.primeInfo.trailingFrames == converter.primeInfo.leadingFrames)
    let (normal, late, early) = try (made(.normal), made(.none), made(.pre))
    #expect(abs(normal.count - 24_000) <= 2)
    // Half the rate: half as many frames.
    #expect(abs(late.count - normal.count) <= latency)
    for index in stride(from: 2000, to: 20_000, by: 501) {
      #expect(abs(late[index + latency / 2] - normal[index]) < 0.001)
      #expect(abs(early[index - latency / 2] - normal[index]) < 0.001)
    }
    #expect(normal.count - early.count >= latency / 2)
  }

  @Test("A longer filter attenuates frequencies above the new Nyquist frequency more")
  func quality() throws {
    // Just above half of the new rate.
    let wave = TestAudio.sine(8400, rate: 48_000, frames: 48_000)
    let input = try TestAudio.buffer([wave], rate: 48_000)
    let target = try format(.pcmFormatFloat32, 16_000, 1)
    func rest(_ quality: AVAudioQuality) throws -> Double {
      let converter = try #require(AVAudioConverter(from: input.format, to: target))
      converter.sampleRateConverterQuality = quality.rawValue
      let made = try TestAudio.convert(converter, [input]).flatMap { try TestAudio.samples($0) }[
        2000..<14_000]
      return made.reduce(0.0) { $0 + Double($1 * $1) }
    }
    #expect(try rest(.max) < rest(.min) / 4)
    let converter = try #require(AVAudioConverter(from: input.format, to: target))
    converter.sampleRateConverterAlgorithm = AVSampleRateConverterAlgorithm_MinimumPhase
    #expect(converter.sampleRateConverterAlgorithm == AVSampleRateConverterAlgorithm_Normal)
    converter.sampleRateConverterAlgorithm = AVSampleRateConverterAlgorithm_Mastering
    #expect(converter.sampleRateConverterAlgorithm == AVSampleRateConverterAlgorithm_Mastering)
    converter.sampleRateConverterQuality = 500
    #expect(converter.sampleRateConverterQuality == AVAudioQuality.medium.rawValue)
  }

  @Test("Dither keeps signals below half a quantisation step audible")
  func dither() throws {
    let input = try TestAudio.buffer([[Float](repeating: 0.3 / 32_768, count: 20_000)], rate: 48_000)
    let target = try format(.pcmFormatInt16, 48_000, 1, interleaved: true)
    func mean(_ isDithered: Bool) throws -> Double {
      let converter = try #require(AVAudioConverter(from: input.format, to: target))
      converter.dither = isDithered
      let made = try #require(TestAudio.convert(converter, [input], piece: 20_000).first)
      let data = try #require(made.int16ChannelData)
      return (0..<20_000).reduce(0.0) { $0 + Double(data[0][$1]) } / 20_000
    }
    #expect(try mean(false) == 0)
    #expect(try abs(mean(true) - 0.3) < 0.1)
  }

  @Test("Buffers of other formats, without room or of other rates are rejected with Apple's errors")
  func refusals() throws {
    let input = try TestAudio.buffer([[0, 0, 0, 0]], rate: 48_000)
    let target = try format(.pcmFormatInt16, 48_000, 1)
    let converter = try #require(AVAudioConverter(from: input.format, to: target))
    func code(_ body: () throws -> Void) -> Int? {
      do {
        try body()
        return nil
      } catch { return (error as NSError).code }
    }
    let small = try #require(AVAudioPCMBuffer(pcmFormat: target, frameCapacity: 3))
    #expect(
      code { try converter.convert(to: small, from: input) } == Int(kAudioConverterErr_InvalidOutputSize))
    #expect(
      code { try converter.convert(to: input, from: input) } == Int(kAudioConverterErr_FormatNotSupported))
    let other = try #require(AVAudioConverter(from: input.format, to: try format(.pcmFormatInt16, 44_100, 1)))
    let room = try #require(AVAudioPCMBuffer(pcmFormat: other.outputFormat, frameCapacity: 10))
    #expect(
      code { try other.convert(to: room, from: input) } == Int(kAudioConverterErr_OperationNotSupported))
    var error: NSError?
    let wrong = try #require(AVAudioPCMBuffer(pcmFormat: target, frameCapacity: 3))
    wrong.frameLength = 1
    let status = converter.convert(to: small, error: &error, withInputFrom: TestAudio.input([wrong]))
    #expect(status == .error)
    #expect(error?.domain == "com.apple.coreaudio.avfaudio")
    #expect(error?.code == Int(kAudioConverterErr_FormatNotSupported))
    // There is no encoder for these, and packets cannot be transcoded.
    func compressed(_ id: AudioFormatID) throws -> AVAudioFormat {
      try #require(
        AVAudioFormat(settings: [AVFormatIDKey: id, AVSampleRateKey: 48_000, AVNumberOfChannelsKey: 1]))
    }
    #expect(try AVAudioConverter(from: input.format, to: compressed(kAudioFormatMPEG4AAC_HE)) == nil)
    #expect(try AVAudioConverter(from: input.format, to: compressed(kAudioFormatMPEGLayer3)) == nil)
    #expect(
      try AVAudioConverter(from: compressed(kAudioFormatMPEG4AAC), to: compressed(kAudioFormatFLAC)) == nil)
    #expect(try AVAudioConverter(from: compressed(0x3F3F_3F3F), to: input.format) == nil)
  }
}
