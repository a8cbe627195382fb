// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Encodes the samples of an input.
protocol InputEncoder: AnyObject, Sendable {
  /// Encodes the samples of a buffer, whose times minus `start` are times on the movie's time line.
  func append(_ buffer: CMSampleBuffer, shiftedBy start: CMTime) throws
  /// Waits until all samples have been encoded and put out.
  func complete() throws
  /// Drops samples that are being encoded.
  func invalidate()
  /// Whether `append` would have to wait.
  var isBusy: Bool { get }
  /// The format of the encoded samples, if it is known before any sample has been appended.
  func provisionalFormat(_ hint: CMFormatDescription?) -> CMFormatDescription?
}

extension InputEncoder {
  var isBusy: Bool { false }
  func provisionalFormat(_ hint: CMFormatDescription?) -> CMFormatDescription? { nil }
}

/// Encodes pictures with a compression session.
final class VideoInputEncoder: InputEncoder, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let encoding: VideoInputSession
  private let lock = Lock()
  private let keyFrameInterval: CMTime
  private let segmentStart: CMTime
  /// The time from which the next picture is forced to be a key frame; nil before the first
  /// picture.
  private var nextKeyFrame: CMTime?
  private var last: CMTime?

  /// Creates an encoder.
  /// - Parameters:
  ///   - settings: The settings of the encoder.
  ///   - isRealTime: Whether the source determines the pace.
  ///   - sourceAttributes: Core Video's attributes of the pictures that will be appended, if known.
  ///   - keyFrameInterval: The first picture at or after each multiple of this interval is a key
  ///     frame. If invalid, the encoder chooses the key frames.
  ///   - segmentStart: The source time from which the multiples are counted; invalid for the
  ///     session's start.
  ///   - passes: The storage for several passes; nil for one pass.
  ///   - output: Called with each encoded sample, in decode order.
  /// - Throws: `AVError` if there is no encoder or it does not take a property.
  init(
    _ settings: VideoEncodingSettings, isRealTime: Bool, sourceAttributes: NSDictionary?,
    keyFrameInterval: CMTime, segmentStart: CMTime = .invalid, passes: EncodingPasses? = nil,
    output: @escaping VideoInputSession.Output
  ) throws {
    self.keyFrameInterval = keyFrameInterval
    self.segmentStart = segmentStart
    encoding = try VideoInputSession(
      settings, isRealTime: isRealTime, sourceAttributes: sourceAttributes, passes: passes, output: output)
  }

  var makesPasses: Bool { encoding.makesPasses }

  /// Ends a pass when all its pictures have been encoded.
  /// - Returns: Ranges of times to encode again, on the movie's time line; nil after the last pass.
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
  /// Sets an action to call when the encoder has finished a picture.
  func whenDone(_ action: @escaping @Sendable () -> Void) { encoding.onProgress = action }

  func append(_ buffer: CMSampleBuffer, shiftedBy start: CMTime) throws {
    guard let image = CMSampleBufferGetImageBuffer(buffer) else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample buffer contains no picture to encode.",
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
    // A picture that ends before the session begins is never shown, and would take bits and a place
    // among the parts that a further pass encodes again.
    if duration.isNumeric, time + duration <= .zero { return }
    try encoding.encode(image, time: time, duration: duration, forceKeyFrame: isKey)
  }

  func complete() throws { try encoding.complete() }
  func invalidate() { encoding.invalidate() }
}

/// The encoder settings that an input's audio output settings contain.
struct AudioEncodingSettings: Sendable {
  var request: AudioEncoder.Request

  /// A source format that the settings can be applied to.
  var typicalSource: AudioStreamBasicDescription {
    // Bounded to 65536 channels so that the sizes below do not overflow; no encoder takes so many.
    let channels = UInt32(clamping: min(request.channels ?? 2, 1 << 16))
    return AudioStreamBasicDescription(
      mSampleRate: Double(request.sampleRate ?? 44_100), mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 2 * channels,
      mFramesPerPacket: 1, mBytesPerFrame: 2 * channels, mChannelsPerFrame: channels, mBitsPerChannel: 16,
      mReserved: 0)
  }

  /// The error with which the encoder rejects the settings, or nil if it takes them.
  var encoderError: AVError? {
    do {
      _ = try AudioEncoder(request, source: typicalSource)
      return nil
    } catch { return AVError.writing(error) }
  }

  init(_ settings: [String: Any]) throws {
    func number(_ key: String) -> Double? { (settings[key] as? NSNumber)?.doubleValue }
    func configurationError(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Use kAudioFormatMPEG4AAC or kAudioFormatLinearPCM with 1 to 8 channels.")
    }
    guard let format = number(AVFormatIDKey) else { throw configurationError("AVFormatIDKey is missing.") }
    if let rate = number(AVSampleRateKey), !(8000...192_000).contains(rate) {
      throw configurationError("The sample rate is out of range.")
    }
    if let channels = number(AVNumberOfChannelsKey), !(1...8).contains(channels) {
      throw configurationError("The number of channels is out of range.")
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
        throw configurationError("The bit rate is out of range.")
      }
      try request.adopt(encoding: settings)
    case kAudioFormatLinearPCM:
      let isFloat = number(AVLinearPCMIsFloatKey).map { $0 != 0 } ?? false
      let bits = Int(clamping: number(AVLinearPCMBitDepthKey) ?? (isFloat ? 32 : 16))
      guard isFloat ? bits == 32 : [16, 24, 32].contains(bits), number(AVLinearPCMIsNonInterleaved) ?? 0 == 0
      else {
        throw configurationError("This layout of linear PCM cannot be written.")
      }
      request.pcm = (bits, isFloat, number(AVLinearPCMIsBigEndianKey).map { $0 != 0 } ?? false)
    default: throw configurationError("This audio format cannot be encoded.")
    }
    try request.adopt(conversion: settings)
    self.request = request
  }
}

/// Encodes PCM as AAC, or converts it to another PCM format.
final class AudioInputEncoder: InputEncoder, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var settings: AudioEncodingSettings
  /// Used outside of `lock`. The writer asks for the format while it holds locks that the receiver
  /// of the samples needs, so that calling the receiver under `lock` could deadlock.
  private let output: OrderedOutput<CMSampleBuffer>
  private var encoder: AudioEncoder?

  init(_ settings: AudioEncodingSettings, output: @escaping VideoInputSession.Output) {
    self.settings = settings
    self.output = OrderedOutput { output(.success($0)) }
  }

  func append(_ buffer: CMSampleBuffer, shiftedBy start: CMTime) throws {
    guard let description = CMSampleBufferGetFormatDescription(buffer),
      let basic = description.audioStreamBasicDescription, basic.mFormatID == kAudioFormatLinearPCM,
      let block = CMSampleBufferGetDataBuffer(buffer)
    else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample buffer contains no linear PCM to encode.",
        advice: "Append PCM to an input that encodes; for compressed audio use nil as output settings.")
    }
    let time = CMSampleBufferGetPresentationTimeStamp(buffer) - start
    guard time.isNumeric else {
      throw AVError(.invalidSourceMedia, reason: "The audio has no presentation time.")
    }
    let count = CMBlockBufferGetDataLength(block)
    guard block.canBeCopied(count) else {
      throw AVError(.invalidSourceMedia, reason: "The audio's data is not in memory, or too long.")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    let status = bytes.withUnsafeMutableBytes { raw -> OSStatus in
      guard let base = raw.baseAddress, !raw.isEmpty else { return noErr }
      return CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: raw.count, destination: base)
    }
    guard status == noErr else {
      throw AVError(.invalidSourceMedia, reason: "The audio's data cannot be read (\(status)).")
    }
    try lock.withLock {
      if encoder == nil { encoder = try AudioEncoder(settings.request, source: basic) }
      guard let encoder else { return }
      for sample in try encoder.encode(bytes, source: basic, time: time) { output.put(sample) }
    }
    output.flush()
  }

  /// The format of the encoded samples. A sample rate or number of channels that the settings lack
  /// is that of the hint or, without one, 44100 Hz and two channels, and is used from then on.
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
