// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Why a run ended early, in one line that says what to do about it.
struct Failure: Error {
  var message: String
  var status: Int32 = EXIT_FAILURE

  init(_ message: String, status: Int32 = EXIT_FAILURE) {
    self.message = message
    self.status = status
  }

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
    var current: NSError? = error
    while let error = current {
      // What libraries call an invalid argument or data says nothing to a person; their reason does.
      if error.domain == NSPOSIXErrorDomain, let code = Int32(exactly: error.code), code != EINVAL {
        return advice(forSystemError: code)
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
