// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The reference pictures, as the decoder has them too (8.2.4, 8.2.5), for frames only.
struct DecodedPictureBuffer {
  struct Entry {
    /// Index of the picture's planes in the encoder's pool.
    var picture: Int
    /// `H264FrameFacts.index` of the frame.
    var index: UInt64
    var frameNum: Int
    /// LongTermFrameIdx, or nil for a short-term reference.
    var longTermIndex: Int?
    /// False once the caller says that the receiver does not have it: it is no longer predicted from.
    var isUsable = true
    /// `PicturePlan.isBetter`.
    var isBetter = false
    /// A B picture, which only those between the same two pictures refer to.
    var isBidirectional = false
    /// It precedes the last key frame in decoding order.
    var isBeforeKeyFrame = false
  }

  let capacity: Int
  let maxFrameNum: Int
  /// Receivers may miss frames: their buffers then hold stand-ins of short-term pictures that this one has as
  /// long-term pictures, or has removed. Nothing here may rest on how many there are.
  let toleratesLosses: Bool
  /// Short-term entries newest first, then long-term ones by index: the initial list 0 (8.2.4.2.1).
  private(set) var entries: [Entry] = []

  init(capacity: Int, maxFrameNum: Int, toleratesLosses: Bool = false) {
    self.toleratesLosses = toleratesLosses
    self.capacity = capacity
    self.maxFrameNum = maxFrameNum
    entries.reserveCapacity(17)
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// PicNum of a short-term entry when the current picture has `frameNum` (8.2.4.1).
  func pictureNumber(_ entry: Entry, current frameNum: Int) -> Int {
    entry.frameNum > frameNum ? entry.frameNum - maxFrameNum : entry.frameNum
  }

  /// Marks every entry from frame `index` on as lost.
  mutating func invalidate(from index: UInt64) {
    for i in entries.indices where entries[i].index >= index { entries[i].isUsable = false }
  }

  /// Marks every entry but one as lost.
  mutating func invalidate(except index: UInt64) {
    for i in entries.indices where entries[i].index != index { entries[i].isUsable = false }
  }

  /// Makes the newest short-term picture long-term. Returns how far its PicNum lies below the current one.
  mutating func makeNewestLongTerm(_ slot: Int, current frameNum: Int) -> Int? {
    guard let at = entries.firstIndex(where: { $0.longTermIndex == nil }) else { return nil }
    var entry = entries.remove(at: at)
    entries.removeAll { $0.longTermIndex == slot }
    let difference = frameNum - pictureNumber(entry, current: frameNum)
    entry.longTermIndex = slot
    insert(entry)
    return difference
  }

  /// Stores the current picture. Appends the marking commands that a decoder needs to do the same;
  /// none: the sliding window does it.
  mutating func store(_ entry: Entry, current frameNum: Int, _ commands: inout [H264MemoryManagement]) {
    if let slot = entry.longTermIndex {
      // A long-term picture with this index is replaced (8.2.5.4.6); make room if it is not there yet.
      let replaced = entries.contains { $0.longTermIndex == slot }
      if let removal = removeNewestShortTerm(current: frameNum) {
        // Room in any receiver's buffer, whether or not it has the picture that is replaced: the newest
        // short-term picture is one that each of them has that can decode this one.
        commands.append(removal)
      } else if !replaced, let removal = makeRoom(current: frameNum) {
        commands.append(removal)
      }
      entries.removeAll { $0.longTermIndex == slot }
      commands.append(.currentIsLongTerm(index: slot))
      insert(entry)
      return
    }
    if entries.count >= capacity, let oldest = oldestShortTerm() { entries.remove(at: oldest) }
    insert(entry)
  }

  /// Room for the current picture, which the sliding window does not make under adaptive marking.
  mutating func makeRoom(current frameNum: Int) -> H264MemoryManagement? {
    guard entries.count >= capacity, let oldest = oldestShortTerm() else { return nil }
    let difference = frameNum - pictureNumber(entries[oldest], current: frameNum)
    entries.remove(at: oldest)
    return .removeShortTerm(difference: difference)
  }

  /// The current picture is a key frame, but no IDR picture.
  mutating func noteKeyFrame() { for i in entries.indices { entries[i].isBeforeKeyFrame = true } }

  /// Removes all B pictures before or after the last key frame in decoding order.
  mutating func removeBidirectional(
    areBeforeKeyFrame: Bool, current frameNum: Int, _ commands: inout [H264MemoryManagement]
  ) {
    for i in entries.indices.reversed()
    where entries[i].isBidirectional && entries[i].isBeforeKeyFrame == areBeforeKeyFrame {
      commands.append(.removeShortTerm(difference: frameNum - pictureNumber(entries[i], current: frameNum)))
      entries.remove(at: i)
    }
  }

  /// For how many pictures a better one is spared.
  private static let spared: UInt64 = 8

  /// Room for the current picture by a command, where the sliding window would remove a picture that is better than
  /// those around it: the oldest of the others goes instead. Nil where the window does as well.
  mutating func makeRoomSparingBetter(index: UInt64, current frameNum: Int) -> H264MemoryManagement? {
    guard !toleratesLosses, entries.count >= capacity, let oldest = oldestShortTerm(),
      entries[oldest].isBetter,
      index - entries[oldest].index <= DecodedPictureBuffer.spared,
      let other = entries.lastIndex(where: { $0.longTermIndex == nil && !$0.isBetter })
    else { return nil }
    let difference = frameNum - pictureNumber(entries[other], current: frameNum)
    entries.remove(at: other)
    return .removeShortTerm(difference: difference)
  }

  private mutating func removeNewestShortTerm(current frameNum: Int) -> H264MemoryManagement? {
    guard toleratesLosses, let newest = entries.first, newest.longTermIndex == nil, newest.isUsable else {
      return nil
    }
    entries.removeFirst()
    return .removeShortTerm(difference: frameNum - pictureNumber(newest, current: frameNum))
  }

  /// The short-term picture that the sliding window would remove: smallest FrameNumWrap, the last in list.
  private func oldestShortTerm() -> Int? { entries.lastIndex { $0.longTermIndex == nil } }

  private mutating func insert(_ entry: Entry) {
    guard let slot = entry.longTermIndex else {
      entries.insert(entry, at: 0)
      return
    }
    let at = entries.firstIndex { ($0.longTermIndex ?? -1) > slot } ?? entries.count
    entries.insert(entry, at: at)
  }

  /// Appends the commands that turn the initial list into `wanted` (8.2.4.3); none if it begins so already.
  func modifications(
    _ wanted: [Entry], current frameNum: Int, _ commands: inout [H264ReferenceListModification]
  ) {
    // A receiver may have more short-term pictures before the long-term ones.
    let isSure = !toleratesLosses || wanted.allSatisfy { $0.longTermIndex == nil }
    if isSure, zip(entries, wanted).allSatisfy({ $0.picture == $1.picture }) { return }
    var predicted = frameNum
    for entry in wanted {
      if let slot = entry.longTermIndex {
        commands.append(.longTerm(pictureNumber: slot))
        continue
      }
      let number = pictureNumber(entry, current: frameNum)
      var difference = number - predicted
      // Modulo MaxPicNum; 0 is written as a whole turn.
      if difference == 0 { difference = -maxFrameNum }
      predicted = number
      commands.append(.shortTerm(difference: difference))
    }
  }
}
