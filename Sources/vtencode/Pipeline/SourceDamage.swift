// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// What of the movie could not be read as it should, for the summary and the exit status.
struct SourceDamage: Sendable {
  /// Pictures of which the decoder has made up a part.
  var concealed = 0
  /// Pictures that could not be decoded.
  var lost = 0
  /// Where the pictures end before the movie does, and why.
  var breaksOff: String?
  /// What is wrong with the sound, track by track.
  var sound: [String] = []

  /// Of a run that wrote what could be read.
  static let exitStatus: Int32 = 2

  var isEmpty: Bool { concealed == 0 && lost == 0 && breaksOff == nil && sound.isEmpty }

  /// `3 pictures were damaged and repaired by guess, 2 are lost`; nil if nothing was wrong.
  var summary: String? {
    guard !isEmpty else { return nil }
    var parts: [String] = []
    if concealed > 0 {
      parts.append("\(Wording.plural(concealed, "picture")) damaged, what was missing is made up")
    }
    if lost > 0 { parts.append("\(Wording.plural(lost, "picture")) lost") }
    if let breaksOff { parts.append(breaksOff) }
    return (parts + sound).joined(separator: "; ")
  }

  init() {}

  /// - Parameter end: where the last picture ends; nil if there is none.
  init(_ damage: OVTReadingDamage, end: CMTime?, source: MovieSource) {
    concealed = damage.concealedPictures
    lost = damage.lostPictures
    guard let failure = damage.failure else { return }
    breaksOff = Self.breakOff("the pictures break", at: end, of: source.duration, failure)
  }

  /// Of what was played.
  /// - Parameter end: where it ended by itself; nil if somebody has ended it.
  init(played item: AVPlayerItem, end: CMTime?) { self.init(item.ovtDamage, end: end, of: item.duration) }

  /// Of what was exported, which ends where reading does.
  init(exported damage: OVTReadingDamage) { self.init(damage, end: nil, of: .invalid) }

  private init(_ damage: OVTReadingDamage, end: CMTime?, of whole: CMTime) {
    concealed = damage.concealedPictures
    lost = damage.lostPictures
    if damage.lostSoundPackets > 0 {
      sound = ["\(Wording.plural(damage.lostSoundPackets, "packet")) of sound damaged"]
    }
    if let failure = damage.failure { breaksOff = Self.breakOff("it breaks", at: end, of: whole, failure) }
  }

  static func breakOff(_ what: String, at end: CMTime?, of whole: CMTime, _ failure: (any Error)?) -> String {
    var text = what + " off"
    if let end, end.isNumeric { text += " at \(Wording.fixed(end.seconds, 2)) s" }
    if whole.isNumeric, let end, whole.seconds > end.seconds {
      text += " of \(Wording.fixed(whole.seconds, 2)) s"
    }
    if let reason = failure.map({ Failure.describe($0) }) { text += " (\(reason))" }
    return text
  }
}

/// What several stages of a run find wrong with its source.
final class DamageCollector: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var found = SourceDamage()

  var value: SourceDamage { lock.withLock { found } }

  func note(pictures: SourceDamage) {
    lock.withLock {
      found.concealed = pictures.concealed
      found.lost = pictures.lost
      found.breaksOff = pictures.breaksOff
    }
  }

  func note(sound: String) { lock.withLock { found.sound.append(sound) } }
}
