// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What of a track could not be read as it should.
public struct OVTReadingDamage: Sendable {
  /// Pictures of which the decoder has made up a part.
  public var concealedPictures = 0
  /// Pictures that could not be decoded at all, or that vanished from where the file holds nothing that can be read.
  public var lostPictures = 0
  /// Packets of sound that were damaged; there is silence for them, or nothing.
  public var lostSoundPackets = 0
  /// Why reading ended before the track did; nil if it did not.
  public var failure: (any Error)?

  public var isEmpty: Bool {
    concealedPictures == 0 && lostPictures == 0 && lostSoundPackets == 0 && failure == nil
  }

  /// Adds what was found by another reading; the first failure stays.
  mutating func add(_ other: OVTReadingDamage) {
    concealedPictures += other.concealedPictures
    lostPictures += other.lostPictures
    lostSoundPackets += other.lostSoundPackets
    failure = failure ?? other.failure
  }
}

/// Filled by the thread that reads, asked by the client's.
final class DamageLog: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var tolerated = false
  private var seen = OVTReadingDamage()

  var isTolerated: Bool {
    get { lock.withLock { tolerated } }
    set { lock.withLock { tolerated = newValue } }
  }

  /// Whether reading may end early because of an error, with what was read before. Encryption is no damage:
  /// the rest is there, and what would be made of it is not the movie.
  func tolerates(_ error: any Error) -> Bool {
    isTolerated && AVError.reading(error).code != .contentIsProtected
  }

  var value: OVTReadingDamage { lock.withLock { seen } }

  func noteConcealed() { lock.withLock { seen.concealedPictures += 1 } }
  func noteLost(_ count: Int = 1) { lock.withLock { seen.lostPictures += count } }
  /// - Throws: `AVError` if nobody has asked to go on past damage.
  func noteLostSound(_ count: Int, in codec: String) throws {
    guard count > 0 else { return }
    let isTolerated = lock.withLock {
      seen.lostSoundPackets += count
      return tolerated
    }
    guard isTolerated else { throw AVError(.decodeFailed, reason: "A packet of \(codec) is damaged.") }
  }
  func noteEnd(_ failure: any Error) { lock.withLock { seen.failure = failure } }
}
