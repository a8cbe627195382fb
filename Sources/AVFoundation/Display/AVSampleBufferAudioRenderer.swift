// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSNotification.Name {
  /// Posted when the renderer has removed its samples because the format changed. The user info
  /// contains the time from which audio has to be enqueued again.
  public static let AVSampleBufferAudioRendererWasFlushedAutomatically = NSNotification.Name(
    "AVSampleBufferAudioRendererWasFlushedAutomaticallyNotification")
}

/// The key of the time in the user info of `AVSampleBufferAudioRendererWasFlushedAutomatically`: a
/// `CMTime` in an `NSValue`.
public let AVSampleBufferAudioRendererFlushTimeKey: String = "AVSampleBufferAudioRendererFlushTimeKey"

/// Plays audio in synchrony with other renderers. Samples are linear PCM in any layout.
///
/// The audio is passed to `ovtAudioSink`; without a sink it is consumed at the pace of the
/// timebase. The pitch changes with the rate, and audio that is played backward is silent.
open class AVSampleBufferAudioRenderer: NSObject, SynchronizedRenderer, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var audio = AudioTimeline()
  private var followed: CMTimebase?
  private let own = CMTimebase.onHostClock()
  private var currentStatus = AVQueuedSampleBufferRenderingStatus.unknown
  private var currentError: AVError?
  /// Whether the sink was asked to start and has not failed since.
  private var hasSink = false
  private var loudness: Float = 1
  private var isSilenced = false
  private var sink: (any OVTAudioSink)?
  /// No event tells that audio has been played, so the request polls.
  private let request = MediaDataRequest(pause: .milliseconds(20), notifiesOfRoom: false)
  /// The sink is started and stopped on this queue. Both can take long, and the sink's source must
  /// not wait for them.
  private let sinkWork = DispatchQueue(label: "AVFoundation.audio-sink")

  /// Seconds of audio that the renderer keeps waiting, and that are enough to begin.
  private static let wanted = 1.0
  private static let enough = 0.2

  public override init() { super.init() }

  deinit {
    if let sink { sinkWork.async { sink.stop() } }
  }

  // MARK: - Audio

  /// The sink that plays the audio; nil for none. This property is an addition of this package.
  open var ovtAudioSink: (any OVTAudioSink)? {
    get { lock.withLock { sink } }
    set {
      let (old, rate, channels) = lock.withLock {
        defer { sink = newValue }
        return (sink, audio.sampleRate, audio.channels)
      }
      guard old !== newValue else { return }
      if let old { sinkWork.async { old.stop() } }
      if rate > 0 { start(sampleRate: rate, channels: channels) }
    }
  }

  /// The volume from 0 to 1, which is independent of the system's volume.
  open var volume: Float {
    get { lock.withLock { loudness } }
    set { lock.withLock { loudness = newValue.isFinite ? max(0, min(1, newValue)) : loudness } }
  }

  open var isMuted: Bool {
    get { lock.withLock { isSilenced } }
    set { lock.withLock { isSilenced = newValue } }
  }

  /// Seconds by which the audio that was passed to the sink last is ahead of the timebase; nil
  /// while it is silent. This property is an addition of this package.
  open var ovtOffset: Double? { lock.withLock { audio.offset } }

  private func start(sampleRate: Double, channels: Int) {
    sinkWork.async { [weak self] in
      guard let sink = self?.ovtAudioSink else { return }
      do {
        try sink.start(sampleRate: sampleRate, channels: channels) { [weak self] samples, hostTime in
          guard let self else { return samples.update(repeating: 0) }
          render(samples, hostTime)
        }
      } catch {
        self?.lock.withLock { self?.hasSink = false }
        self?.fail(
          AVError(
            .deviceNotConnected, reason: "The audio device cannot be used: \(error.localizedDescription)",
            underlying: error))
      }
    }
  }

  private func render(_ samples: UnsafeMutableBufferPointer<Float>, _ hostTime: CMTime) {
    let base = timebase
    let rate = CMTimebaseGetEffectiveRate(base)
    let time = rate > 0 ? CMSyncConvertTime(hostTime, from: CMClockGetHostTimeClock(), to: base) : .invalid
    lock.withLock {
      // The sink may still ask for audio in the previous format.
      guard audio.channels > 0, samples.count % audio.channels == 0 else {
        return samples.update(repeating: 0)
      }
      audio.read(into: samples, time: time, rate: rate, gain: isSilenced ? 0 : loudness)
    }
  }

  // MARK: - Samples

  open var timebase: CMTimebase { lock.withLock { followed ?? own } }
  func follow(_ timebase: CMTimebase?) { lock.withLock { followed = timebase } }

  open var status: AVQueuedSampleBufferRenderingStatus { lock.withLock { currentStatus } }
  open var error: Error? { lock.withLock { currentError } }

  open func enqueue(_ sampleBuffer: CMSampleBuffer) {
    do {
      let frames = try AudioFrames(sampleBuffer)
      // Audio that ended more than a second ago is removed, whether or not it was played; a device
      // may be late by less than that.
      let past = CMTimebaseGetTime(timebase) - CMTime(value: 1, timescale: 1)
      let (isNew, starts, lost) = lock.withLock {
        if currentStatus == .unknown { currentStatus = .rendering }
        audio.removePast(past)
        let lost = !audio.isEmpty
        let isNew = audio.append(frames)
        // A sink that failed is started again after a flush.
        let starts = isNew || !hasSink && currentStatus == .rendering
        if starts { hasSink = true }
        return (isNew, starts, lost)
      }
      request.received()
      guard starts else { return }
      if isNew, lost {
        NotificationCenter.default.post(
          name: .AVSampleBufferAudioRendererWasFlushedAutomatically, object: self,
          userInfo: [AVSampleBufferAudioRendererFlushTimeKey: NSValue(time: CMTimebaseGetTime(timebase))])
      }
      start(sampleRate: frames.sampleRate, channels: frames.channels)
    } catch {
      fail(AVError.reading(error))
    }
  }

  private func fail(_ error: AVError) {
    lock.withLock {
      currentStatus = .failed
      currentError = error
    }
  }

  open func flush() {
    lock.withLock {
      audio.removeAll()
      currentStatus = .unknown
      currentError = nil
    }
    request.ask(for: self)
  }

  /// Removes audio from a time on, so that other audio can be enqueued in its place.
  /// - Parameters:
  ///   - time: The presentation time from which audio is removed.
  ///   - handler: Receives whether the audio was removed, which is true for each numeric time.
  @preconcurrency open func flush(
    fromSourceTime time: CMTime, completionHandler handler: @escaping @Sendable (Bool) -> Void
  ) {
    if time.isNumeric { lock.withLock { audio.remove(from: time) } }
    handler(time.isNumeric)
    request.ask(for: self)
  }

  /// Seconds of audio that have not been played yet.
  var queuedSeconds: Double {
    let now = CMTimebaseGetTime(timebase)
    return lock.withLock { audio.queued(after: now) }
  }

  open var isReadyForMoreMediaData: Bool { queuedSeconds < Self.wanted }

  /// Whether playback can begin without being interrupted soon.
  open var hasSufficientMediaDataForReliablePlaybackStart: Bool { queuedSeconds >= Self.enough }

  @preconcurrency open func requestMediaDataWhenReady(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) {
    request.start(self, on: queue, block)
  }

  open func stopRequestingMediaData() { request.stop() }
}
