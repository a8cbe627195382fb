// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The reference pictures of the stream, marked as in the decoder (8.2.4, 8.2.5). All pictures are
/// frames.
struct DecodedPictureBuffer {
  /// A reference picture.
  struct Entry {
    /// The index of its planes in the encoder's pool of pictures.
    var picture: Int
    /// `H264FrameProperties.index` of the frame.
    var index: UInt64
    /// frame_num of the picture.
    var frameNum: Int
    /// LongTermFrameIdx; nil for a short-term reference.
    var longTermIndex: Int?
    /// Whether pictures may be predicted from it: false once the caller has said that the receiver
    /// does not have it.
    var isUsable = true
    /// Whether it is coded with a lower QP than the pictures around it
    /// (`PicturePlan.hasRaisedQuality`).
    var hasRaisedQuality = false
    /// Whether it is a B picture, to which only the B pictures between the same two I or P pictures
    /// refer.
    var isBidirectional = false
    /// Whether it precedes the last key frame in decoding order.
    var isBeforeKeyFrame = false
  }

  /// The most reference pictures: max_num_ref_frames.
  let capacity: Int
  /// MaxFrameNum (7.4.2.1.1).
  let maxFrameNum: Int
  /// Whether receivers may lose frames. The buffer of a receiver may then hold a substitute for a
  /// short-term picture that is a long-term picture here, or was removed. What the encoder writes
  /// must not depend on the number of entries.
  let toleratesLosses: Bool
  /// The pictures in the order of the initial reference list 0 (8.2.4.2.1): short-term pictures,
  /// the newest first, then long-term pictures by index.
  private(set) var entries: [Entry] = []

  /// Creates an empty buffer.
  /// - Parameters:
  ///   - capacity: the most reference pictures.
  ///   - maxFrameNum: MaxFrameNum.
  ///   - toleratesLosses: whether receivers may lose frames.
  init(capacity: Int, maxFrameNum: Int, toleratesLosses: Bool = false) {
    self.toleratesLosses = toleratesLosses
    self.capacity = capacity
    self.maxFrameNum = maxFrameNum
    entries.reserveCapacity(17)
  }

  /// Removes all pictures, as an IDR picture does.
  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// PicNum of a short-term picture while a picture with the given frame_num is coded (8.2.4.1).
  func pictureNumber(_ entry: Entry, current frameNum: Int) -> Int {
    entry.frameNum > frameNum ? entry.frameNum - maxFrameNum : entry.frameNum
  }

  /// Marks the frame with an index, and all that follow it, as lost.
  mutating func invalidate(from index: UInt64) {
    for i in entries.indices where entries[i].index >= index { entries[i].isUsable = false }
  }

  /// Marks all frames but one as lost.
  mutating func invalidate(except index: UInt64) {
    for i in entries.indices where entries[i].index != index { entries[i].isUsable = false }
  }

  /// Makes the newest short-term picture a long-term picture.
  /// - Parameters:
  ///   - slot: its LongTermFrameIdx; a picture that has it is removed.
  ///   - frameNum: frame_num of the picture being coded.
  /// - Returns: the difference of PicNum of the picture being coded and its own; nil if there is no
  ///   short-term picture.
  mutating func makeNewestLongTerm(_ slot: Int, current frameNum: Int) -> Int? {
    guard let at = entries.firstIndex(where: { $0.longTermIndex == nil }) else { return nil }
    var entry = entries.remove(at: at)
    entries.removeAll { $0.longTermIndex == slot }
    let difference = frameNum - pictureNumber(entry, current: frameNum)
    entry.longTermIndex = slot
    insert(entry)
    return difference
  }

  /// Stores the picture that was coded.
  /// - Parameters:
  ///   - entry: the picture.
  ///   - frameNum: its frame_num.
  ///   - commands: gets the memory management control operations that a decoder needs to do the
  ///     same; none where the sliding window does it (8.2.5.3).
  mutating func store(_ entry: Entry, current frameNum: Int, _ commands: inout [H264MemoryManagement]) {
    if let slot = entry.longTermIndex {
      // A long-term picture with this index is replaced (8.2.5.4.6). If there is none yet, another
      // picture makes room.
      let replaced = entries.contains { $0.longTermIndex == slot }
      if let removal = removeNewestShortTerm(current: frameNum) {
        // This makes room in the buffer of any receiver, whether or not it has the picture that is
        // replaced: every receiver that can decode this picture has the newest short-term one.
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

  /// Makes room for the picture being coded by removing the oldest short-term picture: with memory
  /// management control operations there is no sliding window.
  /// - Parameter frameNum: frame_num of the picture being coded.
  /// - Returns: the operation that a decoder needs to do the same; nil if there is room.
  mutating func makeRoom(current frameNum: Int) -> H264MemoryManagement? {
    guard entries.count >= capacity, let oldest = oldestShortTerm() else { return nil }
    let difference = frameNum - pictureNumber(entries[oldest], current: frameNum)
    entries.remove(at: oldest)
    return .removeShortTerm(difference: difference)
  }

  /// Marks all pictures as preceding a key frame, when the picture being coded is one but no IDR
  /// picture.
  mutating func markAllBeforeKeyFrame() { for i in entries.indices { entries[i].isBeforeKeyFrame = true } }

  /// Removes the B pictures that precede, or that follow, the last key frame in decoding order.
  /// - Parameters:
  ///   - areBeforeKeyFrame: whether to remove those that precede it.
  ///   - frameNum: frame_num of the picture being coded.
  ///   - commands: gets the operations that a decoder needs to do the same.
  mutating func removeBidirectional(
    areBeforeKeyFrame: Bool, current frameNum: Int, _ commands: inout [H264MemoryManagement]
  ) {
    for i in entries.indices.reversed()
    where entries[i].isBidirectional && entries[i].isBeforeKeyFrame == areBeforeKeyFrame {
      commands.append(.removeShortTerm(difference: frameNum - pictureNumber(entries[i], current: frameNum)))
      entries.remove(at: i)
    }
  }

  /// The number of pictures for which a better one is kept.
  private static let spared: UInt64 = 8

  /// Makes room for the picture being coded where the sliding window would remove a picture that is
  /// better than those around it: the oldest of the others is removed instead.
  /// - Parameters:
  ///   - index: `FrameProperties.index` of the picture being coded.
  ///   - frameNum: its frame_num.
  /// - Returns: the operation that a decoder needs to do the same; nil where the sliding window
  ///   does as well.
  mutating func makeRoomSparingRaisedQuality(index: UInt64, current frameNum: Int) -> H264MemoryManagement? {
    guard !toleratesLosses, entries.count >= capacity, let oldest = oldestShortTerm(),
      entries[oldest].hasRaisedQuality,
      index - entries[oldest].index <= DecodedPictureBuffer.spared,
      let other = entries.lastIndex(where: { $0.longTermIndex == nil && !$0.hasRaisedQuality })
    else { return nil }
    let difference = frameNum - pictureNumber(entries[other], current: frameNum)
    entries.remove(at: other)
    return .removeShortTerm(difference: difference)
  }

  /// Removes the newest short-term picture if receivers may lose frames.
  private mutating func removeNewestShortTerm(current frameNum: Int) -> H264MemoryManagement? {
    guard toleratesLosses, let newest = entries.first, newest.longTermIndex == nil, newest.isUsable else {
      return nil
    }
    entries.removeFirst()
    return .removeShortTerm(difference: frameNum - pictureNumber(newest, current: frameNum))
  }

  /// The index of the short-term picture that the sliding window would remove: the last one in the
  /// list, with the smallest FrameNumWrap.
  private func oldestShortTerm() -> Int? { entries.lastIndex { $0.longTermIndex == nil } }

  /// Inserts a picture at its position in the initial list.
  private mutating func insert(_ entry: Entry) {
    guard let slot = entry.longTermIndex else {
      entries.insert(entry, at: 0)
      return
    }
    let at = entries.firstIndex { ($0.longTermIndex ?? -1) > slot } ?? entries.count
    entries.insert(entry, at: at)
  }

  /// The operations that turn the initial reference list into the one of the picture (8.2.4.3).
  /// - Parameters:
  ///   - list0: the pictures that the list is to begin with.
  ///   - frameNum: frame_num of the picture being coded.
  ///   - commands: gets the operations; none if the initial list begins with these pictures.
  func modifications(
    _ list0: [Entry], current frameNum: Int, _ commands: inout [H264ReferenceListModification]
  ) {
    // A receiver may have more short-term pictures in front of the long-term ones.
    let isSure = !toleratesLosses || list0.allSatisfy { $0.longTermIndex == nil }
    if isSure, zip(entries, list0).allSatisfy({ $0.picture == $1.picture }) { return }
    var predicted = frameNum
    for entry in list0 {
      if let slot = entry.longTermIndex {
        commands.append(.longTerm(pictureNumber: slot))
        continue
      }
      let number = pictureNumber(entry, current: frameNum)
      var difference = number - predicted
      // Differences are modulo MaxPicNum; a difference of 0 is written as MaxPicNum.
      if difference == 0 { difference = -maxFrameNum }
      predicted = number
      commands.append(.shortTerm(difference: difference))
    }
  }
}
