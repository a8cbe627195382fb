// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// How a sample rate conversion handles the beginning and the end of the input.
public enum AVAudioConverterPrimeMethod: Int, Sendable {
  /// The input begins with frames that only prime the filter and ends with frames that only flush
  /// it. `primeInfo` tells how many.
  case pre = 0
  /// The input is preceded and followed by silence. The output has the duration of the input.
  case normal = 1
  /// The input is not followed by silence. The output is delayed by half the length of the filter,
  /// and its end is not produced.
  case none = 2
}

/// The number of additional frames that a conversion needs.
public struct AVAudioConverterPrimeInfo: Sendable, Hashable {
  public var leadingFrames: AVAudioFrameCount
  public var trailingFrames: AVAudioFrameCount

  public init() { self.init(leadingFrames: 0, trailingFrames: 0) }

  public init(leadingFrames: AVAudioFrameCount, trailingFrames: AVAudioFrameCount) {
    self.leadingFrames = leadingFrames
    self.trailingFrames = trailingFrames
  }
}

/// The result of an input block.
public enum AVAudioConverterInputStatus: Int, Sendable {
  /// The returned buffer contains audio.
  case haveData = 0
  /// There is no audio at the moment.
  case noDataNow = 1
  /// There is no further audio.
  case endOfStream = 2
}

/// The result of a conversion.
public enum AVAudioConverterOutputStatus: Int, Sendable {
  /// The output buffer is full, or contains the rest of the output.
  case haveData = 0
  /// The input block had not enough audio. The output buffer contains what could be converted.
  case inputRanDry = 1
  /// There is no further output.
  case endOfStream = 2
  /// An error occurred. The output buffer contains what was converted before.
  case error = 3
}

/// Provides the input of a conversion.
///
/// The block returns a buffer of the input format and sets the status to `haveData`, or sets
/// another status. All audio in the buffer is used.
/// - Parameters:
///   - inNumberOfPackets: The number of frames or packets that are needed. Another number is
///     allowed.
///   - outStatus: Receives the status.
public typealias AVAudioConverterInputBlock = (
  _ inNumberOfPackets: AVAudioPacketCount, _ outStatus: UnsafeMutablePointer<AVAudioConverterInputStatus>
) -> AVAudioBuffer?

/// Converts audio between formats.
///
/// Linear PCM is converted to linear PCM of any sample rate, layout and number of channels, or
/// encoded as AAC, Apple Lossless, FLAC or Opus. Formats that libavcodec can decode are converted
/// to linear PCM.
///
/// Properties must be set before the first conversion, or before the first one after `reset()`. The
/// `bitRate` of AAC can be changed at any time.
open class AVAudioConverter: NSObject {
  public let inputFormat: AVAudioFormat
  public let outputFormat: AVAudioFormat
  var setup: ConverterSetup
  private var conversion: (any AudioConversion)?
  /// Whether a conversion has begun.
  private var hasBegun = false
  /// Whether the input block has returned `endOfStream`.
  private var hasEnded = false

  /// Creates a converter.
  /// - Parameters:
  ///   - fromFormat: The format of the input.
  ///   - toFormat: The format of the output.
  /// - Returns: Nil if the conversion is not possible. Compressed audio cannot be converted
  ///   directly to another compressed format.
  public init?(from fromFormat: AVAudioFormat, to toFormat: AVAudioFormat) {
    inputFormat = fromFormat
    outputFormat = toFormat
    setup = ConverterSetup(fromFormat, toFormat)
    super.init()
    guard let made = try? setup.make() else { return nil }
    conversion = made
  }

  /// Discards the input so far and what has been converted of it.
  open func reset() {
    conversion = nil
    hasEnded = false
    hasBegun = false
  }

  func current() throws -> any AudioConversion {
    if let conversion { return conversion }
    let made = try setup.make()
    conversion = made
    return made
  }

  /// Changes a setting. The change has an effect if no conversion has begun.
  func change(_ body: (inout ConverterSetup) -> Void) {
    body(&setup)
    if !hasBegun { conversion = nil }
  }

  /// Converts a buffer of linear PCM to another format of linear PCM with the same sample rate.
  /// - Parameters:
  ///   - outputBuffer: A buffer with room for the frames of the input.
  ///   - inputBuffer: A buffer in the input format.
  /// - Throws: `kAudioConverterErr_OperationNotSupported` for compressed audio or another sample
  ///   rate, `kAudioConverterErr_InvalidOutputSize` if there is not enough room,
  ///   `kAudioConverterErr_FormatNotSupported` for buffers in other formats than the converter's.
  open func convert(to outputBuffer: AVAudioPCMBuffer, from inputBuffer: AVAudioPCMBuffer) throws {
    guard inputFormat.isPCM, outputFormat.isPCM, inputFormat.sampleRate == outputFormat.sampleRate else {
      throw AudioError.make(
        kAudioConverterErr_OperationNotSupported,
        "Compressed audio and other sample rates need convert(to:error:withInputFrom:).")
    }
    try check(inputBuffer, inputFormat)
    try check(outputBuffer, outputFormat)
    guard outputBuffer.frameCapacity >= inputBuffer.frameLength else {
      throw AudioError.make(
        kAudioConverterErr_InvalidOutputSize,
        "\(inputBuffer.frameLength) frames have no room in \(outputBuffer.frameCapacity).")
    }
    outputBuffer.frameLength = 0
    do {
      let conversion = try setup.make()
      try conversion.feed(inputBuffer)
      try conversion.finish()
      _ = try conversion.fill(outputBuffer)
    } catch { throw AudioError.conversion(error) }
  }

  /// Fills a buffer with converted audio, and calls the input block when it needs input.
  /// - Parameters:
  ///   - outputBuffer: A buffer in the output format. Its contents are replaced.
  ///   - outError: Receives the error if the result is `.error`.
  ///   - inputBlock: Provides the input. After it has returned `endOfStream` it is not called until
  ///     `reset()`.
  /// - Returns: The result of the conversion.
  open func convert(
    to outputBuffer: AVAudioBuffer, error outError: NSErrorPointer,
    withInputFrom inputBlock: AVAudioConverterInputBlock
  ) -> AVAudioConverterOutputStatus {
    do {
      try check(outputBuffer, outputFormat)
      empty(outputBuffer)
      guard hasRoom(outputBuffer) else {
        throw AudioError.make(kAudioConverterErr_InvalidOutputSize, "The output has no room for any audio.")
      }
      let conversion = try current()
      hasBegun = true
      while try !conversion.fill(outputBuffer) {
        if hasEnded { return holdsAudio(outputBuffer) ? .haveData : .endOfStream }
        var status = AVAudioConverterInputStatus.haveData
        let input = inputBlock(conversion.need(for: outputBuffer), &status)
        switch status {
        case .noDataNow: return .inputRanDry
        case .endOfStream:
          hasEnded = true
          try conversion.finish()
        case .haveData:
          // An empty buffer is treated as `noDataNow`; otherwise the loop might not end.
          guard let input, holdsAudio(input) else { return .inputRanDry }
          try check(input, inputFormat)
          try conversion.feed(input)
        }
      }
      return .haveData
    } catch {
      outError?.pointee = AudioError.conversion(error)
      return .error
    }
  }

  private func check(_ buffer: AVAudioBuffer, _ format: AVAudioFormat) throws {
    let own = buffer.format.basic
    let fits = format.isPCM ? own == format.basic : own.mFormatID == format.basic.mFormatID
    guard fits, buffer is AVAudioPCMBuffer == format.isPCM else {
      throw AudioError.make(
        kAudioConverterErr_FormatNotSupported,
        "A buffer has another format (\(buffer.format)) than the converter (\(format)).")
    }
    if let buffer = buffer as? AVAudioCompressedBuffer, buffer.packetDescriptions == nil,
      buffer.format.basic.mBytesPerPacket == 0
    {
      throw AudioError.make(
        kAudioConverterErr_RequiresPacketDescriptionsError, "The packets of the buffer are not described.")
    }
  }

  private func empty(_ buffer: AVAudioBuffer) {
    (buffer as? AVAudioPCMBuffer)?.frameLength = 0
    (buffer as? AVAudioCompressedBuffer)?.packetCount = 0
    (buffer as? AVAudioCompressedBuffer)?.byteLength = 0
  }

  private func hasRoom(_ buffer: AVAudioBuffer) -> Bool {
    if let buffer = buffer as? AVAudioPCMBuffer { return buffer.frameCapacity > 0 }
    return (buffer as? AVAudioCompressedBuffer).map { $0.packetCapacity > 0 } ?? false
  }

  private func holdsAudio(_ buffer: AVAudioBuffer) -> Bool {
    if let buffer = buffer as? AVAudioPCMBuffer { return buffer.frameLength > 0 }
    return (buffer as? AVAudioCompressedBuffer).map { $0.packetCount > 0 } ?? false
  }
}
