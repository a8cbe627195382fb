// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Reads a track of text subtitles in any codec as consecutive samples of 3GPP timed text.
final class TimedTextSource: SampleSource {
  private let demuxer: Demuxer
  private let track: TrackDescription
  private let converter: TimedTextConverter
  private var timeline = TimedTextTimeline()
  private var ready: ArraySlice<TimedText> = []
  private var start = Int64.min
  private var end = Int64.max
  private var isAtEnd = false

  init(_ demuxer: Demuxer, _ track: TrackDescription) throws {
    self.demuxer = demuxer
    self.track = track
    converter = try TimedTextConverter(track.stream)
    demuxer.select([track.stream.index])
  }

  func stop() { demuxer.interrupt() }

  func seek(to range: CMTimeRange) throws {
    start = range.start > .zero ? track.stream.units(range.start) : .min
    end = range.end.isNumeric ? track.stream.units(range.end) : .max
    timeline = TimedTextTimeline()
    ready = []
    isAtEnd = false
    // A text may begin long before the range, so the track is read from its beginning.
    try demuxer.rewind()
  }

  func next() throws -> CMSampleBuffer? {
    while true {
      while let text = ready.popFirst() {
        if let until = text.end, until <= start { continue }
        guard text.start < end else {
          isAtEnd = true
          break
        }
        return try text.makeSampleBuffer(of: track.stream, description: track.format)
      }
      if isAtEnd { return nil }
      if let packet = try demuxer.next() {
        guard let text = converter.convert(packet) else { continue }
        ready = timeline.add(text)[...]
        if text.start >= end, ready.isEmpty { isAtEnd = true }
      } else {
        ready = timeline.finish()[...]
        isAtEnd = true
      }
    }
  }
}
