// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// A place in sound, in frames.
public typealias AVAudioFramePosition = Int64
/// A number of frames.
public typealias AVAudioFrameCount = UInt32
/// A number of packets.
public typealias AVAudioPacketCount = UInt32
/// A number of channels.
public typealias AVAudioChannelCount = UInt32

/// Where a function puts its error: `&error`, with `var error: NSError?`.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Errors of this module have the codes of Core Audio.
enum AudioError {
  /// The domain of Apple's errors.
  static let domain = "com.apple.coreaudio.avfaudio"

  static func make(_ status: OSStatus, _ reason: String) -> NSError {
    NSError(
      domain: domain, code: Int(status),
      userInfo: [NSLocalizedDescriptionKey: reason, NSLocalizedFailureReasonErrorKey: reason])
  }

  /// What went wrong with a file, in Core Audio's terms.
  static func file(_ error: any Error) -> NSError {
    guard let error = error as? MediaFileError else { return error as NSError }
    let status =
      switch error.kind {
      case .notRecognized, .noStreams: kAudioFileUnsupportedFileTypeError
      case .notPermitted, .encrypted: kAudioFilePermissionsError
      case .damaged: kAudioFileInvalidFileError
      case .unsupportedFormat: kAudioFileUnsupportedDataFormatError
      case .outOfMemory: kAudio_MemFullError
      case .notFound, .diskFull, .fileExists, .badTiming, .other: kAudioFileUnspecifiedError
      }
    return make(status, error.detail)
  }

  /// What went wrong with a conversion, in Core Audio's terms.
  static func conversion(_ error: any Error) -> NSError {
    guard let error = error as? MediaFileError else { return error as NSError }
    let status =
      switch error.kind {
      case .unsupportedFormat: kAudioConverterErr_FormatNotSupported
      case .outOfMemory: kAudio_MemFullError
      default: kAudioConverterErr_UnspecifiedError
      }
    return make(status, error.detail)
  }
}
