// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// The damage found in the source, for the summary and the exit status.
struct SourceDamage: Sendable {
  /// Pictures that the decoder has concealed in part.
  var concealed = 0
  /// Pictures that could not be decoded.
  var lost = 0
  /// The duration of the gaps between pictures, in seconds, where packets are missing.
  var missingSeconds = 0.0
  /// Where the pictures end before the movie does, and why; nil if they do not.
  var breaksOff: String?
  /// Descriptions of the damage in the audio tracks.
  var audio: [String] = []

  /// The exit status of a run whose source was damaged and that wrote what it could read.
  static let exitStatus: Int32 = 2

  var isEmpty: Bool { concealed == 0 && lost == 0 && breaksOff == nil && audio.isEmpty }

  /// The damage in words; nil if there is none.
  var summary: String? {
    guard !isEmpty else { return nil }
    var parts: [String] = []
    if concealed > 0 {
      parts.append("\(TextFormat.plural(concealed, "picture")) damaged and concealed")
    }
    if lost > 0 { parts.append("\(TextFormat.plural(lost, "picture")) lost") }
    if missingSeconds > 0 { parts.append("\(TextFormat.fixed(missingSeconds, 2)) s without pictures") }
    if let breaksOff { parts.append(breaksOff) }
    return (parts + audio).joined(separator: "; ")
  }

  init() {}

  /// - Parameters:
  ///   - damage: what the reader has found.
  ///   - end: the end time of the last picture; nil if there is none.
  ///   - source: the movie.
  init(_ damage: OVTReadingDamage, end: CMTime?, source: MovieSource) {
    concealed = damage.concealedPictures
    lost = damage.lostPictures
    guard let failure = damage.failure else { return }
    breaksOff = Self.breakOff("the pictures break", at: end, of: source.duration, failure)
  }

  /// The damage found by a player.
  /// - Parameters:
  ///   - item: the item that was played.
  ///   - end: the time at which playback ended by itself; nil if the user ended it.
  init(played item: AVPlayerItem, end: CMTime?) { self.init(item.ovtDamage, end: end, of: item.duration) }

  /// The damage found by an export.
  init(exported damage: OVTReadingDamage) { self.init(damage, end: nil, of: .invalid) }

  private init(_ damage: OVTReadingDamage, end: CMTime?, of whole: CMTime) {
    concealed = damage.concealedPictures
    lost = damage.lostPictures
    if damage.lostAudioPackets > 0 {
      audio = ["\(TextFormat.plural(damage.lostAudioPackets, "packet")) of audio damaged"]
    }
    if let failure = damage.failure { breaksOff = Self.breakOff("it breaks", at: end, of: whole, failure) }
  }

  static func breakOff(_ what: String, at end: CMTime?, of whole: CMTime, _ failure: (any Error)?) -> String {
    var text = what + " off"
    if let end, end.isNumeric { text += " at \(TextFormat.fixed(end.seconds, 2)) s" }
    if whole.isNumeric, let end, whole.seconds > end.seconds {
      text += " of \(TextFormat.fixed(whole.seconds, 2)) s"
    }
    if let reason = failure.map({ Failure.describe($0) }) { text += " (\(reason))" }
    return text
  }
}

/// The gaps between the presentation times of pictures.
struct TimeGaps: Sendable {
  /// The longest time between two pictures that is not a gap, in frames.
  private static let longestStep = 2.5
  private let frameDuration: Double
  private var last: Double?
  private var seconds = 0.0
  private var number = 0

  /// - Parameter frameRate: the frame rate of the movie, in frames a second; 0 if it is not known.
  init(frameRate: Double) { frameDuration = frameRate > 0 ? 1 / frameRate : .infinity }

  /// Adds the next picture.
  /// - Parameter time: its presentation time.
  mutating func add(_ time: CMTime) {
    guard time.isNumeric else { return }
    if let last, time.seconds - last > Self.longestStep * frameDuration {
      seconds += time.seconds - last - frameDuration
      number += 1
    }
    last = time.seconds
  }

  /// The duration of all gaps, in seconds; 0 if there are so many that the frame rate may vary.
  /// - Parameter count: the number of pictures.
  func missingSeconds(count: Int) -> Double { number <= 3 + count / 100 ? seconds : 0 }
}

/// Collects the damage that the stages of a run find in the source.
final class DamageCollector: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var found = SourceDamage()

  var value: SourceDamage { lock.withLock { found } }

  func add(pictures: SourceDamage) {
    lock.withLock {
      found.concealed = pictures.concealed
      found.lost = pictures.lost
      found.missingSeconds = pictures.missingSeconds
      found.breaksOff = pictures.breaksOff
    }
  }

  func add(audio: String) { lock.withLock { found.audio.append(audio) } }
}
