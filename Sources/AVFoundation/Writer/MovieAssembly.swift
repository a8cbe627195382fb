// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Interleaves the tracks' samples by decode time and writes them to one file.
///
/// Samples wait until all other tracks have reached the same time. If a track lags too far behind
/// (see `TrackAssembly.timeout`), the others go on without it. The header is written when each
/// track has a sample or has ended without one.
final class MovieAssembly: @unchecked Sendable {
  // Sendable: `lock` guards all.
  /// How the movie is to be written.
  struct Plan {
    var container: MuxerContainer
    var options: Muxer.Options
    /// The duration of a fragment in a file, or of a segment. Invalid for no cuts, indefinite for
    /// cuts on demand only.
    var cutInterval = CMTime.invalid
    /// The duration of the first fragment in a file.
    var firstInterval = CMTime.invalid
    /// Whether fragments in a file carry source times.
    var keepsSourceTimes = false
    /// Whether the bytes are passed to the receiver of segments, rather than written to a file.
    var isSegmented = false
    var firstSegmentStart = CMTime.invalid
    /// The limit of the bytes that may wait for a track of unknown format, or for one that is
    /// written before the others.
    var maxWaitingPackets = 1 << 30
  }

  /// A complete segment.
  struct Segment {
    var bytes: Data
    var isInitialization: Bool
    var tracks: [(number: Int, type: AVMediaType, tally: SegmentContents)]
  }

  private let lock = Lock()
  private let plan: Plan
  private var tracks: [TrackAssembly] = []
  private var file: MuxerFile?
  private var muxer: Muxer?
  private var failure: AVError?
  private var isClosed = false
  private var nextCut: CMTime?
  private var wantsCut = false
  private var hasSamplesSinceCut = false
  private var segments: [Segment] = []
  private var sourceStart = CMTime.zero
  /// The track whose chunk is being written, and the decode time at which the chunk ends.
  private var chunk: (track: TrackAssembly, end: CMTime)?
  /// Passes segments to their receiver outside of `lock`, since the receiver may append samples,
  /// and other threads may do so meanwhile.
  private let delivery: OrderedOutput<Segment>

  init(plan: Plan, file: MuxerFile?, deliver: (@Sendable (Segment) -> Void)?) {
    self.plan = plan
    self.file = file
    delivery = OrderedOutput { deliver?($0) }
  }

  func add(_ track: TrackAssembly) {
    lock.withLock {
      track.holdsSeveralFormats = !plan.isSegmented && !plan.options.isFragmented
      track.keepsLast = !plan.isSegmented && track.mediaType == .video && !track.goesFirst
      tracks.append(track)
    }
  }

  var error: AVError? { lock.withLock { failure } }

  /// Sets the source time at which the movie begins. Segments carry source times, so that a stream
  /// that is started again continues in time.
  func begin(at start: CMTime) { lock.withLock { sourceStart = start } }

  // MARK: - Appending samples

  /// Appends the samples of a buffer.
  func append(_ samples: [PendingSample], _ format: CMFormatDescription?, to track: TrackAssembly) throws {
    try perform {
      guard !track.isFinished else {
        throw AVError(.operationNotAllowed, reason: "The input has been marked as finished.")
      }
      try track.append(samples, format)
      try write()
    }
  }

  /// Marks a track as finished, and writes the samples that waited for it.
  func finish(_ track: TrackAssembly) throws {
    try perform {
      track.isFinished = true
      try write()
    }
  }

  /// Ends the current segment after all samples that have been appended. If no sample can be
  /// written yet, the segment ends before the next sync sample.
  func cutNow() throws {
    guard plan.isSegmented else { return }
    try perform {
      // Samples that wait for another sample, of their own or another track, are written as if
      // their tracks had ended, since the samples to come belong to the next segment.
      let running = tracks.filter { !$0.isFinished }
      // A track that begins late does not make the first segment longer, if its format is known.
      if muxer == nil, tracks.contains(where: { !$0.queue.isEmpty }),
        running.allSatisfy({ !$0.queue.isEmpty || $0.describeAhead() })
      {
        try begin()
      }
      if muxer != nil {
        for track in running { track.isFinished = true }
        defer { for track in running { track.isFinished = false } }
        try write()
      }
      // If no sample has been appended, there is nothing to end.
      wantsCut = muxer == nil && tracks.contains { !$0.queue.isEmpty }
      if muxer != nil { try cut() }
    }
  }

  /// Writes the waiting samples and completes the file.
  /// - Parameters:
  ///   - ends: The time at which the tracks end, on the movie's time line: later samples are not
  ///     presented, and the last picture is presented until then. Nil if they end with their
  ///     samples.
  ///   - decide: Called with a closure that completes and names the file. It calls the closure or
  ///     throws.
  func close(ends: CMTime?, decide: (_ name: () throws -> Void) throws -> Void) throws {
    try perform {
      for track in tracks {
        track.isFinished = true
        track.keepsLast = false
        track.extendedEnd = track.mediaType == .video ? ends : nil
      }
      try write()
      guard let muxer else {
        throw AVError(
          .noDataCaptured, reason: "No sample has been written.",
          advice: "Append at least one sample before finishing.")
      }
      isClosed = true
      if plan.isSegmented {
        if hasSamplesSinceCut { try cut() }
        muxer.cancel()
      } else {
        var limits: [Int: Int64] = [:]
        if let ends {
          for track in tracks { if let number = track.number { limits[number] = track.units(ends) } }
        }
        try decide { try muxer.finish(trackEnds: limits) }
      }
      self.muxer = nil
      file = nil
    }
    delivery.complete()
  }

  /// Waits for a call of `close` that is in progress.
  func waitForClosing() { lock.withLock {} }

  /// Abandons the writing and removes the file.
  /// - Parameter keeps: Whether to keep the complete fragments of a fragmented file.
  func abandon(keeps: Bool = false) {
    lock.withLock {
      isClosed = true
      if !keeps { muxer?.cancel() }
      muxer = nil
      // Releasing the last reference removes the file, except for its complete fragments.
      if !keeps { file?.discard() }
      file = nil
      for track in tracks { track.clear() }
    }
    if !keeps { delivery.clear() }
  }

  /// Runs `body` under the lock, and then passes complete segments to their receiver. The first
  /// error is kept, and later calls throw it.
  private func perform(_ body: () throws -> Void) throws {
    try lock.withLock {
      if let failure { throw failure }
      guard !isClosed else {
        throw AVError(.operationNotAllowed, reason: "The writing has ended.")
      }
      do {
        try body()
      } catch {
        let error = AVError.writing(error)
        failure = error
        throw error
      }
      for segment in segments { delivery.put(segment) }
      segments = []
    }
    delivery.flush()
  }

  // MARK: - Interleaving

  private func write() throws {
    if muxer == nil {
      guard !tracks.isEmpty else { return }
      let silent = tracks.filter { $0.queue.isEmpty && !$0.isFinished }
      if !silent.isEmpty {
        // If the formats of all silent tracks are known, they do not delay the header longer than
        // their patience lasts.
        let limit = silent.map(\.timeout).max() ?? .zero
        guard tracks.contains(where: { $0.waitingSpan > limit }),
          silent.allSatisfy({ $0.describeAhead() })
        else { return try checkWaitingSize() }
      }
      try begin()
    }
    while let track = try nextTrack(), let sample = track.popFirst() {
      let isInChunk = chunk.map { $0.track === track && sample.decode < $0.end } ?? false
      if !isInChunk, track.chunkDuration > .zero {
        chunk = (track, sample.decode + track.chunkDuration)
      }
      try cutIfDue(before: sample, of: track)
      try appendSample(sample, of: track)
    }
  }

  /// Limits the samples that wait for a track of unknown format, or for one that is written first.
  private func checkWaitingSize() throws {
    guard tracks.reduce(0, { $0 + $1.waitingSize }) > plan.maxWaitingPackets else { return }
    throw AVError(
      .outOfMemory,
      reason: "\(plan.maxWaitingPackets >> 20) MB of samples wait for another track.",
      advice:
        "Append to the inputs in turns, finish those without samples, or give them a source format hint.")
  }

  private func begin() throws {
    let used = tracks.filter { !$0.queue.isEmpty || !$0.isFinished && $0.format != nil }
    guard used.contains(where: { !$0.queue.isEmpty }) else { return }
    for (number, track) in used.enumerated() { track.number = number }
    let muxed = try used.map { try $0.makeMuxerTrack() }
    for track in muxed { try track.checkReadable(in: plan.container) }
    var options = plan.options
    if plan.isSegmented || plan.keepsSourceTimes {
      options.keepsTimes = true
      for track in used { track.timeOffset = sourceStart }
      options.hasNegativeTimes = used.contains { track in
        track.queue.first.map { track.units($0.decode + sourceStart) < 0 } ?? false
      }
    }
    if plan.isSegmented {
      muxer = try Muxer(segmentsOf: plan.container, tracks: muxed, options: options)
    } else if let file {
      muxer = try Muxer(file: file, container: plan.container, tracks: muxed, options: options)
    }
    let start = used.compactMap { $0.queue.first?.presentation }.min() ?? .zero
    if plan.cutInterval.isNumeric, plan.cutInterval > .zero {
      // Segments end at the times at which encoders are asked for key frames: multiples of the
      // interval from a source time or from the session's start.
      let origin =
        plan.isSegmented
        ? (plan.firstSegmentStart.isNumeric ? plan.firstSegmentStart - sourceStart : .zero) : start
      let first = plan.isSegmented ? plan.cutInterval : plan.firstInterval
      nextCut = TimeGrid.first(after: start, from: origin + first, every: plan.cutInterval)
    }
  }

  /// The track whose sample is to be written next, or nil if all samples have to wait.
  private func nextTrack() throws -> TrackAssembly? {
    if let track = tracks.first(where: { $0.goesFirst && !$0.isExhausted }) {
      if !track.isReady { try checkWaitingSize() }
      return track.isReady ? track : nil
    }
    // Other tracks wait until the chunk is complete, as long as its track does not lag too far
    // after.
    if let (track, end) = chunk, !track.isExhausted, track.queue.first.map({ $0.decode < end }) ?? true {
      if track.isReady { return track }
      guard tracks.contains(where: { $0 !== track && $0.waitingSpan > track.timeout }) else { return nil }
    }
    var first: TrackAssembly?
    var isWaiting = false
    var timeout = TrackAssembly.defaultTimeout
    for track in tracks {
      guard let sample = track.queue.first else {
        // Tracks of text or metadata can be silent for any time, so others do not wait for them.
        if !track.isFinished, track.number != nil, !track.mediaType.isSparse {
          isWaiting = true
          timeout = min(timeout, track.timeout)
        }
        continue
      }
      guard track.number != nil else { continue }
      if !track.isReady {
        isWaiting = isWaiting || !track.isFinished && !track.mediaType.isSparse
        continue
      }
      if let earliest = first?.queue.first, earliest.decode <= sample.decode { continue }
      first = track
    }
    guard isWaiting, let track = first else { return isWaiting ? nil : first }
    return track.waitingSpan > timeout ? track : nil
  }

  private func appendSample(_ sample: PendingSample, of track: TrackAssembly) throws {
    guard let muxer else { return }
    // The sample's duration comes from the next sample of the track; only the last sample has none.
    let properties = track.muxerSample(sample, next: track.queue.first)
    if let format = sample.format {
      let changed = try track.makeMuxerTrack(format)
      try changed.checkReadable(in: plan.container)
      try muxer.changeFormat(of: properties.track, to: changed)
    }
    try sample.withBytes { try muxer.write(properties, bytes: $0) }
    hasSamplesSinceCut = true
    track.segment.add(sample, duration: CMTime(value: properties.duration, timescale: track.timeScale))
  }

  // MARK: - Fragments and segments

  private var leader: TrackAssembly? {
    tracks.first { $0.number != nil && $0.mediaType == .video } ?? tracks.first { $0.number != nil }
  }

  private func cutIfDue(before sample: PendingSample, of track: TrackAssembly) throws {
    guard track === leader, hasSamplesSinceCut else { return }
    if wantsCut, sample.isSync { return try cut() }
    guard let due = nextCut, sample.presentation >= due, sample.isSync || !plan.isSegmented else { return }
    try cut()
    nextCut = TimeGrid.first(after: sample.presentation, from: due, every: plan.cutInterval)
  }

  private func cut() throws {
    guard let muxer, plan.options.isFragmented || plan.isSegmented, hasSamplesSinceCut else { return }
    try muxer.cutFragment()
    wantsCut = false
    hasSamplesSinceCut = false
    guard plan.isSegmented else { return }
    let header = muxer.takeInitialization()
    if !header.isEmpty { segments.append(Segment(bytes: header, isInitialization: true, tracks: [])) }
    let segmentStatistics = tracks.compactMap { track in
      track.number.map { ($0, track.mediaType, track.segment) }
    }
    for track in tracks { track.segment = SegmentContents() }
    segments.append(Segment(bytes: muxer.takeSegment(), isInitialization: false, tracks: segmentStatistics))
  }
}
