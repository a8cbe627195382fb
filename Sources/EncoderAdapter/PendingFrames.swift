// SPDX-License-Identifier: Apache-2.0
/// The frames of the last seconds, to which a report of losses may refer.
struct PendingFrames {
  /// A frame.
  struct Entry {
    /// Its presentation time, in units of the timescale.
    var presentationTime: Int64
    /// The encoder's index of the frame.
    var index: UInt64
    /// Whether other frames may refer to it.
    var isReference: Bool
  }

  /// The most frames that are remembered.
  private static let capacity = 1024
  /// A ring of frames; `next` is the index of the next one to write.
  private var entries: [Entry] = []
  /// The index in `entries` of the next frame to write.
  private var next = 0
  /// The ranges of frames that later frames no longer depend on.
  private var abandoned: [Range<UInt64>] = []
  /// The index of the last key frame.
  private var lastKeyFrame: UInt64 = 0

  /// Begins without frames.
  init() { entries.reserveCapacity(Self.capacity) }

  /// Adds a frame.
  /// - Parameters:
  ///   - entry: the frame.
  ///   - isKeyFrame: whether it is a key frame, on which no earlier frame has an effect.
  mutating func add(_ entry: Entry, isKeyFrame: Bool) {
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

  /// Records that later frames do not depend on a range of frames.
  mutating func abandon(_ range: Range<UInt64>) {
    guard !range.isEmpty else { return }
    abandoned.removeAll { range.lowerBound <= $0.lowerBound }
    abandoned.append(range)
  }

  /// The first of the lost frames on which later frames could depend.
  /// - Parameter lostTimes: the presentation times of the lost frames.
  /// - Returns: its index; nil if the loss of none of them matters.
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
