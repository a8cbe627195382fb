// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Why a run ended early, in one line that says what to do about it.
struct Failure: Error {
  var message: String
  var status: Int32 = EXIT_FAILURE
  /// There was no room for what was to be written: another run that writes less may succeed.
  var lacksRoom = false

  init(_ message: String, status: Int32 = EXIT_FAILURE, lacksRoom: Bool = false) {
    self.message = message
    self.status = status
    self.lacksRoom = lacksRoom
  }

  /// - Parameters:
  ///   - what: what could not be done.
  ///   - code: why, as an error number of the system.
  init(_ what: String, systemError code: Int32) {
    self.init("\(what): \(Self.advice(forSystemError: code))", lacksRoom: Self.lacksRoom(code))
  }

  /// Whether an error from elsewhere says that there is no room: a full disk, a quota, a limit of the size of files.
  static func lacksRoom(_ error: any Error) -> Bool {
    if let failure = error as? Failure { return failure.lacksRoom }
    return systemCode(in: error as NSError).map(lacksRoom) ?? false
  }

  private static func lacksRoom(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

  /// One line for an error from elsewhere, with its reason and the advice that came with it.
  static func describe(_ error: any Error) -> String {
    if let failure = error as? Failure { return failure.message }
    let bridged = error as NSError
    if let system = systemError(in: bridged) { return system }
    // The description repeats the reason; what to do about it the caller says, who knows more.
    let text =
      bridged.localizedFailureReason ?? bridged.userInfo[NSLocalizedDescriptionKey] as? String
      ?? "\(bridged.domain) error \(bridged.code)"
    return text.trimmingCharacters(in: CharacterSet(charactersIn: ". \n"))
  }

  /// The operating system's own words, if it is what said no.
  private static func systemError(in error: NSError) -> String? {
    systemCode(in: error).map { advice(forSystemError: $0) }
  }

  private static func systemCode(in error: NSError) -> Int32? {
    var current: NSError? = error
    while let error = current {
      // What libraries call an invalid argument or data says nothing to a person; their reason does.
      if error.domain == NSPOSIXErrorDomain, let code = Int32(exactly: error.code), code != EINVAL {
        return code
      }
      current = error.userInfo[NSUnderlyingErrorKey] as? NSError
    }
    return nil
  }

  /// - Parameter option: what names the place.
  static func advice(forSystemError code: Int32, option: String = "--out") -> String {
    switch code {
    case ENOSPC: "the disk is full; free some space or write elsewhere with \(option)"
    case EDQUOT: "the disk quota is used up; free some space or write elsewhere with \(option)"
    case EFBIG: "the file would become larger than this system allows"
    case EACCES, EPERM: "permission denied; choose a place that you may write to with \(option)"
    case EROFS: "the file system is read-only; write elsewhere with \(option)"
    case EMFILE: "too many files are open for the limit; raise it (ulimit -n)"
    case EPIPE: "the program that reads the output has gone"
    default: String(cString: strerror(code)).lowercased()
    }
  }
}
