// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Reads an audio track of the source for the output: samples as stored, or decoded ones for the
/// AAC encoder.
final class AudioTrack: AudioReading, @unchecked Sendable {
  // Sendable: the reader has its own lock. One task calls `next`, and `damage` is read after that
  // task has ended.
  let track: OutputTrack
  let remark: String? = nil
  private let source: MovieSource
  private var reading: Reading
  /// Begins to read the track again; nil if the movie is read once.
  private let readAgain: (() throws -> Reading)?
  private var repetition: MovieRepetition
  private let synchronizer: AudioSynchronizer
  private let number: Int
  private var end = CMTime.invalid
  private var failure: (any Error)?

  /// - Parameters:
  ///   - source: the movie.
  ///   - properties: the track.
  ///   - encodes: whether the audio is decoded, to be encoded as AAC.
  ///   - bitRate: the bit rate of encoded audio over all channels, in bits a second; nil for 64
  ///     kbit/s per channel, at most 384 kbit/s.
  ///   - repetition: moves the times of a movie that begins again.
  ///   - synchronizer: delays the audio until the pictures have reached it.
  /// - Throws: a `Failure` if the track cannot be read.
  init(
    _ source: MovieSource, _ properties: AudioTrackProperties, encodes: Bool, bitRate: Int?,
    repetition: MovieRepetition = MovieRepetition(), synchronizer: AudioSynchronizer
  ) throws {
    self.source = source
    self.synchronizer = synchronizer
    number = properties.number
    self.repetition = repetition
    let read = { try Reading(source, properties, encodes: encodes) }
    reading = try read()
    readAgain = repetition.isEndless ? read : nil
    let channels = Reading.channels(of: properties)
    let rate = properties.encodedSampleRate
    var track = OutputTrack(.audio, format: properties.format)
    if encodes {
      track.encoding = OutputTrack.AudioEncoding(
        sampleRate: rate, channels: channels, bitRate: bitRate ?? min(64_000 * channels, 384_000))
    }
    track.languageCode = properties.languageCode
    track.isEnabled = properties.isEnabled
    self.track = track
  }

  func cancel() { reading.reader.cancelReading() }

  /// Describes lost packets and where the track ends too early; nil if it was read to its end
  /// without loss.
  var damage: String? {
    let lost = reading.damage().lostAudioPackets
    var parts = lost > 0 ? ["\(TextFormat.plural(lost, "packet")) of audio track \(number) lost"] : []
    if let failure {
      parts.append(
        SourceDamage.breakOff(
          "audio track \(number) breaks", at: end.isNumeric ? end : nil, of: .invalid, failure))
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  func next() throws -> CMSampleBuffer? {
    while true {
      guard let sample = reading.output.copyNextSampleBuffer() else {
        // The readable part of a damaged track is kept, and the damage is reported.
        failure =
          reading.reader.status == .failed
          ? reading.reader.error ?? source.failure(nil) : reading.damage().failure
        guard failure == nil, let readAgain, synchronizer.admits(repetition.end) else { return nil }
        repetition.advance()
        reading = try readAgain()
        continue
      }
      guard let sample = try repetition.move(sample) else { continue }
      let until = sample.presentationTimeStamp + sample.duration
      if until.isNumeric { end = until }
      guard synchronizer.admits(sample.presentationTimeStamp) else {
        reading.reader.cancelReading()
        return nil
      }
      return sample
    }
  }

  /// A reader of the track.
  private struct Reading {
    let reader: AVAssetReader
    let output: AVAssetReaderOutput
    /// The damage that the output has found so far.
    let damage: () -> OVTReadingDamage

    static func channels(of properties: AudioTrackProperties) -> Int { min(properties.channels, 6) }

    init(_ source: MovieSource, _ properties: AudioTrackProperties, encodes: Bool) throws {
      let what = "audio track \(properties.number) (\(properties.codecName))"
      do {
        // Each track has its own reader, since the tracks are read at different paces.
        reader = try AVAssetReader(asset: source.asset)
      } catch {
        throw source.failure(error)
      }
      let channels = Self.channels(of: properties)
      let rate = properties.encodedSampleRate
      let decoded: [String: Any] = [
        AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: rate, AVNumberOfChannelsKey: channels,
        AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
      ]
      if encodes, source.volume != 1 {
        let mixed = AVAssetReaderAudioMixOutput(audioTracks: [properties.track], audioSettings: decoded)
        let parameters = AVMutableAudioMixInputParameters(track: properties.track)
        parameters.setVolume(Float(source.volume), at: .zero)
        let mix = AVMutableAudioMix()
        mix.inputParameters = [parameters]
        mixed.audioMix = mix
        mixed.ovtToleratesDamage = true
        output = mixed
        damage = { mixed.ovtDamage }
      } else {
        let plain = AVAssetReaderTrackOutput(track: properties.track, outputSettings: encodes ? decoded : nil)
        plain.ovtToleratesDamage = true
        output = plain
        damage = { plain.ovtDamage }
      }
      guard reader.canAdd(output) else {
        throw Failure(
          encodes
            ? "\(what) cannot be decoded here; omit it with --no-audio"
            : "\(what) cannot be read; omit it with --no-audio")
      }
      reader.add(output)
      if let part = source.part { reader.timeRange = part }
      guard reader.startReading() else { throw source.failure(reader.error) }
    }
  }
}
