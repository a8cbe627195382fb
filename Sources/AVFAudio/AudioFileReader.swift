// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// Reads the audio of a file with frame accuracy.
final class AudioFileReader {
  let fileFormat: AVAudioFormat
  let processingFormat: AVAudioFormat
  /// The length in frames. It is reduced when the audio turns out to end before its packets state.
  private(set) var length: Int64
  /// The index of the next frame to be read.
  var position: Int64 = 0
  private let demuxer: Demuxer
  private let stream: MediaStream
  private let decoder: AudioDecoder
  private let format: AudioDecoder.Format
  /// The time of the first frame, in frames.
  private let origin: Int64
  /// The current chunk of decoded audio.
  private var chunk: AudioDecoder.Chunk?
  private var hasEnded = false
  /// Whether nothing more can be decoded.
  private var isDrained = false
  /// The error that ended the decoding; thrown when all frames before it have been read.
  private var failure: (any Error)?

  init(_ url: URL, _ common: AVAudioCommonFormat, isInterleaved: Bool) throws {
    guard url.isFileURL else {
      throw MediaFileError(.notFound, "\(url.absoluteString) is not a file URL")
    }
    var status = stat()
    guard stat(url.path, &status) == 0 else {
      throw MediaFileError(errno == EACCES ? .notPermitted : .notFound, "\(url.path) cannot be found")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw MediaFileError(.notRecognized, "\(url.path) is not a regular file")
    }
    demuxer = try Demuxer(url: url.path)
    guard let stream = demuxer.streams.first(where: { $0.kind == .audio }) else {
      throw MediaFileError(.noStreams, "\(url.path) contains no audio")
    }
    self.stream = stream
    demuxer.select([stream.index])
    let description = try stream.makeFormatDescription()
    fileFormat = AVAudioFormat(cmAudioFormatDescription: description)
    let (rate, channels) = (fileFormat.sampleRate, fileFormat.channelCount)
    guard (1...3_072_000).contains(rate), (1...64).contains(channels) else {
      throw MediaFileError(.unsupportedFormat, "\(rate) Hz and \(channels) channels cannot be read")
    }
    guard let basic = AVAudioFormat.basic(common, rate, channels, isInterleaved) else {
      throw MediaFileError(.unsupportedFormat, "samples can be read in one of the common formats only")
    }
    processingFormat = AVAudioFormat(basic, Self.layout(fileFormat, of: channels))
    format = AudioDecoder.Format(
      bits: Int(basic.mBitsPerChannel), isFloat: basic.mFormatFlags & kAudioFormatFlagIsFloat != 0,
      isBigEndian: false, isInterleaved: isInterleaved, sampleRate: Int(rate), channels: Int(channels))
    decoder = try AudioDecoder(stream, format: format)
    let found = try AudioFileLength(
      demuxer, stream, sampleRate: Int(rate), fileSize: Int64(status.st_size))
    let end = found.end
    try demuxer.rewind()
    var first: AudioDecoder.Chunk?
    // If nothing can be decoded although there are packets, the file is damaged.
    while first == nil {
      if let made = try decoder.next() { first = made; break }
      guard !hasEnded else { break }
      let packet = try? demuxer.next()
      hasEnded = packet == nil
      try decoder.send(packet)
    }
    guard first != nil || end == nil else {
      throw MediaFileError(.damaged, "the audio of \(url.path) cannot be decoded")
    }
    chunk = first
    origin = first?.time ?? 0
    length = max(0, (end ?? 0).subtractingClamped(origin))
    if let packet = found.uncertainPacket { measureEnd(from: packet) }
  }

  /// Decodes the last packet to find the end of the file.
  private func measureEnd(from packet: Int64) {
    var last: Int64?
    do {
      try seek(to: packet)
      while let made = try chunk ?? next() {
        last = made.time.addingClamped(Int64(made.frames))
        chunk = nil
      }
    } catch { last = nil }
    if let last { length = max(0, min(length, last.subtractingClamped(origin))) }
    // The next read seeks again.
    (chunk, isDrained, failure) = (nil, true, nil)
  }

  /// The channel layout, which a format with more than two channels needs. If the file has none,
  /// the channels have no defined purpose.
  private static func layout(_ format: AVAudioFormat, of channels: AVAudioChannelCount)
    -> AVAudioChannelLayout?
  {
    if let layout = format.channelLayout, layout.channelCount == channels {
      return channels > 2 ? layout : nil
    }
    return channels > 2
      ? AVAudioChannelLayout(layoutTag: kAudioChannelLayoutTag_DiscreteInOrder | channels) : nil
  }

  // MARK: - Reading

  func read(into buffer: AVAudioPCMBuffer, frames: AVAudioFrameCount) throws {
    var rest = Int(min(Int64(frames), length.subtractingClamped(position)))
    while rest > 0 {
      guard let chunk = try chunk(at: position.addingClamped(origin)) else {
        guard let failure else {
          length = position
          return
        }
        if buffer.frameLength == 0 { throw failure }
        return
      }
      let from = Int(position + origin - chunk.time)
      let count = min(rest, chunk.frames - from)
      copy(chunk, from..<from + count, to: buffer)
      buffer.frameLength += AVAudioFrameCount(count)
      position += Int64(count)
      rest -= count
    }
  }

  private func copy(_ chunk: AudioDecoder.Chunk, _ range: Range<Int>, to buffer: AVAudioPCMBuffer) {
    let size = buffer.frameSize
    let byteOffset = Int(buffer.frameLength) * size
    for index in buffer.whole.indices {
      guard let target = buffer.whole[index].mData.map({ $0 + byteOffset }) else { continue }
      guard !chunk.isSilence else {
        memset(target, 0, range.count * size)
        continue
      }
      chunk.data.withUnsafeBytes { bytes in
        let start = index * chunk.frames * size + range.lowerBound * size
        guard let base = bytes.baseAddress, start + range.count * size <= bytes.count else { return }
        target.copyMemory(from: base + start, byteCount: range.count * size)
      }
    }
  }

  /// The chunk that contains the frame at a time; nil after the end.
  private func chunk(at time: Int64) throws -> AudioDecoder.Chunk? {
    if !isNear(time) { try seek(to: time) }
    while true {
      if let chunk {
        if chunk.time <= time, time < chunk.time.addingClamped(Int64(chunk.frames)) { return chunk }
        if chunk.time > time { return silence(from: time, to: chunk) }
      }
      guard !isDrained else { return nil }
      do { chunk = try next() } catch {
        failure = error
        (chunk, isDrained) = (nil, true)
      }
    }
  }

  /// A chunk of silence up to the next chunk, for a gap in the file.
  private func silence(from time: Int64, to next: AudioDecoder.Chunk) -> AudioDecoder.Chunk {
    var chunk = next
    chunk.data = Data()
    chunk.frames = Int(clamping: next.time.subtractingClamped(time))
    chunk.time = time
    return chunk
  }

  /// Seconds that are decoded and discarded, rather than skipped by seeking.
  private static let stretch: Int64 = 2
  /// Seconds before the target from which decoding starts, so that the decoder's output no longer
  /// depends on its start.
  private static let lead = CMTime(value: 1, timescale: 2)

  private func isNear(_ time: Int64) -> Bool {
    guard let chunk else { return false }
    let ahead = time.subtractingClamped(chunk.time)
    return ahead >= 0 && ahead < Int64(chunk.frames) + Self.stretch * Int64(format.sampleRate)
  }

  private func seek(to time: Int64) throws {
    decoder.reset()
    (chunk, hasEnded, isDrained, failure) = (nil, false, false, nil)
    let target = CMTime(value: time, timescale: CMTimeScale(format.sampleRate)) - Self.lead
    guard target > .zero else { return try demuxer.rewind() }
    try demuxer.seek(stream: stream.index, to: stream.units(target))
    chunk = try next()
    guard chunk.map({ $0.time > time }) ?? true else { return }
    // The seek went too far or failed, so the file is decoded from its beginning.
    decoder.reset()
    (chunk, hasEnded, isDrained) = (nil, false, false)
    try demuxer.rewind()
  }

  private func next() throws -> AudioDecoder.Chunk? {
    while true {
      if let made = try decoder.next() { return made }
      guard !hasEnded else {
        isDrained = true
        return nil
      }
      let packet: MediaPacket?
      do { packet = try demuxer.next() } catch {
        // The audio that the decoder holds is still valid.
        failure = error
        packet = nil
      }
      hasEnded = packet == nil
      try decoder.send(packet)
    }
  }
}
