// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An error that ends a run, as one line with advice, and the exit status.
struct Failure: Error {
  var message: String
  var status: Int32 = EXIT_FAILURE
  /// Whether there was no room for the output, so that a run that writes less may succeed.
  var lacksRoom = false

  init(_ message: String, status: Int32 = EXIT_FAILURE, lacksRoom: Bool = false) {
    self.message = message
    self.status = status
    self.lacksRoom = lacksRoom
  }

  /// - Parameters:
  ///   - what: what could not be done.
  ///   - code: the system's error number.
  init(_ what: String, systemError code: Int32) {
    self.init("\(what): \(Self.advice(forSystemError: code))", lacksRoom: Self.lacksRoom(code))
  }

  /// Whether an error means that there is no room: a full disk, a quota, or a limit of the file
  /// size.
  static func lacksRoom(_ error: any Error) -> Bool {
    if let failure = error as? Failure { return failure.lacksRoom }
    return systemCode(in: error as NSError).map(lacksRoom) ?? false
  }

  private static func lacksRoom(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

  /// Describes any error in one line: by the system's error it is based on, or else by its reason.
  static func describe(_ error: any Error) -> String {
    if let failure = error as? Failure { return failure.message }
    let bridged = error as NSError
    if let system = systemError(in: bridged) { return system }
    // The localised description repeats the reason, and the caller gives better advice than the
    // error's recovery suggestion.
    let text =
      bridged.localizedFailureReason ?? bridged.userInfo[NSLocalizedDescriptionKey] as? String
      ?? "\(bridged.domain) error \(bridged.code)"
    return text.trimmingCharacters(in: CharacterSet(charactersIn: ". \n"))
  }

  /// The description of the system error that an error is based on; nil if there is none.
  private static func systemError(in error: NSError) -> String? {
    systemCode(in: error).map { advice(forSystemError: $0) }
  }

  private static func systemCode(in error: NSError) -> Int32? {
    var current: NSError? = error
    while let error = current {
      // EINVAL as an underlying error is too general to help; the library's own reason is better.
      if error.domain == NSPOSIXErrorDomain, let code = Int32(exactly: error.code), code != EINVAL {
        return code
      }
      current = error.userInfo[NSUnderlyingErrorKey] as? NSError
    }
    return nil
  }

  /// The description of a system error with advice.
  /// - Parameter option: the option that names the file.
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
