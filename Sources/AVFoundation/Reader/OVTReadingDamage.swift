// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The damage that was found while a track was read.
public struct OVTReadingDamage: Sendable {
  /// The number of pictures in which the decoder has concealed errors.
  public var concealedPictures = 0
  /// The number of pictures that could not be decoded, or that are missing where a part of the file
  /// cannot be read.
  public var lostPictures = 0
  /// The number of damaged audio packets, which were left out or replaced by silence.
  public var lostAudioPackets = 0
  /// The error that ended the reading before the end of the track; nil if there was none.
  public var failure: (any Error)?

  public var isEmpty: Bool {
    concealedPictures == 0 && lostPictures == 0 && lostAudioPackets == 0 && failure == nil
  }

  /// Adds the damage that another reading found. The first failure is kept.
  mutating func add(_ other: OVTReadingDamage) {
    concealedPictures += other.concealedPictures
    lostPictures += other.lostPictures
    lostAudioPackets += other.lostAudioPackets
    failure = failure ?? other.failure
  }
}

/// The damage of one output. The reading thread adds to it, and the program reads it.
final class DamageLog: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var tolerated = false
  private var seen = OVTReadingDamage()

  var isTolerated: Bool {
    get { lock.withLock { tolerated } }
    set { lock.withLock { tolerated = newValue } }
  }

  /// Whether an error may end the reading early without a failure. Encryption is not damage: the
  /// data is intact, and what can be read of it is not the movie.
  func tolerates(_ error: any Error) -> Bool {
    isTolerated && AVError.reading(error).code != .contentIsProtected
  }

  var value: OVTReadingDamage { lock.withLock { seen } }

  func addConcealed() { lock.withLock { seen.concealedPictures += 1 } }
  func addLost(_ count: Int = 1) { lock.withLock { seen.lostPictures += count } }
  /// Counts damaged audio packets.
  /// - Throws: `AVError` if damage is not tolerated.
  func addLostAudio(_ count: Int, in codec: String) throws {
    guard count > 0 else { return }
    let isTolerated = lock.withLock {
      seen.lostAudioPackets += count
      return tolerated
    }
    guard isTolerated else { throw AVError(.decodeFailed, reason: "A packet of \(codec) is damaged.") }
  }
  func setFailure(_ failure: any Error) { lock.withLock { seen.failure = failure } }
}
