// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Foundation

/// A connection to a file of SQLite's, with prepared statements. One thread at a time may use it.
final class SiloDatabase {
  private let connection: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// - Parameter path: Empty for a file that has no name and goes with the connection, or the process.
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

  /// In one value.
  static let maximumBytes = 256 << 20

  deinit {
    statements = [:]
    sqlite3_close_v2(connection)
  }

  /// Whether what is written goes into the file at once, not when a transaction ends.
  var isAutomatic: Bool { sqlite3_get_autocommit(connection) != 0 }
  var lastRow: Int64 { sqlite3_last_insert_rowid(connection) }
  var changes: Int { Int(sqlite3_changes(connection)) }

  /// Whether the file is still the one of its name.
  var isInPlace: Bool {
    var hasMoved: Int32 = 1
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK
      && hasMoved == 0
  }

  /// Makes the file an empty one, whatever it held.
  func reset() throws(SiloError) {
    guard ovt_sqlite_reset(connection, 1) == SQLITE_OK else { throw .damaged }
    defer { _ = ovt_sqlite_reset(connection, 0) }
    try run("VACUUM")
  }

  /// Runs statements that give nothing back.
  func run(_ text: String) throws(SiloError) {
    let code = sqlite3_exec(connection, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw .sqlite(code) }
  }

  /// Runs a statement with values for its question marks, and gives each row to `body` until it returns false.
  /// Statements stay prepared: their texts have to be few.
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

  /// What a question mark stands for.
  enum Value {
    case integer(Int64)
    /// Must stay where they are until the statement has run.
    case bytes(UnsafeRawBufferPointer)
  }

  /// The row that a statement stands at; its bytes are there until the next.
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
          // Without a destructor SQLite keeps the address and makes no copy. Of no bytes, a blob, not NULL.
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
