// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// The facts about a sound track that are needed before a run starts.
struct SoundFacts: Sendable {
  let track: AVAssetTrack
  /// The number of the track among the sound tracks, from 1.
  let number: Int
  let format: CMFormatDescription?
  let languageCode: String?
  let isEnabled: Bool
  /// The bit rate in bits a second; 0 if it is not known.
  let dataRate: Double

  init(_ track: AVAssetTrack, number: Int) async throws {
    self.track = track
    self.number = number
    format = try await track.load(.formatDescriptions).first
    (languageCode, isEnabled) = try await track.load(.languageCode, .isEnabled)
    let rate = Double(try await track.load(.estimatedDataRate))
    dataRate = rate.isFinite ? rate : 0
  }

  /// Whether the track cannot be decoded because it is encrypted.
  func isEncrypted(in asset: AVAsset) async throws -> Bool {
    let (isProtected, isDecodable) = try await (asset.load(.hasProtectedContent), track.load(.isDecodable))
    return isProtected && !isDecodable
  }

  var channels: Int {
    min(max(Int(format?.audioStreamBasicDescription?.mChannelsPerFrame ?? 2), 1), 8)
  }

  /// The sample rate in hertz for AAC: the source's, or the next higher one that AAC supports.
  var encodedSampleRate: Double {
    let rate = format?.audioStreamBasicDescription?.mSampleRate ?? 48_000
    let known: [Double] = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000]
    return known.contains(rate) ? rate : known.first { $0 >= rate } ?? 48_000
  }

  /// The four-character code of the codec.
  var codecName: String {
    guard let format else { return "unknown" }
    return fourCharacters(CMFormatDescriptionGetMediaSubType(format)).trimmingCharacters(in: .whitespaces)
  }

  /// Whether movies of this type with such sound are known to play. A container may be able to hold
  /// more formats than players support.
  func isPlayable(in type: AVFileType) -> Bool { format.map { Self.isPlayable($0, in: type) } ?? false }

  static func isPlayable(_ format: CMFormatDescription, in type: AVFileType) -> Bool {
    let subtype = CMFormatDescriptionGetMediaSubType(format)
    let everywhere: [FourCharCode] = [
      kAudioFormatMPEG4AAC, kAudioFormatMPEG4AAC_HE, kAudioFormatMPEG4AAC_HE_V2, kAudioFormatAC3,
      kAudioFormatEnhancedAC3, kAudioFormatAppleLossless, kAudioFormatMPEGLayer3,
    ]
    if everywhere.contains(subtype) { return true }
    // The last one is 'ima4', IMA ADPCM.
    let inQuickTime: [FourCharCode] = [
      kAudioFormatLinearPCM, kAudioFormatULaw, kAudioFormatALaw, 0x696D_6134,
    ]
    return type == .mov && inQuickTime.contains(subtype)
  }
}

func fourCharacters(_ code: FourCharCode) -> String {
  let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
  return String(decoding: bytes.map { (32..<127).contains($0) ? $0 : 63 }, as: UTF8.self)
}

/// Counts how sound tracks were written, for the summary.
struct SoundReport: Sendable {
  var copied = 0
  var encoded = 0
  /// Descriptions of the tracks that were left out, with the reasons.
  var leftOut: [String] = []
  /// The number of sound tracks in the source.
  var total = 0

  /// A description such as `2 of 3 tracks copied, 1 encoded as AAC`; nil for a movie without sound.
  var summary: String? {
    guard total > 0 else { return nil }
    var parts: [String] = []
    let count = total == 1 ? "" : " of \(Wording.plural(total, "track"))"
    if copied > 0 { parts.append(total == 1 ? "copied" : "\(copied)\(count) copied") }
    if encoded > 0 {
      parts.append(total == 1 ? "encoded as AAC" : "\(encoded)\(parts.isEmpty ? count : "") encoded as AAC")
    }
    parts += leftOut
    return parts.isEmpty ? "left out" : parts.joined(separator: ", ")
  }
}

/// Reads a sound track of the source for the output: samples as stored, or decoded ones for the AAC
/// encoder.
final class SoundTrack: @unchecked Sendable {
  // Sendable: the reader has its own lock. One task calls `next`, and `damage` is read after that
  // task has ended.
  let track: OutputTrack
  private let source: MovieSource
  private let reader: AVAssetReader
  private let output: AVAssetReaderOutput
  /// The damage that the output has found so far.
  private let readingDamage: () -> OVTReadingDamage
  private let gate: SoundGate
  private let number: Int
  private var end = CMTime.invalid
  private var failure: (any Error)?

  /// - Parameters:
  ///   - source: the movie.
  ///   - facts: the track.
  ///   - encodes: whether the sound is decoded, to be encoded as AAC.
  ///   - bitRate: the bit rate of encoded sound over all channels, in bits a second; nil for 64
  ///     kbit/s per channel, at most 384 kbit/s.
  ///   - gate: delays the sound until the pictures have reached it.
  /// - Throws: a `Failure` if the track cannot be read.
  init(_ source: MovieSource, _ facts: SoundFacts, encodes: Bool, bitRate: Int?, gate: SoundGate) throws {
    self.source = source
    self.gate = gate
    number = facts.number
    let what = "sound track \(facts.number) (\(facts.codecName))"
    do {
      // Each track has its own reader, since the tracks are read at different paces.
      reader = try AVAssetReader(asset: source.asset)
    } catch {
      throw source.failure(error)
    }
    let channels = min(facts.channels, 6)
    let rate = facts.encodedSampleRate
    let decoded: [String: Any] = [
      AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: rate, AVNumberOfChannelsKey: channels,
      AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
    ]
    if encodes, source.volume != 1 {
      let mixed = AVAssetReaderAudioMixOutput(audioTracks: [facts.track], audioSettings: decoded)
      let parameters = AVMutableAudioMixInputParameters(track: facts.track)
      parameters.setVolume(Float(source.volume), at: .zero)
      let mix = AVMutableAudioMix()
      mix.inputParameters = [parameters]
      mixed.audioMix = mix
      mixed.ovtToleratesDamage = true
      output = mixed
      readingDamage = { mixed.ovtDamage }
    } else {
      let plain = AVAssetReaderTrackOutput(track: facts.track, outputSettings: encodes ? decoded : nil)
      plain.ovtToleratesDamage = true
      output = plain
      readingDamage = { plain.ovtDamage }
    }
    guard reader.canAdd(output) else {
      throw Failure(
        encodes
          ? "\(what) cannot be decoded here; leave it out with --no-audio"
          : "\(what) cannot be read; leave it out with --no-audio")
    }
    reader.add(output)
    if let part = source.part { reader.timeRange = part }
    var track = OutputTrack(.sound, format: facts.format)
    if encodes {
      track.encoding = OutputTrack.SoundEncoding(
        sampleRate: rate, channels: channels, bitRate: bitRate ?? min(64_000 * channels, 384_000))
    }
    track.languageCode = facts.languageCode
    track.isEnabled = facts.isEnabled
    self.track = track
    guard reader.startReading() else { throw source.failure(reader.error) }
  }

  func cancel() { reader.cancelReading() }

  /// Describes lost packets and where the track ends too early; nil if it was read to its end
  /// without loss.
  var damage: String? {
    let lost = readingDamage().lostSoundPackets
    var parts = lost > 0 ? ["\(Wording.plural(lost, "packet")) of sound track \(number) lost"] : []
    if let failure {
      parts.append(
        SourceDamage.breakOff(
          "sound track \(number) breaks", at: end.isNumeric ? end : nil, of: .invalid, failure))
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  func next() throws -> CMSampleBuffer? {
    guard let sample = output.copyNextSampleBuffer() else {
      // The readable part of a damaged track is kept, and the damage is reported.
      failure = reader.status == .failed ? reader.error ?? source.failure(nil) : readingDamage().failure
      return nil
    }
    let until = sample.presentationTimeStamp + sample.duration
    if until.isNumeric { end = until }
    guard gate.admits(sample.presentationTimeStamp) else {
      reader.cancelReading()
      return nil
    }
    return sample
  }
}
