// SPDX-License-Identifier: Apache-2.0
import Foundation
import OpenVideoToolboxDisplay
import RealTimeTransport

/// Plays the audio of a session next to a window, as soon as it is received, like the pictures.
final class LiveAudioOutput {
  private let decoding: OpusDecoding
  private let device = OVTAudioDevice()
  private let buffer = SpeakerBuffer(channels: OpusDecoding.channels)
  private var joiner: AudioJoiner?
  /// Whether the device plays; nil before the first packet.
  private(set) var isPlaying: Bool?

  init() throws { decoding = try OpusDecoding() }

  deinit { device.stop() }

  /// Plays packets, which come in order. Without an audio device a note says so once.
  func play(_ packets: [AudioReceiver.Packet]) {
    guard let first = packets.first else { return }
    if isPlaying == nil { isPlaying = start() }
    guard isPlaying == true else { return }
    var joiner = joiner ?? AudioJoiner(channels: OpusDecoding.channels, start: first.position)
    for packet in packets {
      // Audio that was lost is silence.
      if let piece = joiner.add(decoding.decode(packet.payload), at: packet.position) {
        buffer.add(piece.data)
      }
    }
    self.joiner = joiner
  }

  private func start() -> Bool {
    do {
      try device.start(sampleRate: Double(PCMFormat.rate), channels: OpusDecoding.channels) {
        [buffer] samples, _ in buffer.fill(samples)
      }
      return true
    } catch {
      let reason = (error as? OVTDisplayError)?.reason ?? Failure.describe(error)
      Console.note("vtencode: \(reason); the audio is not played")
      return false
    }
  }

  func stop() { device.stop() }
}

/// Audio between the network, which gives it in bursts, and a device, which takes it by its own
/// clock: the device begins when some has come, and is kept from falling behind.
final class SpeakerBuffer: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  /// The audio that has to be there before it is played, in seconds.
  static let cushion = 0.06
  /// The most audio that waits, in seconds. If more does, it is cut to the cushion: the two clocks
  /// differ, or a burst came.
  static let longest = 0.2

  private let channels: Int
  private let lock = NSLock()
  private var samples: [Float] = []
  private var isFlowing = false

  init(channels: Int) { self.channels = channels }

  private func count(_ seconds: Double) -> Int { Int(seconds * Double(PCMFormat.rate)) * channels }

  /// Adds audio.
  /// - Parameter data: interleaved samples of 32 bits in floating point.
  func add(_ data: Data) {
    lock.withLock {
      data.withUnsafeBytes { bytes in
        for index in 0..<bytes.count / 4 {
          samples.append(bytes.loadUnaligned(fromByteOffset: 4 * index, as: Float.self))
        }
      }
      if samples.count > count(Self.longest) {
        samples.removeFirst(samples.count - count(Self.cushion))
      }
    }
  }

  /// Fills a buffer of the device, with silence where there is no audio.
  func fill(_ out: UnsafeMutableBufferPointer<Float>) {
    lock.withLock {
      if samples.count >= count(Self.cushion) { isFlowing = true }
      let taken = isFlowing ? min(samples.count, out.count) : 0
      for index in 0..<taken { out[index] = samples[index] }
      for index in taken..<out.count { out[index] = 0 }
      samples.removeFirst(taken)
      if taken < out.count { isFlowing = false }
    }
  }
}
