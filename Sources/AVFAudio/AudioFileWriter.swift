// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// Writes an audio file. The file appears at its path when it has been finished.
final class AudioFileWriter {
  /// The format of the samples in the file.
  let fileFormat: AVAudioFormat
  /// The format of the buffers that are written.
  let processingFormat: AVAudioFormat
  /// The number of frames that have been written.
  private(set) var frames: Int64 = 0
  private let kind: AudioFileKind
  /// The converter to the file's format; nil for a compressed file.
  private let converter: PCMConverter?
  /// The encoder of a compressed file; nil for linear PCM.
  private let encoder: AudioEncoder?
  private let muxer: Muxer
  /// The number of bytes of samples that have been written.
  private var bytes: Int64 = 0

  /// Creates a writer.
  /// - Parameters:
  ///   - url: The file's URL. A file that exists there is replaced.
  ///   - settings: The settings of the file's format, by the keys of `AVAudioSettings.swift`.
  ///   - common: The sample format of the buffers that are written.
  ///   - isInterleaved: Whether those buffers are interleaved.
  /// - Throws: An error if the file cannot be created or the settings are not supported.
  init(_ url: URL, _ settings: [String: Any], _ common: AVAudioCommonFormat, isInterleaved: Bool) throws {
    guard url.isFileURL else { throw MediaFileError(.notFound, "\(url.absoluteString) is not a file URL") }
    let kind = try AudioFileKind(url, settings)
    self.kind = kind
    let wanted = try kind.format(settings)
    guard let basic = AVAudioFormat.basic(common, wanted.sampleRate, wanted.channelCount, isInterleaved)
    else {
      throw MediaFileError(.unsupportedFormat, "the sample format is not one of AVAudioCommonFormat")
    }
    processingFormat = AVAudioFormat(basic, wanted.channelLayout)
    let description: CMFormatDescription
    if wanted.isPCM {
      encoder = nil
      var options = PCMConverter.Options()
      options.channelMap = ConverterSetup.map(processingFormat)
      converter = try PCMConverter(from: basic, to: wanted.basic, options)
      description = wanted.formatDescription
      fileFormat = wanted
    } else {
      var request = try kind.request(settings, wanted)
      request.channelMap = ConverterSetup.map(processingFormat)
      let made = try AudioEncoder(request, source: basic)
      (encoder, converter) = (made, nil)
      description = made.formatDescription
      fileFormat = AVAudioFormat(
        description.audioStreamBasicDescription ?? wanted.basic, wanted.channelLayout,
        cookie: description.magicCookie)
    }
    let track = try MuxerTrack(description, timeScale: Int32(wanted.sampleRate))
    let file = try MuxerFile(finalPath: url.path, visible: false, replaces: true)
    muxer = try Muxer(file: file, container: kind.container, tracks: [track], options: Muxer.Options())
  }

  /// Writes the frames of a buffer, which must have the processing format.
  func write(_ buffer: AVAudioPCMBuffer) throws {
    let count = Int(buffer.frameLength)
    guard count > 0 else { return }
    if let converter {
      let piece = try converter.convert(buffer.planes, frames: count)
      try write(piece)
    } else if let encoder {
      var joined: [UInt8] = []
      for plane in buffer.planes { joined += plane }
      let time = CMTime(value: frames, timescale: CMTimeScale(processingFormat.sampleRate))
      for sample in try encoder.encode(joined, source: processingFormat.basic, time: time) {
        try write(sample)
      }
    }
    frames += Int64(count)
  }

  /// The largest number of frames in a packet of linear PCM.
  private static let maximumFramesPerPacket = 1 << 16

  /// Writes converted linear PCM in packets of limited size.
  private func write(_ piece: PCMConverter.Piece) throws {
    guard let plane = piece.planes.first, piece.frames > 0 else { return }
    let size = Int(fileFormat.basic.mBytesPerFrame)
    var done = 0
    while done < piece.frames {
      let count = min(Self.maximumFramesPerPacket, piece.frames - done)
      let time = frames + Int64(done)
      try plane.withUnsafeBytes {
        try write(
          UnsafeRawBufferPointer(rebasing: $0[done * size..<(done + count) * size]), time, Int64(count))
      }
      done += count
    }
  }

  /// Writes a sample of the encoder.
  private func write(_ sample: CMSampleBuffer) throws {
    guard let data = try CMSampleBufferGetDataBuffer(sample)?.dataBytes(), !data.isEmpty else { return }
    let duration = CMSampleBufferGetDuration(sample)
    try data.withUnsafeBytes {
      try write(
        $0, CMSampleBufferGetPresentationTimeStamp(sample).value, duration.isNumeric ? duration.value : 0)
    }
  }

  private func write(_ data: UnsafeRawBufferPointer, _ time: Int64, _ duration: Int64) throws {
    bytes = bytes.addingClamped(Int64(data.count))
    if let maximum = kind.container.maxBytes, bytes > maximum {
      throw AudioError.make(
        kAudioFileDoesNotAllow64BitDataSizeError, "This file type cannot store more than 4 GiB.")
    }
    try muxer.write(
      Muxer.Sample(track: 0, pts: time, dts: time, duration: duration, isSync: true), bytes: data)
  }

  /// Writes what the encoder still holds, and finishes the file.
  func finish() throws {
    if let encoder { for sample in try encoder.finish() { try write(sample) } }
    try muxer.finish(trackEnds: encoder == nil || frames == 0 ? [:] : [0: frames])
  }
}
