// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport

@testable import FFmpegMedia

/// Movies whose tables say that there are more samples than the file could hold.
@Suite struct MovieTablesTests {
  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    MovieBox.bytes(content.count + 8) + Array(type.utf8) + content
  }

  private static func numbers(_ values: Int...) -> [UInt8] { values.flatMap { MovieBox.bytes($0) } }

  /// A track of pictures, or of PCM, in one chunk.
  private static func track(
    samples: Int, size: Int, isAudio: Bool = false, inChunk: Int? = nil, chunks: Int = 1,
    sizes: [UInt8]? = nil, hiding: Bool = false
  ) -> [UInt8] {
    let header = box(
      "tkhd", numbers(7, 0, 0, 1, 0, samples) + [UInt8](repeating: 0, count: 52) + numbers(0, 0))
    let media = box("mdhd", numbers(0, 0, 0, 48_000, samples) + [0x55, 0xC4, 0, 0])
    let handler = box(
      "hdlr", numbers(0, 0) + Array((isAudio ? "soun" : "vide").utf8) + numbers(0, 0, 0) + [0])
    let audio = box(
      "sowt",
      numbers(0, 1, 0, 0) + [0, UInt8(max(1, size / 2)), 0, 16] + numbers(0, 48_000 << 16))
    let picture = box(
      "jpeg", numbers(0, 1, 0, 0, 0, 0) + [0, 16, 0, 16] + [UInt8](repeating: 0, count: 50))
    let count = numbers(0, size, samples)
    var tables = box("stsd", numbers(0, 1) + (isAudio ? audio : picture))
    tables += box("stts", numbers(0, 1, samples, isAudio ? 1 : 2))
    tables += box("stsc", numbers(0, 1, 1, inChunk ?? samples, 1))
    tables += box("stco", numbers(0, chunks) + [Int](repeating: 40, count: chunks).flatMap { numbers($0) })
    let table = sizes ?? box("stsz", count)
    tables += hiding ? box("udta", box("abcd", Array("trunks".utf8)) + table) : table
    return box(
      "trak", header + box("mdia", media + handler + box("minf", box("stbl", tables))))
  }

  private static let fileType = box("ftyp", Array("qt  ".utf8) + numbers(0) + Array("qt  ".utf8))
  private static let movieHeader = box(
    "mvhd", numbers(0, 0, 0, 600, 600, 0x10000) + [UInt8](repeating: 0, count: 76))

  private static func movie(_ tracks: [UInt8], data: Int) -> [UInt8] {
    fileType + box("mdat", [UInt8](repeating: 0, count: data)) + box("moov", movieHeader + tracks)
  }

  /// - Parameter length: of the file, if a hole is to follow the bytes.
  private static func open(_ bytes: [UInt8], length: Int? = nil) throws -> Demuxer {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".mov")
    try Data(bytes).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    if let length { #expect(truncate(url.path, off_t(length)) == 0) }
    return try Demuxer(url: url.path)
  }

  private static func expectDamage(
    _ bytes: [UInt8], length: Int? = nil, _ reason: String = "more samples than it has bytes"
  ) {
    let error = #expect(throws: MediaFileError.self) { try Self.open(bytes, length: length) }
    #expect(error?.kind == .damaged)
    #expect(error?.detail.contains(reason) ?? false, "\(error?.detail ?? "opened")")
  }

  @Test func moreSamplesThanBytesAreDamage() {
    // 48 megabytes of entries still.
    Self.expectDamage(Self.movie(Self.track(samples: 2_000_000, size: 1), data: 100))
    Self.expectDamage(Self.movie(Self.track(samples: 2_000_000, size: 1, hiding: true), data: 100))
    // Each has few enough.
    let track = Self.track(samples: 600_000, size: 1)
    Self.expectDamage(Self.movie(track + track, data: 100))
    // In the header that a movie's editor has given up, too.
    let hidden = Self.fileType + Self.box("free", Self.movieHeader + Self.track(samples: 2_000_000, size: 1))
    Self.expectDamage(hidden)
    // PCM takes an entry for many samples.
    Self.expectDamage(
      Self.movie(Self.track(samples: 2_000_000, size: 2, isAudio: true, inChunk: 1 << 31), data: 100))
  }

  /// A hole makes a file as long as one likes, and takes no room.
  @Test func holesAreNoBytes() {
    Self.expectDamage(Self.movie(Self.track(samples: 2_000_000, size: 1), data: 100), length: 200 << 20)
    let header = MovieBox.bytes(150 << 20) + Array("moov".utf8)
    Self.expectDamage(Self.fileType + header, length: 200 << 20, "hole")
    #expect(throws: Never.self) {
      try Self.open(Self.movie(Self.track(samples: 50, size: 2), data: 100), length: 200 << 20)
    }
  }

  /// Some bytes, and zeros after them without end.
  private final class Claim: MediaByteReader {
    private let bytes: [UInt8]
    let length: Int64?

    init(_ bytes: [UInt8], length: Int64) { (self.bytes, self.length) = (bytes, length) }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
      for index in buffer.indices {
        let place = offset.addingClamped(Int64(index))
        buffer[index] = place < Int64(bytes.count) ? bytes[Int(place)] : 0
      }
      return buffer.count
    }

    func cancel() {}
  }

  /// A declared length of data that has not arrived allocates no memory.
  @Test func claimsOfPartsOfAFileAreBelievedWithinReason() {
    func check(_ samples: Int) throws {
      let movie = Self.movie(Self.track(samples: samples, size: 1), data: 100)
      _ = try MovieTables.check(Claim(movie, length: 1 << 40), isWhole: false, name: "it")
    }
    #expect(throws: Never.self) { try check(8_000_000) }
    #expect(throws: MediaFileError.self) { try check(9_000_000) }
  }

  /// Boxes at the end of all numbers.
  @Test(.timeLimit(.minutes(HangLimit.minutes)), arguments: ["free", "moov", "wide"])
  func lengthsAtTheEndOfNumbersAreRead(type: String) throws {
    let sizes: [Int] = [
      .max, .max - 1, .max - 7, .max - 8, .max - 9, .max - 16, .max - 17, .max - 24, 1 << 62,
    ]
    for size in sizes {
      let head = MovieBox.bytes(1) + Array(type.utf8) + MovieBox.bytes(size, count: 8)
      let lengths: [Int64] = [.max, .max - 1, .max - 12, 1 << 62]
      for length in lengths {
        for bytes in [head, head + head] {
          let found = try MovieTables.check(Claim(bytes, length: length), isWhole: true, name: "it")
          #expect(found.edits.isEmpty && found.descriptions.isEmpty)
        }
      }
    }
  }

  @Test func fragmentsOfMoreSamplesThanBytesAreDamage() throws {
    let run = Self.box("trun", Self.numbers(0, 2_000_000))
    let header = Self.box("tfhd", Self.numbers(0x020000, 1))
    let fragment = Self.box("moof", Self.box("mfhd", Self.numbers(0, 1)) + Self.box("traf", header + run))
    let track = Self.track(samples: 0, size: 0)
    let extends = Self.box("mvex", Self.box("trex", Self.numbers(0, 1, 1, 1, 1, 0)))
    Self.expectDamage(Self.fileType + Self.box("moov", Self.movieHeader + track + extends) + fragment)
  }

  /// A recording of PCM has as many samples as it has frames, also where its end is missing.
  @Test func audioOfOneSizeIsRead() throws {
    let whole = try Self.open(
      Self.movie(Self.track(samples: 100_000, size: 2, isAudio: true), data: 200_000))
    var bytes = 0
    while let packet = try whole.next() { bytes += packet.bytes.count }
    #expect(bytes == 200_000)
    let half =
      Self.fileType
      + Self.box("moov", Self.movieHeader + Self.track(samples: 86_400_000, size: 2, isAudio: true))
      + MovieBox.bytes(172_800_008) + Array("mdat".utf8) + [UInt8](repeating: 0, count: 20_000)
    let cut = try Self.open(half)
    #expect(try cut.next() != nil)
    // In chunks of half a second.
    let hour = Self.movie(
      Self.track(samples: 172_800_000, size: 4, isAudio: true, inChunk: 24_000, chunks: 7200), data: 20_000)
    #expect(throws: Never.self) { try Self.open(hour) }
  }

  /// libavformat looks for a handler in all of what is called metadata.
  @Test func tablesBehindMetadataAreCounted() {
    let far = [UInt8](repeating: 0, count: 4000) + Self.box("hdlr", Self.numbers(0, 0, 0, 0, 0, 0))
    let hidden = Self.box("meta", far + Self.box("stsz", Self.numbers(0, 1, 2_000_000)))
    let track = Self.track(samples: 0, size: 0)
    Self.expectDamage(Self.movie(Self.box("trak", Array(track[8...]) + hidden), data: 100))
  }

  /// Words in titles, chapters and pictures that are names of boxes.
  @Test(arguments: ["tree trunks and leaves", "trunk, part one", "about stsz tables and others"])
  func textIsNoTable(title: String) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".mp4")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-c:v", "mpeg4", "-metadata",
      "title=" + title,
      "-metadata", "comment=" + title, "-metadata:s:v", "title=" + title, "-metadata:s:v",
      "handler_name=" + title, "-f",
      "mp4",
    ]).withUnsafeBufferPointer { try Data(buffer: $0).write(to: url) }
    defer { try? FileManager.default.removeItem(at: url) }
    let movie = try Demuxer(url: url.path)
    var packets = 0
    while try movie.next() != nil { packets += 1 }
    #expect(packets == 25)
  }

  /// libavformat makes the entries of what an edit covers again for each.
  @Test func editsOfManySamplesAreCounted() throws {
    func edited(_ track: [UInt8], _ count: Int, duration: Int) -> [UInt8] {
      let edits = Self.numbers(0, count) + (0..<count).flatMap { _ in Self.numbers(duration, 0, 0x10000) }
      return Self.movie(
        Self.box("trak", Array(track[8...]) + Self.box("edts", Self.box("elst", edits))), data: 100)
    }
    let track = Self.track(samples: 1_000_000, size: 1)
    Self.expectDamage(edited(track, 100, duration: 600_000))
    // Sizes of four bits each are a table, too.
    let count = Self.numbers(0, 4, 1_000_000) + [UInt8](repeating: 0x11, count: 500_000)
    let small = Self.track(samples: 0, size: 0, sizes: Self.box("stz2", count))
    Self.expectDamage(edited(small, 100, duration: 600_000))
    // A cut here and there of a long recording.
    #expect(throws: Never.self) { try Self.open(edited(track, 100, duration: 6)) }
  }

  // MARK: - Compressed headers

  /// In zlib's format (RFC 1950), stored as it is.
  private static func packed(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    let pieces = stride(from: 0, to: bytes.count, by: 65_535).map {
      bytes[$0..<min($0 + 65_535, bytes.count)]
    }
    for (index, piece) in pieces.enumerated() {
      let length = [UInt8(piece.count & 0xFF), UInt8(piece.count >> 8)]
      result += [index == pieces.count - 1 ? 1 : 0] + length + length.map { ~$0 } + piece
    }
    var (low, high) = (1, 0)
    for byte in bytes {
      low = (low + Int(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return result + MovieBox.bytes(high << 16 | low)
  }

  private static func compressed(_ header: [UInt8], claiming size: Int? = nil) -> [UInt8] {
    let data = numbers(size ?? header.count) + packed(header)
    return box("moov", box("cmov", box("dcom", Array("zlib".utf8)) + box("cmvd", data)))
  }

  @Test func compressedHeadersAreRead() throws {
    let header = Self.box("moov", Self.movieHeader + Self.track(samples: 50_000, size: 2, isAudio: true))
    let audio = Self.box("mdat", [UInt8](repeating: 0, count: 100_000))
    let movie = try Self.open(Self.fileType + audio + Self.compressed(header))
    var bytes = 0
    while let packet = try movie.next() { bytes += packet.bytes.count }
    #expect(bytes == 100_000)
  }

  @Test func compressedHeadersAreCounted() {
    let header = Self.box("moov", Self.movieHeader + Self.track(samples: 2_000_000, size: 1))
    Self.expectDamage(Self.fileType + Self.compressed(header))
    for bytes in [
      Self.fileType + Self.compressed(header, claiming: 1 << 31),
      Self.fileType + Self.compressed(Self.compressed(header)),
    ] {
      let error = #expect(throws: MediaFileError.self) { try Self.open(bytes) }
      #expect(error?.detail.contains("compressed header") ?? false, "\(error?.detail ?? "opened")")
    }
  }
}
