// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Properties in the header of a movie file that libavformat does not expose: preferred rate and
/// volume, the movie's matrix, and languages of tracks beyond three-letter codes (ISO/IEC 14496-12,
/// 8.2.2, 8.3.2 and 8.4.6).
package struct MovieHeader: Sendable {
  /// Properties of one track.
  package struct Track: Sendable {
    /// The preferred volume, 0.0 to 1.0.
    package var volume: Float = 1
    /// The language as a BCP 47 tag (`elng`).
    package var languageTag: String?
    /// The track's metadata items.
    package var items: [MovieMetadataItem] = []
    /// Number of the group of tracks that are alternatives of each other (`tkhd`); 0: the track is
    /// in none.
    package var alternateGroup = 0
    /// For each type of reference (`tref`), the numbers of the tracks referred to.
    package var references: [String: [Int32]] = [:]
    /// Position of the chunk table's entries in the file, their number, and the bytes of each.
    var chunkTable: (start: Int64, count: Int, width: Int)?
  }

  /// The preferred playback rate; 1: normal speed.
  package private(set) var rate: Float = 1
  /// The preferred volume, 0.0 to 1.0.
  package private(set) var volume: Float = 1
  /// The movie's transformation matrix, row by row: 16.16 fixed point, the last column 2.30.
  package private(set) var matrix: [Int32] = []
  /// The tracks by their track IDs.
  package private(set) var tracks: [Int32: Track] = [:]
  /// The movie's metadata items.
  package private(set) var items: [MovieMetadataItem] = []
  /// Whether the movie has fragments (`mvex`).
  package private(set) var isFragmented = false

  private let path: String
  private let descriptor: Int32
  /// Metadata items that may still be read.
  private var itemLimit = MovieMetadataReader.maxItems

  /// Reads the header of a movie file.
  /// - Returns: nil if there is no such file, or if it has no movie header.
  package init?(path: String) {
    self.path = path
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
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
    // The fields after creation time, modification time, time scale and duration: rate 16.16,
    // volume 8.8, 10 reserved bytes, the matrix.
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

  /// The boxes in a track's `stbl` box.
  private func sampleTable(_ track: [Box]) -> [Box] {
    var parts = track
    for type in ["mdia", "minf", "stbl"] {
      guard let box = parts.first(where: { $0.type == type }) else { return [] }
      parts = boxes(box.start, box.end)
    }
    return parts
  }

  // MARK: - Chunks

  /// Most entries of a chunk table that are read, since memory is allocated for them.
  private static let maxChunks = 1 << 22

  private func chunkTable(_ parts: [Box]) -> (start: Int64, count: Int, width: Int)? {
    guard let table = parts.first(where: { ["stco", "co64"].contains($0.type) }),
      let head = read(table.start, 8)
    else { return nil }
    let width = table.type == "co64" ? 8 : 4
    let room = (table.end - table.start - 8) / Int64(width)
    let count = min(MovieBox.number(head[...], 4), Int(clamping: room), Self.maxChunks)
    return count > 0 ? (table.start + 8, count, width) : nil
  }

  /// The offsets of a track's chunks in the file (`stco`, `co64`; ISO/IEC 14496-12, 8.7.5), in
  /// ascending order; empty for an unknown track, and where reading fails. Chunks in fragments are
  /// not included.
  package func chunkStarts(of track: Int32) -> [Int64] {
    guard let table = tracks[track]?.chunkTable else { return [] }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: table.count * table.width)
    // The path may name another file by now.
    guard pread(file, &bytes, bytes.count, off_t(table.start)) == bytes.count else { return [] }
    return stride(from: 0, to: bytes.count, by: table.width).map { at in
      bytes[at..<at + table.width].reduce(0) { $0 << 8 | Int64($1) }
    }.sorted()
  }

  /// The metadata items in a `meta` or `udta` box.
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
    /// Offset of the content in the file.
    var start: Int64
    var end: Int64
  }

  /// Most boxes that are read of one parent, which bounds the work for a malicious file.
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
