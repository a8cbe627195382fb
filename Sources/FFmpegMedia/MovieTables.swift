// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Counts the samples of a movie's tracks before libavformat makes an entry for each of them.
///
/// Where all samples are of one size, a table of a few bytes says how many there are (`stsz`, `stsc`; `trun` without
/// fields: ISO/IEC 14496-12, 8.7.3, 8.7.4 and 8.8.8), and may say four billion.
struct MovieTables {
  private let bytes: ByteWindow
  private let length: Int64
  /// Entries that libavformat would make.
  private var entries: Int64 = 0
  /// Bytes of compressed headers, once they are not.
  private var inflated = 0
  /// A compressed header is larger than any, or is in another one.
  private var isBeyondReason = false
  /// These are the tables of a header that was compressed.
  private var isInflated = false

  /// So many are not too many for any file.
  private static let leastRoom: Int64 = 1 << 20
  /// libavformat puts as many samples at least of PCM into one entry.
  private static let samplesPerEntry: Int64 = 160

  /// - Throws: `MediaFileError.damaged` if the samples are more than the file has bytes.
  static func check(_ reader: any MediaByteReader, isWhole: Bool, name: String) throws {
    guard let length = reader.length, length > 16 else { return }
    var tables = MovieTables(bytes: ByteWindow(reader), length: length)
    var track = Track()
    tables.walk(0, length, depth: 0, &track, isWhole: isWhole)
    guard !tables.isBeyondReason else {
      throw MediaFileError(.damaged, "\(name) has a compressed header of impossible size")
    }
    guard tables.entries <= max(length, leastRoom) else {
      throw MediaFileError(.damaged, "\(name) says that it has more samples than it has bytes")
    }
  }

  private init(bytes: ByteWindow, length: Int64) {
    self.bytes = bytes
    self.length = length
  }

  /// A header in zlib's format is counted as if it stood there itself.
  private mutating func inflate(_ start: Int64, _ end: Int64, depth: Int) {
    guard let header = CompressedMovieHeader(bytes, start, end) else { return }
    inflated = inflated.addingClamped(header.room)
    guard !isInflated, inflated <= CompressedMovieHeader.largest else { return isBeyondReason = true }
    guard let content = header.content(bytes) else { return }
    var tables = MovieTables(bytes: ByteWindow(MemoryReader(Data(content))), length: Int64(content.count))
    tables.isInflated = true
    var track = Track()
    tables.walk(0, tables.length, depth: depth, &track, isWhole: true)
    entries = entries.addingClamped(tables.entries)
    isBeyondReason = isBeyondReason || tables.isBeyondReason
  }

  /// The tables of a track.
  private struct Track {
    /// nil: nothing says so.
    var isSound: Bool?
    /// Samples of one size; 0 where each has its own.
    var count: Int64 = 0
    var chunks: Int64 = 0
    var runs: (start: Int64, count: Int64) = (0, 0)
    /// Each sample lasts for one unit, as those of PCM do.
    var areUnits = true
  }

  private static let containers: Set<String> = [
    "moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf", "edts", "dinf", "tref",
  ]
  /// Those that hold no others, and may be long.
  private static let leaves: Set<String> = [
    "stts", "ctts", "stss", "stps", "sdtp", "stco", "co64", "stsc", "free", "skip", "mdat", "sidx", "elst",
  ]
  /// libavformat goes no deeper.
  private static let deepest = 10

  /// Goes through boxes as libavformat does.
  private mutating func walk(
    _ start: Int64, _ end: Int64, depth: Int, _ track: inout Track, isWhole: Bool
  ) {
    var at = start
    while at + 8 <= end, let head = bytes.read(at, 8) {
      var size = Int64(MovieBox.number(head[...], 0))
      var content = at + 8
      if size == 1, let long = bytes.read(at + 8, 8) {
        size = Int64(truncatingIfNeeded: MovieBox.number(long[...], 0, count: 8))
        content += 8
      } else if size == 0 {
        size = end - at
      }
      guard size >= content - at else { return }
      let next = min(end, at.addingClamped(size))
      var type = String(decoding: head[4..<8], as: UTF8.self)
      // The header of a movie may be hidden.
      if type == "free" || type == "hoov", let inner = bytes.read(content + 4, 4),
        ["mvhd", "cmov"].contains(String(decoding: inner, as: UTF8.self))
      {
        type = "moov"
      }
      if type == "cmov" {
        if depth > 0, depth < Self.deepest { inflate(content, next, depth: depth + 1) }
      } else if Self.containers.contains(type) {
        if depth < Self.deepest {
          if type == "trak" { track = Track() }
          walk(content, next, depth: depth + 1, &track, isWhole: isWhole)
          if type == "trak" { add(track) }
        }
      } else {
        look(type, content, next, isInside: depth > 0, &track)
      }
      // Bytes that come from afar are not fetched for what may never be read.
      if depth == 0, type == "moov", !isWhole { return }
      at = next
    }
  }

  private mutating func look(
    _ type: String, _ start: Int64, _ end: Int64, isInside: Bool, _ track: inout Track
  ) {
    func number(_ place: Int64) -> Int64 {
      bytes.read(start + place, 4).map { Int64(MovieBox.number($0[...], 0)) } ?? 0
    }
    switch type {
    case "hdlr":
      let kind = bytes.read(start + 8, 4).map { String(decoding: $0, as: UTF8.self) }
      if kind == "soun" { track.isSound = track.isSound ?? true }
      if kind == "vide" { track.isSound = false }
    case "stsz": if number(4) > 0 { track.count = max(track.count, number(8)) }
    case "stts": if number(4) != 1 || number(12) != 1 { track.areUnits = false }
    case "stco", "co64": track.chunks = number(4)
    case "stsc": track.runs = (start + 8, min(number(4), (end - start) / 12))
    case "trun":
      // Neither durations, sizes, flags nor offsets.
      if number(0) & 0xF00 == 0 { entries = entries.addingClamped(number(4)) }
    default:
      if isInside, !Self.leaves.contains(type) { search(start, end, &track) }
    }
  }

  /// Boxes within others of which it depends on their kind where these begin.
  private mutating func search(_ start: Int64, _ end: Int64, _ track: inout Track) {
    for place in bytes.places(of: ["stsz", "trun"], start, end) {
      guard let head = bytes.read(place, 4) else { continue }
      look(String(decoding: head, as: UTF8.self), place + 4, end, isInside: false, &track)
      track.areUnits = false
    }
  }

  /// A track has come to its end.
  private mutating func add(_ track: Track) {
    guard track.isSound ?? false, track.areUnits else {
      entries = entries.addingClamped(track.count)
      return
    }
    var total: Int64 = 0
    for run in 0..<track.runs.count {
      guard
        let head = bytes.read(track.runs.start + 12 * run, 16) ?? bytes.read(track.runs.start + 12 * run, 12)
      else { break }
      let first = Int64(MovieBox.number(head[...], 0))
      let following =
        run + 1 < track.runs.count ? Int64(MovieBox.number(head[...], 12)) : track.chunks.addingClamped(1)
      let each = (Int64(MovieBox.number(head[...], 4)) + Self.samplesPerEntry - 1) / Self.samplesPerEntry
      total = total.addingClamped(
        max(0, min(following, track.chunks + 1) - first).multipliedClamped(by: each))
    }
    entries = entries.addingClamped(total)
  }
}
