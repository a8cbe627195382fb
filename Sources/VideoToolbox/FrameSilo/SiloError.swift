// SPDX-License-Identifier: Apache-2.0
import CSQLite
import CoreFoundation

/// Why a silo cannot do something, as its functions return it.
struct SiloError: Error, Equatable {
  let status: OSStatus

  init(_ status: OSStatus) { self.status = status }

  /// The file is no silo, or one whose content was changed: macOS's ioErr.
  static let damaged = SiloError(-36)
  /// Another silo has the file open: macOS's fBsyErr.
  static let busy = SiloError(-47)

  /// A result code of SQLite's; macOS's dskFulErr for a full disk.
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
