// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// A position in audio, in frames.
public typealias AVAudioFramePosition = Int64
/// A number of frames.
public typealias AVAudioFrameCount = UInt32
/// A number of packets.
public typealias AVAudioPacketCount = UInt32
/// A number of channels.
public typealias AVAudioChannelCount = UInt32

/// A pointer to an error that a function sets: `&error`, with `var error: NSError?`.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// The errors of this module, which have the codes of Core Audio.
enum AudioError {
  /// The error domain of Apple's AVFAudio.
  static let domain = "com.apple.coreaudio.avfaudio"

  static func make(_ status: OSStatus, _ reason: String) -> NSError {
    NSError(
      domain: domain, code: Int(status),
      userInfo: [NSLocalizedDescriptionKey: reason, NSLocalizedFailureReasonErrorKey: reason])
  }

  /// Converts an error of a file to one with Core Audio's code.
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

  /// Converts an error of a conversion to one with Core Audio's code.
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
