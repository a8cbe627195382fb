// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The long-term references of a stream, and which of them the receiver has.
struct LongTermReferences {
  struct Slot {
    let token: Int64
    /// The engine's index of the frame.
    let frame: UInt64
    var isAcknowledged = false
  }

  private(set) var slots: [Slot?]
  private var lastMarked: UInt64?
  private var lastMarkedToken: Int64 = 0

  /// Frames from one mark to the next, once the last was acknowledged.
  private static let shortestInterval: UInt64 = 4
  /// The same while it was not.
  private static let usualInterval: UInt64 = 10
  /// Frames after which a token that was not acknowledged is taken to be lost.
  private static let patience: UInt64 = 90

  /// Unique in the process, so that they remain so when a session has to begin a new stream.
  private static let nextToken = Atomic<Int64>(1)

  init(count: Int) { slots = Array(repeating: nil, count: count) }

  var isEnabled: Bool { !slots.isEmpty }

  /// The slot of the newest frame that the receiver says it has.
  var newestAcknowledged: (slot: Int, frame: UInt64)? {
    var best: (slot: Int, frame: UInt64)?
    for (index, slot) in slots.enumerated() {
      guard let slot, slot.isAcknowledged else { continue }
      if slot.frame >= best?.frame ?? 0 { best = (index, slot.frame) }
    }
    return best
  }

  /// Takes tokens in any order; those of frames that are gone, or that never were, say nothing.
  mutating func acknowledge(_ tokens: [Int64]) {
    for token in tokens {
      for index in slots.indices where slots[index]?.token == token { slots[index]?.isAcknowledged = true }
    }
  }

  /// The slot to keep frame `frame` in, or nil if it need not be kept.
  func slot(for frame: UInt64) -> Int? {
    guard isEnabled else { return nil }
    if let lastMarked {
      let since = frame - lastMarked
      let isAnswered = slots.contains { $0?.token == lastMarkedToken && $0?.isAcknowledged == true }
      if since < (isAnswered ? Self.shortestInterval : Self.usualInterval) { return nil }
    }
    if let free = slots.firstIndex(where: { $0 == nil }) { return free }
    // Never the newest that is acknowledged: it is what a refresh is made of. Those before it are of no use.
    let kept = newestAcknowledged
    var oldest: (slot: Int, frame: UInt64)?
    for (index, slot) in slots.enumerated() {
      guard let slot, index != kept?.slot, slot.frame < oldest?.frame ?? .max else { continue }
      let isUseless = kept.map { slot.frame < $0.frame } ?? false
      if isUseless || frame - slot.frame > Self.patience { oldest = (index, slot.frame) }
    }
    return oldest?.slot
  }

  /// Notes that a frame was kept. Returns its token.
  mutating func mark(_ slot: Int, frame: UInt64) -> Int64 {
    let token = Self.nextToken.add(1, ordering: .relaxed).oldValue
    slots[slot] = Slot(token: token, frame: frame)
    lastMarked = frame
    lastMarkedToken = token
    return token
  }

  /// Forgets the frames from `frame` on: nothing may depend on them any more.
  mutating func abandon(from frame: UInt64) {
    for index in slots.indices where slots[index].map({ $0.frame >= frame }) ?? false { slots[index] = nil }
  }

  mutating func removeAll() {
    for index in slots.indices { slots[index] = nil }
    lastMarked = nil
  }
}
