// SPDX-License-Identifier: Apache-2.0
import Foundation

import FFmpegMedia

extension AVError {
  /// Converts an error of FFmpegMedia to the one that a reader or an asset reports.
  init(reading error: MediaFileError) {
    let (code, advice): (Code, String) =
      switch error.kind {
      case .notFound: (.contentIsUnavailable, "Check the path of the file.")
      case .notPermitted: (.contentIsNotAuthorized, "Check the permissions of the file.")
      case .notRecognized:
        (.fileFormatNotRecognized, "Use a movie file that is complete and not of another kind.")
      case .damaged, .badTiming:
        (.fileFailedToParse, "The file is damaged or incomplete: copy or record it again.")
      case .encrypted: (.contentIsProtected, "Decrypt the file first.")
      case .noStreams: (.noSourceTrack, "Use a file that holds video or audio.")
      case .unsupportedFormat: (.decoderNotFound, "Convert the file to a common format first.")
      case .outOfMemory: (.outOfMemory, "Close other programs, or use a smaller file.")
      case .diskFull, .fileExists, .other: (.failedToLoadMediaData, "Check that the file can be read.")
      }
    self.init(code, reason: error.detail, advice: advice, underlying: AVError.posix(error))
  }

  /// Converts an error of FFmpegMedia to the one that a writer reports.
  init(writing error: MediaFileError) {
    let (code, advice): (Code, String) =
      switch error.kind {
      case .notFound: (.contentIsUnavailable, "Make the folder first, or choose one that exists.")
      case .notPermitted: (.contentIsNotAuthorized, "Choose a folder that you may write to.")
      case .diskFull: (.diskFull, "Make room on the disk, or choose another one.")
      case .fileExists: (.fileAlreadyExists, "Remove the file first, or choose another name.")
      case .unsupportedFormat: (.formatUnsupported, "Choose another file type or another codec.")
      case .badTiming:
        (.invalidSourceMedia, "Append samples in decode order, each later than the one before.")
      case .noStreams: (.noDataCaptured, "Append at least one sample before finishing.")
      case .outOfMemory: (.outOfMemory, "Close other programs.")
      case .damaged, .notRecognized, .encrypted, .other: (.unknown, "Try again, on another disk if need be.")
      }
    self.init(code, reason: error.detail, advice: advice, underlying: AVError.posix(error))
  }

  private static func posix(_ error: MediaFileError) -> NSError? {
    error.posixCode.map { NSError(domain: NSPOSIXErrorDomain, code: Int($0)) }
  }

  /// Converts any error thrown while reading.
  static func reading(_ error: Error) -> AVError {
    if let error = error as? AVError { return error }
    if let error = error as? MediaFileError { return AVError(reading: error) }
    return AVError(.unknown, reason: error.localizedDescription, underlying: error)
  }

  /// Converts any error thrown while writing.
  static func writing(_ error: Error) -> AVError {
    if let error = error as? AVError { return error }
    if let error = error as? MediaFileError { return AVError(writing: error) }
    return AVError(.unknown, reason: error.localizedDescription, underlying: error)
  }
}
