// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// An error in reading or writing a media file: its kind, and a description with libavformat's
/// messages.
package struct MediaFileError: Error, Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// The file or folder does not exist.
    case notFound
    /// The system does not allow the access.
    case notPermitted
    /// No demuxer knows the file's format.
    case notRecognized
    /// The format is known, the content is broken or ends too early.
    case damaged
    /// The samples are encrypted.
    case encrypted
    /// There is nothing to play in the file.
    case noStreams
    /// The container cannot hold this kind of media.
    case unsupportedFormat
    /// No room left on the device, or a file size limit was reached.
    case diskFull
    /// The final name is taken.
    case fileExists
    /// Samples that are out of order, or have no time.
    case badTiming
    case outOfMemory
    case other
  }

  package let kind: Kind
  /// One line for a person.
  package let detail: String
  /// The libav error code, or a negative errno; 0 when neither applies.
  package let code: Int32

  package init(_ kind: Kind, _ detail: String, code: Int32 = 0) {
    self.kind = kind
    self.detail = detail
    self.code = code
  }

  package var description: String { detail }

  /// The positive errno in `code`, if it is one.
  package var posixCode: Int32? { code < 0 && code > -4096 ? -code : nil }
}

extension MediaFileError {
  /// An error from a libav return code. `context` describes the failed operation, and `messages`
  /// are the library's log messages.
  static func libav(_ code: Int32, _ context: String, messages: [String] = []) -> MediaFileError {
    let kind: Kind
    switch code {
    case ovt_averror(ENOENT), ovt_averror(ENOTDIR): kind = .notFound
    case ovt_averror(EACCES), ovt_averror(EPERM), ovt_averror(EROFS): kind = .notPermitted
    case ovt_averror(ENOSPC), ovt_averror(EDQUOT), ovt_averror(EFBIG): kind = .diskFull
    case ovt_averror(ENOMEM): kind = .outOfMemory
    case ovt_averror(EEXIST): kind = .fileExists
    case ovt_averror(EIO), ovt_averror_eof(): kind = .damaged
    case ovt_averror_invaliddata(): kind = .notRecognized
    default: kind = .other
    }
    var reason = libavReason(code)
    if let message = messages.last(where: { !$0.isEmpty }) { reason = message }
    return MediaFileError(kind, "\(context): \(reason)", code: code)
  }
}

/// libav's text for a return code.
package func libavReason(_ code: Int32) -> String {
  var text = [CChar](repeating: 0, count: 256)
  guard av_strerror(code, &text, text.count) >= 0 else { return "error \(code)" }
  return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
