// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
#endif
import Foundation

/// The machine's sound device, for `AVSampleBufferAudioRenderer.ovtAudioSink` and `AVPlayer.ovtAudioSink`.
public final class OVTSoundDevice: OVTAudioSink, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = NSLock()
  #if Display
    private var device: SDL_AudioDeviceID = 0
    private var feed: SoundFeed?
    /// Held from the end of one device to the beginning of the next, as some drivers have but one. What plays may stop
    /// it, and does not wait: there is none then.
    private let changing = NSLock()
    /// SDL gives two devices that are opened at once one number.
    private static let opening = NSLock()
  #endif

  public init() {}

  deinit { stop() }

  /// Opens the device.
  ///
  /// Of the parameters:
  ///
  /// - `sampleRate`: From 1 to 768,000 frames a second.
  /// - `channels`: From 1 to 8.
  /// - Throws: `OVTDisplayError`, if there is no device, or none that plays such sound.
  public func start(sampleRate: Double, channels: Int, source: @escaping Source) throws {
    #if Display
      // SDL takes 0 for what it likes best, and what a device asks for is divided by both.
      guard (1...768_000).contains(sampleRate), (1...8).contains(channels) else {
        throw OVTDisplayError(
          .noSoundDevice, "no sound device plays \(channels) channels at \(sampleRate) Hz")
      }
      let library = try SDLLibrary.load()
      // Before the first sound, as before the first window, on the one thread.
      try DisplayThread.shared.perform { _ in
        guard library.SDL_InitSubSystem(SDL_INIT_AUDIO) == 0 else {
          throw OVTDisplayError(.noSoundDevice, "there is no sound device (\(SDLLibrary.complaint(library)))")
        }
      }
      let made = SoundFeed(source, sampleRate: sampleRate, channels: channels)
      var wanted = SDL_AudioSpec()
      wanted.freq = Int32(sampleRate)
      wanted.format = SDL_AudioFormat(AUDIO_F32LSB)
      wanted.channels = UInt8(clamping: channels)
      // Some 10 ms at a time.
      wanted.samples = sampleRate > 64000 ? 1024 : 512
      wanted.userdata = Unmanaged.passUnretained(made).toOpaque()
      wanted.callback = { feed, bytes, length in
        guard let feed, let bytes else { return }
        Unmanaged<SoundFeed>.fromOpaque(feed).takeUnretainedValue().fill(bytes, Int(length))
      }
      var old: SoundFeed?
      defer { withExtendedLifetime(old) {} }
      try changing.withLock {
        old = closeDevice()
        // No changes allowed: SDL converts to what the device takes.
        let opened = Self.opening.withLock { library.SDL_OpenAudioDevice(nil, 0, &wanted, nil, 0) }
        guard opened != 0 else {
          throw OVTDisplayError(
            .noSoundDevice, "the sound device cannot be opened (\(SDLLibrary.complaint(library)))")
        }
        lock.withLock { (device, feed) = (opened, made) }
        library.SDL_PauseAudioDevice(opened, 0)
      }
    #else
      throw OVTDisplayError(
        .notBuilt, "this build has no sound; build the package with its trait Display (it needs libsdl2-dev)")
    #endif
  }

  public func stop() {
    #if Display
      // What the source holds goes when the lock is free: it may come back here.
      guard lock.withLock({ device != 0 }) else { return }
      let old = changing.withLock { closeDevice() }
      withExtendedLifetime(old) {}
    #endif
  }

  #if Display
    /// Call under `changing`.
    /// - Returns: what the device asked.
    private func closeDevice() -> SoundFeed? {
      let (old, kept) = lock.withLock {
        defer { (device, feed) = (0, nil) }
        return (device, feed)
      }
      // Waits for the callback.
      if old != 0, let library = try? SDLLibrary.load() { library.SDL_CloseAudioDevice(old) }
      return kept
    }
  #endif
}

#if Display
  /// What the device's thread asks, and when what it gets will be heard.
  private final class SoundFeed: @unchecked Sendable {
    // Sendable: used on the device's thread alone.
    private let source: OVTAudioSink.Source
    private let sampleRate: Double
    private let channels: Int
    private var clock: DeviceClock

    init(_ source: @escaping OVTAudioSink.Source, sampleRate: Double, channels: Int) {
      (self.source, self.sampleRate, self.channels) = (source, sampleRate, channels)
      clock = DeviceClock(sampleRate: sampleRate)
    }

    func fill(_ bytes: UnsafeMutablePointer<UInt8>, _ length: Int) {
      let count = length / MemoryLayout<Float>.size
      let frames = count / channels
      // SDL keeps two buffers: this one is heard when the one that plays now is over.
      let asked = clock.request(at: Double(hostNanoseconds()) * 1e-9, frames: frames)
      let time = asked + Double(frames) / sampleRate
      bytes.withMemoryRebound(to: Float.self, capacity: count) { samples in
        source(
          UnsafeMutableBufferPointer(start: samples, count: frames * channels),
          CMTime(value: Int64(time * 1e9), timescale: 1_000_000_000))
      }
    }
  }
#endif
