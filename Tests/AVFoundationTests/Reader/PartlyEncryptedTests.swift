// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Partly encrypted files: clear samples are read, and encrypted ones are detected wherever the
/// file states it.
@Suite struct PartlyEncryptedTests {
  private static let source = [
    "-f", "lavfi", "-i", "testsrc2=size=160x128:rate=25:duration=6", "-f", "lavfi", "-i",
    "sine=duration=6", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25",
    "-keyint_min", "25", "-sc_threshold", "0", "-bf", "0", "-c:a", "aac",
  ]

  /// Scrambles the packets of two streams in a part of a transport stream.
  /// - Parameter inElementary: The payloads of PES packets, whose headers say so, and not whole
  ///   packets.
  private static func scramble(_ bytes: inout [UInt8], _ range: Range<Int>, inElementary: Bool) {
    var isInside: Set<Int> = []
    for at in stride(from: 0, to: bytes.count - 187, by: 188) {
      let number = Int(bytes[at + 1] & 0x1F) << 8 | Int(bytes[at + 2])
      guard [0x100, 0x101].contains(number), bytes[at + 3] & 0x10 != 0 else { continue }
      let payload = at + (bytes[at + 3] & 0x20 != 0 ? 5 + Int(bytes[at + 4]) : 4)
      let isStart = bytes[at + 1] & 0x40 != 0
      // Whole PES packets are scrambled.
      if isStart {
        if range.contains(at) { isInside.insert(number) } else { isInside.remove(number) }
      }
      guard isInside.contains(number) else { continue }
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
  }

  /// Where the key frames lie in a file, in bytes.
  private static func keyFrames(_ path: String) throws -> [Int] {
    let text = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pos,flags", "-of", "csv=p=0",
      path,
    ])
    return text.split(separator: "\n").filter { $0.contains("K") }.compactMap { line in
      line.split(separator: ",").first.flatMap { Int($0) }
    }
  }

  private static let planar = [
    kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar
  ]

  @Test(arguments: [false, true])
  func aRecordingThatIsScrambledAtItsStartIsReadFromWhereItIsClear(inElementary: Bool) async throws {
    let scratch = Scratch()
    let plain = try Fixture.make("partly.ts", Self.source)
    let sums = try ReaderTests.frameMD5s(plain, ["-pix_fmt", "yuv420p"])
    let keys = try Self.keyFrames(plain)
    try #require(sums.count == 150 && keys.count == 6)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
    Self.scramble(&bytes, 0..<keys[3], inElementary: inElementary)
    try Data(bytes).write(to: scratch.url("a.ts"))
    let asset = AVURLAsset(url: scratch.url("a.ts"))
    #expect(try await !asset.load(.hasProtectedContent))
    #expect(asset.isReadable)
    let samples = try ReaderTests.read(asset, settings: Self.planar)
    let found = try samples.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) }
    #expect(found == Array(sums[75...]), "\(found.count)")
    let audio = try ReaderTests.read(asset, .audio, settings: [AVFormatIDKey: kAudioFormatLinearPCM])
    let seconds = audio.reduce(0) { $0 + $1.duration.seconds }
    #expect(abs(seconds - 3) < 0.2, "\(seconds)")
  }

  @Test(arguments: [false, true])
  func aRecordingThatIsScrambledAtItsEndIsReadUpToThere(inElementary: Bool) async throws {
    let scratch = Scratch()
    let plain = try Fixture.make("partly.ts", Self.source)
    let sums = try ReaderTests.frameMD5s(plain, ["-pix_fmt", "yuv420p"])
    let keys = try Self.keyFrames(plain)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
    Self.scramble(&bytes, keys[2]..<bytes.count, inElementary: inElementary)
    try Data(bytes).write(to: scratch.url("a.ts"))
    let asset = AVURLAsset(url: scratch.url("a.ts"))
    #expect(try await !asset.load(.hasProtectedContent))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: Self.planar)
    reader.add(output)
    #expect(reader.startReading())
    var found: [String] = []
    while let sample = output.copyNextSampleBuffer() {
      found.append(md5(ReaderTests.packed(try #require(sample.imageBuffer))))
    }
    #expect(found.prefix(49) == sums.prefix(49))
    #expect(found.count <= 51)
  }

  /// Matroska's elements of one level.
  private static func elements(_ bytes: ArraySlice<UInt8>) -> [(id: [UInt8], content: ArraySlice<UInt8>)] {
    var found: [(id: [UInt8], content: ArraySlice<UInt8>)] = []
    var at = bytes.startIndex
    while at < bytes.endIndex {
      let idLength = bytes[at].leadingZeroBitCount + 1
      let id = Array(bytes[at..<at + idLength])
      at += idLength
      let length = bytes[at].leadingZeroBitCount + 1
      var size = Int(bytes[at]) & ((1 << (8 - length)) - 1)
      for place in at + 1..<at + length { size = size << 8 | Int(bytes[place]) }
      at += length
      let end = min(bytes.endIndex, size == 1 << (7 * length) - 1 ? bytes.endIndex : at + size)
      found.append((id, bytes[at..<end]))
      at = end
    }
    return found
  }

  private static func element(_ id: [UInt8], _ content: some Sequence<UInt8>) -> [UInt8] {
    let content = Array(content)
    return id + [0x01] + (0..<7).map { UInt8(truncatingIfNeeded: content.count >> (8 * (6 - $0))) } + content
  }

  /// A list that names one element, whose place is counted from the beginning of the segment's
  /// content.
  private static func list(_ id: [UInt8], at place: Int) -> [UInt8] {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: place >> (8 * (7 - $0))) }
    return element(
      [0x11, 0x4D, 0x9B, 0x74],
      element([0x4D, 0xBB], element([0x53, 0xAB], id) + element([0x53, 0xAC], number)))
  }

  /// The description of the tracks after the pictures, named by a list, or by one that another
  /// list names.
  @Test(arguments: [(false, false), (true, false), (true, true)])
  func matroskaWhoseTracksStandBehindThePicturesIsLookedThrough(isEncrypted: Bool, isNested: Bool)
    async throws
  {
    let scratch = Scratch()
    let title = String(repeating: "x", count: 40)
    let path = try Fixture.make("after.mkv", Self.source + ["-metadata:s:v:0", "title=" + title])
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    if isEncrypted {
      // The name of the track gives its place to an encryption without a key's name.
      var titled = Data([0x53, 0x6E, 0x80 | 40])
      titled.append(contentsOf: Array(title.utf8))
      let name = try #require(data.range(of: titled))
      let cipher: [UInt8] = [0x50, 0x35, 0x84, 0x47, 0xE1, 0x81, 5]
      let encoding: [UInt8] = [0x62, 0x40, 0x8B, 0x50, 0x33, 0x81, 1] + cipher
      let encodings: [UInt8] = [0x6D, 0x80, 0x8E] + encoding
      let rest = 43 - encodings.count - 2
      data.replaceSubrange(
        name, with: encodings + [0xEC, 0x80 | UInt8(rest)] + [UInt8](repeating: 0, count: rest))
    }
    let top = Self.elements([UInt8](data)[...])
    let segment = try #require(top.first { $0.id == [0x18, 0x53, 0x80, 0x67] })
    let parts = Self.elements(segment.content)
    let tracks: [UInt8] = [0x16, 0x54, 0xAE, 0x6B]
    let wanted: [[UInt8]] = [[0x15, 0x49, 0xA9, 0x66], [0x1F, 0x43, 0xB6, 0x75]]
    let before = parts.filter { wanted.contains($0.id) }.flatMap { Self.element($0.id, $0.content) }
    let description = try #require(parts.first { $0.id == tracks }).content
    let listLength = Self.list(tracks, at: 0).count
    var content: [UInt8]
    if isNested {
      let second = listLength + before.count
      content = Self.list([0x11, 0x4D, 0x9B, 0x74], at: second) + before
      content += Self.list(tracks, at: second + listLength)
    } else {
      content = Self.list(tracks, at: listLength + before.count) + before
    }
    content += Self.element(tracks, description)
    var file = Self.element(top[0].id, top[0].content)
    file += Self.element(segment.id, content)
    try Data(file).write(to: scratch.url("a.mkv"))
    let asset = AVURLAsset(url: scratch.url("a.mkv"))
    #expect(try await asset.load(.tracks).count == 2)
    #expect(asset.hasProtectedContent == isEncrypted)
    if !isEncrypted { #expect(try ReaderTests.read(asset, settings: Self.planar).count == 150) }
  }

  /// Lists that refer to themselves, to each other, or to missing elements.
  @Test func listsOfMatroskaThatGoInCirclesComeToAnEnd() throws {
    let scratch = Scratch()
    let path = try Fixture.make("circles.mkv", Self.source)
    let top = Self.elements([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))[...])
    let segment = try #require(top.first { $0.id == [0x18, 0x53, 0x80, 0x67] })
    let parts = Self.elements(segment.content).filter { $0.id != [0x11, 0x4D, 0x9B, 0x74] }
    let list: [UInt8] = [0x11, 0x4D, 0x9B, 0x74]
    let length = Self.list(list, at: 0).count
    for places in [[0, length], [length, 0], [1 << 40, 3], [Int.max, -1]] {
      var content = places.flatMap { Self.list(list, at: $0) }
      // The tracks are named wrongly, and stand where they are found without a list.
      content += Self.list([0x16, 0x54, 0xAE, 0x6B], at: 5)
      for part in parts { content += Self.element(part.id, part.content) }
      try Data(Self.element(top[0].id, top[0].content) + Self.element(segment.id, content))
        .write(to: scratch.url("a.mkv"))
      let asset = AVURLAsset(url: scratch.url("a.mkv"))
      #expect(asset.tracks.count == 2 && !asset.hasProtectedContent)
    }
  }
}
