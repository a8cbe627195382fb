// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Synchronization

/// A session's claim on an encoder, of which there may be only so many at a time.
final class EncoderInstance: Sendable {
  private static let counts = Mutex<[String: Int]>([:])

  private let id: String
  private let hasEnded = Atomic(false)

  /// Nil if as many are in use as there can be.
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

  /// Gives it up. Later calls do nothing.
  func end() {
    guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
    Self.counts.withLock { counts in
      let left = counts[id, default: 0] - 1
      counts[id] = left > 0 ? left : nil
    }
  }
}
