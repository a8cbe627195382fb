// SPDX-License-Identifier: Apache-2.0
import CSQLite
import CoreFoundation

/// An error of a frame silo, as the status code that its functions return.
struct SiloError: Error, Equatable {
  let status: OSStatus

  init(_ status: OSStatus) { self.status = status }

  /// The file is not a silo, or is damaged: macOS's ioErr.
  static let damaged = SiloError(-36)
  /// Another silo has the file open: macOS's fBsyErr.
  static let busy = SiloError(-47)

  /// Converts a result code of SQLite. A full disk is macOS's dskFulErr.
  static func sqlite(_ code: Int32) -> SiloError {
    switch code & 0xFF {
    case SQLITE_FULL: SiloError(-34)
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_NOMEM: SiloError(kVTAllocationFailedErr)
    case SQLITE_TOOBIG: SiloError(kVTParameterErr)
    default: .damaged
    }
  }
}
