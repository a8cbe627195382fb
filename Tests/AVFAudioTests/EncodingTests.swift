// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import Testing

@Suite struct EncodingTests {
  private func compressed(
    _ id: AudioFormatID, _ rate: Double, _ channels: Int, framesPerPacket: UInt32 = 0
  ) throws -> AVAudioFormat {
    var basic = AudioStreamBasicDescription()
    basic.mFormatID = id
    basic.mSampleRate = rate
    basic.mChannelsPerFrame = UInt32(channels)
    basic.mFramesPerPacket = framesPerPacket
    return try #require(AVAudioFormat(streamDescription: &basic))
  }

  private func wave(_ frames: Int, _ rate: Double) throws -> AVAudioPCMBuffer {
    try TestAudio.buffer(
      [TestAudio.sine(440, rate: rate, frames: frames), TestAudio.sine(1000, rate: rate, frames: frames)],
      rate: rate)
  }

  /// Packets of AAC with ADTS headers (ISO/IEC 14496-3, 1.A.2.2), for ffmpeg.
  private func adts(_ buffers: [AVAudioCompressedBuffer], index: Int, channels: Int) throws -> Data {
    var file = Data()
    for buffer in buffers {
      let descriptions = try #require(buffer.packetDescriptions)
      for packet in 0..<Int(buffer.packetCount) {
        let size = Int(descriptions[packet].mDataByteSize)
        let length = size + 7
        file.append(contentsOf: [
          0xFF, 0xF1, UInt8(1 << 6 | index << 2 | channels >> 2), UInt8((channels & 3) << 6 | length >> 11),
          UInt8(length >> 3 & 0xFF), UInt8((length & 7) << 5 | 0x1F), 0xFC,
        ])
        file.append(
          Data(bytes: buffer.data + Int(descriptions[packet].mStartOffset), count: size))
      }
    }
    return file
  }

  @Test("AAC of a converter is decoded by ffmpeg to the same audio, after its priming frames")
  func aac() throws {
    let input = try wave(48_000, 48_000)
    let converter = try #require(
      AVAudioConverter(
        from: input.format, to: try compressed(kAudioFormatMPEG4AAC, 48_000, 2, framesPerPacket: 1024)))
    converter.bitRate = 160_000
    let priming = Int(converter.primeInfo.leadingFrames)
    #expect(priming == 1024)
    let packets = try TestAudio.encode(converter, [input])
    let count = packets.reduce(0) { $0 + Int($1.packetCount) }
    #expect(count == (48_000 + priming + 1023) / 1024)
    let bytes = packets.reduce(0) { $0 + Int($1.byteLength) }
    #expect(bytes > 10_000 && bytes < 24_000)
    let folder = try TemporaryFolder()
    let file = folder.file("sound.aac")
    try adts(packets, index: 3, channels: 2).write(to: file)
    let decoded = try TestAudio.decoded(file)
    #expect(decoded.count == 2 * count * 1024)
    for (channel, frequency) in [(0, 440.0), (1, 1000.0)] {
      // The correlation is highest without a shift.
      let original = try TestAudio.samples(input, channel: channel)
      func likeness(_ shift: Int) -> Float {
        (10_000..<40_000).reduce(0) { $0 + decoded[2 * ($1 + priming + shift) + channel] * original[$1] }
      }
      let shifts = (-20...20).map { (shift: $0, likeness: likeness($0)) }
      #expect(shifts.max { $0.likeness < $1.likeness }?.shift == 0)
      let samples = (10_000..<40_000).map { decoded[2 * ($0 + priming) + channel] }
      let tone = TestAudio.tone(frequency, in: samples, rate: 48_000)
      #expect(abs(tone.amplitude - 0.5) < 0.01 && tone.rest < 0.05, "\(frequency)")
    }
  }

  @Test("One converter decodes the output of another", arguments: [true, false])
  func aacBothWays(_ hasCookie: Bool) throws {
    let input = try wave(44_100, 44_100)
    let aac = try compressed(kAudioFormatMPEG4AAC, 44_100, 2, framesPerPacket: 1024)
    let encoder = try #require(AVAudioConverter(from: input.format, to: aac))
    encoder.bitRate = 192_000
    let packets = try TestAudio.encode(encoder, [input])
    let decoder = try #require(AVAudioConverter(from: aac, to: input.format))
    let cookie: Data = try #require(encoder.magicCookie)
    if hasCookie { decoder.magicCookie = cookie }
    let made = try TestAudio.convert(decoder, packets)
    #expect(made.dropLast().allSatisfy { $0.frameLength == 1000 })
    let samples = try made.flatMap { try TestAudio.samples($0, channel: 1) }
    let count = packets.reduce(0) { $0 + Int($1.packetCount) } * 1024
    #expect(samples.count == count)
    let tone = TestAudio.tone(1000, in: Array(samples[5000..<40_000]), rate: 44_100)
    #expect(abs(tone.amplitude - 0.5) < 0.01 && tone.rest < 0.02)
    // To another rate and other samples at once.
    var basic = try #require(
      AVAudioFormat(commonFormat: .pcmFormatFloat32, sampleRate: 16_000, channels: 1, interleaved: true)
    ).streamDescription.pointee
    let narrow = try #require(AVAudioFormat(streamDescription: &basic))
    let both = try #require(AVAudioConverter(from: aac, to: narrow))
    both.magicCookie = encoder.magicCookie
    let less = try TestAudio.convert(both, packets).flatMap { try TestAudio.samples($0) }
    #expect(abs(less.count - count * 160 / 441) <= 2)
    #expect(abs(TestAudio.tone(440, in: Array(less[2000..<14_000]), rate: 16_000).amplitude - 0.5) < 0.01)
  }

  @Test(
    "Apple Lossless and FLAC preserve every sample",
    arguments: [kAudioFormatAppleLossless, kAudioFormatFLAC],
    [AVAudioCommonFormat.pcmFormatInt16, .pcmFormatInt32])
  func lossless(_ id: AudioFormatID, _ kind: AVAudioCommonFormat) throws {
    let pcm = try #require(
      AVAudioFormat(commonFormat: kind, sampleRate: 44_100, channels: 2, interleaved: true))
    let input = try #require(AVAudioPCMBuffer(pcmFormat: pcm, frameCapacity: 20_000))
    input.frameLength = 20_000
    var random = UInt32(1)
    for index in 0..<40_000 {
      random = random &* 1_664_525 &+ 1_013_904_223
      if kind == .pcmFormatInt16 {
        input.int16ChannelData?[0][index] = Int16(truncatingIfNeeded: random >> 16)
      } else {
        // Encoders take 24 bits.
        input.int32ChannelData?[0][index] = Int32(bitPattern: random) & ~0xFF
      }
    }
    let format = try compressed(id, 44_100, 2)
    let encoder = try #require(AVAudioConverter(from: pcm, to: format))
    let packets = try TestAudio.encode(encoder, [input])
    #expect(encoder.bitRate == 0 && encoder.availableEncodeBitRates == nil)
    let decoder = try #require(AVAudioConverter(from: format.with(encoder.magicCookie), to: pcm))
    let made = try TestAudio.convert(decoder, packets, piece: 20_000)
    let all = try #require(made.first)
    #expect(made.count == 1 && all.frameLength == 20_000)
    let same =
      kind == .pcmFormatInt16
      ? (0..<40_000).allSatisfy { all.int16ChannelData?[0][$0] == input.int16ChannelData?[0][$0] }
      : (0..<40_000).allSatisfy { all.int32ChannelData?[0][$0] == input.int32ChannelData?[0][$0] }
    #expect(same)
  }

  @Test("Opus packets have the number of frames of the format, and the decoded audio resembles the input")
  func opus() throws {
    let input = try wave(48_000, 48_000)
    for frames in [960, 480] {
      let format = try compressed(kAudioFormatOpus, 48_000, 2, framesPerPacket: UInt32(frames))
      guard let encoder = AVAudioConverter(from: input.format, to: format) else {
        // This build of libavcodec has no libopus.
        #expect(try !TestAudio.ffmpeg.text(["-hide_banner", "-encoders"]).contains("libopus"))
        return
      }
      encoder.bitRate = 128_000
      let packets = try TestAudio.encode(encoder, [input])
      let count = packets.reduce(0) { $0 + Int($1.packetCount) }
      #expect(count >= 48_000 / frames && count <= 48_000 / frames + 2)
      let decoder = try #require(AVAudioConverter(from: format, to: input.format))
      decoder.magicCookie = encoder.magicCookie
      let samples = try TestAudio.convert(decoder, packets).flatMap { try TestAudio.samples($0) }
      let tone = TestAudio.tone(440, in: Array(samples[9600..<38_400]), rate: 48_000)
      #expect(abs(tone.amplitude - 0.5) < 0.02 && tone.rest < 0.03)
    }
  }

  @Test("The bit rate of AAC can change while it is encoded")
  func changingBitRate() throws {
    var random = UInt32(1)
    let noise: [Float] = (0..<48_000).map { _ in
      random = random &* 1_664_525 &+ 1_013_904_223
      return Float(Int32(bitPattern: random)) / 0x1p32
    }
    let input = try TestAudio.buffer([noise], rate: 48_000)
    let converter = try #require(
      AVAudioConverter(from: input.format, to: try compressed(kAudioFormatMPEG4AAC, 48_000, 1)))
    converter.bitRate = 128_000
    #expect(converter.bitRate == 128_000)
    func second() throws -> Int {
      let buffer = AVAudioCompressedBuffer(
        format: converter.outputFormat, packetCapacity: 45,
        maximumPacketSize: converter.maximumOutputPacketSize)
      var isFirst = true
      _ = converter.convert(to: buffer, error: nil) { _, status in
        status.pointee = isFirst ? .haveData : .noDataNow
        defer { isFirst = false }
        return isFirst ? input : nil
      }
      return Int(buffer.byteLength) * 45 / max(1, Int(buffer.packetCount))
    }
    let loud = try second()
    converter.bitRate = 32_000
    _ = try second()
    let quiet = try second()
    #expect(quiet < loud / 2, "\(loud) \(quiet)")
  }

  @Test("Channels of surround audio keep their labels through AAC, in any order")
  func surround() throws {
    // C L R Ls Rs LFE to L R C LFE Ls Rs.
    let from = try #require(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_MPEG_5_1_D))
    let to = try #require(AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_MPEG_5_1_A))
    let input = AVAudioFormat(standardFormatWithSampleRate: 48_000, channelLayout: from)
    let output = AVAudioFormat(standardFormatWithSampleRate: 48_000, channelLayout: to)
    var basic = AudioStreamBasicDescription()
    basic.mFormatID = kAudioFormatMPEG4AAC
    basic.mSampleRate = 48_000
    basic.mChannelsPerFrame = 6
    basic.mFramesPerPacket = 1024
    let aac = try #require(AVAudioFormat(streamDescription: &basic, channelLayout: from))
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: input, frameCapacity: 48_000))
    buffer.frameLength = 48_000
    let frequencies: [Double] = [300, 500, 700, 900, 1100, 60]
    for (channel, frequency) in frequencies.enumerated() {
      buffer.floatChannelData?[channel].update(
        from: TestAudio.sine(frequency, rate: 48_000, frames: 48_000), count: 48_000)
    }
    let encoder = try #require(AVAudioConverter(from: input, to: aac))
    encoder.bitRate = 384_000
    let packets = try TestAudio.encode(encoder, [buffer])
    let decoder = try #require(AVAudioConverter(from: aac, to: output))
    decoder.magicCookie = encoder.magicCookie
    let made = try TestAudio.convert(decoder, packets)
    for (channel, frequency) in [500.0, 700, 300, 60, 900, 1100].enumerated() {
      let samples = try made.flatMap { try TestAudio.samples($0, channel: channel) }[8000..<40_000]
      #expect(
        abs(TestAudio.tone(frequency, in: Array(samples), rate: 48_000).amplitude - 0.5) < 0.03, "\(channel)")
    }
  }

  @Test("An encoder reports the formats that it accepts")
  func properties() throws {
    let pcm = try #require(AVAudioFormat(standardFormatWithSampleRate: 8000, channels: 1))
    let converter = try #require(
      AVAudioConverter(from: pcm, to: try compressed(kAudioFormatMPEG4AAC, 8000, 1)))
    let all = try #require(converter.availableEncodeBitRates)
    let few = try #require(converter.applicableEncodeBitRates)
    #expect(all.contains(128_000) && few.contains(48_000) && !few.contains(64_000))
    let rates = try #require(converter.availableEncodeSampleRates)
    #expect(rates.contains(44_100) && rates.contains(8000) && !rates.contains(11_000))
    #expect(
      try #require(converter.availableEncodeChannelLayoutTags).map(\.uint32Value)
        .contains(kAudioChannelLayoutTag_Stereo))
    #expect(converter.bitRateStrategy == AVAudioBitRateStrategy_LongTermAverage)
    converter.bitRateStrategy = AVAudioBitRateStrategy_Variable
    #expect(converter.bitRateStrategy == AVAudioBitRateStrategy_Variable)
    converter.bitRateStrategy = "none"
    #expect(converter.bitRateStrategy == AVAudioBitRateStrategy_Variable)
  }

  @Test("Invalid packets, descriptions beyond the data, and small buffers are errors")
  func rubbish() throws {
    let pcm = try #require(AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 2))
    let aac = try compressed(kAudioFormatMPEG4AAC, 44_100, 2, framesPerPacket: 1024)
    let decoder = try #require(AVAudioConverter(from: aac, to: pcm))
    let beyond = AVAudioCompressedBuffer(format: aac, packetCapacity: 1, maximumPacketSize: 10)
    beyond.byteLength = 10
    beyond.packetCount = 1
    beyond.packetDescriptions?[0] = AudioStreamPacketDescription(
      mStartOffset: .max, mVariableFramesInPacket: 0, mDataByteSize: .max)
    let output = try #require(AVAudioPCMBuffer(pcmFormat: pcm, frameCapacity: 1024))
    var error: NSError?
    #expect(decoder.convert(to: output, error: &error, withInputFrom: TestAudio.input([beyond])) == .error)
    #expect(error?.code == Int(kAudioConverterErr_InvalidInputSize))
    // Any bytes: audio or an error, and an end.
    var random = UInt32(7)
    for _ in 0..<50 {
      let foreign = try #require(AVAudioConverter(from: aac, to: pcm))
      let packets = (0..<4).map { _ in
        let buffer = AVAudioCompressedBuffer(format: aac, packetCapacity: 3, maximumPacketSize: 300)
        for index in 0..<900 {
          random = random &* 1_664_525 &+ 1_013_904_223
          buffer.data.storeBytes(
            of: UInt8(truncatingIfNeeded: random >> 24), toByteOffset: index, as: UInt8.self)
        }
        buffer.byteLength = 900
        buffer.packetCount = 3
        for index in 0..<3 {
          buffer.packetDescriptions?[index] = AudioStreamPacketDescription(
            mStartOffset: Int64(300 * index), mVariableFramesInPacket: 0, mDataByteSize: 300)
        }
        return buffer
      }
      let block = TestAudio.input(packets)
      var status = AVAudioConverterOutputStatus.haveData
      var rounds = 0
      while status == .haveData, rounds < 1000 {
        status = foreign.convert(to: output, error: nil, withInputFrom: block)
        rounds += 1
      }
      #expect(status != .haveData)
    }
    let encoder = try #require(AVAudioConverter(from: pcm, to: aac))
    let small = AVAudioCompressedBuffer(format: aac, packetCapacity: 4, maximumPacketSize: 1)
    let status = encoder.convert(
      to: small, error: &error, withInputFrom: TestAudio.input([try wave(44_100, 44_100)]))
    #expect(status == .error && error?.code == Int(kAudioConverterErr_InvalidOutputSize))
  }
}

extension AVAudioFormat {
  fileprivate func with(_ cookie: Data?) -> AVAudioFormat {
    magicCookie = cookie
    return self
  }
}
