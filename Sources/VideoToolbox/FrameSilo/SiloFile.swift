// SPDX-License-Identifier: Apache-2.0
import CSQLite
import CoreMedia
import FFmpegMedia
import Foundation

/// The frames of a silo, on disk: a table with an index by decode time, which docs/frame-silo.md describes.
///
/// One thread at a time may use it. What is added is safe from a crash of the process at the latest after
/// `framesUntilSafe` more frames.
final class SiloFile {
  private let database: SiloDatabase
  /// Nil for a file without a name.
  private let place: SiloPlace?
  private let removesFile: Bool
  /// Format descriptions that were seen last: a stream has few.
  private var formats: [(id: Int64, format: CMVideoFormatDescription)] = []
  private var framesUnderWay = 0
  private var frameCount = 0

  private static let framesUntilSafe = 120
  private static let formatsKept = 8
  static let applicationID: Int64 = 0x4F56_5446  // "OVTF"
  private static let version: Int64 = 1

  private static let schema = [
    "CREATE TABLE format(id INTEGER PRIMARY KEY, description BLOB NOT NULL)",
    "CREATE TABLE frame(id INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, second INTEGER NOT NULL, "
      + "fraction INTEGER NOT NULL, format INTEGER NOT NULL, checksum INTEGER NOT NULL, record BLOB NOT NULL, "
      + "data BLOB NOT NULL)",
    "CREATE UNIQUE INDEX frame_time ON frame(epoch, second, fraction)",
    "CREATE TABLE pass(id INTEGER PRIMARY KEY, record BLOB NOT NULL)",
  ]

  /// A new silo in a file without a name.
  init() throws(SiloError) {
    database = try Self.create(at: "", reset: false, isDurable: false)
    (place, removesFile) = (nil, false)
  }

  /// A new silo where there is nothing, an empty file, or a silo, which goes.
  /// - Throws: `SiloError` with `kVTParameterErr` where there is something else, `busy` for a silo that is open.
  init(creatingAt place: SiloPlace, isKept: Bool) throws(SiloError) {
    database = try place.reserve { () throws(SiloError) -> SiloDatabase in
      let content = place.content
      guard content != .other else { throw SiloError(kVTParameterErr) }
      guard !place.hasForeignJournal else { throw .damaged }
      do throws(SiloError) {
        return try Self.create(at: place.path, reset: content == .silo, isDurable: isKept)
      } catch {
        if content == .nothing { unlink(place.path) }
        throw error
      }
    }
    (self.place, removesFile) = (place, !isKept)
  }

  /// One that is there.
  /// - Throws: `SiloError` with `kVTParameterErr` where there is no silo, `busy` for one that is open, `damaged` for one
  ///   of another version or with frames missing.
  init(openingAt place: SiloPlace, isKept: Bool) throws(SiloError) {
    (database, frameCount) = try place.reserve { () throws(SiloError) -> (SiloDatabase, Int) in
      guard place.content == .silo else { throw SiloError(kVTParameterErr) }
      guard !place.hasForeignJournal else { throw .damaged }
      let database = try Self.open(at: place.path)
      let count = try Self.number("SELECT count(*) FROM frame INDEXED BY frame_time", in: database)
      guard let pass = try Self.pass(in: database), pass.frameCount == count else { throw .damaged }
      return (database, pass.frameCount)
    }
    (self.place, removesFile) = (place, !isKept)
  }

  deinit {
    guard let place else { return }
    if removesFile {
      // Not one that has taken its place.
      place.release {
        guard database.isInPlace else { return }
        unlink(place.journal)
        unlink(place.path)
      }
    } else {
      place.release { try? database.run("PRAGMA journal_mode = DELETE") }
    }
  }

  private static func create(at path: String, reset: Bool, isDurable: Bool) throws(SiloError) -> SiloDatabase
  {
    let database = try SiloDatabase(path: path, creates: true)
    // First: what is damaged cannot be prepared.
    if reset { try database.reset() }
    try prepare(database, isDurable: isDurable)
    try database.run("BEGIN EXCLUSIVE")
    for statement in schema { try database.run(statement) }
    try database.run("PRAGMA application_id = \(applicationID)")
    try database.run("PRAGMA user_version = \(version)")
    try database.run("COMMIT")
    return database
  }

  private static func open(at path: String) throws(SiloError) -> SiloDatabase {
    let database = try SiloDatabase(path: path, creates: false)
    try prepare(database, isDurable: true)
    guard try number("PRAGMA application_id", in: database) == applicationID,
      try number("PRAGMA user_version", in: database) == version
    else { throw .damaged }
    // A schema of somebody else's could run code of its own with each statement.
    var texts: [String] = []
    try database.run("SELECT sql FROM sqlite_master ORDER BY rowid", []) { row in
      texts.append(row.text(0) ?? "")
      return true
    }
    guard texts == schema else { throw .damaged }
    return database
  }

  private static func prepare(_ database: SiloDatabase, isDurable: Bool) throws(SiloError) {
    try database.run("PRAGMA locking_mode = EXCLUSIVE")
    // Only what is overwritten goes into the journal, not new frames; it is kept, empty, between transactions.
    try database.run("PRAGMA journal_mode = TRUNCATE")
    // A file that goes with the silo need not outlive the power.
    try database.run("PRAGMA synchronous = \(isDurable ? "FULL" : "OFF")")
    try database.run("PRAGMA cache_size = -4096")
    // To remove frames must not need the room that they take.
    try database.run("PRAGMA secure_delete = OFF")
    // Nobody else has it from here on.
    try database.run("BEGIN EXCLUSIVE; COMMIT")
  }

  private static func number(_ text: String, in database: SiloDatabase) throws(SiloError) -> Int64 {
    var number: Int64 = -1
    try database.run(text, []) { row in
      number = row.integer(0)
      return false
    }
    return number
  }

  // MARK: - Writing

  /// Adds a frame, and how far the pass is with it.
  func add(_ frame: SiloFrame, pass: SiloPass) throws(SiloError) {
    do throws(SiloError) {
      try begin()
      try insert(frame)
    } catch {
      // With the transaction, its format descriptions are gone.
      if database.isAutomatic { formats = [] }
      throw error
    }
    framesUnderWay += 1
    frameCount += 1
    // The pass's record is of no use before.
    if framesUnderWay >= Self.framesUntilSafe { try save(pass) }
  }

  private func insert(_ frame: SiloFrame) throws(SiloError) {
    let format = try id(of: frame.format)
    try Self.withContiguousBytes(of: frame.data) { data throws(SiloError) in
      try Self.withBytes(frame.record) { record throws(SiloError) in
        let key = frame.key
        try database.run(
          "INSERT INTO frame(epoch, second, fraction, format, checksum, record, data) VALUES(?,?,?,?,?,?,?)",
          [
            .integer(key.epoch), .integer(key.second), .integer(key.fraction), .integer(format),
            .integer(Self.checksum(key, format, record, data)), .bytes(record), .bytes(data),
          ])
      }
    }
  }

  /// Makes what was added safe.
  func save(_ pass: SiloPass) throws(SiloError) { try commit(pass) {} }

  /// Ends a transaction with some last work and the record of the pass; all of it happens or, with an error, nothing.
  private func commit(_ pass: SiloPass, _ work: () throws(SiloError) -> Void) throws(SiloError) {
    let before = frameCount
    do throws(SiloError) {
      try begin()
      try work()
      var pass = pass
      pass.frameCount = frameCount
      guard let record = pass.packed else { throw SiloError(kVTParameterErr) }
      try Self.withBytes(record) { bytes throws(SiloError) in
        try database.run("INSERT OR REPLACE INTO pass(id, record) VALUES(0, ?)", [.bytes(bytes)])
      }
      try database.run("COMMIT")
    } catch {
      if !database.isAutomatic { try? database.run("ROLLBACK") }
      formats = []
      frameCount = before
      throw error
    }
    framesUnderWay = 0
  }

  /// Takes the frames of some ranges out, in one step with the record of the pass that will replace them.
  func remove(_ ranges: [DecodeTimeRange], beginning pass: SiloPass, after last: SiloPass) throws(SiloError) {
    // What was added must not go with a removal that fails.
    try save(last)
    try commit(pass) { () throws(SiloError) in
      for range in ranges {
        try database.run(
          "DELETE FROM frame WHERE (epoch, second, fraction) >= (?,?,?) AND (epoch, second, fraction) < (?,?,?)",
          [range.start, range.end].flatMap(Self.values))
        frameCount -= database.changes
      }
    }
  }

  /// The record of the pass that was saved last; nil in a new file.
  func savedPass() throws(SiloError) -> SiloPass? { try Self.pass(in: database) }

  private static func pass(in database: SiloDatabase) throws(SiloError) -> SiloPass? {
    var pass: SiloPass?
    var isThere = false
    try database.run("SELECT record FROM pass WHERE id = 0", []) { row in
      isThere = true
      pass = SiloPass(row.bytes(0))
      return false
    }
    if isThere && pass == nil { throw .damaged }
    return pass
  }

  /// Whether an error took back what was added since it was saved last.
  var hasLostFrames: Bool { framesUnderWay > 0 && database.isAutomatic }

  private func begin() throws(SiloError) {
    if database.isAutomatic { try database.run("BEGIN IMMEDIATE") }
  }

  private func id(of format: CMVideoFormatDescription) throws(SiloError) -> Int64 {
    if let known = formats.first(where: {
      CMFormatDescriptionEqual($0.format, otherFormatDescription: format)
    }) {
      return known.id
    }
    guard let record = SiloRecord.pack(format) else { throw SiloError(kVTParameterErr) }
    try Self.withBytes(record) { bytes throws(SiloError) in
      try database.run("INSERT INTO format(description) VALUES(?)", [.bytes(bytes)])
    }
    remember(format, database.lastRow)
    return database.lastRow
  }

  private func remember(_ format: CMVideoFormatDescription, _ id: Int64) {
    formats.insert((id, format), at: 0)
    if formats.count > Self.formatsKept { formats.removeLast() }
  }

  // MARK: - Reading

  /// The first frame at or after a time, or after it, and before an end; nil if there is none.
  func frame(from start: DecodeTimeKey?, including: Bool, to end: DecodeTimeKey?) throws(SiloError)
    -> (key: DecodeTimeKey, buffer: CMSampleBuffer)?
  {
    do throws(SiloError) {
      return try find(from: start, including: including, to: end)
    } catch {
      // A reading that fails may take a transaction back, and format descriptions with it.
      if database.isAutomatic { formats = [] }
      throw error
    }
  }

  private func find(from start: DecodeTimeKey?, including: Bool, to end: DecodeTimeKey?) throws(SiloError)
    -> (key: DecodeTimeKey, buffer: CMSampleBuffer)?
  {
    let lowest = DecodeTimeKey(epoch: .min, second: .min, fraction: 0)
    var found: (key: DecodeTimeKey, buffer: CMSampleBuffer)?
    try database.run(
      "SELECT epoch, second, fraction, format, checksum, record, data FROM frame WHERE (epoch, second, fraction) "
        + "\(including ? ">=" : ">") (?,?,?) ORDER BY epoch, second, fraction LIMIT 1",
      Self.values(start ?? lowest)
    ) { row throws(SiloError) in
      let key = DecodeTimeKey(
        epoch: row.integer(0), second: row.integer(1), fraction: row.integer(2))
      if let end, key >= end { return false }
      let (record, data) = (row.bytes(5), row.bytes(6))
      guard Self.checksum(key, row.integer(3), record, data) == row.integer(4) else { throw .damaged }
      found = (
        key,
        try SiloFrame.sampleBuffer(record: record, data: data, format: try self.format(row.integer(3)))
      )
      return false
    }
    return found
  }

  private func format(_ id: Int64) throws(SiloError) -> CMVideoFormatDescription {
    if let known = formats.first(where: { $0.id == id }) { return known.format }
    var format: CMVideoFormatDescription?
    try database.run("SELECT description FROM format WHERE id = ?", [.integer(id)]) { row in
      format = SiloRecord.format(row.bytes(0))
      return false
    }
    guard let format else { throw .damaged }
    remember(format, id)
    return format
  }

  // MARK: - Bytes

  private static func values(_ key: DecodeTimeKey) -> [SiloDatabase.Value] {
    [.integer(key.epoch), .integer(key.second), .integer(key.fraction)]
  }

  /// Of all that a frame's row says.
  private static func checksum(
    _ key: DecodeTimeKey, _ format: Int64, _ record: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer
  ) -> Int64 {
    let head = [key.epoch, key.second, key.fraction, format].map(\.littleEndian)
    let begun = head.withUnsafeBytes { Checksum.crc32($0) }
    return Int64(Checksum.crc32(data, after: Checksum.crc32(record, after: begun)))
  }

  private static func withBytes(
    _ data: Data, _ body: (UnsafeRawBufferPointer) throws(SiloError) -> Void
  ) throws(SiloError) {
    let result: Result<Void, SiloError> = data.withUnsafeBytes { bytes in
      do throws(SiloError) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    try result.get()
  }

  private static func withContiguousBytes(
    of buffer: CMBlockBuffer, _ body: (UnsafeRawBufferPointer) throws(SiloError) -> Void
  ) throws(SiloError) {
    var whole = buffer
    if !CMBlockBufferIsRangeContiguous(buffer, atOffset: 0, length: 0) {
      var copy: CMBlockBuffer?
      CMBlockBufferCreateContiguous(
        allocator: kCFAllocatorDefault, sourceBuffer: buffer, blockAllocator: kCFAllocatorDefault,
        customBlockSource: nil, offsetToData: 0, dataLength: 0, flags: 0, blockBufferOut: &copy)
      guard let copy else { throw SiloError(kVTAllocationFailedErr) }
      whole = copy
    }
    var (length, start) = (0, UnsafeMutablePointer<CChar>?.none)
    let status = CMBlockBufferGetDataPointer(
      whole, atOffset: 0, lengthAtOffsetOut: &length, totalLengthOut: nil, dataPointerOut: &start)
    guard status == noErr, let start, length > 0 else { throw SiloError(kVTParameterErr) }
    try body(UnsafeRawBufferPointer(start: start, count: length))
    withExtendedLifetime(whole) {}
  }
}
