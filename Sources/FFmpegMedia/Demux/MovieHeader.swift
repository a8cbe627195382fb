// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the headers of a movie file say that libavformat does not tell: how it likes to be played, and tracks' languages
/// beyond three letters (ISO/IEC 14496-12, 8.2.2, 8.3.2 and 8.4.6).
package struct MovieHeader: Sendable {
  package struct Track: Sendable {
    /// 0.0 to 1.0.
    package var volume: Float = 1
    /// BCP 47.
    package var languageTag: String?
    package var items: [MovieMetadataItem] = []
    /// Tracks of one group stand in for each other; 0: the track is in none.
    package var alternateGroup = 0
    /// By the kind of reference, the other tracks' numbers.
    package var references: [String: [Int32]] = [:]
    /// Where the table of chunks lies in the file, and how many bytes each of its entries has.
    var chunkTable: (start: Int64, count: Int, width: Int)?
  }

  package private(set) var rate: Float = 1
  package private(set) var volume: Float = 1
  /// Three rows of three: 16.16, the last column 2.30.
  package private(set) var matrix: [Int32] = []
  /// By their numbers in the file.
  package private(set) var tracks: [Int32: Track] = [:]
  package private(set) var items: [MovieMetadataItem] = []
  /// The movie goes on in fragments.
  package private(set) var isFragmented = false

  private let path: String
  private let descriptor: Int32
  /// Items of metadata that may still be read.
  private var itemLimit = MovieMetadataReader.mostItems

  /// - Returns: nil if there is no such file, or it is no movie.
  package init?(path: String) {
    self.path = path
    // Without O_NONBLOCK a pipe would have this wait for somebody to write into it.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    guard let movie = boxes(0, Int64(status.st_size)).first(where: { $0.type == "moov" }) else { return nil }
    for box in boxes(movie.start, movie.end) {
      switch box.type {
      case "mvhd": readMovie(box)
      case "trak": readTrack(box)
      case "mvex": isFragmented = true
      default: items += metadata(box)
      }
    }
  }

  private mutating func readMovie(_ box: Box) {
    // After creation, modification, time scale and duration: rate 16.16, volume 8.8, 10 bytes reserved, the matrix.
    guard let version = read(box.start, 1)?.first, let bytes = read(box.start + (version == 1 ? 32 : 20), 52),
      box.end - box.start >= (version == 1 ? 84 : 72)
    else { return }
    rate = Float(Int32(truncatingIfNeeded: MovieBox.number(bytes[...], 0))) / 65536
    volume = Float(Int16(truncatingIfNeeded: MovieBox.number(bytes[...], 4, count: 2))) / 256
    matrix = (0..<9).map { Int32(truncatingIfNeeded: MovieBox.number(bytes[...], 16 + 4 * $0)) }
  }

  private mutating func readTrack(_ box: Box) {
    let parts = boxes(box.start, box.end)
    guard let header = parts.first(where: { $0.type == "tkhd" }), let version = read(header.start, 1)?.first,
      let number = read(header.start + (version == 1 ? 20 : 12), 4),
      let volume = read(header.start + (version == 1 ? 48 : 36), 2), header.end - header.start >= 84
    else { return }
    var track = Track()
    track.volume = Float(Int16(truncatingIfNeeded: MovieBox.number(volume[...], 0, count: 2))) / 256
    if let media = parts.first(where: { $0.type == "mdia" }),
      let language = boxes(media.start, media.end).first(where: { $0.type == "elng" }),
      (5...260).contains(language.end - language.start),
      let text = read(language.start + 4, Int(language.end - language.start - 4))
    {
      track.languageTag = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }
    if let group = read(header.start + (version == 1 ? 46 : 34), 2) {
      track.alternateGroup = MovieBox.number(group[...], 0, count: 2)
    }
    track.chunkTable = chunkTable(sampleTable(parts))
    for part in parts { track.items += metadata(part) }
    if let references = parts.first(where: { $0.type == "tref" }) {
      for reference in boxes(references.start, references.end)
      where (4...4096).contains(reference.end - reference.start) {
        guard let bytes = read(reference.start, Int(reference.end - reference.start)) else { continue }
        track.references[reference.type] = stride(from: 0, through: bytes.count - 4, by: 4).map {
          Int32(truncatingIfNeeded: MovieBox.number(bytes[...], $0))
        }
      }
    }
    tracks[Int32(truncatingIfNeeded: MovieBox.number(number[...], 0))] = track
  }

  /// The boxes of a track's sample table.
  private func sampleTable(_ track: [Box]) -> [Box] {
    var parts = track
    for type in ["mdia", "minf", "stbl"] {
      guard let box = parts.first(where: { $0.type == type }) else { return [] }
      parts = boxes(box.start, box.end)
    }
    return parts
  }

  // MARK: - Chunks

  /// Entries that are read at most: the file has as many chunks, and memory is taken for them.
  private static let mostChunks = 1 << 22

  private func chunkTable(_ parts: [Box]) -> (start: Int64, count: Int, width: Int)? {
    guard let table = parts.first(where: { ["stco", "co64"].contains($0.type) }),
      let head = read(table.start, 8)
    else { return nil }
    let width = table.type == "co64" ? 8 : 4
    let room = (table.end - table.start - 8) / Int64(width)
    let count = min(MovieBox.number(head[...], 4), Int(clamping: room), Self.mostChunks)
    return count > 0 ? (table.start + 8, count, width) : nil
  }

  /// Where the chunks of a track begin in the file (`stco`, `co64`; ISO/IEC 14496-12, 8.7.5), in ascending order; none of a
  /// movie in fragments.
  package func chunkStarts(of track: Int32) -> [Int64] {
    guard let table = tracks[track]?.chunkTable else { return [] }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: table.count * table.width)
    // Another file may be there by now.
    guard pread(file, &bytes, bytes.count, off_t(table.start)) == bytes.count else { return [] }
    return stride(from: 0, to: bytes.count, by: table.width).map { at in
      bytes[at..<at + table.width].reduce(0) { $0 << 8 | Int64($1) }
    }.sorted()
  }

  /// What a box of metadata or user data holds.
  private mutating func metadata(_ box: Box) -> [MovieMetadataItem] {
    guard ["meta", "udta"].contains(box.type), box.end - box.start <= Int64(MovieMetadataReader.sizeLimit),
      let bytes = read(box.start, Int(box.end - box.start))
    else { return [] }
    return box.type == "meta"
      ? MovieMetadataReader.items(ofMeta: bytes[...], limit: &itemLimit)
      : MovieMetadataReader.items(ofUserData: bytes[...], limit: &itemLimit)
  }

  // MARK: - Boxes in the file

  private struct Box {
    var type: String
    /// Of the content.
    var start: Int64
    var end: Int64
  }

  /// A file may say anything: so many boxes, and no more, are looked at.
  private static let limit = 4096

  private func boxes(_ start: Int64, _ end: Int64) -> [Box] {
    var found: [Box] = []
    var at = start
    while at + 8 <= end, found.count < Self.limit, let head = read(at, 8) {
      var size = Int64(MovieBox.number(head[...], 0))
      var content = at + 8
      if size == 1, let long = read(at + 8, 8) {
        size = Int64(MovieBox.number(long[...], 0, count: 8))
        content += 8
      } else if size == 0 {
        size = end - at
      }
      guard size >= content - at, size <= end - at else { break }
      found.append(Box(type: String(decoding: head[4..<8], as: UTF8.self), start: content, end: at + size))
      at += size
    }
    return found
  }

  private func read(_ at: Int64, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &bytes, count, off_t(at)) == count ? bytes : nil
  }
}
