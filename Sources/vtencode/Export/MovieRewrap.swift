// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation

/// Copies the pictures, the audio and, where the container holds text, the subtitles of a movie
/// into another container.
enum MovieRewrap {
  /// The containers by the ending of a file's name.
  static func container(ofEnding ending: String) -> StreamContainer? {
    switch ending.lowercased() {
    case "mkv": .matroska
    case "webm": .webm
    case "ts": .transportStream
    case "flv": .flv
    default: nil
    }
  }

  /// Copies a movie.
  /// - Parameters:
  ///   - movie: its path.
  ///   - pending: the file to write.
  ///   - container: the container of that file.
  /// - Returns: what was left out, for a person; nil if nothing was.
  /// - Throws: a `Failure` if the container cannot hold a track, or a file cannot be read or
  ///   written.
  static func copy(_ movie: String, to pending: PendingFile, as container: StreamContainer) throws -> String?
  {
    var descriptor = try pending.open()
    defer { if descriptor >= 0 { Foundation.close(descriptor) } }
    do {
      let demuxer = try Demuxer(url: URL(fileURLWithPath: movie).path)
      // Only 3GPP timed text is in the movies that are copied.
      let streams = demuxer.streams.filter {
        $0.kind == .video || $0.kind == .audio || $0.kind == .subtitle && $0.isText && container.holdsText
      }
      let formats = try streams.map { try $0.makeFormatDescription() }
      let muxer = try StreamMuxer(
        descriptor: descriptor, container: container, formats: formats,
        timeScales: streams.map { $0.timeBase.num == 1 ? $0.timeBase.den : 90_000 },
        languages: streams.map(\.language), enabled: streams.map(\.isDefault))
      let trackIndices = Dictionary(uniqueKeysWithValues: streams.enumerated().map { ($1.index, $0) })
      var interleaver = SampleInterleaver<(CMSampleBuffer, Int)>(
        tracks: streams.count, timeout: CMTime(value: 10, timescale: 1),
        sparse: Set(streams.indices.filter { streams[$0].kind == .subtitle }))
      while let packet = try demuxer.next() {
        try Interrupt.shared.check()
        guard let trackIndex = trackIndices[packet.streamIndex] else { continue }
        let sample = try packet.makeSampleBuffer(of: streams[trackIndex], description: formats[trackIndex])
        let time = sample.decodeTimeStamp.isNumeric ? sample.decodeTimeStamp : sample.presentationTimeStamp
        interleaver.push((sample, trackIndex), at: time, to: trackIndex)
        while let (next, track) = interleaver.pop() { try muxer.write(next, to: track) }
      }
      while let (next, track) = interleaver.pop(isLast: true) { try muxer.write(next, to: track) }
      try muxer.finish()
      let isClosed = Foundation.close(descriptor) == 0
      descriptor = -1
      // Some file systems report a full disk only here.
      if !isClosed { throw Failure("cannot write the \(container.name) file", systemError: errno) }
      let others = demuxer.streams.count - streams.count
      return others > 0
        ? "\(TextFormat.plural(others, "track")) of text or metadata left out, as they are not copied to \(container.name)"
        : nil
    } catch let error as MediaFileError {
      if error.kind == .unsupportedFormat {
        throw Failure("\(error.detail); end the name of --out in .mov, .mp4 or .mkv", status: 64)
      }
      if let code = error.posixCode, code != EINVAL {
        throw Failure("cannot write the \(container.name) file", systemError: code)
      }
      throw Failure("cannot write the \(container.name) file: \(error.detail)")
    }
  }
}
