// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// Counts how subtitles and chapters were written, for the summary.
struct TextReport: Sendable {
  var subtitles = 0
  var chapters = 0
  /// Descriptions of what was left out.
  var leftOut: [String] = []

  /// A description such as `2 subtitle tracks, 5 chapters`; nil for a movie without them.
  var summary: String? {
    var parts: [String] = []
    if subtitles > 0 { parts.append(TextFormat.plural(subtitles, "subtitle track")) }
    if chapters > 0 { parts.append(TextFormat.plural(chapters, "chapter")) }
    parts += leftOut
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

/// Reads the samples of a text track for the output: subtitles, or the titles of chapters.
final class TextTrack: @unchecked Sendable {
  // Sendable: the reader has its own lock, and one task calls `next`.
  let track: OutputTrack
  private let synchronizer: AudioSynchronizer
  private let reader: AVAssetReader?
  /// The time at which the part of the movie begins that is read.
  private let beginning: CMTime
  private let read: () throws -> CMSampleBuffer?
  var isChapters: Bool { track.kind == .chapters }
  /// The number of texts that `next` has returned.
  private(set) var written = 0
  private var last = CMTime.negativeInfinity
  /// Whether texts do not wait for the pictures at their end.
  private let isEarly: Bool

  /// A subtitle track, read as 3GPP timed text whatever its format in the source.
  init(
    subtitles track: AVAssetTrack, of source: MovieSource, synchronizer: AudioSynchronizer, isEarly: Bool
  ) async throws {
    self.isEarly = isEarly
    let (formats, language, isEnabled) = try await track.load(
      .formatDescriptions, .languageCode, .isEnabled)
    var wanted = OutputTrack(.subtitles, format: formats.first)
    wanted.languageCode = language
    wanted.isEnabled = isEnabled
    self.track = wanted
    let reader: AVAssetReader
    do { reader = try AVAssetReader(asset: source.asset) } catch { throw source.failure(error) }
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    guard reader.canAdd(output) else { throw source.failure(nil) }
    reader.add(output)
    if let part = source.part { reader.timeRange = part }
    beginning = source.part?.start ?? .negativeInfinity
    guard reader.startReading() else { throw source.failure(reader.error) }
    self.reader = reader
    self.synchronizer = synchronizer
    // The readable part of a damaged track is kept, and the damage is reported.
    read = { output.copyNextSampleBuffer() }
  }

  /// A track with the chapters' titles as samples; nil if there is no chapter.
  /// - Parameters:
  ///   - chapters: the chapters of the whole movie.
  ///   - part: the part of the movie that is read; nil for all of it.
  init?(chapters: [AVTimedMetadataGroup], part: CMTimeRange?, synchronizer: AudioSynchronizer) throws {
    let format = try CMFormatDescription(mediaType: .text, mediaSubType: .mobile3GPP)
    var samples: [CMSampleBuffer] = []
    var last = CMTime.negativeInfinity
    for (index, chapter) in chapters.enumerated() {
      // Chapters that begin in the same millisecond are merged, and each lasts until the next one
      // begins, because players would show a gap as a chapter.
      let start = max(Self.rounded(chapter.timeRange.start), part?.start ?? .negativeInfinity)
      let next = chapters.indices.contains(index + 1) ? chapters[index + 1].timeRange.start : nil
      let end = min(Self.rounded(next ?? chapter.timeRange.end), part?.end ?? .positiveInfinity)
      guard start.isNumeric, end.isNumeric, start > last, end > start else { continue }
      last = start
      let title = chapter.items.first { $0.commonKey == .commonKeyTitle }?.stringValue ?? ""
      samples.append(try Self.sample(title, CMTimeRange(start: start, end: end), format))
    }
    guard !samples.isEmpty else { return nil }
    var track = OutputTrack(.chapters, format: format)
    track.timescale = Self.timescale
    // The track is disabled because players show the titles as a list and not as text in the
    // picture.
    track.isEnabled = false
    self.track = track
    var rest = samples[...]
    reader = nil
    isEarly = false
    beginning = .negativeInfinity
    self.synchronizer = synchronizer
    read = { rest.popFirst() }
  }

  private static let timescale: CMTimeScale = 1000

  private static func rounded(_ time: CMTime) -> CMTime {
    CMTimeConvertScale(time, timescale: timescale, method: .default)
  }

  /// Makes a sample of 3GPP timed text: a 16-bit length, then the text in UTF-8.
  private static func sample(
    _ text: String, _ range: CMTimeRange, _ format: CMFormatDescription
  ) throws -> CMSampleBuffer {
    let bytes = TimedText(start: 0, end: nil, text: text).sample
    let block = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
    try bytes.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    return try CMSampleBuffer(
      dataBuffer: block, formatDescription: format, numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: range.duration, presentationTimeStamp: range.start, decodeTimeStamp: .invalid)
      ], sampleSizes: [bytes.count])
  }

  func cancel() { reader?.cancelReading() }

  /// Describes where the track ends too early; nil if it was read to its end.
  var damage: String? {
    guard let reader, reader.status == .failed else { return nil }
    return SourceDamage.breakOff(
      "subtitles break", at: last.isNumeric ? last : nil, of: .invalid, reader.error)
  }

  /// The next text, shortened so that it does not outlast the last picture; nil at the end.
  func next() throws -> CMSampleBuffer? {
    while let sample = try read() {
      let start = max(sample.presentationTimeStamp, beginning)
      // If two texts have the same start, only the first one is kept.
      guard start.isNumeric, start > last else { continue }
      let duration = sample.duration
      let end =
        duration.isNumeric && duration > .zero
        ? sample.presentationTimeStamp + duration : .positiveInfinity
      guard end > start else { continue }
      let kept =
        isEarly
        ? (synchronizer.admits(start) ? end : nil) : synchronizer.admitted(from: start, to: end)
      guard let kept else {
        cancel()
        return nil
      }
      last = start
      written += 1
      guard kept != end || start != sample.presentationTimeStamp else { return sample }
      return try CMSampleBuffer(
        copying: sample,
        withNewTiming: [
          CMSampleTimingInfo(
            duration: kept.isNumeric ? kept - start : .invalid, presentationTimeStamp: start,
            decodeTimeStamp: .invalid)
        ])
    }
    return nil
  }
}
