// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// A type of audio file that can be written, and the formats that it can hold.
enum AudioFileKind {
  case wave, coreAudio, aiff, aifc, mpeg4

  /// Determines the type from `AVAudioFileTypeKey` or the URL's path extension.
  /// - Throws: `kAudioFileUnsupportedFileTypeError` for other types.
  init(_ url: URL, _ settings: [String: Any]) throws {
    if let type = (settings[AVAudioFileTypeKey] as? NSNumber)?.uint32Value {
      switch type {
      case kAudioFileWAVEType, kAudioFileRF64Type: self = .wave
      case kAudioFileCAFType: self = .coreAudio
      case kAudioFileAIFFType: self = .aiff
      case kAudioFileAIFCType: self = .aifc
      case kAudioFileM4AType, kAudioFileMPEG4Type: self = .mpeg4
      default: throw Self.unknown("This type of file cannot be written.")
      }
      return
    }
    switch url.pathExtension.lowercased() {
    case "wav", "wave": self = .wave
    case "caf": self = .coreAudio
    case "aif", "aiff": self = .aiff
    case "aifc": self = .aifc
    case "m4a", "mp4": self = .mpeg4
    default: throw Self.unknown("Files with the name extension \"\(url.pathExtension)\" cannot be written.")
    }
  }

  private static func unknown(_ reason: String) -> NSError {
    AudioError.make(kAudioFileUnsupportedFileTypeError, reason)
  }

  var container: MuxerContainer {
    switch self {
    case .wave: .wav
    case .coreAudio: .caf
    case .aiff, .aifc: .aiff
    case .mpeg4: .m4a
    }
  }

  /// Returns the format of the file for settings.
  /// - Throws: `kAudioFileUnsupportedDataFormatError` if the file type cannot hold the format.
  func format(_ settings: [String: Any]) throws -> AVAudioFormat {
    guard var format = AVAudioFormat(settings: settings) else {
      throw unsupported("The settings are of no audio format.")
    }
    guard (1...768_000).contains(format.sampleRate), format.sampleRate == format.sampleRate.rounded(),
      (1...64).contains(format.channelCount)
    else {
      throw unsupported("\(format.sampleRate) Hz and \(format.channelCount) channels cannot be written.")
    }
    guard format.isPCM else {
      let codec = AudioCodec(format.basic.mFormatID)
      guard self == .mpeg4, codec == .aac || codec == .appleLossless, format.channelCount <= 8 else {
        throw unsupported("This type of file cannot be written with this format.")
      }
      return format
    }
    var basic = format.basic
    let isFloat = basic.mFormatFlags & kAudioFormatFlagIsFloat != 0
    let bits = basic.mBitsPerChannel
    // Without a setting the byte order is that of the file type.
    let requestedBigEndian = (settings[AVLinearPCMIsBigEndianKey] as? NSNumber)?.boolValue
    let isBigEndian: Bool
    switch self {
    case .wave: isBigEndian = false
    case .aiff: isBigEndian = true
    case .aifc: isBigEndian = requestedBigEndian ?? true
    case .coreAudio: isBigEndian = requestedBigEndian ?? false
    case .mpeg4: throw unsupported("An MPEG-4 file of audio holds AAC or Apple Lossless.")
    }
    let isPossible: Bool =
      switch self {
      case .aiff: !isFloat
      // In little-endian order AIFF-C has only 16-bit samples.
      case .aifc: isBigEndian ? bits <= 32 : bits == 16 && !isFloat
      default: true
      }
    guard requestedBigEndian ?? isBigEndian == isBigEndian || bits == 8, isPossible else {
      throw unsupported("This type of file cannot be written with samples of this kind.")
    }
    basic = AVAudioFormat.basic(
      bits: bits, isFloat: isFloat, isBigEndian: isBigEndian && bits > 8, format.sampleRate,
      format.channelCount, true)
    // 8-bit samples in WAVE files are unsigned.
    if self == .wave, bits == 8 { basic.mFormatFlags &= ~kAudioFormatFlagIsSignedInteger }
    format = AVAudioFormat(basic, format.channelLayout)
    return format
  }

  /// Returns the encoder's request for a compressed format.
  /// - Throws: `kAudioFileUnsupportedDataFormatError` for invalid values.
  func request(_ settings: [String: Any], _ format: AVAudioFormat) throws -> AudioEncoder.Request {
    guard let codec = AudioCodec(format.basic.mFormatID) else {
      throw unsupported("There is no such encoder.")
    }
    var request = AudioEncoder.Request()
    request.codec = codec
    request.sampleRate = Int(format.sampleRate)
    request.channels = Int(format.channelCount)
    if let rate = (settings[AVEncoderBitRateKey] as? NSNumber)?.doubleValue {
      guard (8000...1_000_000).contains(rate) else { throw unsupported("The bit rate is out of range.") }
      request.bitRate = Int(rate)
    }
    do {
      try request.take(encoding: settings)
      try request.take(conversion: settings)
    } catch let error as InvalidAudioSetting {
      throw unsupported("The value of \(error.key) is not possible.")
    }
    return request
  }

  private func unsupported(_ reason: String) -> NSError {
    AudioError.make(kAudioFileUnsupportedDataFormatError, reason)
  }
}
