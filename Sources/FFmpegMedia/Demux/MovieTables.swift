// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// The part of a movie's time line that a track's edit list covers (`elst`; ISO/IEC 14496-12,
/// 8.6.6). libavformat does not expose it: it counts an empty edit at the beginning as part of the
/// track, and lets audio last to the end of its last packet.
struct MovieEdits: Equatable {
  /// The time at which the media begins and the time at which the last edit ends, in units of
  /// `scale` from the beginning of the movie.
  var start: Int64
  var end: Int64
  /// Time units per second of the track.
  var scale: Int64
}

/// Counts the samples of a movie's tracks before libavformat allocates an index entry for each of
/// them.
///
/// Where all samples have the same size, a table of a few bytes says how many there are, and may
/// claim four billion (`stsz`, `stsc`, and `trun` without per-sample fields; ISO/IEC 14496-12,
/// 8.7.3, 8.7.4 and 8.8.8). For each edit (`elst`, 8.6.6) libavformat makes new entries of the
/// samples that it covers.
struct MovieTables {
  private let bytes: ByteWindow
  private let length: Int64
  /// The reader of a local file; nil for another source of bytes.
  private let file: LocalFileReader?
  /// The bytes of the file without its holes; nil for another source of bytes.
  private lazy var storedLength = file.map { min($0.storedLength, length) }
  /// The number of index entries that libavformat would make.
  private var entries: Int64 = 0
  /// The number of `entries` for which the file has no bytes of a table.
  private var unlistedEntries: Int64 = 0
  /// The size in bytes of the top-level boxes that hold tables.
  private var headers: Int64 = 0
  /// Whether `headers` exceeds the size of the file without its holes.
  private var headersHaveHoles = false
  /// The movie's time units per second (`mvhd`).
  private var movieScale: Int64 = 1
  private var knowsMovieScale = false
  /// For each track ID, the edits of a track; nil where they cannot be relied upon, or where two
  /// tracks have one ID.
  private var edits: [Int32: MovieEdits?] = [:]
  /// For each track ID, the sample description of a track; nil where two tracks have one ID.
  private var descriptions: [Int32: MovieSampleDescription?] = [:]
  /// IDs of the tracks that have encryption data in fragments (`senc`), and the ID of the track to
  /// which the fragment being read belongs (`tfhd`).
  private var encryptedTrackIDs: Set<Int32> = []
  private var fragmentTrackID: Int32?
  /// Whether the movie has fragments, which its edit lists may not cover.
  private var isFragmented = false
  /// The bytes of metadata sample descriptions that may still be kept, for all tracks together.
  private var metadataRoom = 1 << 22
  /// The size in bytes of the compressed headers after decompression.
  private var inflated = 0
  /// Whether a compressed header is too large, or inside another one.
  private var isTooLarge = false
  /// Whether these are the tables of a compressed header.
  private var isInflated = false

  /// The number of entries, or of header bytes, that is accepted in a file of any size.
  private static let alwaysAccepted: Int64 = 1 << 20
  /// The number of entries without bytes of their own that is accepted if only the program has
  /// stated the file's length. Two days of audio need that many; they take about 200 MB.
  private static let maxUnverifiedEntries: Int64 = 1 << 23
  /// Longer files are cut to this length, in bytes, so that sums of offsets do not overflow.
  private static let maximumLength: Int64 = 1 << 62
  /// The number of PCM samples that libavformat puts into one index entry, and the lowest number if
  /// the sample description groups them.
  private static let samplesPerEntry: Int64 = 1024
  private static let minSamplesPerEntry: Int64 = 160
  /// The largest number of edits of a track for which `edits(of:)` computes the end.
  private static let maxEdits: Int64 = 4096

  /// Properties of the tracks that libavformat does not expose, by track ID.
  struct TrackProperties {
    /// The edits of the tracks whose edit lists can be relied upon.
    var edits: [Int32: MovieEdits] = [:]
    var descriptions: [Int32: MovieSampleDescription] = [:]
    /// IDs of the tracks of which some samples are encrypted (ISO/IEC 23001-7, 7.2).
    var encrypted: Set<Int32> = []
  }

  /// Reads the tables of a movie. Of other files it reads nothing.
  /// - Parameters:
  ///   - reader: The file.
  ///   - isWhole: Whether all top-level boxes are read; false: up to the `moov` box, because the
  ///     bytes come from elsewhere.
  ///   - name: The file's name, for error messages.
  /// - Returns: The properties of the tracks that libavformat does not expose.
  /// - Throws: `MediaFileError` of the kind `damaged` if the tables claim more samples than the
  ///   file has bytes, or if a header is in a hole of the file or of an impossible size.
  static func check(_ reader: any MediaByteReader, isWhole: Bool, name: String) throws -> TrackProperties {
    guard let length = reader.length.map({ min($0, maximumLength) }), length > 16 else {
      return TrackProperties()
    }
    var tables = MovieTables(
      bytes: ByteWindow(reader), length: length, file: reader as? LocalFileReader)
    var track = Track()
    tables.walk(0, length, depth: 0, &track, isWhole: isWhole)
    guard !tables.isTooLarge else {
      throw MediaFileError(.damaged, "\(name) has a compressed header of impossible size")
    }
    guard !tables.headersHaveHoles else {
      throw MediaFileError(.damaged, "\(name) has a hole where it says that it has a header")
    }
    guard tables.isPlausible(isWhole: isWhole) else {
      throw MediaFileError(.damaged, "\(name) says that it has more samples than it has bytes")
    }
    return TrackProperties(
      edits: tables.isFragmented ? [:] : tables.edits.compactMapValues { $0 },
      descriptions: tables.descriptions.compactMapValues { $0 },
      encrypted: tables.encryptedTrackIDs)
  }

  private init(bytes: ByteWindow, length: Int64, file: LocalFileReader?) {
    (self.bytes, self.length, self.file) = (bytes, length, file)
  }

  /// Whether the file can have the entries that its tables claim. The length alone does not prove
  /// that: a sparse file may consist of holes, and another source of bytes may claim any length.
  private mutating func isPlausible(isWhole: Bool) -> Bool {
    guard entries > Self.alwaysAccepted else { return true }
    guard entries <= length else { return false }
    return storedLength.map { entries <= $0 } ?? (isWhole || unlistedEntries <= Self.maxUnverifiedEntries)
  }

  /// Counts the tables of a compressed header like those of an uncompressed one.
  private mutating func inflate(_ start: Int64, _ end: Int64, depth: Int) {
    guard let header = CompressedMovieHeader(bytes, start, end) else { return }
    inflated = inflated.addingClamped(header.room)
    guard !isInflated, inflated <= CompressedMovieHeader.largest else { return isTooLarge = true }
    guard let content = header.content(bytes) else { return }
    var tables = MovieTables(
      bytes: ByteWindow(MemoryReader(Data(content))), length: Int64(content.count), file: nil)
    tables.isInflated = true
    tables.metadataRoom = metadataRoom
    var track = Track()
    tables.walk(0, tables.length, depth: depth, &track, isWhole: true)
    entries = entries.addingClamped(tables.entries)
    unlistedEntries = unlistedEntries.addingClamped(tables.unlistedEntries)
    isTooLarge = isTooLarge || tables.isTooLarge
    isFragmented = isFragmented || tables.isFragmented
    edits.merge(tables.edits) { _, _ in nil }
    descriptions.merge(tables.descriptions) { _, _ in nil }
    encryptedTrackIDs.formUnion(tables.encryptedTrackIDs)
    metadataRoom = tables.metadataRoom
  }

  /// The values in the boxes of a track.
  private struct Track {
    var number: Int32?
    /// Whether the track is of audio (`hdlr`); nil if there is no handler.
    var isAudio: Bool?
    /// Number of samples.
    var count: Int64 = 0
    /// Samples of a common size (`stsz`), for which the table has no entries.
    var unlistedCount: Int64 = 0
    var chunks: Int64 = 0
    /// Chunks for which the table has an offset.
    var chunksWithOffset: Int64 = 0
    var runs: (start: Int64, count: Int64) = (0, 0)
    /// Whether each sample lasts one time unit, as one of PCM does.
    var lastOneUnit = true
    var samplesPerEntry = MovieTables.samplesPerEntry
    var scale: Int64 = 1
    var shortest: Int64 = .max
    /// Whether all samples are sync samples (no `stss`).
    var areAllSync = true
    var edits: (start: Int64, count: Int64, width: Int64) = (0, 0, 12)
    var description: MovieSampleDescription?
    /// Whether there is data to decrypt its samples by (`senc`).
    var isEncrypted = false
  }

  /// Types of the boxes whose children libavformat reads. It treats the content of other boxes as
  /// text, or ignores it.
  private static let containers: Set<String> = [
    "moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf", "edts", "dinf", "tref", "udta", "ilst",
    "wave", "sinf", "schi", "iprp", "ipco", "gmhd",
  ]
  /// Deepest nesting of boxes that libavformat reads.
  private static let maximumDepth = 10

  /// Reads the boxes in a part of the file, and their children, as libavformat does.
  /// - Parameters:
  ///   - start: Offset of the first box.
  ///   - end: Offset of the end of the last one.
  ///   - depth: Number of boxes around these.
  ///   - track: The track to which the boxes belong.
  ///   - isWhole: Whether to read on after the `moov` box.
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
      // libavformat accepts the header of a movie also in a `free` or `hoov` box.
      if type == "free" || type == "hoov", let inner = bytes.read(content + 4, 4),
        ["mvhd", "cmov"].contains(String(decoding: inner, as: UTF8.self))
      {
        type = "moov"
      }
      if depth == 0, Self.containers.contains(type) || ["meta", "stsd", "stts"].contains(type) {
        headers = headers.addingClamped(next - at)
        headersHaveHoles = headers > Self.alwaysAccepted && headers > storedLength ?? .max
        // A hole reads as zeros, so that walking through its boxes would hardly end.
        guard !headersHaveHoles else { return }
      }
      if type == "meta" { content = handler(content, next) }
      if type == "cmov" {
        if depth > 0, depth < Self.maximumDepth { inflate(content, next, depth: depth + 1) }
      } else if Self.containers.contains(type) || type == "meta" {
        if depth < Self.maximumDepth {
          if type == "trak" { track = Track() }
          if type == "trak" || type == "traf" { fragmentTrackID = nil }
          if type == "mvex" { isFragmented = true }
          walk(content, next, depth: depth + 1, &track, isWhole: isWhole)
          if type == "trak" { add(track) }
        }
      } else {
        readBox(type, content, next, &track)
      }
      // Bytes of a remote source are not fetched for boxes that may never be read.
      if depth == 0, type == "moov", !isWhole { return }
      at = next
    }
  }

  /// The offset of the first child of a `meta` box, which is its handler (`hdlr`), aligned to four
  /// bytes from the box's start; `end` if there is none.
  private func handler(_ start: Int64, _ end: Int64) -> Int64 {
    // ISO files have a version and flags before it, QuickTime files have none; libavformat searches
    // the whole box.
    func isInFours(_ position: Int64) -> Bool { position >= start + 4 && (position - start) % 4 == 0 }
    let near = bytes.positions(of: ["hdlr"], start, min(end, start + 64)).first(where: isInFours)
    let position = near ?? bytes.positions(of: ["hdlr"], start, end).first(where: isInFours)
    return position.map { $0 - 4 } ?? end
  }

  private mutating func readBox(_ type: String, _ start: Int64, _ end: Int64, _ track: inout Track) {
    func number(_ position: Int64, count: Int = 4) -> Int64 {
      bytes.read(start + position, count).map {
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
      if kind == "soun" { track.isAudio = track.isAudio ?? true }
      if kind == "vide" { track.isAudio = false }
    case "stsz":
      // If each sample has its own size, the table has no more samples than entries.
      let count = number(4) > 0 ? number(8) : min(number(8), max(0, end - start - 12) / 4)
      track.count = max(track.count, count)
      if number(4) > 0 { track.unlistedCount = max(track.unlistedCount, count) }
    // A compact table has at least four bits per sample.
    case "stz2":
      track.count = max(track.count, min(number(8), max(0, end - start - 12).multipliedClamped(by: 2)))
    case "stts":
      if number(4) != 1 || number(12) != 1 { track.lastOneUnit = false }
      for entry in 0..<min(number(4), max(0, end - start - 8) / 8) {
        track.shortest = min(track.shortest, max(1, number(12 + 8 * entry)))
        // A shorter duration is impossible, and beyond the end of the file `number` returns 0,
        // which also counts as 1.
        if track.shortest == 1 { break }
      }
    case "stss": track.areAllSync = false
    case "stco", "co64":
      track.chunks = number(4)
      track.chunksWithOffset = min(track.chunks, max(0, end - start - 8) / (type == "co64" ? 8 : 4))
    case "stsc": track.runs = (start + 8, min(number(4), (end - start) / 12))
    case "elst":
      let width: Int64 = number(0, count: 1) == 1 ? 20 : 12
      track.edits = (start + 8, min(number(4), max(0, end - start - 8) / width), width)
    case "tfhd": fragmentTrackID = Int32(truncatingIfNeeded: number(4))
    case "senc":
      track.isEncrypted = true
      if let fragmentTrackID { encryptedTrackIDs.insert(fragmentTrackID) }
    case "trun":
      // Without sample durations, sizes, flags and composition offsets, the box has no bytes per
      // sample.
      if number(0) & 0xF00 == 0 { addUnlisted(number(4)) }
    case "stsd":
      // Samples per packet of a sound description of version 1.
      if number(24, count: 2) == 1, number(44) > 1 { track.samplesPerEntry = Self.minSamplesPerEntry }
      track.description = MovieSampleDescription(bytes, start, end, metadataRoom: &metadataRoom)
      search(start, end, &track)
    default: break
    }
  }

  /// Searches for boxes after the sample entries, because where the child boxes of an entry begin
  /// depends on the codec.
  private mutating func search(_ start: Int64, _ end: Int64, _ track: inout Track) {
    for position in bytes.positions(of: ["stsz", "trun"], start, end) {
      guard position >= start + 4, let head = bytes.read(position - 4, 8) else { continue }
      let size = Int64(MovieBox.number(head[...], 0))
      guard size >= 16, size <= end - position + 4 else { continue }
      readBox(String(decoding: head[4...], as: UTF8.self), position + 4, end, &track)
      track.lastOneUnit = false
    }
  }

  private mutating func addUnlisted(_ count: Int64) {
    entries = entries.addingClamped(count)
    unlistedEntries = unlistedEntries.addingClamped(count)
  }

  /// Adds the samples of a complete track.
  private mutating func add(_ track: Track) {
    let isGrouped = track.isAudio ?? false && track.lastOneUnit
    let count = isGrouped ? groups(track) : track.count
    let unlisted = isGrouped ? max(0, count - track.chunksWithOffset) : min(track.unlistedCount, count)
    addUnlisted(unlisted)
    entries = entries.addingClamped(count - unlisted)
    // If two tracks have the same ID, properties found by ID would be ambiguous.
    if let number = track.number {
      edits.updateValue(edits.keys.contains(number) ? nil : edits(of: track), forKey: number)
      if track.isEncrypted { encryptedTrackIDs.insert(number) }
      let isTwice = descriptions.keys.contains(number)
      descriptions.updateValue(isTwice ? nil : track.description, forKey: number)
    }
    guard track.edits.count > 1, count > 0 else { return }
    for edit in 0..<track.edits.count {
      // Counting stops once the limit is exceeded.
      guard isInflated || entries <= max(length, Self.alwaysAccepted),
        file != nil || isInflated || unlistedEntries <= Self.maxUnverifiedEntries
      else { return }
      let wide = track.edits.width == 20
      let duration = bytes.read(track.edits.start + edit * track.edits.width, wide ? 8 : 4).map {
        Int64(truncatingIfNeeded: MovieBox.number($0[...], 0, count: $0.count))
      }
      // libavformat adds the samples from the preceding sync sample on, so that only without `stss`
      // the edit's length is a limit.
      var covered = count
      if track.areAllSync, let duration, duration >= 0 {
        let units = duration.multipliedClamped(by: track.scale) / movieScale
        covered = min(covered, (units / max(1, track.shortest)).addingClamped(2))
      }
      addUnlisted(covered)
    }
  }

  /// Returns the begin and the end of a track's edits, in its own time units, rounded as
  /// libavformat does; nil for a track without edits, and for edits without an end or with
  /// impossible times.
  private func edits(of track: Track) -> MovieEdits? {
    guard knowsMovieScale, (1...Self.maxEdits).contains(track.edits.count) else { return nil }
    let size = track.edits.width == 20 ? 8 : 4
    var (start, end): (Int64, Int64) = (0, 0)
    var hasBegun = false
    for edit in 0..<track.edits.count {
      guard let entry = bytes.read(track.edits.start + edit * track.edits.width, 2 * size) else { return nil }
      let length = Int64(truncatingIfNeeded: MovieBox.number(entry[...], 0, count: size))
      let position = MovieBox.number(entry[...], size, count: size)
      let time = size == 8 ? Int64(truncatingIfNeeded: position) : Int64(Int32(truncatingIfNeeded: position))
      guard length > 0 || (length == 0 && time == -1), time >= -1 else { return nil }
      let units = av_rescale(length, track.scale, movieScale)
      let (sum, overflow) = end.addingReportingOverflow(units)
      guard units >= 0, !overflow else { return nil }
      end = sum
      // An empty edit before the first media delays the track; a later one is a pause.
      if time != -1 { hasBegun = true }
      if !hasBegun { start = end }
    }
    return hasBegun ? MovieEdits(start: start, end: end, scale: track.scale) : nil
  }

  /// Returns the number of index entries of a PCM track, in which libavformat groups the samples of
  /// each chunk.
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
