// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// An audio track of an output while it is written.
protocol AudioReading: AnyObject, Sendable {
  var track: OutputTrack { get }
  /// The next sample, in the format of `track`; nil at the end.
  func next() throws -> CMSampleBuffer?
  func cancel()
  /// Describes what was lost of a movie's track; nil if nothing was.
  var damage: String? { get }
  /// A note for the summary, in addition to how the audio was written; nil for nothing.
  var remark: String? { get }
}

/// Captured audio as a track of an output, which encodes it as AAC. What the source lacks becomes
/// silence, so that the track is as long as the pictures.
final class CapturedAudioTrack: AudioReading, @unchecked Sendable {
  // Sendable: one task calls `next`; the rest does not change or has its own lock.
  /// The longest sample in frames: the audio ends with the pictures up to that.
  private static let longest = PCMFormat.rate / 50

  let track: OutputTrack
  let damage: String? = nil
  private let audio: CapturedAudio
  private let origin: PictureOrigin
  private let volume: Float
  private let synchronizer: AudioSynchronizer
  private var joiner: AudioJoiner
  private var rest: AudioJoiner.Piece?
  private var hasEnded = false

  /// - Parameters:
  ///   - captured: the audio, and where the pictures begin.
  ///   - volume: the factor by which it is amplified.
  ///   - bitRate: the bit rate over all channels, in bits a second; nil for 64 kbit/s per channel.
  ///   - synchronizer: delays the audio until the pictures have reached it.
  init(
    _ captured: MovieSource.Captured, volume: Double, bitRate: Int?, synchronizer: AudioSynchronizer
  ) throws {
    (audio, origin, self.synchronizer) = (captured.audio, captured.origin, synchronizer)
    self.volume = Float(volume)
    joiner = AudioJoiner(channels: audio.channels)
    let format = try CMFormatDescription(
      audioStreamBasicDescription: PCMFormat.floats(channels: audio.channels))
    var track = OutputTrack(.audio, format: format)
    track.encoding = OutputTrack.AudioEncoding(
      sampleRate: Double(PCMFormat.rate), channels: audio.channels,
      bitRate: bitRate ?? 64_000 * audio.channels)
    self.track = track
  }

  var remark: String? { audio.remark }

  func cancel() { audio.stop() }

  func next() throws -> CMSampleBuffer? {
    guard let piece = nextPiece(), let start = origin.time else { return nil }
    let sample = try piece.sample(from: start)
    guard synchronizer.admits(sample.presentationTimeStamp) else {
      audio.stop()
      return nil
    }
    return sample
  }

  /// The next piece, of at most `longest` frames.
  private func nextPiece() -> AudioJoiner.Piece? {
    while rest == nil, !hasEnded {
      guard let (data, position) = audio.next() else {
        hasEnded = true
        if let reason = audio.failure {
          Console.note("vtencode: \(reason); the audio continues as silence")
        }
        break
      }
      rest = joiner.add(amplified(data), at: position)
    }
    // Silence follows the end, up to that of the pictures.
    guard var piece = rest ?? joiner.fill(to: joiner.next + Int64(Self.longest)) else { return nil }
    rest = nil
    guard piece.frames > Self.longest else { return piece }
    let bytes = Self.longest * 4 * audio.channels
    rest = AudioJoiner.Piece(
      data: Data(piece.data.dropFirst(bytes)), position: piece.position + Int64(Self.longest),
      frames: piece.frames - Self.longest)
    (piece.data, piece.frames) = (Data(piece.data.prefix(bytes)), Self.longest)
    return piece
  }

  private func amplified(_ data: Data) -> Data {
    guard volume != 1 else { return data }
    let values = data.withUnsafeBytes { bytes in
      (0..<bytes.count / 4).map { volume * bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
    }
    return values.withUnsafeBytes { Data($0) }
  }
}

/// Where the pictures of a run begin, by which captured audio is placed on the time line of the
/// pictures.
final class PictureOrigin: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var first: CMTime?

  /// The time of the first picture; nil before it.
  var time: CMTime? { lock.withLock { first } }

  /// Records the first picture. Later calls have no effect.
  /// - Parameters:
  ///   - time: its time.
  ///   - captured: when it was taken, by `SessionTime`.
  ///   - audio: begins with it.
  func begin(_ time: CMTime, captured: Double, _ audio: CapturedAudio) {
    lock.withLock { first = first ?? time }
    audio.begin(at: captured)
  }
}

extension MovieSource {
  /// Audio that is captured in place of the source's own.
  struct Captured: Sendable {
    let audio: CapturedAudio
    let origin = PictureOrigin()

    init(_ audio: CapturedAudio) { self.audio = audio }

    /// Records the first picture; see `PictureOrigin`.
    func begin(_ time: CMTime, captured: Double) { origin.begin(time, captured: captured, audio) }
  }
}
