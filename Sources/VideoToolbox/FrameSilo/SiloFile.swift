// SPDX-License-Identifier: Apache-2.0
import CSQLite
import CoreMedia
import FFmpegMedia
import Foundation

/// The file of a frame silo: an SQLite database whose table of frames has an index by decode time.
/// docs/frame-silo.md describes it.
///
/// One thread at a time may use it. A frame survives a crash of the process at the latest after
/// `framesUntilSafe` further frames were added.
final class SiloFile {
  private let database: SiloDatabase
  /// The path of the file; nil for a file without a name.
  private let siloPath: SiloPath?
  /// Whether the file is deleted together with this object.
  private let removesFile: Bool
  /// The format descriptions that were used last, with their row IDs, the latest first. A stream
  /// has few of them.
  private var formats: [(id: Int64, format: CMVideoFormatDescription)] = []
  /// The number of frames that were added since the last transaction was committed.
  private var framesInFlight = 0
  /// The number of frames in the silo.
  private var frameCount = 0

  /// The number of frames after which a transaction is committed.
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

  /// Creates a silo in a file without a name.
  init() throws(SiloError) {
    database = try Self.create(at: "", reset: false, isDurable: false)
    (siloPath, removesFile) = (nil, false)
  }

  /// Creates a silo at a path where there is no file, an empty file, or a silo, which is
  /// overwritten.
  /// - Parameters:
  ///   - siloPath: The path of the file.
  ///   - isKept: Whether the file stays when this object is released.
  /// - Throws: `SiloError` with `kVTParameterErr` where there is another file, `busy` for a silo
  ///   that is open, `damaged` for one whose journal names a super-journal.
  init(creatingAt siloPath: SiloPath, isKept: Bool) throws(SiloError) {
    database = try siloPath.reserve { () throws(SiloError) -> SiloDatabase in
      let content = siloPath.content
      guard content != .other else { throw SiloError(kVTParameterErr) }
      guard !siloPath.hasForeignJournal else { throw .damaged }
      do throws(SiloError) {
        return try Self.create(at: siloPath.path, reset: content == .silo, isDurable: isKept)
      } catch {
        if content == .nothing { unlink(siloPath.path) }
        throw error
      }
    }
    (self.siloPath, removesFile) = (siloPath, !isKept)
  }

  /// Opens an existing silo.
  /// - Parameters:
  ///   - siloPath: The path of the file.
  ///   - isKept: Whether the file stays when this object is released.
  /// - Throws: `SiloError` with `kVTParameterErr` where there is no silo, `busy` for one that is
  ///   open, `damaged` for one of another version or with frames missing.
  init(openingAt siloPath: SiloPath, isKept: Bool) throws(SiloError) {
    (database, frameCount) = try siloPath.reserve { () throws(SiloError) -> (SiloDatabase, Int) in
      guard siloPath.content == .silo else { throw SiloError(kVTParameterErr) }
      guard !siloPath.hasForeignJournal else { throw .damaged }
      let database = try Self.open(at: siloPath.path)
      let count = try Self.number("SELECT count(*) FROM frame INDEXED BY frame_time", in: database)
      guard let pass = try Self.pass(in: database), pass.frameCount == count else { throw .damaged }
      return (database, pass.frameCount)
    }
    (self.siloPath, removesFile) = (siloPath, !isKept)
  }

  deinit {
    guard let siloPath else { return }
    if removesFile {
      // The file is not deleted if another one has been put in its place.
      siloPath.release {
        guard database.isInPlace else { return }
        unlink(siloPath.journal)
        unlink(siloPath.path)
      }
    } else {
      siloPath.release { try? database.run("PRAGMA journal_mode = DELETE") }
    }
  }

  private static func create(at path: String, reset: Bool, isDurable: Bool) throws(SiloError) -> SiloDatabase
  {
    let database = try SiloDatabase(path: path, creates: true)
    // The file is emptied first, because the statements in `prepare` fail on a damaged one.
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
    // Triggers or views in a foreign schema could run further statements, so the schema has to be
    // exactly ours.
    var texts: [String] = []
    try database.run("SELECT sql FROM sqlite_master ORDER BY rowid", []) { row in
      texts.append(row.text(0) ?? "")
      return true
    }
    guard texts == schema else { throw .damaged }
    return database
  }

  /// Configures a connection: exclusive locking, the journal, and how writes are synchronised.
  private static func prepare(_ database: SiloDatabase, isDurable: Bool) throws(SiloError) {
    try database.run("PRAGMA locking_mode = EXCLUSIVE")
    // The journal receives the pages that are overwritten, not new ones. It is kept between
    // transactions, truncated to 0 bytes.
    try database.run("PRAGMA journal_mode = TRUNCATE")
    // A file that is deleted with the silo need not survive a power failure.
    try database.run("PRAGMA synchronous = \(isDurable ? "FULL" : "OFF")")
    try database.run("PRAGMA cache_size = -4096")
    // Without this, deleting frames could take as much room as the frames themselves.
    try database.run("PRAGMA secure_delete = OFF")
    // Acquires the exclusive lock, which is held until the connection is closed.
    try database.run("BEGIN EXCLUSIVE; COMMIT")
  }

  /// Runs a query and returns the integer in its first row; -1 if there is no row.
  private static func number(_ text: String, in database: SiloDatabase) throws(SiloError) -> Int64 {
    var number: Int64 = -1
    try database.run(text, []) { row in
      number = row.integer(0)
      return false
    }
    return number
  }

  // MARK: - Writing

  /// Adds a frame.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - pass: The progress of the pass, including this frame.
  func add(_ frame: SiloFrame, pass: SiloPass) throws(SiloError) {
    do throws(SiloError) {
      try begin()
      try insert(frame)
    } catch {
      // SQLite has rolled the transaction back, and with it the format descriptions that it has
      // added.
      if database.isAutomatic { formats = [] }
      throw error
    }
    framesInFlight += 1
    frameCount += 1
    // The record of the pass is written with the transaction's end alone, since before that the
    // frames are not safe either.
    if framesInFlight >= Self.framesUntilSafe { try save(pass) }
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

  /// Commits the frames that were added, with the progress of the pass.
  func save(_ pass: SiloPass) throws(SiloError) { try commit(pass) {} }

  /// Runs work in the current transaction, stores the record of the pass, and commits. On an error
  /// all of the transaction is rolled back.
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
    framesInFlight = 0
  }

  /// Deletes the frames of some ranges and stores the record of the next pass, in one transaction.
  /// - Parameters:
  ///   - ranges: The ranges of decode times.
  ///   - pass: The pass that begins.
  ///   - last: The pass that ends.
  func remove(_ ranges: [DecodeTimeRange], beginning pass: SiloPass, after last: SiloPass) throws(SiloError) {
    // The frames that were added are committed first, so that a removal that fails does not roll
    // them back.
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

  /// Reads the record of the pass that was stored last; nil in a new file.
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

  /// Whether an error has rolled back frames that were added since the last commit.
  var hasLostFrames: Bool { framesInFlight > 0 && database.isAutomatic }

  /// Begins a transaction, unless one is open.
  private func begin() throws(SiloError) {
    if database.isAutomatic { try database.run("BEGIN IMMEDIATE") }
  }

  /// The row ID of a format description, which is added to the file if it is not there.
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

  /// Records the row ID of a format description, in place of the one whose use is longest ago.
  private func remember(_ format: CMVideoFormatDescription, _ id: Int64) {
    formats.insert((id, format), at: 0)
    if formats.count > Self.formatsKept { formats.removeLast() }
  }

  // MARK: - Reading

  /// Reads the first frame of a range of decode times.
  /// - Parameters:
  ///   - start: The start of the range; nil for the first frame of the silo.
  ///   - including: Whether a frame at `start` itself counts.
  ///   - end: The end of the range, which does not belong to it; nil for no end.
  /// - Returns: The frame's key and its sample buffer; nil if there is none.
  func frame(from start: DecodeTimeKey?, including: Bool, to end: DecodeTimeKey?) throws(SiloError)
    -> (key: DecodeTimeKey, buffer: CMSampleBuffer)?
  {
    do throws(SiloError) {
      return try find(from: start, including: including, to: end)
    } catch {
      // SQLite may roll the transaction back where a read fails, and with it the format
      // descriptions that it has added.
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

  /// Reads the format description of a row ID.
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

  /// The CRC-32 of all columns of a frame's row.
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
