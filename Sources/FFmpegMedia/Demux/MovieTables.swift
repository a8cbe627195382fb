// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// What a movie's edit list makes of a track (`elst`; ISO/IEC 14496-12, 8.6.6). libavformat does not tell: to it,
/// a track that begins late lasts from the movie's beginning on, and sound goes on to the end of a packet.
struct MovieEdits: Equatable {
  /// Where the media begins and where the last edit ends on the movie's time line, in units of `scale`.
  var start: Int64
  var end: Int64
  /// The track's units per second.
  var scale: Int64
}

/// Counts the samples of a movie's tracks before libavformat makes an entry for each of them.
///
/// Where all samples are of one size, a table of a few bytes says how many there are (`stsz`, `stsc`; `trun` without
/// fields: ISO/IEC 14496-12, 8.7.3, 8.7.4 and 8.8.8), and may say four billion. For each edit (`elst`, 8.6.6) libavformat makes
/// the entries of what it covers anew.
struct MovieTables {
  private let bytes: ByteWindow
  private let length: Int64
  /// nil: the bytes come from elsewhere.
  private let file: LocalFileReader?
  /// Of the file, without its holes.
  private lazy var storedLength = file.map { min($0.storedLength, length) }
  /// Entries that libavformat would make.
  private var entries: Int64 = 0
  /// Those of them that no bytes of the file stand for.
  private var bareEntries: Int64 = 0
  /// Bytes of the boxes in which there are tables.
  private var headers: Int64 = 0
  /// They are more than the file has, holes left out.
  private var areHeadersHollow = false
  /// Of the movie's times (`mvhd`).
  private var movieScale: Int64 = 1
  private var knowsMovieScale = false
  /// By the numbers of the tracks; nil: there is none, or none that can be relied upon.
  private var edits: [Int32: MovieEdits?] = [:]
  /// By the numbers of the tracks, what their samples are said to be; nil where two tracks have one number.
  private var descriptions: [Int32: MovieSampleDescription?] = [:]
  /// Tracks with fragments that have something to decrypt their samples by, and the one that the fragment is of.
  private var encryptedNumbers: Set<Int32> = []
  private var fragmentNumber: Int32?
  /// The movie goes on in fragments, of which its edit lists may know nothing.
  private var isFragmented = false
  /// Bytes of descriptions of metadata that may still be kept, of all tracks.
  private var metadataRoom = 1 << 22
  /// Bytes of compressed headers, once they are not.
  private var inflated = 0
  /// A compressed header is larger than any, or is in another one.
  private var isBeyondReason = false
  /// These are the tables of a header that was compressed.
  private var isInflated = false

  /// So many are not too many for any file.
  private static let leastRoom: Int64 = 1 << 20
  /// So many are enough where only a program says how long the file is: those of two days of sound, in some 200 MB.
  private static let mostUnseen: Int64 = 1 << 23
  /// No file is longer; sums of places in it fit.
  private static let longest: Int64 = 1 << 62
  /// libavformat puts as many samples of PCM into one entry, or as few as the latter where a description groups them.
  private static let samplesPerEntry: Int64 = 1024
  private static let leastSamplesPerEntry: Int64 = 160
  /// Of lists of more edits, no end is told.
  private static let mostEdits: Int64 = 4096

  /// What the tracks' boxes say that libavformat does not tell, by the number of each track.
  struct Facts {
    /// What its edit list makes of a track, where that can be relied upon.
    var edits: [Int32: MovieEdits] = [:]
    var descriptions: [Int32: MovieSampleDescription] = [:]
    /// Tracks some of whose samples are encrypted (ISO/IEC 23001-7, 7.2).
    var encrypted: Set<Int32> = []
  }

  /// - Throws: `MediaFileError.damaged` if the samples are more than the file has bytes.
  static func check(_ reader: any MediaByteReader, isWhole: Bool, name: String) throws -> Facts {
    guard let length = reader.length.map({ min($0, longest) }), length > 16 else { return Facts() }
    var tables = MovieTables(
      bytes: ByteWindow(reader), length: length, file: reader as? LocalFileReader)
    var track = Track()
    tables.walk(0, length, depth: 0, &track, isWhole: isWhole)
    guard !tables.isBeyondReason else {
      throw MediaFileError(.damaged, "\(name) has a compressed header of impossible size")
    }
    guard !tables.areHeadersHollow else {
      throw MediaFileError(.damaged, "\(name) has a hole where it says that it has a header")
    }
    guard tables.fit(isWhole: isWhole) else {
      throw MediaFileError(.damaged, "\(name) says that it has more samples than it has bytes")
    }
    return Facts(
      edits: tables.isFragmented ? [:] : tables.edits.compactMapValues { $0 },
      descriptions: tables.descriptions.compactMapValues { $0 },
      encrypted: tables.encryptedNumbers)
  }

  private init(bytes: ByteWindow, length: Int64, file: LocalFileReader?) {
    (self.bytes, self.length, self.file) = (bytes, length, file)
  }

  /// Whether there may be so many entries. A length costs nothing: a file may consist of holes, and who gives
  /// bytes from elsewhere may say that there are any number of them.
  private mutating func fit(isWhole: Bool) -> Bool {
    guard entries > Self.leastRoom else { return true }
    guard entries <= length else { return false }
    return storedLength.map { entries <= $0 } ?? (isWhole || bareEntries <= Self.mostUnseen)
  }

  /// A header in zlib's format is counted as if it stood there itself.
  private mutating func inflate(_ start: Int64, _ end: Int64, depth: Int) {
    guard let header = CompressedMovieHeader(bytes, start, end) else { return }
    inflated = inflated.addingClamped(header.room)
    guard !isInflated, inflated <= CompressedMovieHeader.largest else { return isBeyondReason = true }
    guard let content = header.content(bytes) else { return }
    var tables = MovieTables(
      bytes: ByteWindow(MemoryReader(Data(content))), length: Int64(content.count), file: nil)
    tables.isInflated = true
    tables.metadataRoom = metadataRoom
    var track = Track()
    tables.walk(0, tables.length, depth: depth, &track, isWhole: true)
    entries = entries.addingClamped(tables.entries)
    bareEntries = bareEntries.addingClamped(tables.bareEntries)
    isBeyondReason = isBeyondReason || tables.isBeyondReason
    isFragmented = isFragmented || tables.isFragmented
    edits.merge(tables.edits) { _, _ in nil }
    descriptions.merge(tables.descriptions) { _, _ in nil }
    encryptedNumbers.formUnion(tables.encryptedNumbers)
    metadataRoom = tables.metadataRoom
  }

  /// The tables of a track.
  private struct Track {
    var number: Int32?
    /// nil: nothing says so.
    var isSound: Bool?
    /// Samples.
    var count: Int64 = 0
    /// Samples of one size.
    var bareCount: Int64 = 0
    var chunks: Int64 = 0
    /// Those of them whose places the file has.
    var placedChunks: Int64 = 0
    var runs: (start: Int64, count: Int64) = (0, 0)
    /// Each sample lasts for one unit, as those of PCM do.
    var areUnits = true
    var samplesPerEntry = MovieTables.samplesPerEntry
    var scale: Int64 = 1
    var shortest: Int64 = .max
    /// All can be decoded by themselves.
    var areAllSync = true
    var edits: (start: Int64, count: Int64, width: Int64) = (0, 0, 12)
    var description: MovieSampleDescription?
    /// There is something to decrypt its samples by.
    var isEncrypted = false
  }

  /// Those that libavformat looks into. What it does not know is text to it, or nothing.
  private static let containers: Set<String> = [
    "moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf", "edts", "dinf", "tref", "udta", "ilst",
    "wave", "sinf", "schi", "iprp", "ipco", "gmhd",
  ]
  /// libavformat goes no deeper.
  private static let deepest = 10

  /// Goes through boxes as libavformat does.
  private mutating func walk(
    _ start: Int64, _ end: Int64, depth: Int, _ track: inout Track, isWhole: Bool
  ) {
    var at = start
    while end - at >= 8, let head = bytes.read(at, 8) {
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
      if depth == 0, Self.containers.contains(type) || ["meta", "stsd", "stts"].contains(type) {
        headers = headers.addingClamped(next - at)
        areHeadersHollow = headers > Self.leastRoom && headers > storedLength ?? .max
        // What is read here as zeros is read without end.
        guard !areHeadersHollow else { return }
      }
      if type == "meta" { content = handler(content, next) }
      if type == "cmov" {
        if depth > 0, depth < Self.deepest { inflate(content, next, depth: depth + 1) }
      } else if Self.containers.contains(type) || type == "meta" {
        if depth < Self.deepest {
          if type == "trak" { track = Track() }
          if type == "trak" || type == "traf" { fragmentNumber = nil }
          if type == "mvex" { isFragmented = true }
          walk(content, next, depth: depth + 1, &track, isWhole: isWhole)
          if type == "trak" { add(track) }
        }
      } else {
        look(type, content, next, &track)
      }
      // Bytes that come from afar are not fetched for what may never be read.
      if depth == 0, type == "moov", !isWhole { return }
      at = next
    }
  }

  /// Where the boxes of a `meta` begin: with its handler, in fours of bytes from its start.
  private func handler(_ start: Int64, _ end: Int64) -> Int64 {
    // Behind a version and flags, or without; libavformat looks farther, too.
    func isInFours(_ place: Int64) -> Bool { place >= start + 4 && (place - start) % 4 == 0 }
    let near = bytes.places(of: ["hdlr"], start, min(end, start + 64)).first(where: isInFours)
    let place = near ?? bytes.places(of: ["hdlr"], start, end).first(where: isInFours)
    return place.map { $0 - 4 } ?? end
  }

  private mutating func look(_ type: String, _ start: Int64, _ end: Int64, _ track: inout Track) {
    func number(_ place: Int64, count: Int = 4) -> Int64 {
      bytes.read(start + place, count).map {
        Int64(truncatingIfNeeded: MovieBox.number($0[...], 0, count: count))
      } ?? 0
    }
    switch type {
    case "mvhd":
      movieScale = max(1, number(number(0, count: 1) == 1 ? 20 : 12))
      knowsMovieScale = true
    case "tkhd": track.number = Int32(truncatingIfNeeded: number(number(0, count: 1) == 1 ? 20 : 12))
    case "mdhd": track.scale = max(1, number(number(0, count: 1) == 1 ? 20 : 12))
    case "hdlr":
      let kind = bytes.read(start + 8, 4).map { String(decoding: $0, as: UTF8.self) }
      if kind == "soun" { track.isSound = track.isSound ?? true }
      if kind == "vide" { track.isSound = false }
    case "stsz":
      // Where each has its own size, no more than there is room for.
      let count = number(4) > 0 ? number(8) : min(number(8), max(0, end - start - 12) / 4)
      track.count = max(track.count, count)
      if number(4) > 0 { track.bareCount = max(track.bareCount, count) }
    // Sizes of four bits at least.
    case "stz2":
      track.count = max(track.count, min(number(8), max(0, end - start - 12).multipliedClamped(by: 2)))
    case "stts":
      if number(4) != 1 || number(12) != 1 { track.areUnits = false }
      for entry in 0..<min(number(4), max(0, end - start - 8) / 8) {
        track.shortest = min(track.shortest, max(1, number(12 + 8 * entry)))
        // As short as can be, and so it stays where there is nothing to read.
        if track.shortest == 1 { break }
      }
    case "stss": track.areAllSync = false
    case "stco", "co64":
      track.chunks = number(4)
      track.placedChunks = min(track.chunks, max(0, end - start - 8) / (type == "co64" ? 8 : 4))
    case "stsc": track.runs = (start + 8, min(number(4), (end - start) / 12))
    case "elst":
      let width: Int64 = number(0, count: 1) == 1 ? 20 : 12
      track.edits = (start + 8, min(number(4), max(0, end - start - 8) / width), width)
    case "tfhd": fragmentNumber = Int32(truncatingIfNeeded: number(4))
    case "senc":
      track.isEncrypted = true
      if let fragmentNumber { encryptedNumbers.insert(fragmentNumber) }
    case "trun":
      // Neither durations, sizes, flags nor offsets.
      if number(0) & 0xF00 == 0 { addBare(number(4)) }
    case "stsd":
      // Samples per frame, of a sound description of version 1.
      if number(24, count: 2) == 1, number(44) > 1 { track.samplesPerEntry = Self.leastSamplesPerEntry }
      track.description = MovieSampleDescription(bytes, start, end, metadataRoom: &metadataRoom)
      search(start, end, &track)
    default: break
    }
  }

  /// Boxes behind descriptions, of which it depends on the codec where they begin.
  private mutating func search(_ start: Int64, _ end: Int64, _ track: inout Track) {
    for place in bytes.places(of: ["stsz", "trun"], start, end) {
      guard place >= start + 4, let head = bytes.read(place - 4, 8) else { continue }
      let size = Int64(MovieBox.number(head[...], 0))
      guard size >= 16, size <= end - place + 4 else { continue }
      look(String(decoding: head[4...], as: UTF8.self), place + 4, end, &track)
      track.areUnits = false
    }
  }

  private mutating func addBare(_ count: Int64) {
    entries = entries.addingClamped(count)
    bareEntries = bareEntries.addingClamped(count)
  }

  /// A track has come to its end.
  private mutating func add(_ track: Track) {
    let isGrouped = track.isSound ?? false && track.areUnits
    let count = isGrouped ? groups(track) : track.count
    let bare = isGrouped ? max(0, count - track.placedChunks) : min(track.bareCount, count)
    addBare(bare)
    entries = entries.addingClamped(count - bare)
    // Of two tracks with one number nobody can tell which is which.
    if let number = track.number {
      edits.updateValue(edits.keys.contains(number) ? nil : edits(of: track), forKey: number)
      if track.isEncrypted { encryptedNumbers.insert(number) }
      let isTwice = descriptions.keys.contains(number)
      descriptions.updateValue(isTwice ? nil : track.description, forKey: number)
    }
    guard track.edits.count > 1, count > 0 else { return }
    for edit in 0..<track.edits.count {
      // There are too many already.
      guard isInflated || entries <= max(length, Self.leastRoom),
        file != nil || isInflated || bareEntries <= Self.mostUnseen
      else { return }
      let wide = track.edits.width == 20
      let duration = bytes.read(track.edits.start + edit * track.edits.width, wide ? 8 : 4).map {
        Int64(truncatingIfNeeded: MovieBox.number($0[...], 0, count: $0.count))
      }
      // Pictures are there from the key frame before on.
      var covered = count
      if track.areAllSync, let duration, duration >= 0 {
        let units = duration.multipliedClamped(by: track.scale) / movieScale
        covered = min(covered, (units / max(1, track.shortest)).addingClamped(2))
      }
      addBare(covered)
    }
  }

  /// Where a track's edits begin and end, in its own units, rounded as libavformat does; nil for edits without an
  /// end or of impossible times.
  private func edits(of track: Track) -> MovieEdits? {
    guard knowsMovieScale, (1...Self.mostEdits).contains(track.edits.count) else { return nil }
    let size = track.edits.width == 20 ? 8 : 4
    var (start, end): (Int64, Int64) = (0, 0)
    var hasBegun = false
    for edit in 0..<track.edits.count {
      guard let entry = bytes.read(track.edits.start + edit * track.edits.width, 2 * size) else { return nil }
      let length = Int64(truncatingIfNeeded: MovieBox.number(entry[...], 0, count: size))
      let place = MovieBox.number(entry[...], size, count: size)
      let time = size == 8 ? Int64(truncatingIfNeeded: place) : Int64(Int32(truncatingIfNeeded: place))
      guard length > 0 || (length == 0 && time == -1), time >= -1 else { return nil }
      let units = av_rescale(length, track.scale, movieScale)
      let (sum, overflow) = end.addingReportingOverflow(units)
      guard units >= 0, !overflow else { return nil }
      end = sum
      // Before the first media there is nothing; later, it is a pause.
      if time != -1 { hasBegun = true }
      if !hasBegun { start = end }
    }
    return hasBegun ? MovieEdits(start: start, end: end, scale: track.scale) : nil
  }

  /// Entries of PCM: of each chunk some.
  private func groups(_ track: Track) -> Int64 {
    var total: Int64 = 0
    for run in 0..<track.runs.count {
      guard
        let head = bytes.read(track.runs.start + 12 * run, 16) ?? bytes.read(track.runs.start + 12 * run, 12)
      else { break }
      let first = Int64(MovieBox.number(head[...], 0))
      let following =
        run + 1 < track.runs.count ? Int64(MovieBox.number(head[...], 12)) : track.chunks.addingClamped(1)
      let each = (Int64(MovieBox.number(head[...], 4)) + track.samplesPerEntry - 1) / track.samplesPerEntry
      total = total.addingClamped(
        max(0, min(following, track.chunks + 1) - first).multipliedClamped(by: each))
    }
    return total
  }
}
