// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// What comes before the first frame and after the last where the sample rate changes.
public enum AVAudioConverterPrimeMethod: Int, Sendable {
  /// The input begins with frames that only prime the filter, and ends with such: `primeInfo` says how many.
  case pre = 0
  /// The sound before the input is taken for silence, and the input's end is followed by silence: the output has as
  /// many frames as the input is long.
  case normal = 1
  /// Nothing follows the input: the output is late by the length of half the filter, and its end is not given out.
  case none = 2
}

/// Frames beside those that are wanted.
public struct AVAudioConverterPrimeInfo: Sendable, Hashable {
  public var leadingFrames: AVAudioFrameCount
  public var trailingFrames: AVAudioFrameCount

  public init() { self.init(leadingFrames: 0, trailingFrames: 0) }

  public init(leadingFrames: AVAudioFrameCount, trailingFrames: AVAudioFrameCount) {
    self.leadingFrames = leadingFrames
    self.trailingFrames = trailingFrames
  }
}

/// What an input block says.
public enum AVAudioConverterInputStatus: Int, Sendable {
  /// The buffer that it returns has sound.
  case haveData = 0
  /// There is none now.
  case noDataNow = 1
  /// There will be none.
  case endOfStream = 2
}

/// How a conversion ended.
public enum AVAudioConverterOutputStatus: Int, Sendable {
  /// All that was asked for, or all that was left at the end, is there.
  case haveData = 0
  /// The input block had not enough; what there was is in the buffer.
  case inputRanDry = 1
  /// There was nothing left.
  case endOfStream = 2
  /// See the error. What was made before is in the buffer.
  case error = 3
}

/// Gives a converter its input: a buffer and `haveData`, or another status. It is told how many frames, or packets, would
/// do; another number is as good. All of the buffer, which has the input's format, is used.
public typealias AVAudioConverterInputBlock = (
  _ inNumberOfPackets: AVAudioPacketCount, _ outStatus: UnsafeMutablePointer<AVAudioConverterInputStatus>
) -> AVAudioBuffer?

/// Converts sound: linear PCM to linear PCM of any rate, layout and number of channels, to AAC, Apple Lossless, FLAC and
/// Opus, and what libavcodec can decode to linear PCM.
///
/// Properties are set before the first conversion, or before one after `reset()`; of AAC, `bitRate` may change at any time.
open class AVAudioConverter: NSObject {
  public let inputFormat: AVAudioFormat
  public let outputFormat: AVAudioFormat
  var setup: ConverterSetup
  private var conversion: (any SoundConversion)?
  /// Something was asked for.
  private var hasBegun = false
  /// The input has said that it is over.
  private var hasEnded = false

  /// - Parameters:
  ///   - fromFormat: Of the input.
  ///   - toFormat: Of the output. nil is returned where this conversion is not possible; packets cannot become packets of
  ///     another format.
  public init?(from fromFormat: AVAudioFormat, to toFormat: AVAudioFormat) {
    inputFormat = fromFormat
    outputFormat = toFormat
    setup = ConverterSetup(fromFormat, toFormat)
    super.init()
    guard let made = try? setup.make() else { return nil }
    conversion = made
  }

  /// Forgets all input, and what the converter has made of it.
  open func reset() {
    conversion = nil
    hasEnded = false
    hasBegun = false
  }

  func current() throws -> any SoundConversion {
    if let conversion { return conversion }
    let made = try setup.make()
    conversion = made
    return made
  }

  /// A changed setting holds for what is converted next, if nothing has been.
  func change(_ body: (inout ConverterSetup) -> Void) {
    body(&setup)
    if !hasBegun { conversion = nil }
  }

  /// Converts linear PCM to linear PCM of the same sample rate, all at once.
  /// - Parameters:
  ///   - outputBuffer: With room for as many frames as the input has.
  ///   - inputBuffer: In the input's format.
  /// - Throws: `kAudioConverterErr_OperationNotSupported` for compressed sound and another sample rate,
  ///   `kAudioConverterErr_InvalidOutputSize` where there is no room, `kAudioConverterErr_FormatNotSupported` for buffers
  ///   of other formats than the converter's.
  open func convert(to outputBuffer: AVAudioPCMBuffer, from inputBuffer: AVAudioPCMBuffer) throws {
    guard inputFormat.isPCM, outputFormat.isPCM, inputFormat.sampleRate == outputFormat.sampleRate else {
      throw AudioError.make(
        kAudioConverterErr_OperationNotSupported,
        "Compressed sound and other sample rates need convert(to:error:withInputFrom:).")
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

  /// Converts as much as a buffer has room for, and asks for input as it is needed.
  /// - Parameters:
  ///   - outputBuffer: In the output's format; what it held is replaced.
  ///   - outError: Where the error goes if the result is `.error`.
  ///   - inputBlock: Called for more input, and no more once it has said `endOfStream`, up to `reset()`.
  open func convert(
    to outputBuffer: AVAudioBuffer, error outError: NSErrorPointer,
    withInputFrom inputBlock: AVAudioConverterInputBlock
  ) -> AVAudioConverterOutputStatus {
    do {
      try check(outputBuffer, outputFormat)
      empty(outputBuffer)
      guard hasRoom(outputBuffer) else {
        throw AudioError.make(kAudioConverterErr_InvalidOutputSize, "The output has no room for any sound.")
      }
      let conversion = try current()
      hasBegun = true
      while try !conversion.fill(outputBuffer) {
        if hasEnded { return holdsSound(outputBuffer) ? .haveData : .endOfStream }
        var status = AVAudioConverterInputStatus.haveData
        let input = inputBlock(conversion.need(for: outputBuffer), &status)
        switch status {
        case .noDataNow: return .inputRanDry
        case .endOfStream:
          hasEnded = true
          try conversion.finish()
        case .haveData:
          // Nothing, said to be something, would be asked for without end.
          guard let input, holdsSound(input) else { return .inputRanDry }
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

  private func holdsSound(_ buffer: AVAudioBuffer) -> Bool {
    if let buffer = buffer as? AVAudioPCMBuffer { return buffer.frameLength > 0 }
    return (buffer as? AVAudioCompressedBuffer).map { $0.packetCount > 0 } ?? false
  }
}
