// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSNotification.Name {
  /// The renderer has thrown its samples away by itself: their format changed. The user info holds the time from which
  /// sound is wanted again.
  public static let AVSampleBufferAudioRendererWasFlushedAutomatically = NSNotification.Name(
    "AVSampleBufferAudioRendererWasFlushedAutomaticallyNotification")
}

/// In the user info of `AVSampleBufferAudioRendererWasFlushedAutomatically`: a `CMTime` in an `NSValue`.
public let AVSampleBufferAudioRendererFlushTimeKey: String = "AVSampleBufferAudioRendererFlushTimeKey"

/// Plays sound in time with other renderers: linear PCM of any kind.
///
/// It is heard where `ovtAudioSink` sends it, and without a sink consumed in silence. Sound that is played faster than
/// it was recorded is higher, and sound that is played backward is silent.
open class AVSampleBufferAudioRenderer: NSObject, SynchronizedRenderer, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var sound = SoundTimeline()
  private var followed: CMTimebase?
  private let own = CMTimebase.onHostClock()
  private var currentStatus = AVQueuedSampleBufferRenderingStatus.unknown
  private var currentError: AVError?
  /// Whether the sink was asked to start, and has not failed since.
  private var hasSink = false
  private var loudness: Float = 1
  private var isSilenced = false
  private var sink: (any OVTAudioSink)?
  /// Sound is wanted again when some has been heard, which nobody tells of.
  private let request = MediaDataRequest(pause: .milliseconds(20), tellsOfRoom: false)
  /// The sink is started and stopped here: it may take its time, and its source must not wait for it.
  private let sinkWork = DispatchQueue(label: "AVFoundation.audio-sink")

  /// Seconds of sound that are kept waiting, and that suffice to begin.
  private static let wanted = 1.0
  private static let enough = 0.2

  public override init() { super.init() }

  deinit {
    if let sink { sinkWork.async { sink.stop() } }
  }

  // MARK: - Sound

  /// Of this package, not Apple's: where the sound is heard; nil: nowhere.
  open var ovtAudioSink: (any OVTAudioSink)? {
    get { lock.withLock { sink } }
    set {
      let (old, rate, channels) = lock.withLock {
        defer { sink = newValue }
        return (sink, sound.sampleRate, sound.channels)
      }
      guard old !== newValue else { return }
      if let old { sinkWork.async { old.stop() } }
      if rate > 0 { start(sampleRate: rate, channels: channels) }
    }
  }

  /// From 0 to 1, beside the machine's own volume.
  open var volume: Float {
    get { lock.withLock { loudness } }
    set { lock.withLock { loudness = newValue.isFinite ? max(0, min(1, newValue)) : loudness } }
  }

  open var isMuted: Bool {
    get { lock.withLock { isSilenced } }
    set { lock.withLock { isSilenced = newValue } }
  }

  /// Of this package, not Apple's: seconds by which the sound that the sink asked for last is ahead of the time line;
  /// nil while it is silent.
  open var ovtOffset: Double? { lock.withLock { sound.offset } }

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
            .deviceNotConnected, reason: "The sound device cannot be used: \(error.localizedDescription)",
            underlying: error))
      }
    }
  }

  private func render(_ samples: UnsafeMutableBufferPointer<Float>, _ hostTime: CMTime) {
    let base = timebase
    let rate = CMTimebaseGetEffectiveRate(base)
    let time = rate > 0 ? CMSyncConvertTime(hostTime, from: CMClockGetHostTimeClock(), to: base) : .invalid
    lock.withLock {
      // The device may still ask in the old format.
      guard sound.channels > 0, samples.count % sound.channels == 0 else {
        return samples.update(repeating: 0)
      }
      sound.read(into: samples, time: time, rate: rate, gain: isSilenced ? 0 : loudness)
    }
  }

  // MARK: - Samples

  open var timebase: CMTimebase { lock.withLock { followed ?? own } }
  func follow(_ timebase: CMTimebase?) { lock.withLock { followed = timebase } }

  open var status: AVQueuedSampleBufferRenderingStatus { lock.withLock { currentStatus } }
  open var error: Error? { lock.withLock { currentError } }

  open func enqueue(_ sampleBuffer: CMSampleBuffer) {
    do {
      let frames = try SoundFrames(sampleBuffer)
      // What is over is not kept, heard or not; a device may be a little late.
      let past = CMTimebaseGetTime(timebase) - CMTime(value: 1, timescale: 1)
      let (isNew, starts, lost) = lock.withLock {
        if currentStatus == .unknown { currentStatus = .rendering }
        sound.removePast(past)
        let lost = !sound.isEmpty
        let isNew = sound.append(frames)
        // A sink that failed is tried again after a flush.
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
      sound.removeAll()
      currentStatus = .unknown
      currentError = nil
    }
    request.ask(for: self)
  }

  /// Forgets the sound from a time on, so that other sound can come in its place.
  /// - Parameters:
  ///   - time: The first time, of the samples, whose sound is forgotten.
  ///   - handler: Receives whether that was done, which it is for every time that is a number.
  @preconcurrency open func flush(
    fromSourceTime time: CMTime, completionHandler handler: @escaping @Sendable (Bool) -> Void
  ) {
    if time.isNumeric { lock.withLock { sound.remove(from: time) } }
    handler(time.isNumeric)
    request.ask(for: self)
  }

  /// Seconds of sound that have not been heard yet.
  var queuedSeconds: Double {
    let now = CMTimebaseGetTime(timebase)
    return lock.withLock { sound.queued(after: now) }
  }

  open var isReadyForMoreMediaData: Bool { queuedSeconds < Self.wanted }

  /// Whether playing can begin without the sound breaking off at once.
  open var hasSufficientMediaDataForReliablePlaybackStart: Bool { queuedSeconds >= Self.enough }

  @preconcurrency open func requestMediaDataWhenReady(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) {
    request.start(self, on: queue, block)
  }

  open func stopRequestingMediaData() { request.stop() }
}
