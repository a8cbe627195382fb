// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// Makes the segments of one media playlist: brings its tracks into order and cuts them where
/// segments and parts end.
final class SegmentWriter: NSObject, AVAssetWriterDelegate, @unchecked Sendable {
  // Sendable: `lock` guards the mutable state. The writer calls its delegate from within calls of
  // this class, which hold the lock, and once more while `finish` waits for it.

  /// A segment, or a part of one, that was cut off the writer's output.
  struct Piece {
    var chunks: [Data]
    /// The presentation time of the first picture, or of the first audio.
    var start: CMTime
    var seconds: Double
    var beginsWithKeyFrame: Bool
    /// The bytes from the piece's beginning to the end of its first picture; nil if that is not a
    /// key frame.
    var keyFrameBytes: Int?
    /// Whether a segment ends here, and not only a part of it.
    var endsSegment: Bool
    /// Whether there is a pause between this piece and the next one.
    var pausesAfterwards = false
  }

  typealias Receiver = (_ initialization: Data?, _ piece: Piece) throws -> Void

  private let interval: CMTime
  private let origin: CMTime
  private let partSeconds: Double?
  /// The longest segment in seconds; a later key frame comes after a pause of the pictures.
  private let longest: Double?
  private let timeout: CMTime
  private let receive: Receiver
  private let lock = Lock()
  private var writer: AVAssetWriter?
  private var encoders: [TrackEncoder] = []
  private var kinds: [OutputTrack.Kind] = []
  private var inputs: [AVAssetWriterInput] = []
  /// For each track: the samples that wait for others, and whether it has no more.
  private var waiting: [Int] = []
  private var hasEnded: [Bool] = []
  private var interleaver = SampleInterleaver<(CMSampleBuffer, Int)>(tracks: 0, timeout: .zero)
  /// The time by which pictures are presented after they are decoded; audio is put in order by that
  /// too.
  private var delay = CMTime.zero
  private var initialization: Data?
  private var chunks: [Data] = []
  private var keyFrameBytes: Int?
  private var due = CMTime.invalid
  private var segmentStart = CMTime.invalid
  private var end = CMTime.negativeInfinity
  /// The end of the samples of all tracks.
  private var latestEnd = CMTime.negativeInfinity
  private var part = PartState()

  private struct PartState {
    var start = CMTime.invalid
    var seconds = 0.0
    /// The seconds of the segment's parts before this one.
    var before = 0.0
    var isIndependent = true
  }

  /// - Parameters:
  ///   - interval: the intended duration of a segment.
  ///   - origin: the time from which segments are counted.
  ///   - partSeconds: the longest duration of a part; nil for no parts.
  ///   - longest: the longest segment in seconds; nil for no limit.
  ///   - timeout: how much of a track waits for another one that gives no samples.
  ///   - receive: takes what has been cut off, in order, with the initialization section the first
  ///     time.
  init(
    interval: CMTime, origin: CMTime, partSeconds: Double?, longest: Double?, timeout: CMTime,
    receive: @escaping Receiver
  ) {
    (self.interval, self.origin, self.partSeconds, self.longest) = (interval, origin, partSeconds, longest)
    (self.timeout, self.receive) = (timeout, receive)
  }

  /// The formats of the tracks.
  var formats: [CMFormatDescription] { encoders.map(\.format) }

  /// Adds a track, before `start`.
  /// - Returns: its number; nil if segments cannot hold it.
  func add(_ track: OutputTrack) -> Int? {
    guard let encoder = try? TrackEncoder(track), !CodecString.lacksConfiguration(encoder.format) else {
      return nil
    }
    if writer == nil {
      let made = AVAssetWriter(contentType: UTType(AVFileType.mp4.rawValue) ?? .mpeg4Movie)
      made.outputFileTypeProfile = .mpeg4AppleHLS
      made.preferredOutputSegmentInterval = .indefinite
      made.delegate = self
      writer = made
    }
    let input = AVAssetWriterInput(
      mediaType: track.kind == .video ? .video : .audio, outputSettings: nil, sourceFormatHint: encoder.format
    )
    input.languageCode = track.languageCode
    input.mediaTimeScale = track.timescale
    // The tracks come in order, so none has to wait for another.
    input.expectsMediaDataInRealTime = true
    guard let writer, writer.canAdd(input) else { return nil }
    writer.add(input)
    encoders.append(encoder)
    kinds.append(track.kind)
    inputs.append(input)
    waiting.append(0)
    hasEnded.append(false)
    return inputs.count - 1
  }

  func start() throws {
    guard let writer else { return }
    interleaver = SampleInterleaver(tracks: inputs.count, timeout: timeout)
    guard writer.startWriting() else { throw failure(writer) }
    writer.startSession(atSourceTime: .zero)
  }

  func append(_ sample: CMSampleBuffer, to track: Int) throws {
    try lock.withLock {
      try push(encoding { try encoders[track].encode(sample) }, track)
      try drain(isLast: false)
    }
  }

  func end(_ track: Int) throws {
    try lock.withLock {
      try push(encoding { try encoders[track].finish() }, track)
      interleaver.end(track)
      hasEnded[track] = true
      try drain(isLast: false)
      finishIfDone(track)
    }
  }

  /// Writes what is left.
  func finish() async throws {
    guard let writer else { return }
    let isEmpty = try lock.withLock {
      try drain(isLast: true)
      guard latestEnd.isNumeric else { return true }
      for input in inputs { input.markAsFinished() }
      if segmentStart.isNumeric { try cut(at: lastEnd, endsSegment: true, next: nil) }
      return false
    }
    // A track of the source may have no sample in the part that was read.
    guard !isEmpty else { return cancel() }
    await writer.finishWriting()
    guard writer.status == .completed else { throw failure(writer) }
  }

  /// The end of the last segment: audio may last longer than the pictures, but in a live stream no
  /// segment is longer than the target duration.
  private var lastEnd: CMTime {
    let all = max(end, latestEnd)
    guard let longest else { return all }
    return max(end, min(all, segmentStart + CMTime(seconds: longest, preferredTimescale: 90_000)))
  }

  func cancel() { if let writer, writer.status == .writing { writer.cancelWriting() } }

  func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
    segmentReport: AVAssetSegmentReport?
  ) {
    if segmentType == .initialization {
      initialization = segmentData
      return
    }
    if chunks.isEmpty {
      let first = segmentReport?.trackReports.lazy.compactMap(\.firstVideoSampleInformation).first
      keyFrameBytes = first.flatMap { $0.isSyncSample ? $0.offset + $0.length : nil }
    }
    chunks.append(segmentData)
  }

  // MARK: - In order

  private func push(_ samples: [CMSampleBuffer], _ track: Int) throws {
    waiting[track] += samples.count
    for sample in samples {
      let (decodeTime, presented) = (sample.decodeTimeStamp, sample.presentationTimeStamp)
      if kinds[track] == .video {
        if !segmentStart.isNumeric, decodeTime.isNumeric, delay == .zero { delay = presented - decodeTime }
        interleaver.push((sample, track), at: decodeTime.isNumeric ? decodeTime : presented, to: track)
      } else if presented.isNumeric, presented < .zero {
        // The priming of an encoder (ISO/IEC 14496-24, annex G) comes before the first audio, and
        // players take the negative time of a segment for a very late one. A packet that is mostly
        // heard is moved, by less than half of a packet.
        guard presented + sample.duration > .zero - presented, let moved = Self.beginningAtZero(sample) else {
          waiting[track] -= 1
          continue
        }
        interleaver.push((moved, track), at: .zero - delay, to: track)
      } else {
        interleaver.push((sample, track), at: presented - delay, to: track)
      }
    }
  }

  /// A sample that begins a little before time zero, moved there.
  private static func beginningAtZero(_ sample: CMSampleBuffer) -> CMSampleBuffer? {
    guard var timing = try? sample.sampleTimingInfos().first else { return nil }
    timing.presentationTimeStamp = .zero
    timing.decodeTimeStamp = .invalid
    return try? CMSampleBuffer(copying: sample, withNewTiming: [timing])
  }

  private func drain(isLast: Bool) throws {
    while let (sample, track) = interleaver.pop(isLast: isLast) {
      if track == leader { try cutIfDue(before: sample) }
      guard inputs[track].append(sample) else { throw writer.map(failure) ?? Failure("no writer") }
      let length = sample.duration
      latestEnd = max(latestEnd, sample.presentationTimeStamp + (length.isNumeric ? length : .zero))
      waiting[track] -= 1
      finishIfDone(track)
    }
  }

  /// Tells the writer of a track without further samples, so that it does not wait for them.
  private func finishIfDone(_ track: Int) {
    if hasEnded[track], waiting[track] == 0 { inputs[track].markAsFinished() }
  }

  /// The track that decides where segments end: the pictures, or else the audio.
  private var leader: Int { kinds.firstIndex(of: .video) ?? 0 }

  private func cutIfDue(before sample: CMSampleBuffer) throws {
    let time = sample.presentationTimeStamp
    let seconds = sample.duration.isNumeric ? sample.duration.seconds : 0
    let isKey = kinds[leader] != .video || SampleAttributes(sample).isKeyFrame
    if !segmentStart.isNumeric {
      begin(at: time, isKey: isKey)
      due = KeyFrameGrid.multiple(after: max(time, origin), from: origin, interval: interval)
    } else if isKey, time >= due {
      try cut(at: time, endsSegment: true, next: time)
      due = KeyFrameGrid.multiple(after: time, from: due, interval: interval)
      part.isIndependent = true
    } else if let partSeconds, part.seconds + seconds > partSeconds + 0.0005, part.seconds > 0 {
      try cut(at: time, endsSegment: false, next: time)
      part.isIndependent = isKey
    }
    part.seconds += seconds
    end = max(end, sample.duration.isNumeric ? time + sample.duration : time)
  }

  private func begin(at time: CMTime, isKey: Bool) {
    segmentStart = time
    part = PartState(start: time, isIndependent: isKey)
  }

  /// Ends a segment or a part before the sample that comes next.
  /// - Parameters:
  ///   - time: where the segment ends.
  ///   - next: where the next piece begins; nil at the end of the stream.
  private func cut(at time: CMTime, endsSegment: Bool, next: CMTime?) throws {
    writer?.flushSegment()
    if let writer, writer.status == .failed { throw failure(writer) }
    // The writer has nothing to give while it waits for a track's first sample.
    guard !chunks.isEmpty else { return }
    var piece = Piece(
      chunks: chunks, start: segmentStart, seconds: part.seconds, beginsWithKeyFrame: part.isIndependent,
      keyFrameBytes: keyFrameBytes, endsSegment: endsSegment)
    if endsSegment {
      var seconds = (time - segmentStart).seconds
      if let longest, seconds > longest, next != nil, end.isNumeric, (time - end).seconds > 0.1 {
        seconds = (end - segmentStart).seconds
        piece.pausesAfterwards = true
      }
      piece.seconds = partSeconds == nil ? seconds : max(seconds - part.before, 0)
    }
    chunks = []
    let header = initialization
    initialization = nil
    let before = part.before + piece.seconds
    part = PartState(start: next ?? time)
    if endsSegment { segmentStart = next ?? .invalid } else { part.before = before }
    try receive(header, piece)
  }

  private func encoding<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as MediaFileError {
      throw Failure("the audio cannot be encoded: \(error.detail)")
    }
  }

  private func failure(_ writer: AVAssetWriter) -> Failure {
    Failure(
      "the segments cannot be made: \(writer.error.map(Failure.describe) ?? "the writer gave no reason")")
  }
}
