// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// What becomes of subtitles and chapters, for the summary.
struct TextReport: Sendable {
  var subtitles = 0
  var chapters = 0
  /// In a person's words.
  var leftOut: [String] = []

  /// `2 subtitle tracks, 5 chapters`; nil for a movie without.
  var summary: String? {
    var parts: [String] = []
    if subtitles > 0 { parts.append(Wording.plural(subtitles, "subtitle track")) }
    if chapters > 0 { parts.append(Wording.plural(chapters, "chapter")) }
    parts += leftOut
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

/// Text on its way into the output: subtitles, or the titles of chapters.
final class TextTrack: @unchecked Sendable {
  // Sendable: the reader has its own lock; `next` is called by one task.
  /// What an output has to know of it.
  let track: OutputTrack
  private let gate: SoundGate
  private let reader: AVAssetReader?
  private let read: () throws -> CMSampleBuffer?
  var isChapters: Bool { track.kind == .chapters }
  /// Texts that were handed out.
  private(set) var written = 0
  private var last = CMTime.negativeInfinity

  /// A track of subtitles, as timed text whatever the source has.
  init(subtitles track: AVAssetTrack, of source: MovieSource, gate: SoundGate) async throws {
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
    guard reader.startReading() else { throw source.failure(reader.error) }
    self.reader = reader
    self.gate = gate
    // What has been read of a damaged track is worth having.
    read = { output.copyNextSampleBuffer() }
  }

  /// The titles of chapters, one after the other.
  init?(chapters: [AVTimedMetadataGroup], gate: SoundGate) throws {
    let format = try CMFormatDescription(mediaType: .text, mediaSubType: .mobile3GPP)
    var samples: [CMSampleBuffer] = []
    var last = CMTime.negativeInfinity
    for (index, chapter) in chapters.enumerated() {
      // What a millisecond does not tell apart is one, and a chapter lasts until the next: a gap would be one, too.
      let start = Self.rounded(chapter.timeRange.start)
      let next = chapters.indices.contains(index + 1) ? chapters[index + 1].timeRange.start : nil
      let end = Self.rounded(next ?? chapter.timeRange.end)
      guard start.isNumeric, end.isNumeric, start > last, end > start else { continue }
      last = start
      let title = chapter.items.first { $0.commonKey == .commonKeyTitle }?.stringValue ?? ""
      samples.append(try Self.sample(title, CMTimeRange(start: start, end: end), format))
    }
    guard !samples.isEmpty else { return nil }
    var track = OutputTrack(.chapters, format: format)
    track.timescale = Self.timescale
    // Nobody reads it as text: players make a list of it.
    track.isEnabled = false
    self.track = track
    var rest = samples[...]
    reader = nil
    self.gate = gate
    read = { rest.popFirst() }
  }

  private static let timescale: CMTimeScale = 1000

  private static func rounded(_ time: CMTime) -> CMTime {
    CMTimeConvertScale(time, timescale: timescale, method: .default)
  }

  /// 3GPP timed text: two bytes of length, and the text in UTF-8.
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

  /// Why the track ends before its time; nil if it was read to its end.
  var damage: String? {
    guard let reader, reader.status == .failed else { return nil }
    return SourceDamage.breakOff(
      "subtitles break", at: last.isNumeric ? last : nil, of: .invalid, reader.error)
  }

  /// The next text, not beyond the last picture.
  func next() throws -> CMSampleBuffer? {
    while let sample = try read() {
      let start = sample.presentationTimeStamp
      // Of two at one time nobody would see the first.
      guard start.isNumeric, start > last else { continue }
      let duration = sample.duration
      let end = duration.isNumeric && duration > .zero ? start + duration : .positiveInfinity
      guard let kept = gate.admitted(from: start, to: end) else {
        cancel()
        return nil
      }
      last = start
      written += 1
      guard kept != end else { return sample }
      return try CMSampleBuffer(
        copying: sample,
        withNewTiming: [
          CMSampleTimingInfo(duration: kept - start, presentationTimeStamp: start, decodeTimeStamp: .invalid)
        ])
    }
    return nil
  }
}
