// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import Testing

@Suite struct FileTests {
  private func make(_ folder: TemporaryFolder, _ name: String, _ arguments: [String]) throws -> URL {
    let url = folder.file(name)
    let made = try TestAudio.ffmpeg.run(
      [
        "-v", "error", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=3", "-f", "lavfi",
        "-i",
        "sine=frequency=1000:sample_rate=44100:duration=3", "-filter_complex", "amerge=inputs=2",
      ] + arguments + [url.path])
    try #require(made.status == 0)
    return url
  }

  private func readAll(_ file: AVAudioFile, piece: AVAudioFrameCount = 1500) throws -> [[Float]] {
    var channels = [[Float]](repeating: [], count: Int(file.processingFormat.channelCount))
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: piece))
    while file.framePosition < file.length {
      try file.read(into: buffer)
      try #require(buffer.frameLength > 0)
      for channel in channels.indices { channels[channel] += try TestAudio.samples(buffer, channel: channel) }
    }
    try file.read(into: buffer)
    #expect(buffer.frameLength == 0)
    return channels
  }

  @Test(
    "A file has the frames that ffmpeg decodes, as many and the same",
    arguments: [
      ("s16.wav", []), ("s24.wav", ["-c:a", "pcm_s24le"]), ("f32.wav", ["-c:a", "pcm_f32le"]),
      ("be.aiff", []),
      ("alac.caf", ["-c:a", "alac"]), ("s16.caf", ["-c:a", "pcm_s16be"]), ("aac.m4a", ["-c:a", "aac"]),
      ("alac.m4a", ["-c:a", "alac"]), ("x.flac", []), ("x.mp3", ["-c:a", "libmp3lame"]),
      ("vbr.mp3", ["-c:a", "libmp3lame", "-q:a", "2"]), ("x.aac", ["-c:a", "aac"]),
      ("x.ogg", ["-c:a", "libvorbis"]),
      ("x.opus", ["-c:a", "libopus"]), ("x.mka", ["-c:a", "pcm_s16le"]), ("u8.wav", ["-c:a", "pcm_u8"]),
      ("law.wav", ["-c:a", "pcm_mulaw"]),
    ] as [(String, [String])])
  func reading(_ kind: (name: String, arguments: [String])) throws {
    let folder = try TemporaryFolder()
    let url = try make(folder, kind.name, kind.arguments)
    let file = try AVAudioFile(forReading: url)
    #expect(file.processingFormat.isStandard && file.isOpen && file.url == url)
    #expect(try TestAudio.probe(url, "sample_rate") == String(Int(file.fileFormat.sampleRate)))
    let expected = try TestAudio.decoded(url)
    // An edit list leaves out what fills the last packet, which ffmpeg's own program does not look
    // at.
    let count = kind.name == "aac.m4a" ? 3 * 44_100 : expected.count / 2
    #expect(Int(file.length) == count)
    let channels = try readAll(file)
    #expect(channels[0].count == count && Int(file.length) == count)
    for channel in 0..<2 {
      let worst = channels[channel].enumerated().map { abs($0.element - expected[2 * $0.offset + channel]) }
        .max()
      #expect(try #require(worst) < 0.0001)
    }
  }

  @Test(
    "Any frame can be gone to, forward and back",
    arguments: [
      ("x.wav", []), ("x.m4a", ["-c:a", "aac"]), ("x.mp3", ["-c:a", "libmp3lame"]), ("x.flac", []),
    ]
      as [(String, [String])])
  func seeking(_ kind: (name: String, arguments: [String])) throws {
    let folder = try TemporaryFolder()
    let file = try AVAudioFile(forReading: try make(folder, kind.name, kind.arguments))
    let all = try readAll(file)
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: 3000))
    for position in [120_000, 10, 0, 90_001, 89_000, 131_000, 44_100] as [Int64] {
      file.framePosition = position
      #expect(file.framePosition == position)
      try file.read(into: buffer, frameCount: 1024)
      let count = min(1024, Int(file.length - position))
      #expect(Int(buffer.frameLength) == count)
      let samples = try TestAudio.samples(buffer, channel: 1)
      let worst = samples.enumerated().map { abs($0.element - all[1][Int(position) + $0.offset]) }.max() ?? 1
      #expect(worst < 0.001, "\(position)")
    }
    file.framePosition = -5
    #expect(file.framePosition == 0)
    file.framePosition = .max
    #expect(file.framePosition == file.length)
    file.close()
    #expect(!file.isOpen && file.length == Int64(all[0].count))
    #expect(throws: NSError.self) { try file.read(into: buffer) }
  }

  @Test("A file is read in other common formats", arguments: [true, false])
  func commonFormats(_ interleaved: Bool) throws {
    let folder = try TemporaryFolder()
    let url = try make(folder, "x.wav", [])
    let file = try AVAudioFile(forReading: url, commonFormat: .pcmFormatInt16, interleaved: interleaved)
    let buffer = try #require(
      AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: AVAudioFrameCount(file.length)))
    try file.read(into: buffer)
    let expected = try TestAudio.ffmpeg.output(["-v", "error", "-i", url.path, "-f", "s16le", "-"]).data
      .withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    let data = try #require(buffer.int16ChannelData)
    let same = (0..<Int(file.length)).allSatisfy { frame in
      (0..<2).allSatisfy { data[$0][frame * buffer.stride] == expected[2 * frame + $0] }
    }
    #expect(same && Int(file.length) == expected.count / 2)
    let other = try TestAudio.buffer([[0]], rate: 44_100)
    #expect(throws: NSError.self) { try file.read(into: other) }
  }

  private static var pcm: [(String, [String: Any], String)] {
    [
      ("x.wav", [:], "pcm_s16le"), ("x.wav", [AVLinearPCMBitDepthKey: 8], "pcm_u8"),
      ("x.wav", [AVLinearPCMBitDepthKey: 24], "pcm_s24le"),
      ("x.wav", [AVLinearPCMBitDepthKey: 32], "pcm_s32le"),
      ("x.wav", [AVLinearPCMIsFloatKey: true, AVLinearPCMBitDepthKey: 32], "pcm_f32le"),
      ("x.wav", [AVLinearPCMIsFloatKey: true, AVLinearPCMBitDepthKey: 64], "pcm_f64le"),
      ("x.caf", [:], "pcm_s16le"), ("x.caf", [AVLinearPCMIsBigEndianKey: true], "pcm_s16be"),
      ("x.caf", [AVLinearPCMIsFloatKey: true, AVLinearPCMBitDepthKey: 32], "pcm_f32le"),
      ("x.aif", [:], "pcm_s16be"), ("x.aiff", [AVLinearPCMBitDepthKey: 24], "pcm_s24be"),
      ("x.aifc", [AVLinearPCMIsBigEndianKey: false], "pcm_s16le"),
    ]
  }

  @Test("Written samples are what ffmpeg reads, in the codec that the settings say", arguments: 0..<12)
  func writing(_ index: Int) throws {
    let (name, more, codec) = Self.pcm[index]
    let folder = try TemporaryFolder()
    let url = folder.file(name)
    let settings = more.merging([
      AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 32_000, AVNumberOfChannelsKey: 2,
    ]) { old, _ in old }
    let wave = [
      TestAudio.sine(300, rate: 32_000, frames: 40_000), TestAudio.sine(700, rate: 32_000, frames: 40_000),
    ]
    let file = try AVAudioFile(forWriting: url, settings: settings)
    #expect(file.processingFormat.isStandard && file.length == 0)
    // It has its name when it is complete.
    #expect(!FileManager.default.fileExists(atPath: url.path))
    for start in stride(from: 0, to: 40_000, by: 8000) {
      try file.write(from: TestAudio.buffer(wave.map { Array($0[start..<start + 8000]) }, rate: 32_000))
    }
    #expect(file.length == 40_000 && file.framePosition == 40_000)
    file.close()
    file.close()
    #expect(try TestAudio.probe(url, "codec_name,sample_rate,channels") == "\(codec),32000,2")
    let decoded = try TestAudio.decoded(url)
    #expect(decoded.count == 80_000)
    let tolerance: Float = codec == "pcm_u8" ? 0.009 : 0.0001
    var worst: Float = 0
    for frame in 0..<40_000 {
      for channel in 0..<2 { worst = max(worst, abs(decoded[2 * frame + channel] - wave[channel][frame])) }
    }
    #expect(worst < tolerance)
    let again = try AVAudioFile(forReading: url)
    #expect(again.length == 40_000)
    #expect(again.fileFormat.streamDescription.pointee == file.fileFormat.streamDescription.pointee)
  }

  @Test("AAC and Apple Lossless in MPEG-4 files are as long as what was written", arguments: [true, false])
  func compressed(_ isLossless: Bool) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("x.m4a")
    let wave = [
      TestAudio.sine(440, rate: 44_100, frames: 100_000), TestAudio.sine(880, rate: 44_100, frames: 100_000),
    ]
    do {
      let file = try AVAudioFile(
        forWriting: url,
        settings: [
          AVFormatIDKey: isLossless ? kAudioFormatAppleLossless : kAudioFormatMPEG4AAC,
          AVSampleRateKey: 44_100,
          AVNumberOfChannelsKey: 2, AVEncoderBitRateKey: 192_000,
        ])
      for start in stride(from: 0, to: 100_000, by: 10_000) {
        try file.write(from: TestAudio.buffer(wave.map { Array($0[start..<start + 10_000]) }, rate: 44_100))
      }
      // It is complete when the object goes.
    }
    #expect(try TestAudio.probe(url, "codec_name") == (isLossless ? "alac" : "aac"))
    let file = try AVAudioFile(forReading: url)
    #expect(file.length == 100_000)
    let channels = try readAll(file)
    let worst = (1000..<99_000).map { abs(channels[1][$0] - wave[1][$0]) }.max() ?? 1
    #expect(worst < (isLossless ? 0.0001 : 0.1))
  }

  @Test("A regular file is replaced; a folder, a link and what cannot be written are not")
  func replacing() throws {
    let folder = try TemporaryFolder()
    let settings: [String: Any] = [
      AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 8000, AVNumberOfChannelsKey: 1,
    ]
    func code(_ url: URL, _ settings: [String: Any]) -> Int? {
      do {
        _ = try AVAudioFile(forWriting: url, settings: settings)
        return nil
      } catch { return (error as NSError).code }
    }
    let old = folder.file("old.wav")
    try Data("precious".utf8).write(to: old)
    // A rejected write leaves the file unchanged.
    #expect(code(old, [:]) == Int(kAudioFileUnsupportedDataFormatError))
    let aac = settings.merging([AVFormatIDKey: kAudioFormatMPEG4AAC]) { _, new in new }
    #expect(code(old, aac) == Int(kAudioFileUnsupportedDataFormatError))
    let big = settings.merging([AVLinearPCMIsBigEndianKey: true]) { _, new in new }
    #expect(code(old, big) == Int(kAudioFileUnsupportedDataFormatError))
    #expect(try Data(contentsOf: old) == Data("precious".utf8))
    #expect(code(folder.file("x.xyz"), settings) == Int(kAudioFileUnsupportedFileTypeError))
    #expect(code(folder.file("none/x.wav"), settings) == Int(kAudioFileUnspecifiedError))
    try FileManager.default.createDirectory(at: folder.file("folder.wav"), withIntermediateDirectories: true)
    #expect(code(folder.file("folder.wav"), settings) == Int(kAudioFileUnspecifiedError))
    try FileManager.default.createSymbolicLink(at: folder.file("link.wav"), withDestinationURL: old)
    #expect(code(folder.file("link.wav"), settings) == Int(kAudioFileUnspecifiedError))
    let file = try AVAudioFile(forWriting: old, settings: settings)
    let wrong = try TestAudio.buffer([[0], [0]], rate: 8000)
    #expect(throws: NSError.self) { try file.write(from: wrong) }
    #expect(throws: NSError.self) {
      try file.read(into: AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: 1) ?? wrong)
    }
    try file.write(from: TestAudio.buffer([[0, 0.5]], rate: 8000))
    file.close()
    #expect(try TestAudio.decoded(old) == [0, 0.5])
    #expect(throws: NSError.self) { try file.write(from: TestAudio.buffer([[0]], rate: 8000)) }
  }

  @Test("A replaced file stays unchanged until the new one is complete, and its permissions are kept")
  func replacedAtTheEnd() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("x.wav")
    try Data("precious".utf8).write(to: url)
    try #require(chmod(url.path, 0o640) == 0)
    let file = try AVAudioFile(forWriting: url, settings: Self.plain)
    let wave = TestAudio.sine(300, rate: 8000, frames: 100_000)
    try file.write(from: TestAudio.buffer([wave], rate: 8000))
    #expect(try Data(contentsOf: url) == Data("precious".utf8))
    file.close()
    let decoded = try TestAudio.decoded(url)
    #expect(decoded.count == wave.count && zip(decoded, wave).allSatisfy { abs($0 - $1) < 0.0001 })
    let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o640)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["x.wav"])
    // Data that has been read is not changed by data written in its place.
    let source = try AVAudioFile(forReading: url)
    let copy = try AVAudioFile(forWriting: url, settings: Self.plain)
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: source.processingFormat, frameCapacity: 7000))
    repeat {
      try source.read(into: buffer)
      for frame in 0..<Int(buffer.frameLength) { buffer.floatChannelData?[0][frame] *= 0.5 }
      try copy.write(from: buffer)
    } while buffer.frameLength > 0
    copy.close()
    let half = try TestAudio.decoded(url)
    #expect(half.count == wave.count && zip(half, wave).allSatisfy { abs($0 - $1 / 2) < 0.0001 })
  }

  @Test("Where the new file cannot be written the old one stays, and nothing else")
  func replacedByNothing() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let url = folder.file("x.wav")
      try Data("precious".utf8).write(to: url)
      // A limit of the file size simulates a full disk.
      signal(SIGXFSZ, SIG_IGN)
      var tight = rlimit(rlim_cur: 500_000, rlim_max: 500_000)
      setrlimit(__rlimit_resource_t(1), &tight)
      let file = try AVAudioFile(forWriting: url, settings: FileTests.plain)
      let second = try TestAudio.buffer([TestAudio.sine(300, rate: 8000, frames: 8000)], rate: 8000)
      var written = 0
      do {
        while written < 100 {
          try file.write(from: second)
          written += 1
        }
      } catch { try #require((error as NSError).code == Int(kAudioFileUnspecifiedError)) }
      // 500,000 bytes are 31 seconds, and some wait in memory.
      try #require((25...40).contains(written))
      file.close()
      try #require(try Data(contentsOf: url) == Data("precious".utf8))
      try #require(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["x.wav"])
    }
  }

  /// Samples of 16 bits, 8,000 a second, of one channel.
  fileprivate static let plain: [String: any Sendable] = [
    AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 8000, AVNumberOfChannelsKey: 1,
  ]

  @Test(
    "More than two channels are in the file's order, whatever the order of the buffers",
    arguments: [
      (kAudioChannelLayoutTag_MPEG_5_1_A, [0, 1, 2, 3, 4, 5]),
      (kAudioChannelLayoutTag_MPEG_5_1_D, [1, 2, 0, 5, 3, 4]),
      (kAudioChannelLayoutTag_DiscreteInOrder | 6, [0, 1, 2, 3, 4, 5]),
    ] as [(AudioChannelLayoutTag, [Float])])
  func surround(_ kind: (tag: AudioChannelLayoutTag, order: [Float])) throws {
    let folder = try TemporaryFolder()
    let layout = try #require(AVAudioChannelLayout(layoutTag: kind.tag))
    let format = AVAudioFormat(standardFormatWithSampleRate: 48_000, channelLayout: layout)
    var settings = format.settings
    settings[AVLinearPCMBitDepthKey] = 16
    settings[AVLinearPCMIsFloatKey] = false
    let url = folder.file("x.wav")
    let file = try AVAudioFile(forWriting: url, settings: settings)
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: 100))
    buffer.frameLength = 100
    for channel in 0..<6 {
      for frame in 0..<100 { buffer.floatChannelData?[channel][frame] = Float(channel) / 8 }
    }
    try file.write(from: buffer)
    file.close()
    let decoded = try TestAudio.decoded(url)
    let stored: [Float] = decoded[300..<306].map { $0 * 8 }
    #expect(stored == kind.order)
    let again = try AVAudioFile(forReading: url)
    #expect(again.processingFormat.channelCount == 6)
    let read: [Float] = try readAll(again).map { $0[50] * 8 }
    #expect(read == kind.order)
  }
}
