// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// Converts the audio that an audio converter gets.
protocol AudioConversion: AnyObject {
  /// Converts all audio in a buffer of the input format.
  func feed(_ buffer: AVAudioBuffer) throws
  /// Ends the input.
  func finish() throws
  /// Appends converted audio to a buffer of the output format.
  /// - Returns: Whether the buffer is full.
  func fill(_ buffer: AVAudioBuffer) throws -> Bool
  /// The approximate number of frames or packets of the input that fill the rest of a buffer.
  func need(for buffer: AVAudioBuffer) -> AVAudioPacketCount
}

/// A queue of frames.
struct FrameQueue {
  private var pieces: [PCMConverter.Piece] = []
  /// The number of frames of the first piece that have been removed.
  private var taken = 0

  mutating func append(_ piece: PCMConverter.Piece) { if piece.frames > 0 { pieces.append(piece) } }

  /// Moves frames to the free space of a buffer.
  /// - Returns: Whether the buffer is full.
  mutating func fill(_ buffer: AVAudioPCMBuffer) -> Bool {
    let size = buffer.frameSize
    while let piece = pieces.first, buffer.frameLength < buffer.frameCapacity {
      let count = min(piece.frames - taken, Int(buffer.frameCapacity - buffer.frameLength))
      let (from, to) = (taken * size, Int(buffer.frameLength) * size)
      for (index, plane) in piece.planes.enumerated() where index < buffer.whole.count {
        plane.withUnsafeBytes { bytes in
          guard let base = bytes.baseAddress, from + count * size <= bytes.count else { return }
          buffer.whole[index].mData.map { ($0 + to).copyMemory(from: base + from, byteCount: count * size) }
        }
      }
      buffer.frameLength += AVAudioFrameCount(count)
      taken += count
      if taken == piece.frames {
        pieces.removeFirst()
        taken = 0
      }
    }
    return buffer.frameLength == buffer.frameCapacity
  }

  /// Removes frames.
  /// - Returns: The number of frames that could not be removed because the queue is empty.
  mutating func drop(_ count: Int) -> Int {
    var rest = count
    while rest > 0, let piece = pieces.first {
      let here = min(rest, piece.frames - taken)
      taken += here
      rest -= here
      if taken == piece.frames {
        pieces.removeFirst()
        taken = 0
      }
    }
    return rest
  }
}

/// Converts linear PCM to linear PCM.
final class PCMConversion: AudioConversion {
  private let converter: PCMConverter
  private let source: AudioStreamBasicDescription
  private let target: AudioStreamBasicDescription
  private let method: AVAudioConverterPrimeMethod
  private var queue = FrameQueue()
  /// The number of output frames that are still to be discarded, as they only prime the filter.
  private var leading = 0
  private var hasBegun = false

  /// Creates a conversion.
  /// - Parameters:
  ///   - source: The input format.
  ///   - target: The output format.
  ///   - options: The options of the converter.
  ///   - method: How the beginning and the end of the input are handled.
  ///   - leadingFrames: The number of input frames that prime the filter with the method `pre`; nil
  ///     for the filter's latency.
  init(
    _ source: AudioStreamBasicDescription, _ target: AudioStreamBasicDescription,
    _ options: PCMConverter.Options, _ method: AVAudioConverterPrimeMethod, leadingFrames: AVAudioFrameCount?
  ) throws {
    converter = try PCMConverter(from: source, to: target, options)
    (self.source, self.target, self.method) = (source, target, method)
    if method == .pre {
      let frames = leadingFrames.map { Double($0) } ?? Double(converter.latency)
      leading = Int(clamping: Int64((frames * target.mSampleRate / source.mSampleRate).rounded()))
    }
  }

  /// The number of input frames after a frame that the filter needs to compute it.
  var latency: Int { converter.latency }

  func feed(_ buffer: AVAudioBuffer) throws {
    guard let buffer = buffer as? AVAudioPCMBuffer else {
      throw MediaFileError(.unsupportedFormat, "the input is not linear PCM")
    }
    try feed(buffer.planes, frames: Int(buffer.frameLength))
  }

  func feed(_ planes: [UnsafeRawBufferPointer], frames: Int) throws {
    if !hasBegun, method == .none, latency > 0 {
      // Prepending silence delays the output by the latency, so that it has as many frames as the
      // input from the start.
      let silence = [UInt8](repeating: 0, count: latency * Int(source.mBytesPerFrame))
      try silence.withUnsafeBytes { bytes in
        queue.append(try converter.convert(planes.map { _ in bytes }, frames: latency))
      }
    }
    hasBegun = true
    queue.append(try converter.convert(planes, frames: frames))
    leading = queue.drop(leading)
  }

  func finish() throws {
    // With the other methods the frames that the filter still holds are not part of the output.
    if method == .normal { queue.append(try converter.finish()) }
    leading = queue.drop(leading)
  }

  func fill(_ buffer: AVAudioBuffer) throws -> Bool {
    guard let buffer = buffer as? AVAudioPCMBuffer else {
      throw MediaFileError(.unsupportedFormat, "the output is not linear PCM")
    }
    return queue.fill(buffer)
  }

  func need(for buffer: AVAudioBuffer) -> AVAudioPacketCount {
    guard let buffer = buffer as? AVAudioPCMBuffer else { return 1 }
    let rest = Double(buffer.frameCapacity - buffer.frameLength)
    let frames = rest * source.mSampleRate / target.mSampleRate + (hasBegun ? 0 : Double(latency))
    return AVAudioPacketCount(min(max(1, frames.rounded(.up)), Double(UInt32.max)))
  }
}

/// Decodes packets to linear PCM.
final class DecodingConversion: AudioConversion {
  private let decoder: AudioDecoder
  private let conversion: PCMConversion
  private let format: AudioDecoder.Format
  private let framesPerPacket: Double

  init(_ source: AVAudioFormat, cookie: Data?, _ make: (AudioStreamBasicDescription) throws -> PCMConversion)
    throws
  {
    let description = try CMFormatDescription(
      audioStreamBasicDescription: source.basic, magicCookie: cookie ?? source.magicCookie)
    let rate = source.basic.mSampleRate
    guard (1...384_000).contains(rate), (1...64).contains(source.channelCount) else {
      throw MediaFileError(.unsupportedFormat, "the audio has no valid sample rate or channels")
    }
    // Lossless formats are decoded to integers, other formats to floating-point numbers.
    let isLossless = AudioCodec(source.basic.mFormatID)?.isLossless ?? false
    format = AudioDecoder.Format(
      bits: 32, isFloat: !isLossless, isBigEndian: false, isInterleaved: true, sampleRate: Int(rate),
      channels: Int(source.channelCount))
    decoder = try AudioDecoder(description, format: format)
    conversion = try make(
      AVAudioFormat.basic(
        bits: 32, isFloat: !isLossless, isBigEndian: false, rate.rounded(.down), source.channelCount, true))
    framesPerPacket = Double(max(1, source.basic.mFramesPerPacket))
  }

  func feed(_ buffer: AVAudioBuffer) throws {
    guard let packets = (buffer as? AVAudioCompressedBuffer)?.packetBytes else {
      throw AudioError.make(
        kAudioConverterErr_InvalidInputSize, "The packet descriptions go beyond the buffer's bytes.")
    }
    for bytes in packets where !bytes.isEmpty {
      guard let packet = MediaPacket(copying: bytes) else {
        throw MediaFileError(.outOfMemory, "out of memory")
      }
      try decoder.send(packet)
      try take()
    }
  }

  private func take() throws {
    while let chunk = try decoder.next() {
      guard !chunk.isSilence else { continue }
      try chunk.data.withUnsafeBytes { try conversion.feed([$0], frames: chunk.frames) }
    }
  }

  func finish() throws {
    try decoder.send(nil)
    try take()
    try conversion.finish()
  }

  func fill(_ buffer: AVAudioBuffer) throws -> Bool { try conversion.fill(buffer) }

  func need(for buffer: AVAudioBuffer) -> AVAudioPacketCount {
    AVAudioPacketCount(min((Double(conversion.need(for: buffer)) / framesPerPacket).rounded(.up), 1_048_576))
  }
}

/// Encodes linear PCM as packets.
final class EncodingConversion: AudioConversion {
  private let encoder: AudioEncoder
  private let source: AudioStreamBasicDescription
  private var packets: [(bytes: [UInt8], frames: UInt32)] = []
  private var framesIn: Int64 = 0
  private let framesPerPacket: UInt32

  init(_ source: AVAudioFormat, _ request: AudioEncoder.Request) throws {
    self.source = source.basic
    encoder = try AudioEncoder(request, source: source.basic)
    framesPerPacket = max(1, encoder.formatDescription.audioStreamBasicDescription?.mFramesPerPacket ?? 1)
  }

  var description: CMFormatDescription { encoder.formatDescription }
  var primingFrames: Int { encoder.primingFrames }
  func change(bitRate: Int) { encoder.bitRate = bitRate }

  func feed(_ buffer: AVAudioBuffer) throws {
    guard let buffer = buffer as? AVAudioPCMBuffer else {
      throw MediaFileError(.unsupportedFormat, "the input is not linear PCM")
    }
    var bytes: [UInt8] = []
    for plane in buffer.planes { bytes += plane }
    let time = CMTime(value: framesIn, timescale: CMTimeScale(clamping: source.mSampleRate))
    for sample in try encoder.encode(bytes, source: source, time: time) { try add(sample) }
    framesIn += Int64(buffer.frameLength)
  }

  func finish() throws { for sample in try encoder.finish() { try add(sample) } }

  private func add(_ sample: CMSampleBuffer) throws {
    guard let block = CMSampleBufferGetDataBuffer(sample) else { return }
    let duration = CMSampleBufferGetDuration(sample)
    // Packets of the format's usual duration have 0 here.
    let frames = duration.isNumeric ? UInt32(clamping: duration.value) : framesPerPacket
    packets.append(([UInt8](try block.dataBytes()), frames == framesPerPacket ? 0 : frames))
  }

  func fill(_ buffer: AVAudioBuffer) throws -> Bool {
    guard let buffer = buffer as? AVAudioCompressedBuffer else {
      throw MediaFileError(.unsupportedFormat, "the output is linear PCM, and should be packets")
    }
    var count = 0
    defer { packets.removeFirst(count) }
    for packet in packets {
      guard buffer.packetCount < buffer.packetCapacity else { return true }
      guard buffer.append(packet.bytes, frames: packet.frames) else {
        guard buffer.packetCount > 0 else {
          throw AudioError.make(
            kAudioConverterErr_InvalidOutputSize,
            "The buffer has no room for a packet of \(packet.bytes.count) bytes.")
        }
        return true
      }
      count += 1
    }
    return buffer.packetCount == buffer.packetCapacity
  }

  func need(for buffer: AVAudioBuffer) -> AVAudioPacketCount {
    guard let buffer = buffer as? AVAudioCompressedBuffer else { return 1 }
    let packets = Double(max(1, buffer.packetCapacity - buffer.packetCount))
    let rate = encoder.formatDescription.audioStreamBasicDescription?.mSampleRate ?? source.mSampleRate
    let frames = packets * Double(framesPerPacket) * source.mSampleRate / rate
    return AVAudioPacketCount(min(frames.rounded(.up), Double(UInt32.max)))
  }
}
