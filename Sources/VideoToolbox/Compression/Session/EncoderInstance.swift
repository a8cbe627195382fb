// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Synchronization

/// One use of an encoder by a session, counted in the process against the encoder's
/// `instanceLimit`.
final class EncoderInstance: Sendable {
  private static let counts = Mutex<[String: Int]>([:])

  private let id: String
  private let hasEnded = Atomic(false)

  /// Claims an instance of the encoder; nil if all that can exist at a time are in use.
  init?(of encoder: EncoderDescription) {
    id = encoder.id
    let isFree = Self.counts.withLock { counts in
      let used = counts[encoder.id, default: 0]
      if let limit = encoder.instanceLimit, used >= limit { return false }
      counts[encoder.id] = used + 1
      return true
    }
    if !isFree {
      hasEnded.store(true, ordering: .relaxed)
      return nil
    }
  }

  deinit { end() }

  /// Releases the instance for other sessions. Later calls do nothing.
  func end() {
    guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
    Self.counts.withLock { counts in
      let left = counts[id, default: 0] - 1
      counts[id] = left > 0 ? left : nil
    }
  }
}
