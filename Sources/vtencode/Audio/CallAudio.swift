// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// A source of the audio of a call.
protocol CallAudio: AnyObject {
  var channels: Int { get }
  /// Sets the origin of the time line.
  /// - Parameter origin: the time of the first picture, by `SessionTime`, in seconds.
  func begin(at origin: Double)
  /// Reads the next piece of audio, as interleaved samples of 32 bits in floating point at 48 kHz.
  /// - Returns: the samples and the time of the first one in seconds, on the time line of the
  ///   pictures' `CallPicture.time`; nil at the end.
  func next() throws -> (data: Data, time: Double)?
  /// Ends a `next` that waits. It may be called from any thread.
  func stop()
}

extension CallAudio {
  func begin(at origin: Double) {}
}

/// Audio that is captured.
final class CapturedCallAudio: CallAudio {
  private let audio: CapturedAudio
  let channels: Int

  init(_ audio: CapturedAudio) { (self.audio, channels) = (audio, audio.channels) }

  func begin(at origin: Double) { audio.begin(at: origin) }

  func stop() { audio.stop() }

  func next() throws -> (data: Data, time: Double)? {
    if let (data, position) = audio.next() { return (data, Double(position) / Double(PCMFormat.rate)) }
    if let failure = audio.failure { throw Failure(failure) }
    return nil
  }
}

/// The first audio track of a movie.
final class MovieCallAudio: CallAudio {
  private let source: MovieSource
  private let properties: AudioTrackProperties
  private let origin: MovieOrigin
  let channels: Int
  private var reading: (reader: AVAssetReader, output: AVAssetReaderTrackOutput)?
  private var lap = 0

  /// - Parameters:
  ///   - source: the movie.
  ///   - origin: where its pictures begin.
  /// - Returns: nil if the movie has no audio.
  init?(_ source: MovieSource, origin: MovieOrigin) {
    guard let properties = source.audioTracks.first else { return nil }
    (self.source, self.properties, self.origin) = (source, properties, origin)
    channels = min(properties.channels, 2)
  }

  deinit { reading?.reader.cancelReading() }

  func stop() { origin.end() }

  func next() throws -> (data: Data, time: Double)? {
    while !Interrupt.shared.isRequested {
      // The audio begins where the pictures of the same pass begin.
      guard let (number, start, end) = origin.wait(forLap: lap) else { return nil }
      if number != lap { (lap, reading) = (number, nil) }
      let (reader, output) = try reading ?? open()
      reading = (reader, output)
      // The readable part of a damaged track is sent; the pictures report the damage of the movie.
      let sample = output.copyNextSampleBuffer()
      let time = sample.map { ($0.presentationTimeStamp - start.first).seconds + start.time } ?? .infinity
      guard let sample, time < end else {
        reader.cancelReading()
        reading = nil
        lap += 1
        guard origin.repeats else { return nil }
        continue
      }
      guard time.isFinite, let data = try sample.dataBuffer?.dataBytes() else { continue }
      return (Data(data), time)
    }
    return nil
  }

  private func open() throws -> (AVAssetReader, AVAssetReaderTrackOutput) {
    let what = "audio track \(properties.number) (\(properties.codecName))"
    let reader: AVAssetReader
    do { reader = try AVAssetReader(asset: source.asset) } catch { throw source.failure(error) }
    let output = AVAssetReaderTrackOutput(
      track: properties.track,
      outputSettings: [
        AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: Double(OpusEncoding.rate),
        AVNumberOfChannelsKey: channels, AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
      ])
    output.ovtToleratesDamage = true
    guard reader.canAdd(output) else {
      throw Failure("\(what) cannot be decoded here; omit it with --no-audio")
    }
    reader.add(output)
    if let part = source.part { reader.timeRange = part }
    guard reader.startReading() else { throw source.failure(reader.error) }
    return (reader, output)
  }
}

/// Where each pass of a movie's pictures begins, which its audio waits for.
final class MovieOrigin: @unchecked Sendable {
  // Sendable: `condition` guards the mutable state.
  struct Start: Sendable {
    /// The time of the pass's first picture in the movie.
    var first: CMTime
    /// The same picture's `CallPicture.time`.
    var time: Double
  }

  let repeats: Bool
  private let condition = NSCondition()
  /// The passes that began, without those that the audio has left behind.
  private var starts: [Int: Start] = [:]
  private var count = 0
  private var isFinished = false

  init(repeats: Bool) { self.repeats = repeats }

  func begin(_ start: Start) {
    condition.lock()
    defer { condition.unlock() }
    starts[count] = start
    starts[count - 8] = nil
    count += 1
    condition.broadcast()
  }

  /// Ends the audio that waits.
  func end() {
    condition.lock()
    defer { condition.unlock() }
    isFinished = true
    condition.broadcast()
  }

  /// Waits until a pass begins.
  /// - Parameter lap: its number, from 0.
  /// - Returns: its number, or the last one's if it is long over; its beginning; and the
  ///   `CallPicture.time` where the next one begins, as far as that is known. Nil if the session is
  ///   over.
  func wait(forLap lap: Int) -> (lap: Int, start: Start, end: Double)? {
    condition.lock()
    defer { condition.unlock() }
    while lap >= count, !isFinished { condition.wait() }
    let number = starts[lap] == nil ? count - 1 : lap
    guard !isFinished, let start = starts[number] else { return nil }
    return (number, start, starts[number + 1]?.time ?? .infinity)
  }
}
