// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads one track of an item, a little ahead of the timebase, on a queue of its own.
///
/// It does not poll. A timer on the timebase wakes it when there is room again; it stays idle while
/// the timebase is stopped.
final class TrackReader: @unchecked Sendable {
  // Sendable: `lock` guards what changes, except for properties that are used on `work` only.
  struct Handlers: Sendable {
    /// Returns the time at which the reading ends; not numeric if the track is read to its end.
    let limit: @Sendable () -> CMTime
    /// Removes the samples that have been delivered.
    let flush: @Sendable () -> Void
    let deliver: @Sendable (CMSampleBuffer) -> Void
    /// Called when enough has been read to start playback in a run, or when there is nothing more
    /// to read.
    let primed: @Sendable (_ run: Int) -> Void
    /// Called when the track has been read to its end.
    let ended: @Sendable () -> Void
    let failed: @Sendable (AVError) -> Void
  }

  private let asset: AVAsset
  private let track: AVAssetTrack
  private let makeOutput: @Sendable () throws -> AVAssetReaderOutput
  private let timebase: CMTimebase
  private let handlers: Handlers
  private let isAudio: Bool

  private let lock = Lock()
  private var pending: (time: CMTime, run: Int)?
  private var isStopped = false
  private var reader: AVAssetReader?
  private var knownEnd: CMTime?
  private var readError: AVError?
  /// The damage that earlier outputs found, and the current output.
  private var pastDamage = OVTReadingDamage()
  private var source: AVAssetReaderOutput?
  /// Held while a sample is delivered, so that none is delivered after `stop()` has returned. It is
  /// recursive because handlers may call any method.
  private let delivery = NSRecursiveLock()

  // The following properties are used on `work`.
  private let work: DispatchQueue
  private let timer: any DispatchSourceTimer
  private var output: AVAssetReaderOutput?
  private var run = 0
  private var start = CMTime.zero
  private var isPrimed = true
  private var isEnded = true
  private var hasEverDelivered = false
  private var hasJumpedBack = false
  /// Presentation times of the pictures that have been delivered and are not over yet.
  private var ahead: [CMTime] = []
  private var end = CMTime.zero

  /// The number of pictures and the seconds of audio that are read ahead at most, and that are
  /// enough to start playback.
  private static let pictures = (maximum: 6, enough: 3)
  private static let seconds = (maximum: 1.0, enough: 0.25)

  /// Creates a pump, which starts to read at the first call of `restart`.
  /// - Parameters:
  ///   - track: The track that is read.
  ///   - asset: The asset of the track.
  ///   - timebase: The timebase of the item.
  ///   - handlers: The functions that the pump calls.
  ///   - makeOutput: Makes the output to read from. Called each time that reading starts.
  init(
    _ track: AVAssetTrack, of asset: AVAsset, timebase: CMTimebase, handlers: Handlers,
    makeOutput: @escaping @Sendable () throws -> AVAssetReaderOutput
  ) {
    (self.asset, self.track, self.makeOutput) = (asset, track, makeOutput)
    (self.timebase, self.handlers) = (timebase, handlers)
    isAudio = track.mediaType == .audio
    work = DispatchQueue(label: isAudio ? "AVFoundation.player.audio" : "AVFoundation.player.pictures")
    timer = DispatchSource.makeTimerSource(queue: work)
    timer.setEventHandler { [weak self] in self?.step() }
    CMTimebaseAddTimerDispatchSource(timebase, timerSource: timer)
    timer.resume()
  }

  deinit {
    CMTimebaseRemoveTimerDispatchSource(timebase, timerSource: timer)
    timer.cancel()
    reader?.cancelReading()
  }

  /// The time at which the delivered samples end; nil while there is more to read.
  var endOfMedia: CMTime? { lock.withLock { knownEnd } }

  /// The error that ended the reading before the end of the track, or nil.
  var failure: AVError? { lock.withLock { readError } }

  /// The damage in the part of the track that has been read so far. Damage that is read again is
  /// counted again.
  var damage: OVTReadingDamage {
    lock.withLock {
      var sum = pastDamage
      if let source { sum.add(source.damage.value) }
      sum.failure = readError ?? sum.failure
      return sum
    }
  }

  /// Starts a new run, which reads from another time. The current run ends at once.
  func restart(at time: CMTime, run: Int) {
    let old: AVAssetReader? = lock.withLock {
      guard !isStopped else { return nil }
      pending = (time, run)
      (knownEnd, readError) = (nil, nil)
      defer { reader = nil }
      return reader
    }
    old?.cancelReading()
    work.async { [weak self] in self?.step() }
  }

  /// Ends the reading permanently. Nothing is delivered after this method has returned.
  func stop() {
    let old: AVAssetReader? = lock.withLock {
      isStopped = true
      pending = nil
      defer { reader = nil }
      return reader
    }
    old?.cancelReading()
    delivery.withLock {}
  }

  // MARK: - On `work`

  private var isFinished: Bool { lock.withLock { isStopped } }
  private var isCurrent: Bool { lock.withLock { !isStopped && pending == nil } }

  private func step() {
    while !isFinished {
      let next: (time: CMTime, run: Int)? = lock.withLock {
        defer { pending = nil }
        return pending
      }
      if let next { begin(next.time, next.run) }
      guard let output, !isEnded else { return }
      guard hasRoom() else { return }
      guard let sample = output.copyNextSampleBuffer() else {
        if isCurrent { finish() }
        continue
      }
      deliver(sample)
    }
  }

  private func begin(_ time: CMTime, _ run: Int) {
    (self.run, start, end) = (run, time, time)
    (isPrimed, isEnded, hasJumpedBack) = (false, false, false)
    ahead = []
    delivery.withLock { if !isFinished { handlers.flush() } }
    open(at: time)
  }

  private func open(at time: CMTime) {
    output = nil
    do {
      let made = try AVAssetReader(asset: asset)
      let end = handlers.limit()
      made.timeRange =
        end.isNumeric && end > time
        ? CMTimeRange(start: time, end: end) : CMTimeRange(start: time, duration: .positiveInfinity)
      let output = try makeOutput()
      output.alwaysCopiesSampleData = false
      made.add(output)
      guard made.startReading() else { throw made.error ?? AVError(.unknown) }
      let isWanted = lock.withLock { () -> Bool in
        guard !isStopped, pending == nil else { return false }
        reader = made
        if let source { pastDamage.add(source.damage.value) }
        source = output
        return true
      }
      if isWanted { self.output = output } else { made.cancelReading() }
    } catch {
      fail(AVError.reading(error))
    }
  }

  /// Whether more is to be read now. If not, sets the timer for the time at which there will be
  /// room.
  private func hasRoom() -> Bool {
    let now = CMTimebaseGetTime(timebase)
    var wakeUp: CMTime
    if isAudio {
      guard (end - now).seconds >= Self.seconds.maximum else { return true }
      wakeUp = end - CMTime(nearest: Self.seconds.maximum * 0.75, preferredTimescale: 1000)
    } else {
      while ahead.count > 1, ahead[1] <= now { ahead.removeFirst() }
      guard ahead.count >= Self.pictures.maximum else { return true }
      wakeUp = ahead[1]
    }
    CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timerSource: timer, fireTime: wakeUp, flags: 0)
    return false
  }

  private func deliver(_ sample: CMSampleBuffer) {
    let shown = hasJumpedBack ? Self.withoutDuration(sample) : sample
    let isDelivered = delivery.withLock { () -> Bool in
      guard isCurrent else { return false }
      handlers.deliver(shown)
      return true
    }
    guard isDelivered else { return }
    hasEverDelivered = true
    let time = CMSampleBufferGetPresentationTimeStamp(sample)
    let duration = CMSampleBufferGetDuration(sample)
    guard time.isNumeric else { return }
    end = max(end, duration.isNumeric ? time + duration : time)
    if !isAudio { ahead.append(time) }
    let isEnough =
      isAudio ? (end - start).seconds >= Self.seconds.enough : ahead.count >= Self.pictures.enough
    if isEnough { prime() }
  }

  /// A copy of a picture's sample without a duration. A layer drops pictures that end before its
  /// start time.
  private static func withoutDuration(_ sample: CMSampleBuffer) -> CMSampleBuffer {
    var timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: CMSampleBufferGetPresentationTimeStamp(sample),
      decodeTimeStamp: .invalid)
    var made: CMSampleBuffer?
    CMSampleBufferCreateCopyWithNewTiming(
      allocator: nil, sampleBuffer: sample, sampleTimingEntryCount: 1, sampleTimingArray: &timing,
      sampleBufferOut: &made)
    return made ?? sample
  }

  private func prime() {
    guard !isPrimed else { return }
    isPrimed = true
    handlers.primed(run)
  }

  /// Handles the end of the reading.
  private func finish() {
    let (reader, readFrom) = lock.withLock { (self.reader, source) }
    let failed = reader.flatMap { $0.status == .failed ? $0.error : nil }
    // An error after samples have been delivered ends the track, and the item reports it when the
    // end is reached.
    if let failed, !hasEverDelivered { return fail(AVError.reading(failed)) }
    if !isAudio, ahead.isEmpty, !hasJumpedBack, start > .zero {
      // If playback starts at or after the end of the pictures, the last picture is shown.
      hasJumpedBack = true
      let last = track.samplePresentationTime(
        forTrackTime: track.timeRange.end - CMTime(value: 1, timescale: 10_000))
      if last.isNumeric, last < start { return open(at: last) }
    }
    isEnded = true
    output = nil
    let isWanted = lock.withLock { () -> Bool in
      guard pending == nil else { return false }
      knownEnd = end
      readError = (failed ?? readFrom?.damage.value.failure).map(AVError.reading)
      self.reader = nil
      return true
    }
    guard isWanted else { return }
    prime()
    handlers.ended()
  }

  private func fail(_ error: AVError) {
    isEnded = true
    output = nil
    guard isCurrent else { return }
    handlers.failed(error)
  }
}
