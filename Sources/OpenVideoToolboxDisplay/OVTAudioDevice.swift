// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
#endif
import Foundation

/// The system's default audio device, for `AVSampleBufferAudioRenderer.ovtAudioSink` and
/// `AVPlayer.ovtAudioSink`.
public final class OVTAudioDevice: OVTAudioSink, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = NSLock()
  #if Display
    private var device: SDL_AudioDeviceID = 0
    private var feed: AudioFeed?
    /// Held while one device is closed and the next one opened, since some drivers support only one
    /// device at a time. The source may call `stop()` meanwhile, which returns without taking this
    /// lock because there is no device.
    private let changing = NSLock()
    /// Held while a device is opened. SDL can give the same identifier to two devices that are
    /// opened concurrently.
    private static let opening = NSLock()
  #endif

  public init() {}

  deinit { stop() }

  /// Opens the device and starts to play.
  ///
  /// - Parameters:
  ///   - sampleRate: Frames per second, from 1 to 768,000.
  ///   - channels: The number of channels, from 1 to 8.
  ///   - source: Provides the audio.
  /// - Throws: `OVTDisplayError` if there is no device, or it does not support the format.
  public func start(sampleRate: Double, channels: Int, source: @escaping Source) throws {
    #if Display
      // SDL replaces 0 by defaults, and computations below divide by both values.
      guard (1...768_000).contains(sampleRate), (1...8).contains(channels) else {
        throw OVTDisplayError(
          .noAudioDevice, "no audio device plays \(channels) channels at \(sampleRate) Hz")
      }
      let library = try SDLLibrary.load()
      // SDL must be initialized on the display's thread, for audio as for video.
      try DisplayThread.shared.perform { _ in
        guard library.SDL_InitSubSystem(SDL_INIT_AUDIO) == 0 else {
          throw OVTDisplayError(.noAudioDevice, "there is no audio device (\(SDLLibrary.complaint(library)))")
        }
      }
      let made = AudioFeed(source, sampleRate: sampleRate, channels: channels)
      var wanted = SDL_AudioSpec()
      wanted.freq = Int32(sampleRate)
      wanted.format = SDL_AudioFormat(AUDIO_F32LSB)
      wanted.channels = UInt8(clamping: channels)
      // Buffers of about 10 ms at the usual sample rates.
      wanted.samples = sampleRate > 64000 ? 1024 : 512
      wanted.userdata = Unmanaged.passUnretained(made).toOpaque()
      wanted.callback = { feed, bytes, length in
        guard let feed, let bytes else { return }
        Unmanaged<AudioFeed>.fromOpaque(feed).takeUnretainedValue().fill(bytes, Int(length))
      }
      var old: AudioFeed?
      defer { withExtendedLifetime(old) {} }
      try changing.withLock {
        old = closeDevice()
        // Without allowed changes SDL converts to the format of the device.
        let opened = Self.opening.withLock { library.SDL_OpenAudioDevice(nil, 0, &wanted, nil, 0) }
        guard opened != 0 else {
          throw OVTDisplayError(
            .noAudioDevice, "the audio device cannot be opened (\(SDLLibrary.complaint(library)))")
        }
        lock.withLock { (device, feed) = (opened, made) }
        library.SDL_PauseAudioDevice(opened, 0)
      }
    #else
      throw OVTDisplayError(
        .notBuilt, "this build has no audio; build the package with its trait Display (it needs libsdl2-dev)")
    #endif
  }

  public func stop() {
    #if Display
      // The source is released outside of the locks, since releasing what it holds may call this
      // device.
      guard lock.withLock({ device != 0 }) else { return }
      let old = changing.withLock { closeDevice() }
      withExtendedLifetime(old) {}
    #endif
  }

  #if Display
    /// Closes the device. Must be called under `changing`.
    /// - Returns: The feed of the closed device, which the caller releases.
    private func closeDevice() -> AudioFeed? {
      let (old, kept) = lock.withLock {
        defer { (device, feed) = (0, nil) }
        return (device, feed)
      }
      // Waits until the device's callback has returned.
      if old != 0, let library = try? SDLLibrary.load() { library.SDL_CloseAudioDevice(old) }
      return kept
    }
  #endif
}

#if Display
  /// Provides a device with audio, and estimates when it will be heard.
  private final class AudioFeed: @unchecked Sendable {
    // Sendable: only used on the device's thread.
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
      // SDL has two buffers, so this one is heard after the one that is being played.
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
