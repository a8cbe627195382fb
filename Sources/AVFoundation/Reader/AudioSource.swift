// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The linear PCM format that a program asks for in an output's settings.
struct AudioRequirements: Sendable {
  var format: AudioDecoder.Format

  init(_ settings: [String: Any], for stream: MediaStream) throws {
    func configurationError(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Ask for linear PCM of 8, 16, 24 or 32 bits, 1 to 8 channels and up to 384000 Hz.")
    }
    func number(_ key: String) -> Double? { (settings[key] as? NSNumber)?.doubleValue }
    if let format = number(AVFormatIDKey), format != Double(kAudioFormatLinearPCM) {
      throw configurationError("Audio can be decoded to linear PCM only.")
    }
    let own = stream.audioLayout
    let isFloat = number(AVLinearPCMIsFloatKey).map { $0 != 0 } ?? false
    let bits = number(AVLinearPCMBitDepthKey) ?? (isFloat ? 32 : 16)
    let rate = number(AVSampleRateKey) ?? own.mSampleRate
    let layout = try settings[AVChannelLayoutKey].map {
      try ChannelLayoutSetting(
        $0, isCoded: false, number: number(AVNumberOfChannelsKey).map { Int(clamping: $0) })
    }
    let channels =
      layout.map { Double($0.channels) } ?? number(AVNumberOfChannelsKey) ?? Double(own.mChannelsPerFrame)
    guard isFloat ? [32, 64].contains(bits) : [8, 16, 24, 32].contains(bits) else {
      throw configurationError("\(bits) bits are not possible.")
    }
    guard (1...384_000).contains(rate), rate == rate.rounded() else {
      throw configurationError("The sample rate is out of range.")
    }
    guard (1...8).contains(channels), channels == channels.rounded() else {
      throw configurationError("The number of channels is out of range.")
    }
    format = AudioDecoder.Format(
      bits: Int(bits), isFloat: isFloat,
      isBigEndian: number(AVLinearPCMIsBigEndianKey).map { $0 != 0 } ?? false,
      isInterleaved: number(AVLinearPCMIsNonInterleaved).map { $0 == 0 } ?? true, sampleRate: Int(rate),
      channels: Int(channels))
    var conversion = AudioEncoder.Request()
    try conversion.adopt(conversion: settings)
    format.filterSize = conversion.filterSize
  }

  /// The same format with another sample rate.
  init(_ other: AudioRequirements, sampleRate: Int) {
    var format = other.format
    format.sampleRate = sampleRate
    self.format = format
  }

  var description: AudioStreamBasicDescription {
    var flags =
      kAudioFormatFlagIsPacked | (format.isFloat ? kAudioFormatFlagIsFloat : kAudioFormatFlagIsSignedInteger)
    if format.isBigEndian { flags |= kAudioFormatFlagIsBigEndian }
    if !format.isInterleaved { flags |= kAudioFormatFlagIsNonInterleaved }
    let frameBytes = UInt32(format.bits / 8 * (format.isInterleaved ? format.channels : 1))
    var basic = AudioStreamBasicDescription()
    basic.mSampleRate = Float64(format.sampleRate)
    basic.mFormatID = kAudioFormatLinearPCM
    basic.mFormatFlags = flags
    basic.mBytesPerPacket = frameBytes
    basic.mFramesPerPacket = 1
    basic.mBytesPerFrame = frameBytes
    basic.mChannelsPerFrame = UInt32(format.channels)
    basic.mBitsPerChannel = UInt32(format.bits)
    return basic
  }
}

/// Decodes a track's audio.
final class AudioSource: SampleSource {
  private let demuxer: Demuxer
  private let track: TrackDescription
  private let decoder: AudioDecoder
  private let format: AudioDecoder.Format
  private let description: CMFormatDescription
  /// The range to read, in frames of the output's sample rate.
  private var start: Int64 = .min
  private var end: Int64 = .max
  /// Whether all packets of the file have been read.
  private var hasEnded = false
  private var isDrained = false
  private var ready: [AudioDecoder.Chunk] = []
  /// The error that ends the reading; thrown after all audio before it has been delivered.
  private var failure: (any Error)?
  private let damage: DamageLog
  /// Whether any sample of the track has been delivered.
  private var hasReturnedSamples = false
  /// The number of damaged packets that have been reported.
  private var knownLoss = 0
  /// Whether the decoder has reached the range. Packets before it that cannot be decoded are not
  /// reported.
  private var isInside = false

  init(
    _ demuxer: Demuxer, _ track: TrackDescription, _ requirements: AudioRequirements,
    damage: DamageLog = DamageLog()
  ) throws {
    self.damage = damage
    demuxer.dropsDamagedAudio = damage.isTolerated
    self.demuxer = demuxer
    self.track = track
    format = requirements.format
    decoder = try AudioDecoder(track.stream, format: requirements.format)
    description = try CMFormatDescription(audioStreamBasicDescription: requirements.description)
    demuxer.select([track.stream.index])
  }

  func stop() { demuxer.interrupt() }

  func seek(to range: CMTimeRange) throws {
    func frames(_ time: CMTime) -> Int64 {
      time.units(CMTimeScale(format.sampleRate), .roundHalfAwayFromZero)
    }
    start = range.start > .zero ? frames(range.start) : 0
    end = range.end.isNumeric ? frames(range.end) : .max
    // The last packet may extend beyond the track's end in the edit list.
    if let last = track.stream.editedEnd { end = min(end, frames(track.stream.time(last))) }
    if range.start > .zero {
      // Reading starts 0.1 seconds early, since the decoder needs the preceding packet.
      let lead = range.start - CMTime(value: 1, timescale: 10)
      try demuxer.seek(stream: track.stream.index, to: track.stream.units(lead))
    } else {
      try demuxer.rewind()
    }
    decoder.reset()
    isInside = range.start <= .zero
    (hasEnded, isDrained) = (false, false)
    ready = []
    failure = nil
  }

  func next() throws -> CMSampleBuffer? {
    while true {
      while !ready.isEmpty {
        if let sample = try makeSample(takeChunk()) {
          hasReturnedSamples = true
          return sample
        }
      }
      guard !isDrained else {
        if let failure, hasReturnedSamples, damage.tolerates(failure), !demuxer.isInterrupted {
          damage.setFailure(AVError.reading(failure))
        } else if let failure {
          throw failure
        }
        return nil
      }
      do { try advance() } catch {
        failure = failure ?? error
        isDrained = true
      }
    }
  }

  /// Takes a chunk from the decoder or, if that has none, gives it the next packet.
  private func advance() throws {
    if let chunk = try decoder.next() {
      if chunk.time >= end { isDrained = true } else { ready.append(chunk) }
      if chunk.time.addingClamped(Int64(chunk.frames)) > start { isInside = true }
    } else if hasEnded {
      isDrained = true
    } else {
      // If the file cannot be read any further, the audio that the decoder holds is still valid.
      let packet: MediaPacket?
      do { packet = try demuxer.next() } catch {
        packet = nil
        failure = error
      }
      hasEnded = packet == nil
      try decoder.send(packet)
    }
    let lost = demuxer.lostAudio + decoder.lostPackets
    defer { knownLoss = lost }
    if isInside {
      try damage.addLostAudio(lost - knownLoss, in: track.stream.codec.codecName)
    }
  }

  /// Removes and returns the next chunk. Silence can be of any length and is returned in chunks of
  /// at most one second.
  private func takeChunk() -> AudioDecoder.Chunk {
    var chunk = ready[0]
    guard chunk.isSilence else { return ready.removeFirst() }
    // Silence before the range is skipped without allocating it.
    let skipped = max(0, min(Int64(chunk.frames), start.subtractingClamped(chunk.time)))
    chunk.time = chunk.time.addingClamped(skipped)
    chunk.frames -= Int(skipped)
    let count = min(chunk.frames, format.sampleRate)
    var rest = chunk
    rest.frames -= count
    rest.time = rest.time.addingClamped(Int64(count))
    if rest.frames > 0, rest.time < end { ready[0] = rest } else { ready.removeFirst() }
    chunk.frames = count
    chunk.data = Data(count: count * format.bits / 8 * format.channels)
    return chunk
  }

  private func makeSample(_ chunk: AudioDecoder.Chunk) throws -> CMSampleBuffer? {
    let from = Int(max(0, min(Int64(chunk.frames), start.subtractingClamped(chunk.time))))
    let to = Int(max(0, min(Int64(chunk.frames), end.subtractingClamped(chunk.time))))
    guard from < to else { return nil }
    let count = to - from
    let data =
      count < chunk.frames ? format.part(of: chunk.data, frames: chunk.frames, from..<to) : chunk.data
    let block = try CMBlockBuffer(length: data.count, flags: .assureMemoryNow)
    let copied = data.withUnsafeBytes { bytes -> OSStatus in
      guard let base = bytes.baseAddress else { return noErr }
      return CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
    }
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: CMTimeScale(format.sampleRate)),
      presentationTimeStamp: CMTime(
        value: chunk.time.addingClamped(Int64(from)), timescale: CMTimeScale(format.sampleRate)),
      decodeTimeStamp: .invalid)
    var size = data.count / count
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: block, formatDescription: description, sampleCount: count,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing,
      sampleSizeEntryCount: format.isInterleaved ? 1 : 0,
      sampleSizeArray: &size, sampleBufferOut: &made)
    guard copied == noErr, status == noErr, let made else {
      throw AVError(.outOfMemory, reason: "A sample buffer cannot be made (\(status)).")
    }
    return made
  }
}
