// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The long-term references of a stream, and which of them the receiver has acknowledged.
struct LongTermReferences {
  /// A frame that is kept as a long-term reference.
  struct Slot {
    /// The token with which the receiver acknowledges it.
    let token: Int64
    /// The encoder's index of the frame.
    let frame: UInt64
    /// Whether the receiver has acknowledged it.
    var isAcknowledged = false
  }

  /// The frame in each slot, by LongTermFrameIdx.
  private(set) var slots: [Slot?]
  /// The encoder's index of the frame that was kept last.
  private var lastMarked: UInt64?
  /// Its token.
  private var lastMarkedToken: Int64 = 0

  /// The fewest frames from one that is kept to the next, if the last one has been acknowledged.
  private static let shortestInterval: UInt64 = 4
  /// The same if it has not been acknowledged.
  private static let defaultInterval: UInt64 = 10
  /// The number of frames after which an acknowledgement is taken to be lost.
  private static let timeout: UInt64 = 90

  /// The next token. Tokens are unique in the process, so that they stay unique if a session begins
  /// a new stream.
  private static let nextToken = Atomic<Int64>(1)

  /// Creates empty slots. `count` is 0 for streams without long-term references.
  init(count: Int) { slots = Array(repeating: nil, count: count) }

  /// Whether the stream has long-term references.
  var isEnabled: Bool { !slots.isEmpty }

  /// The newest frame that the receiver has acknowledged, and its slot.
  var newestAcknowledged: (slot: Int, frame: UInt64)? {
    var best: (slot: Int, frame: UInt64)?
    for (index, slot) in slots.enumerated() {
      guard let slot, slot.isAcknowledged else { continue }
      if slot.frame >= best?.frame ?? 0 { best = (index, slot.frame) }
    }
    return best
  }

  /// Notes acknowledgements, in any order. Unknown tokens, and those of frames that are no longer
  /// kept, are ignored.
  mutating func acknowledge(_ tokens: [Int64]) {
    for token in tokens {
      for index in slots.indices where slots[index]?.token == token { slots[index]?.isAcknowledged = true }
    }
  }

  /// The slot for a frame; nil if it is not to be kept.
  /// - Parameter frame: the encoder's index of the frame.
  func slot(for frame: UInt64) -> Int? {
    guard isEnabled else { return nil }
    if let lastMarked {
      let since = frame - lastMarked
      let isAnswered = slots.contains { $0?.token == lastMarkedToken && $0?.isAcknowledged == true }
      if since < (isAnswered ? Self.shortestInterval : Self.defaultInterval) { return nil }
    }
    if let free = slots.firstIndex(where: { $0 == nil }) { return free }
    // The newest acknowledged frame is never replaced: a refresh refers to it. Older frames are of
    // no use.
    let kept = newestAcknowledged
    var oldest: (slot: Int, frame: UInt64)?
    for (index, slot) in slots.enumerated() {
      guard let slot, index != kept?.slot, slot.frame < oldest?.frame ?? .max else { continue }
      let isUseless = kept.map { slot.frame < $0.frame } ?? false
      if isUseless || frame - slot.frame > Self.timeout { oldest = (index, slot.frame) }
    }
    return oldest?.slot
  }

  /// Records that a frame is kept in a slot.
  /// - Parameters:
  ///   - slot: the slot.
  ///   - frame: the encoder's index of the frame.
  /// - Returns: the token of the frame.
  mutating func mark(_ slot: Int, frame: UInt64) -> Int64 {
    let token = Self.nextToken.add(1, ordering: .relaxed).oldValue
    slots[slot] = Slot(token: token, frame: frame)
    lastMarked = frame
    lastMarkedToken = token
    return token
  }

  /// Removes the frames from one on: no frame may depend on them any more.
  mutating func abandon(from frame: UInt64) {
    for index in slots.indices where slots[index].map({ $0.frame >= frame }) ?? false { slots[index] = nil }
  }

  /// Removes all frames, as a key frame does.
  mutating func removeAll() {
    for index in slots.indices { slots[index] = nil }
    lastMarked = nil
  }
}
