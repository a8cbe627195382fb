// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import Testing

/// Foreign files, damaged or malicious: reading gives audio or an error, never a trap, and always
/// ends.
@Suite struct ForeignFileTests {
  /// Reads to the end, and at some positions.
  private func use(_ url: URL) -> NSError? {
    do {
      let file = try AVAudioFile(forReading: url)
      #expect(file.length >= 0)
      guard let buffer = AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: 5000) else {
        return nil
      }
      for position in [file.length / 2, 0] {
        file.framePosition = position
        var rounds = 0
        while file.framePosition < file.length, rounds < 2000 {
          try file.read(into: buffer)
          rounds += 1
        }
      }
      return nil
    } catch { return error as NSError }
  }

  @Test("What is not audio, does not exist, or is not a regular file, is refused with Apple's errors")
  func refusals() throws {
    let folder = try TemporaryFolder()
    func code(_ url: URL) -> Int? { use(url)?.code }
    #expect(code(folder.file("missing.wav")) == Int(kAudioFileUnspecifiedError))
    let text = folder.file("text.wav")
    try Data(String(repeating: "no audio at all\n", count: 100).utf8).write(to: text)
    #expect(use(text)?.domain == "com.apple.coreaudio.avfaudio")
    #expect(code(text) == Int(kAudioFileUnsupportedFileTypeError))
    try Data().write(to: folder.file("empty.wav"))
    #expect(use(folder.file("empty.wav")) != nil)
    #expect(code(folder.url) == Int(kAudioFileUnsupportedFileTypeError))
    #expect(code(URL(fileURLWithPath: "/dev/zero")) == Int(kAudioFileUnsupportedFileTypeError))
    #expect(mkfifo(folder.file("pipe.wav").path, 0o600) == 0)
    #expect(code(folder.file("pipe.wav")) == Int(kAudioFileUnsupportedFileTypeError))
    #expect(
      try code(#require(URL(string: "https://example.invalid/x.wav"))) == Int(kAudioFileUnspecifiedError))
    let film = folder.file("film.mp4")
    #expect(
      try TestAudio.ffmpeg.run(
        ["-v", "error", "-f", "lavfi", "-i", "testsrc=duration=1:size=64x64", "-c:v", "mpeg4", film.path]
      ).status == 0)
    #expect(code(film) == Int(kAudioFileUnsupportedFileTypeError))
  }

  @Test(
    "Reading damaged and truncated files ends",
    arguments: ["x.wav", "x.m4a", "x.caf", "x.aiff", "x.mp3", "x.flac", "x.ogg", "x.aac"])
  func damage(_ name: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.file(name)
    #expect(
      try TestAudio.ffmpeg.run(["-v", "error", "-f", "lavfi", "-i", "sine=duration=1", url.path]).status == 0)
    let bytes = [UInt8](try Data(contentsOf: url))
    var random = UInt64(name.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) })
    func next(_ bound: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % max(1, bound)
    }
    let damaged = folder.file("damaged-" + name)
    for round in 0..<24 {
      var changed = bytes
      // Headers are at both ends.
      let head = round % 2 == 0 ? min(256, bytes.count) : bytes.count
      for _ in 0..<1 + round { changed[next(head)] = UInt8(next(256)) }
      if round % 3 == 0 { changed.removeLast(next(bytes.count)) }
      try Data(changed).write(to: damaged)
      _ = use(damaged)
    }
  }

  @Test("A file with a gap of a day ends there, and a gap below a minute is silence")
  func gaps() throws {
    let folder = try TemporaryFolder()
    for (gap, range) in [(100_000, 0.5...2.0), (10, 11.5...12.5)] {
      let url = folder.file("\(gap).mka")
      let filter = "sine=duration=2:sample_rate=44100,asetpts=PTS+if(gte(N\\,40)\\,\(gap)/TB\\,0)"
      #expect(
        try TestAudio.ffmpeg.run(["-v", "error", "-f", "lavfi", "-i", filter, "-c:a", "aac", url.path]).status
          == 0)
      let file = try AVAudioFile(forReading: url)
      #expect(range.contains(Double(file.length) / 44_100))
      let buffer = try #require(
        AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: AVAudioFrameCount(file.length)))
      try file.read(into: buffer)
      let samples = try TestAudio.samples(buffer)
      #expect(samples.count == Int(file.length))
      #expect(samples.prefix(20_000).contains { abs($0) > 0.05 })
      if gap == 10 {
        #expect(samples[100_000..<400_000].allSatisfy { $0 == 0 })
        #expect(samples.suffix(20_000).contains { abs($0) > 0.05 })
      }
    }
  }

  @Test("A header with more frames than the file has gives the existing frames")
  func boasting() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("x.wav")
    #expect(
      try TestAudio.ffmpeg.run(
        ["-v", "error", "-f", "lavfi", "-i", "sine=duration=1:sample_rate=8000", "-bitexact", url.path]
      ).status == 0)
    var bytes = [UInt8](try Data(contentsOf: url))
    // The sizes of the file and of its data.
    for place in [4, 40] { bytes.replaceSubrange(place..<place + 4, with: [0xF0, 0xFF, 0xFF, 0x7F]) }
    try Data(bytes).write(to: url)
    let file = try AVAudioFile(forReading: url)
    #expect(file.length < 8100)
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: 10_000))
    var frames = 0
    repeat {
      try file.read(into: buffer)
      frames += Int(buffer.frameLength)
    } while buffer.frameLength > 0
    #expect(frames == 8000 && file.length == 8000)
  }
}
