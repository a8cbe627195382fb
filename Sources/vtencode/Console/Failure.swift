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
    var parts: [String] = []
    if let text = bridged.userInfo[NSLocalizedDescriptionKey] as? String { parts.append(text) }
    if let reason = bridged.localizedFailureReason, !parts.contains(reason) { parts.append(reason) }
    if let advice = bridged.localizedRecoverySuggestion, !parts.contains(advice) { parts.append(advice) }
    if parts.isEmpty { parts.append("\(bridged.domain) error \(bridged.code)") }
    return
      parts.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ". \n")) }.joined(separator: ". ")
  }

  /// The operating system's own words, if it is what said no.
  private static func systemError(in error: NSError) -> String? {
    var current: NSError? = error
    while let error = current {
      if error.domain == NSPOSIXErrorDomain, let code = Int32(exactly: error.code) {
        return advice(forSystemError: code)
      }
      current = error.userInfo[NSUnderlyingErrorKey] as? NSError
    }
    return nil
  }

  static func advice(forSystemError code: Int32) -> String {
    switch code {
    case ENOSPC: "the disk is full; free some space or write elsewhere with --out"
    case EDQUOT: "the disk quota is used up; free some space or write elsewhere with --out"
    case EFBIG: "the file would become larger than this system allows"
    case EACCES, EPERM: "permission denied; choose a place that you may write to with --out"
    case EROFS: "the file system is read-only; write elsewhere with --out"
    case EPIPE: "the program that reads the output has gone"
    default: String(cString: strerror(code)).lowercased()
    }
  }
}
