// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Decoding order as slice headers describe it, and the state of the decoded picture buffer:
/// frame_num, picture order counts, reference lists and marking.
struct StreamOrder {
  /// The reference pictures that a decoder keeps.
  private(set) var buffer: DecodedPictureBuffer
  /// The numbers of the pictures in slice headers.
  private var numbering: PictureNumbering
  /// The input index of the last IDR picture, from which picture order counts.
  private var origin: UInt64 = 0
  /// The input indices of the last key frame and of the key frame before it. After an IDR picture
  /// both are its own.
  private var keys: (last: UInt64, before: UInt64) = (0, 0)
  /// Scratch for the commands of a slice header, kept for their memory.
  private var modifications: [H264ReferenceListModification] = []
  private var commands: [H264MemoryManagement] = []
  /// The selected pictures of reference list 0, in the order of the list.
  private(set) var list0: [DecodedPictureBuffer.Entry] = []
  /// The selected pictures of reference list 1 of a B picture, in the order of the list.
  private(set) var list1: [DecodedPictureBuffer.Entry] = []

  /// Creates the order of a new stream.
  /// - Parameters:
  ///   - capacity: the number of reference frames (max_num_ref_frames).
  ///   - maxFrameNum: MaxFrameNum, a power of two.
  ///   - firstPictureID: idr_pic_id of the first IDR picture.
  init(capacity: Int, maxFrameNum: Int, firstPictureID: Int = 0) {
    numbering = PictureNumbering(firstPictureID: firstPictureID)
    buffer = DecodedPictureBuffer(capacity: capacity, maxFrameNum: maxFrameNum)
    modifications.reserveCapacity(64)
    commands.reserveCapacity(8)
    list0.reserveCapacity(17)
  }

  /// Selects the reference pictures of a picture (`list0`, `list1`).
  ///
  /// For a P picture these are the newest pictures that are not B pictures. If the second of them
  /// is not of raised quality, the newest one further back that is takes its place. For a B picture
  /// list 0 has the pictures before it, nearest first, and list 1 the nearest picture after it.
  /// - Parameters:
  ///   - kind: the type of the picture; a key frame has no references.
  ///   - index: its index in input order.
  ///   - maximum: the most pictures in list 0.
  mutating func selectReferences(_ kind: QueuedPicture.Kind, index: UInt64, maximum: Int) {
    list0.removeAll(keepingCapacity: true)
    list1.removeAll(keepingCapacity: true)
    if kind.isKey { return }
    // No picture refers to one before the last key frame that precedes it in output order.
    let first = index < keys.last ? keys.before : keys.last
    if kind.isBidirectional {
      for entry in buffer.entries where entry.index < index && entry.index >= first { list0.append(entry) }
      for entry in buffer.entries where entry.index > index { list1.append(entry) }
      list0.sort { $0.index > $1.index }
      list1.sort { $0.index < $1.index }
      if list0.count > maximum { list0.removeLast(list0.count - maximum) }
      if list1.count > 1 { list1.removeLast(list1.count - 1) }
      return
    }
    for entry in buffer.entries where !entry.isBidirectional && entry.index >= first { list0.append(entry) }
    if maximum > 1 { list0.preferRaisedQuality() }
    if list0.count > maximum { list0.removeLast(list0.count - maximum) }
  }

  /// Fills in the slice header of a picture, and marks reference pictures as the header tells the
  /// decoder to.
  /// - Parameters:
  ///   - plan: receives the slice header.
  ///   - kind: the type of the picture.
  ///   - index: its index in input order.
  ///   - uses: for each picture of the pool, the number of its users; pictures with users are not
  ///     overwritten.
  /// - Returns: the index in the pool of the picture to code into.
  mutating func prepare(
    _ plan: inout PicturePlan, _ kind: QueuedPicture.Kind, index: UInt64, uses: [Int]
  ) -> Int {
    if plan.isIDR {
      origin = index
      buffer.removeAll()
      keys = (index, index)
    }
    if kind == .openKey {
      keys = (index, keys.last)
      buffer.markAllBeforeKeyFrame()
    }
    numbering.advance(
      &plan, kind: kind.isKey ? .i : kind.isBidirectional ? .b : .p, maxFrameNum: buffer.maxFrameNum)
    plan.orderCount = Int(index - origin) * 2
    plan.header.usesSpatialDirect = kind.isBidirectional
    plan.header.pictureOrderCountLSB = plan.orderCount & 255
    plan.header.activeReferences = max(1, list0.count)
    modifications.removeAll(keepingCapacity: true)
    // The initial lists of B pictures are in output order, as selected (8.2.4.2.3), and need no
    // modification.
    if kind == .predicted { buffer.modifications(list0, current: numbering.frameNum, &modifications) }
    plan.header.modifications = modifications
    plan.referenceCount = list0.count
    plan.header.activeReferencesL1 = max(1, list1.count)
    plan.referenceCountL1 = list1.count
    let target = uses.indices.first { i in uses[i] == 0 && !buffer.entries.contains { $0.picture == i } } ?? 0
    if plan.isReference { mark(&plan, kind, target, index) }
    return target
  }

  /// Stores a reference picture in the buffer, and sets the memory management commands that this
  /// takes (8.2.5).
  /// - Parameters:
  ///   - plan: receives the commands in its slice header.
  ///   - kind: the type of the picture.
  ///   - target: its index in the pool.
  ///   - index: its index in input order.
  private mutating func mark(
    _ plan: inout PicturePlan, _ kind: QueuedPicture.Kind, _ target: Int, _ index: UInt64
  ) {
    commands.removeAll(keepingCapacity: true)
    var entry = DecodedPictureBuffer.Entry(
      picture: target, index: index, frameNum: numbering.frameNum, longTermIndex: nil,
      hasRaisedQuality: plan.hasRaisedQuality)
    entry.isBidirectional = kind.isBidirectional
    if kind == .predicted {
      // No later picture refers to the B pictures before this P picture. A decoder that begins at
      // an open key frame does not have the B pictures before it and could not remove them by a
      // command; they leave with the sliding window, like all other pictures before it.
      buffer.removeBidirectional(areBeforeKeyFrame: false, current: numbering.frameNum, &commands)
      if commands.isEmpty, !plan.hasRaisedQuality,
        let removal = buffer.makeRoomSparingRaisedQuality(index: index, current: numbering.frameNum)
      {
        commands.append(removal)
      }
    }
    if kind == .bidirectionalReference, index < keys.last {
      // This B picture precedes an open key frame, and a decoder that begins there does not output
      // it.
      buffer.removeBidirectional(areBeforeKeyFrame: true, current: numbering.frameNum, &commands)
    }
    // Adaptive marking replaces the sliding window, so the picture that the window would remove
    // needs a command (8.2.5.1).
    if !commands.isEmpty, let removal = buffer.makeRoom(current: numbering.frameNum) {
      commands.append(removal)
    }
    buffer.store(entry, current: numbering.frameNum, &commands)
    if !commands.isEmpty { plan.header.memoryManagement = commands }
  }
}
