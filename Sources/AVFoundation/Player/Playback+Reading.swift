// SPDX-License-Identifier: Apache-2.0

/// Reads the tracks ahead and delivers the samples.
extension Playback {
  func makePumps() {
    let tracks = (try? asset.loadedTracks()) ?? []
    if let track = pictureTrack {
      picturePump = TrackReader(
        track, of: asset, timebase: timebase,
        handlers: handlers {
          $0.forConsumers { $0.forget() }
        } deliver: { playback, sample in
          playback.forConsumers { $0.receive(sample) }
        }
      ) { [weak self, asset] in
        try (self?.mixing ?? PlaybackProcessing()).pictures(of: track, in: asset)
      }
    }
    if let track = Self.chosen(tracks, .audio) {
      audioPump = TrackReader(
        track, of: asset, timebase: timebase,
        handlers: handlers {
          $0.currentRenderer?.flush()
        } deliver: {
          $0.currentRenderer?.enqueue($1)
        }
      ) { [weak self, asset] in
        try (self?.mixing ?? PlaybackProcessing()).audio(of: track, in: asset)
      }
    }
    let pumps = [picturePump, audioPump].compactMap { $0 }
    lock.withLock { shared.pumps = pumps }
  }

  /// The damage in the part of the asset that has been read so far.
  var damage: OVTReadingDamage {
    lock.withLock {
      var sum = shared.pastDamage
      for pump in shared.pumps { sum.add(pump.damage) }
      return sum
    }
  }

  var mixing: PlaybackProcessing { lock.withLock { shared.mixing } }

  func turnLayers() {
    let transform = lock.withLock { shared.shownTransform }
    forConsumers { ($0 as? AVSampleBufferDisplayLayer)?.transform = transform }
  }

  private var currentRenderer: AVSampleBufferAudioRenderer? { lock.withLock { renderer } }

  private func forConsumers(_ body: (any PictureConsumer) -> Void) {
    for consumer in lock.withLock({ shared.consumers.all }) { body(consumer) }
  }

  private func handlers(
    flush: @escaping @Sendable (Playback) -> Void,
    deliver: @escaping @Sendable (Playback, CMSampleBuffer) -> Void
  ) -> TrackReader.Handlers {
    // Identifies the pump in `primedPumps`.
    let token = Token()
    return TrackReader.Handlers(
      limit: { [weak self] in self?.forwardEnd ?? .invalid },
      flush: { [weak self] in if let self { flush(self) } },
      deliver: { [weak self] in if let self { deliver(self, $0) } },
      primed: { [weak self] run in
        guard let self else { return }
        control.async { [weak self] in self?.primed(run, token) }
      },
      ended: { [weak self] in
        guard let self else { return }
        control.async { [weak self] in self?.armEnd() }
      },
      failed: { [weak self] error in
        guard let self else { return }
        control.async { [weak self] in self?.fail(error) }
      })
  }

  private final class Token: Sendable {}

  private func primed(_ run: Int, _ token: Token) {
    primedPumps[ObjectIdentifier(token)] = run
    startIfPrimed()
  }

  /// The pumps that read. Pictures are only read while there is a consumer.
  var activePumps: [TrackReader] {
    let isSeen = lock.withLock { !shared.consumers.all.isEmpty }
    return [isSeen ? picturePump : nil, audioPump].compactMap { $0 }
  }

  /// Completes a seek and sets the rate when all active pumps have read enough.
  func startIfPrimed() {
    guard !isPrimed, primedPumps.values.count(where: { $0 == run }) >= activePumps.count else { return }
    isPrimed = true
    let seek = lock.withLock { () -> Seek? in
      guard let seek = shared.seek, seek.id == performedSeek else { return nil }
      shared.seek = nil
      return seek
    }
    finish(seek, true)
    applyRate()
  }

  /// Starts to read pictures when a consumer has been added.
  func consumersChanged() {
    control.async { [weak self] in
      guard let self, let picturePump, lock.withLock({ !shared.consumers.all.isEmpty }) else { return }
      picturePump.restart(at: clampedToAsset(CMTimebaseGetTime(timebase)), run: run)
    }
  }
}
