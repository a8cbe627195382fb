// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Foundation

/// A connection to an SQLite database, with its prepared statements. One thread at a time may use
/// it.
final class SiloDatabase {
  private let connection: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens a database.
  /// - Parameters:
  ///   - path: The path of the file; empty for a temporary file without a name, which is deleted
  ///     with the connection or the process.
  ///   - creates: Whether to create the file if it does not exist.
  init(path: String, creates: Bool) throws(SiloError) {
    var connection: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
    let code = sqlite3_open_v2(path, &connection, flags, nil)
    guard let connection else { throw SiloError(kVTAllocationFailedErr) }
    guard code == SQLITE_OK, ovt_sqlite_distrust(connection) == SQLITE_OK else {
      sqlite3_close_v2(connection)
      throw .sqlite(code)
    }
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(Self.maximumBytes))
    self.connection = connection
  }

  /// The largest size of one value, in bytes.
  static let maximumBytes = 256 << 20

  deinit {
    statements = [:]
    sqlite3_close_v2(connection)
  }

  /// Whether no transaction is open (SQLite's autocommit mode).
  var isAutomatic: Bool { sqlite3_get_autocommit(connection) != 0 }
  /// The row ID of the row that was inserted last.
  var lastRow: Int64 { sqlite3_last_insert_rowid(connection) }
  /// The number of rows that the last statement has inserted, changed or deleted.
  var changes: Int { Int(sqlite3_changes(connection)) }

  /// Whether the open file still has its name: it was neither moved nor replaced.
  var isInPlace: Bool {
    var hasMoved: Int32 = 1
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK
      && hasMoved == 0
  }

  /// Resets the file to an empty database, whatever it contained, even if it is damaged.
  func reset() throws(SiloError) {
    guard ovt_sqlite_reset(connection, 1) == SQLITE_OK else { throw .damaged }
    defer { _ = ovt_sqlite_reset(connection, 0) }
    try run("VACUUM")
  }

  /// Runs statements without parameters and results.
  func run(_ text: String) throws(SiloError) {
    let code = sqlite3_exec(connection, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw .sqlite(code) }
  }

  /// Runs a statement.
  /// - Parameters:
  ///   - text: The statement. It stays prepared for further calls, so that a program must not use
  ///     many different texts.
  ///   - values: The values of its parameters (question marks), in order.
  ///   - body: Called with each row, until it returns false.
  func run(
    _ text: String, _ values: [Value], row body: (Row) throws(SiloError) -> Bool = { _ in true }
  ) throws(SiloError) {
    let statement = try prepared(text)
    defer { statement.reset() }
    for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    while try statement.step() {
      guard try body(Row(statement: statement.pointer)) else { return }
    }
  }

  private func prepared(_ text: String) throws(SiloError) -> Statement {
    if let statement = statements[text] { return statement }
    let statement = try Statement(text, in: connection)
    statements[text] = statement
    return statement
  }

  /// The value of a parameter of a statement.
  enum Value {
    case integer(Int64)
    /// The bytes are not copied: they must stay valid until the statement has run.
    case bytes(UnsafeRawBufferPointer)
  }

  /// The current row of a statement. Its bytes are valid until the next row is read.
  struct Row {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func text(_ column: Int32) -> String? {
      sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
      let start = sqlite3_column_blob(statement, column)
      return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
  }

  private final class Statement {
    let pointer: OpaquePointer

    init(_ text: String, in connection: OpaquePointer) throws(SiloError) {
      var statement: OpaquePointer?
      let code = sqlite3_prepare_v3(
        connection, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
      guard code == SQLITE_OK, let statement else { throw .sqlite(code) }
      pointer = statement
    }

    deinit { sqlite3_finalize(pointer) }

    func bind(_ value: Value, at index: Int32) throws(SiloError) {
      let code =
        switch value {
        case .integer(let number): sqlite3_bind_int64(pointer, index, number)
        case .bytes(let bytes):
          // With a nil destructor (SQLITE_STATIC) SQLite keeps the address and copies nothing. An
          // empty blob needs a call of its own: with a nil address it would be NULL.
          bytes.isEmpty
            ? sqlite3_bind_zeroblob(pointer, index, 0)
            : sqlite3_bind_blob64(pointer, index, bytes.baseAddress, UInt64(bytes.count), nil)
        }
      guard code == SQLITE_OK else { throw .sqlite(code) }
    }

    func step() throws(SiloError) -> Bool {
      let code = sqlite3_step(pointer)
      guard code == SQLITE_ROW || code == SQLITE_DONE else { throw .sqlite(code) }
      return code == SQLITE_ROW
    }

    func reset() {
      sqlite3_reset(pointer)
      sqlite3_clear_bindings(pointer)
    }
  }
}
