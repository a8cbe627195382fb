// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Encrypted movies are refused with an error that names the encryption.
@Suite struct EncryptionTests {
  private static let source = [
    "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=160x128:rate=25:duration=1", "-f",
    "lavfi", "-i",
    "sine=duration=1", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac",
  ]

  private func expectRefusal(_ url: URL, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let asset = AVURLAsset(url: url)
    #expect(try await asset.load(.hasProtectedContent), sourceLocation: sourceLocation)
    #expect(!asset.isReadable && !asset.isPlayable && !asset.isExportable, sourceLocation: sourceLocation)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    for settings: [String: Any]? in [nil, [:]] {
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      output.ovtToleratesDamage = true
      reader.add(output)
      if reader.startReading() { while output.copyNextSampleBuffer() != nil {} }
      let error = reader.error as? AVError
      #expect(reader.status == .failed && error?.code == .contentIsProtected, sourceLocation: sourceLocation)
      #expect(
        (error as NSError?)?.localizedFailureReason?.contains("encrypted") == true,
        "\(String(describing: error))",
        sourceLocation: sourceLocation)
    }
    #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
      try AVAssetImageGenerator(asset: asset).copyCGImage(at: .zero, actualTime: nil)
    }
  }

  @Test(arguments: [[], ["-movflags", "frag_keyframe+empty_moov"], ["-movflags", "faststart"]])
  func commonEncryptionIsRefused(_ options: [String]) async throws {
    let scratch = Scratch()
    try Tool.run(
      Self.source + [
        "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "00112233445566778899aabbccddeeff",
        "-encryption_kid", "000102030405060708090a0b0c0d0e0f",
      ] + options + [scratch.file("a.mp4")])
    try await expectRefusal(scratch.url("a.mp4"))
  }

  /// A sample entry of the type `encv` is refused even if libavformat does not support the scheme
  /// (`cbcs`), also with an edit list.
  @Test func protectedSampleEntriesAreRefused() async throws {
    let scratch = Scratch()
    try Tool.run(Self.source + ["-bf", "2", scratch.file("plain.mp4")])
    var data = try Data(contentsOf: scratch.url("plain.mp4"))
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
      var box = [UInt8](MovieBytes.big(content.count + 8))
      box.append(contentsOf: Array(type.utf8))
      box.append(contentsOf: content)
      return box
    }
    var key: [UInt8] = [1, 0, 0, 0, 0, 0x19, 1, 0]
    key.append(contentsOf: Array(0..<16))
    key.append(16)
    key.append(contentsOf: Array(16..<32))
    var scheme = box("frma", Array("avc1".utf8))
    scheme.append(contentsOf: box("schm", [0, 0, 0, 0, 0x63, 0x62, 0x63, 0x73, 0, 1, 0, 0]))
    scheme.append(contentsOf: box("schi", box("tenc", key)))
    try MovieBytes.addToDescription(Data(box("sinf", scheme)), in: &data)
    let list = try #require(data.range(of: Data("stsd".utf8)))
    let entry = try #require(data.range(of: Data("avc1".utf8), in: list.upperBound..<data.count))
    data.replaceSubrange(entry, with: Data("encv".utf8))
    try data.write(to: scratch.url("cbcs.mp4"))
    try await expectRefusal(scratch.url("cbcs.mp4"))
  }

  /// Scrambling is detected in transport stream packets and in PES packets
  /// (PES_scrambling_control).
  @Test(arguments: [false, true]) func scrambledTransportStreamsAreRefused(inElementary: Bool) async throws {
    let scratch = Scratch()
    try Tool.run(Self.source + [scratch.file("plain.ts")])
    var bytes = [UInt8](try Data(contentsOf: scratch.url("plain.ts")))
    for at in stride(from: 0, to: bytes.count, by: 188) {
      let number = Int(bytes[at + 1] & 0x1F) << 8 | Int(bytes[at + 2])
      guard number == 0x100, bytes[at + 3] & 0x10 != 0 else { continue }
      let payload = at + (bytes[at + 3] & 0x20 != 0 ? 5 + Int(bytes[at + 4]) : 4)
      let isStart = bytes[at + 1] & 0x40 != 0
      if inElementary {
        if isStart { bytes[payload + 6] |= 0x20 }
        for place in (isStart ? payload + 9 + Int(bytes[payload + 8]) : payload)..<at + 188 {
          bytes[place] ^= 0x5A
        }
      } else {
        bytes[at + 3] |= 0x80
        for place in payload..<at + 188 { bytes[place] ^= 0x5A }
      }
    }
    try Data(bytes).write(to: scratch.url("a.ts"))
    try await expectRefusal(scratch.url("a.ts"))
    #expect(!AVURLAsset(url: scratch.url("plain.ts")).hasProtectedContent)
  }

  /// Encryption is detected with and without ContentEncKeyID.
  @Test(arguments: [false, true]) func encryptedMatroskaIsRefused(hasName: Bool) async throws {
    let scratch = Scratch()
    let title = String(repeating: "x", count: 40)
    try Tool.run(Self.source + ["-metadata:s:v:0", "title=" + title, scratch.file("plain.mkv")])
    var data = try Data(contentsOf: scratch.url("plain.mkv"))
    // The Name element of the track is replaced by ContentEncodings of the same size.
    var titled = Data([0x53, 0x6E, 0x80 | 40])
    titled.append(contentsOf: Array(title.utf8))
    let name = try #require(data.range(of: titled))
    func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
      var element = id
      element.append(0x80 | UInt8(content.count))
      element.append(contentsOf: content)
      return element
    }
    var cipher = element([0x47, 0xE1], [5])
    if hasName { cipher.append(contentsOf: element([0x47, 0xE2], [1, 2, 3, 4])) }
    var encoding = element([0x50, 0x33], [1])
    encoding.append(contentsOf: element([0x50, 0x35], cipher))
    var encodings = element([0x62, 0x40], encoding)
    // A Void element fills the remaining bytes.
    encodings.append(contentsOf: element([0xEC], [UInt8](repeating: 0, count: 40 - encodings.count - 2)))
    data.replaceSubrange(name, with: Data(element([0x6D, 0x80], encodings)))
    try data.write(to: scratch.url("a.mkv"))
    try await expectRefusal(scratch.url("a.mkv"))
    #expect(!AVURLAsset(url: scratch.url("plain.mkv")).hasProtectedContent)
  }

  @Test func exportOfEncryptedMovieLeavesNoFile() async throws {
    let scratch = Scratch()
    try Tool.run(
      Self.source + [
        "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "00112233445566778899aabbccddeeff",
        "-encryption_kid", "000102030405060708090a0b0c0d0e0f", scratch.file("a.mp4"),
      ])
    let asset = AVURLAsset(url: scratch.url("a.mp4"))
    let session = AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough)
    await #expect(throws: (any Error).self) { try await session?.export(to: scratch.url("o.mp4"), as: .mp4) }
    #expect(scratch.contents == ["a.mp4"])
  }

  @Test func animatedWebPIsNamed() throws {
    let scratch = Scratch()
    var bytes = Array("RIFF....WEBPVP8X".utf8)
    bytes.append(contentsOf: [10, 0, 0, 0, 0x02, 0, 0, 0, 63, 0, 0, 47, 0, 0])
    bytes.append(contentsOf: Array("ANIM".utf8))
    bytes.append(contentsOf: [6, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    bytes.replaceSubrange(4..<8, with: [UInt8(bytes.count - 8), 0, 0, 0])
    try Data(bytes).write(to: scratch.url("a.webp"))
    let asset = AVURLAsset(url: scratch.url("a.webp"))
    let error = #expect(throws: AVError.self) { try AVAssetReader(asset: asset) }
    #expect(
      (error as NSError?)?.localizedFailureReason?.contains("animated WebP") == true,
      "\(String(describing: error))")
  }
}
