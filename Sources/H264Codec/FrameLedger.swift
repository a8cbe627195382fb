// SPDX-License-Identifier: Apache-2.0
/// The frames of the last seconds: what a report of losses may be about.
struct FrameLedger {
  struct Entry {
    var presentationTime: Int64
    /// The engine's index.
    var index: UInt64
    var isReference: Bool
  }

  private static let capacity = 1024
  /// A ring, written from `next` on.
  private var entries: [Entry] = []
  private var next = 0
  /// Frames that nothing to come depends on any more.
  private var abandoned: [Range<UInt64>] = []
  private var lastKeyFrame: UInt64 = 0

  init() { entries.reserveCapacity(Self.capacity) }

  mutating func note(_ entry: Entry, isKeyFrame: Bool) {
    if entries.count < Self.capacity {
      entries.append(entry)
    } else {
      entries[next] = entry
    }
    next = (next + 1) % Self.capacity
    if isKeyFrame {
      lastKeyFrame = entry.index
      abandoned.removeAll(keepingCapacity: true)
    }
  }

  mutating func abandon(_ range: Range<UInt64>) {
    guard !range.isEmpty else { return }
    abandoned.removeAll { range.lowerBound <= $0.lowerBound }
    abandoned.append(range)
  }

  /// The first of these frames that frames to come could depend on; nil if none of them matters.
  func firstThatMatters(of lostTimes: [Int64]) -> UInt64? {
    guard !lostTimes.isEmpty else { return nil }
    var first: UInt64?
    for entry in entries where entry.isReference && entry.index >= lastKeyFrame {
      guard lostTimes.contains(entry.presentationTime), entry.index < first ?? .max else { continue }
      if abandoned.contains(where: { $0.contains(entry.index) }) { continue }
      first = entry.index
    }
    return first
  }
}
