// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Turns an input's samples into compressed ones.
protocol InputEncoder: AnyObject, Sendable {
  /// Takes a buffer; its times minus `start` are on the movie's time line.
  func append(_ buffer: CMSampleBuffer, shiftedBy start: CMTime) throws
  /// Waits until everything has come out.
  func complete() throws
  /// Drops what is under way.
  func invalidate()
  /// Whether the next buffer would have to wait.
  var isBusy: Bool { get }
  /// The format of what comes out, where it is known before anything has come in.
  func provisionalFormat(_ hint: CMFormatDescription?) -> CMFormatDescription?
}

extension InputEncoder {
  var isBusy: Bool { false }
  func provisionalFormat(_ hint: CMFormatDescription?) -> CMFormatDescription? { nil }
}

/// Pictures through a compression session.
final class PictureEncoder: InputEncoder, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let encoding: VideoEncoding
  private let lock = Lock()
  private let keyFrameInterval: CMTime
  private let segmentStart: CMTime
  /// nil before the first picture, which is a key frame.
  private var nextKeyFrame: CMTime?
  private var last: CMTime?

  /// - Parameters:
  ///   - keyFrameInterval: A key frame is needed at every multiple of it; invalid: where the encoder likes.
  ///   - segmentStart: The source time that these are counted from; invalid: the session's start.
  init(
    _ settings: VideoEncodingSettings, isRealTime: Bool, sourceAttributes: NSDictionary?,
    keyFrameInterval: CMTime, segmentStart: CMTime = .invalid, passes: EncodingPasses? = nil,
    output: @escaping VideoEncoding.Output
  ) throws {
    self.keyFrameInterval = keyFrameInterval
    self.segmentStart = segmentStart
    encoding = try VideoEncoding(
      settings, isRealTime: isRealTime, sourceAttributes: sourceAttributes, passes: passes, output: output)
  }

  var makesPasses: Bool { encoding.makesPasses }

  /// - Returns: What to append again, on the movie's time line; nil after the last pass.
  func endPass() throws -> [CMTimeRange]? {
    let ranges = try encoding.endPass()
    lock.withLock {
      last = nil
      nextKeyFrame = nil
    }
    return ranges
  }

  var pixelBufferPool: CVPixelBufferPool? { encoding.pixelBufferPool }
  var isBusy: Bool { encoding.isBusy }
  /// Called when a picture is done with.
  func whenDone(_ action: @escaping @Sendable () -> Void) { encoding.onProgress = action }

  func append(_ buffer: CMSampleBuffer, shiftedBy start: CMTime) throws {
    guard let image = CMSampleBufferGetImageBuffer(buffer) else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample buffer holds no picture to encode.",
        advice: "Append pictures to an input that encodes; for compressed samples use nil as output settings."
      )
    }
    let isWanted =
      CMGetAttachment(buffer, key: kCMSampleBufferAttachmentKey_ForceKeyFrame, attachmentModeOut: nil)
      as? Bool
    try append(
      image, time: CMSampleBufferGetPresentationTimeStamp(buffer) - start,
      duration: CMSampleBufferGetDuration(buffer), isKey: isWanted == true,
      gridStart: segmentStart.isNumeric ? segmentStart - start : .zero)
  }

  private func append(
    _ image: CVImageBuffer, time: CMTime, duration: CMTime, isKey isWanted: Bool, gridStart: CMTime
  ) throws {
    guard time.isNumeric else {
      throw AVError(
        .invalidSourceMedia, reason: "The picture has no presentation time.",
        advice: "Give every sample a numeric presentation time stamp.")
    }
    let isKey = try lock.withLock {
      if let last, time <= last {
        throw AVError(
          .invalidSourceMedia,
          reason: "A picture's time (\(time.seconds) s) does not follow the one before (\(last.seconds) s).",
          advice: "Append pictures in the order in which they are shown.",
          info: [AVErrorPresentationTimeStampKey: NSValue(time: time)])
      }
      last = time
      guard keyFrameInterval.isNumeric, keyFrameInterval > .zero, nextKeyFrame.map({ time >= $0 }) ?? true
      else {
        return isWanted
      }
      nextKeyFrame = TimeGrid.first(
        after: time, from: gridStart + keyFrameInterval, every: keyFrameInterval)
      return true
    }
    try encoding.encode(image, time: time, duration: duration, forceKeyFrame: isKey)
  }

  func complete() throws { try encoding.complete() }
  func invalidate() { encoding.invalidate() }
}

/// What an input's output settings ask of sound.
struct SoundEncodingSettings: Sendable {
  var request: AudioEncoder.Request

  /// Sound that these settings might be applied to.
  var typicalSource: AudioStreamBasicDescription {
    // More than any encoder takes, and little enough to reckon with.
    let channels = UInt32(clamping: min(request.channels ?? 2, 1 << 16))
    return AudioStreamBasicDescription(
      mSampleRate: Double(request.sampleRate ?? 44_100), mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 2 * channels,
      mFramesPerPacket: 1, mBytesPerFrame: 2 * channels, mChannelsPerFrame: channels, mBitsPerChannel: 16,
      mReserved: 0)
  }

  /// What the encoder says against the settings, if anything.
  var encoderError: AVError? {
    do {
      _ = try AudioEncoder(request, source: typicalSource)
      return nil
    } catch { return AVError.writing(error) }
  }

  init(_ settings: [String: Any]) throws {
    func number(_ key: String) -> Double? { (settings[key] as? NSNumber)?.doubleValue }
    func complain(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Use kAudioFormatMPEG4AAC or kAudioFormatLinearPCM with 1 to 8 channels.")
    }
    guard let format = number(AVFormatIDKey) else { throw complain("AVFormatIDKey is missing.") }
    if let rate = number(AVSampleRateKey), !(8000...192_000).contains(rate) {
      throw complain("The sample rate is out of range.")
    }
    if let channels = number(AVNumberOfChannelsKey), !(1...8).contains(channels) {
      throw complain("The number of channels is out of range.")
    }
    var request = AudioEncoder.Request()
    request.sampleRate = number(AVSampleRateKey).map { Int(clamping: $0) }
    request.channels = number(AVNumberOfChannelsKey).map { Int(clamping: $0) }
    if let layout = settings[AVChannelLayoutKey] {
      request.channels = try ChannelLayoutSetting(
        layout, isCoded: AudioFormatID(clamping: format) == kAudioFormatMPEG4AAC, number: request.channels
      ).channels
    }
    switch AudioFormatID(clamping: format) {
    case kAudioFormatMPEG4AAC:
      request.bitRate = number(AVEncoderBitRateKey).map { Int(clamping: $0) }
      if let rate = request.bitRate, !(8000...1_000_000).contains(rate) {
        throw complain("The bit rate is out of range.")
      }
      try request.adopt(encoding: settings)
    case kAudioFormatLinearPCM:
      let isFloat = number(AVLinearPCMIsFloatKey).map { $0 != 0 } ?? false
      let bits = Int(clamping: number(AVLinearPCMBitDepthKey) ?? (isFloat ? 32 : 16))
      guard isFloat ? bits == 32 : [16, 24, 32].contains(bits), number(AVLinearPCMIsNonInterleaved) ?? 0 == 0
      else {
        throw complain("This layout of linear PCM cannot be written.")
      }
      request.pcm = (bits, isFloat, number(AVLinearPCMIsBigEndianKey).map { $0 != 0 } ?? false)
    default: throw complain("This sound format cannot be encoded.")
    }
    try request.adopt(conversion: settings)
    self.request = request
  }
}

/// PCM into AAC, or into other PCM.
final class SoundEncoder: InputEncoder, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var settings: SoundEncodingSettings
  /// Outside of the lock: the writer asks for the format under locks of its own, which the samples wait for.
  private let output: OrderedOutput<CMSampleBuffer>
  private var encoder: AudioEncoder?

  init(_ settings: SoundEncodingSettings, output: @escaping VideoEncoding.Output) {
    self.settings = settings
    self.output = OrderedOutput { output(.success($0)) }
  }

  func append(_ buffer: CMSampleBuffer, shiftedBy start: CMTime) throws {
    guard let description = CMSampleBufferGetFormatDescription(buffer),
      let basic = description.audioStreamBasicDescription, basic.mFormatID == kAudioFormatLinearPCM,
      let block = CMSampleBufferGetDataBuffer(buffer)
    else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample buffer holds no linear PCM to encode.",
        advice: "Append PCM to an input that encodes; for compressed sound use nil as output settings.")
    }
    let time = CMSampleBufferGetPresentationTimeStamp(buffer) - start
    guard time.isNumeric else {
      throw AVError(.invalidSourceMedia, reason: "The sound has no presentation time.")
    }
    let count = CMBlockBufferGetDataLength(block)
    guard block.canBeCopied(count) else {
      throw AVError(.invalidSourceMedia, reason: "The sound's data is not in memory, or too long.")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    let status = bytes.withUnsafeMutableBytes { raw -> OSStatus in
      guard let base = raw.baseAddress, !raw.isEmpty else { return noErr }
      return CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: raw.count, destination: base)
    }
    guard status == noErr else {
      throw AVError(.invalidSourceMedia, reason: "The sound's data cannot be read (\(status)).")
    }
    try lock.withLock {
      if encoder == nil { encoder = try AudioEncoder(settings.request, source: basic) }
      guard let encoder else { return }
      for sample in try encoder.encode(bytes, source: basic, time: time) { output.put(sample) }
    }
    output.flush()
  }

  /// What the settings leave open is as the hint says, or else 44100 Hz and two channels; it stays so.
  func provisionalFormat(_ hint: CMFormatDescription?) -> CMFormatDescription? {
    lock.withLock {
      if let encoder { return encoder.formatDescription }
      let source = hint?.audioStreamBasicDescription
      settings.request.sampleRate =
        settings.request.sampleRate ?? Int(clamping: source?.mSampleRate ?? 44_100)
      settings.request.channels = settings.request.channels ?? Int(source?.mChannelsPerFrame ?? 2)
      return (try? AudioEncoder(settings.request, source: settings.typicalSource))?.formatDescription
    }
  }

  func complete() throws {
    try lock.withLock {
      guard let encoder else { return }
      for sample in try encoder.finish() { output.put(sample) }
    }
    output.complete()
  }

  func invalidate() { lock.withLock { encoder = nil } }
}
