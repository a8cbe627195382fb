// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Puts the tracks' samples together into one file, in order of time.
///
/// A track's samples wait until those of all other tracks have come as far, so that the file is well interleaved; when
/// a track lags far behind, the others go on without it. The header is written when every track has a sample, or has
/// ended without one.
final class MovieAssembly: @unchecked Sendable {
  // Sendable: `lock` guards all.
  struct Plan {
    var container: MuxerContainer
    var options: Muxer.Options
    /// Length of a fragment in a file, or of a segment; invalid for none, indefinite for cuts on demand.
    var cutInterval = CMTime.invalid
    /// Of the first fragment in a file.
    var firstInterval = CMTime.invalid
    /// Fragments in a file carry source times.
    var keepsSourceTimes = false
    /// Bytes go to the receiver instead of a file.
    var isSegmented = false
    var firstSegmentStart = CMTime.invalid
    /// Bytes that may wait for a track whose format is not known, or that goes first.
    var mostWaiting = 1 << 30
  }

  /// A segment that is complete.
  struct Segment {
    var bytes: Data
    var isInitialization: Bool
    var tracks: [(number: Int, type: AVMediaType, tally: SegmentTally)]
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
  /// The track whose chunk is being written, and where that ends.
  private var chunk: (track: TrackAssembly, end: CMTime)?
  /// Where segments go, outside the lock: a delegate may write more, and so may other threads meanwhile.
  private let delivery: OrderedOutput<Segment>

  init(plan: Plan, file: MuxerFile?, deliver: (@Sendable (Segment) -> Void)?) {
    self.plan = plan
    self.file = file
    delivery = OrderedOutput { deliver?($0) }
  }

  func add(_ track: TrackAssembly) {
    lock.withLock {
      track.holdsSeveralFormats = !plan.isSegmented && !plan.options.isFragmented
      tracks.append(track)
    }
  }

  var error: AVError? { lock.withLock { failure } }

  /// The source time of the movie's beginning: segments carry source times, so that a stream that is started again goes
  /// on where it was.
  func begin(at start: CMTime) { lock.withLock { sourceStart = start } }

  // MARK: - Samples in

  /// Takes the samples of a buffer.
  func append(_ samples: [PendingSample], _ format: CMFormatDescription?, to track: TrackAssembly) throws {
    try perform {
      guard !track.isFinished else {
        throw AVError(.operationNotAllowed, reason: "The input has been marked as finished.")
      }
      try track.take(samples, format)
      try write()
    }
  }

  /// No more samples will come for a track.
  func finish(_ track: TrackAssembly) throws {
    try perform {
      track.isFinished = true
      try write()
    }
  }

  /// Ends the current segment with all samples that have come; where none can be written yet, before the next sync sample.
  func cutNow() throws {
    guard plan.isSegmented else { return }
    try perform {
      // What waits for a sample of its own track or of another's: whatever comes belongs to the next segment.
      let running = tracks.filter { !$0.isFinished }
      if muxer != nil {
        for track in running { track.isFinished = true }
        defer { for track in running { track.isFinished = false } }
        try write()
      }
      // Nothing to end: the segment that is to come has its own length.
      wantsCut = muxer == nil && tracks.contains { !$0.queue.isEmpty }
      if muxer != nil { try cut() }
    }
  }

  /// Writes what waits and completes the file.
  /// - Parameter decide: Given what completes and names the file, calls it or throws.
  func close(ends: CMTime?, decide: (_ name: () throws -> Void) throws -> Void) throws {
    try perform {
      for track in tracks { track.isFinished = true }
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

  /// Returns when nobody is completing the file.
  func waitForClosing() { lock.withLock {} }

  /// Gives up. Nothing remains, but the complete fragments of a fragmented file when `keeps` is set.
  func abandon(keeps: Bool = false) {
    lock.withLock {
      isClosed = true
      if !keeps { muxer?.cancel() }
      muxer = nil
      // With the last reference the file goes, but for its complete fragments.
      if !keeps { file?.discard() }
      file = nil
      for track in tracks { track.clear() }
    }
    if !keeps { delivery.clear() }
  }

  /// Runs under the lock; the first error stays. Afterwards hands out segments.
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
        // A silent microphone does not hold the movie up, if it is known what it will sound like.
        let limit = silent.map(\.patience).max() ?? .zero
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
      try put(sample, of: track)
    }
  }

  /// What waits for a track of which nothing is known, or that goes first, has a limit.
  private func checkWaitingSize() throws {
    guard tracks.reduce(0, { $0 + $1.waitingSize }) > plan.mostWaiting else { return }
    throw AVError(
      .outOfMemory,
      reason: "\(plan.mostWaiting >> 20) MB of samples wait for another track.",
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
      // Segments as key frames are asked for: from a time of the source's, or the session's start.
      let origin =
        plan.isSegmented
        ? (plan.firstSegmentStart.isNumeric ? plan.firstSegmentStart - sourceStart : .zero) : start
      let first = plan.isSegmented ? plan.cutInterval : plan.firstInterval
      nextCut = TimeGrid.first(after: start, from: origin + first, every: plan.cutInterval)
    }
  }

  /// The track whose sample is to be written next; nil when samples have to wait for another track.
  private func nextTrack() throws -> TrackAssembly? {
    if let track = tracks.first(where: { $0.goesFirst && !($0.isFinished && $0.queue.isEmpty) }) {
      let isReady = track.queue.first.map { $0.hasDuration || track.queue.count > 1 || track.isFinished }
      if isReady != true { try checkWaitingSize() }
      return isReady == true ? track : nil
    }
    // The other tracks wait for a chunk to be complete, within limits.
    if let (track, end) = chunk, !(track.isFinished && track.queue.isEmpty),
      track.queue.first.map({ $0.decode < end }) ?? true
    {
      if let sample = track.queue.first, sample.hasDuration || track.queue.count > 1 || track.isFinished {
        return track
      }
      guard tracks.contains(where: { $0 !== track && $0.waitingSpan > track.patience }) else { return nil }
    }
    var first: TrackAssembly?
    var isWaiting = false
    var patience = TrackAssembly.usualPatience
    for track in tracks {
      guard let sample = track.queue.first else {
        // Nobody knows when there will be something to read.
        if !track.isFinished, track.number != nil, !track.mediaType.isSparse {
          isWaiting = true
          patience = min(patience, track.patience)
        }
        continue
      }
      guard track.number != nil else { continue }
      // How long it is shown, the next one tells; texts that follow too early end the one before.
      if !sample.hasDuration || track.mediaType.isText, track.queue.count == 1, !track.isFinished {
        isWaiting = isWaiting || !track.mediaType.isSparse
        continue
      }
      if let earliest = first?.queue.first, earliest.decode <= sample.decode { continue }
      first = track
    }
    guard isWaiting, let track = first else { return isWaiting ? nil : first }
    return track.waitingSpan > patience ? track : nil
  }

  private func put(_ sample: PendingSample, of track: TrackAssembly) throws {
    guard let muxer else { return }
    // Only the last sample of all has no follower when it needs one.
    let facts = track.muxerSample(sample, next: track.queue.first)
    if let format = sample.format {
      let changed = try track.makeMuxerTrack(format)
      try changed.checkReadable(in: plan.container)
      try muxer.changeFormat(of: facts.track, to: changed)
    }
    try sample.withBytes { try muxer.write(facts, bytes: $0) }
    hasSamplesSinceCut = true
    track.segment.add(sample, duration: CMTime(value: facts.duration, timescale: track.timeScale))
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
    let tallies = tracks.compactMap { track in track.number.map { ($0, track.mediaType, track.segment) } }
    for track in tracks { track.segment = SegmentTally() }
    segments.append(Segment(bytes: muxer.takeSegment(), isInitialization: false, tracks: tallies))
  }
}
