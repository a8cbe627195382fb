// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// What slice headers say of the order of pictures, and which pictures the decoder keeps: frame_num, picture order
/// counts, reference lists and marking.
struct StreamOrder {
  private(set) var buffer: DecodedPictureBuffer
  private var frameNum = 0
  /// 0 in the first IDR picture, then 1 and 2 in turns: a stream that begins where this one ends with an IDR picture has
  /// another value there (7.4.3).
  private var idrPictureID: Int?
  /// In place of that 0, in a part of a stream.
  private let firstPictureID: Int
  private var lastWasReference = false
  /// The index of the last IDR picture, from which order is counted.
  private var origin: UInt64 = 0
  /// The indices of the last key frame, and of the one before it or, where that is an IDR picture, of itself.
  private var keys: (last: UInt64, before: UInt64) = (0, 0)
  /// Kept for their memory.
  private var modifications: [H264ReferenceListModification] = []
  private var commands: [H264MemoryManagement] = []
  /// References of the picture, best first.
  private(set) var wanted: [DecodedPictureBuffer.Entry] = []
  /// Of list 1 of a B picture.
  private(set) var wantedL1: [DecodedPictureBuffer.Entry] = []

  init(capacity: Int, maxFrameNum: Int, firstPictureID: Int = 0) {
    self.firstPictureID = firstPictureID
    buffer = DecodedPictureBuffer(capacity: capacity, maxFrameNum: maxFrameNum)
    modifications.reserveCapacity(64)
    commands.reserveCapacity(8)
    wanted.reserveCapacity(17)
  }

  /// Chooses what a P picture refers to: the newest pictures, with the newest one that is better than those around it
  /// behind the first.
  mutating func selectReferences(_ kind: QueuedPicture.Kind, index: UInt64, most: Int) {
    wanted.removeAll(keepingCapacity: true)
    wantedL1.removeAll(keepingCapacity: true)
    if kind.isKey { return }
    // Nothing that is shown from a key frame on refers to what is shown before it.
    let first = index < keys.last ? keys.before : keys.last
    if kind.isBidirectional {
      for entry in buffer.entries where entry.index < index && entry.index >= first { wanted.append(entry) }
      for entry in buffer.entries where entry.index > index { wantedL1.append(entry) }
      wanted.sort { $0.index > $1.index }
      wantedL1.sort { $0.index < $1.index }
      if wanted.count > most { wanted.removeLast(wanted.count - most) }
      if wantedL1.count > 1 { wantedL1.removeLast(wantedL1.count - 1) }
      return
    }
    for entry in buffer.entries where !entry.isBidirectional && entry.index >= first { wanted.append(entry) }
    if most > 1 {
      for i in wanted.indices.dropFirst(2) where wanted[i].hasRaisedQuality && !wanted[1].hasRaisedQuality {
        wanted.insert(wanted.remove(at: i), at: 1)
        break
      }
    }
    if wanted.count > most { wanted.removeLast(wanted.count - most) }
  }

  /// Fills in the slice header, and marks pictures as it tells the decoder to.
  /// - Parameter uses: of each picture of the pool, how many pictures that are being coded need it.
  /// - Returns: the picture of the pool to code into.
  mutating func prepare(
    _ plan: inout PicturePlan, _ kind: QueuedPicture.Kind, index: UInt64, uses: [Int]
  ) -> Int {
    if plan.isIDR {
      frameNum = 0
      origin = index
      idrPictureID = idrPictureID.map { $0 == 1 ? 2 : 1 } ?? firstPictureID
      buffer.removeAll()
      keys = (index, index)
    } else if lastWasReference {
      frameNum = (frameNum + 1) & (buffer.maxFrameNum - 1)
    }
    if kind == .openKey {
      keys = (index, keys.last)
      buffer.noteKeyFrame()
    }
    lastWasReference = plan.isReference
    plan.orderCount = Int(index - origin) * 2
    plan.header.kind = kind.isKey ? .i : kind.isBidirectional ? .b : .p
    plan.header.usesSpatialDirect = kind.isBidirectional
    plan.header.isIDR = plan.isIDR
    plan.header.refIDC = plan.isReference ? 2 : 0
    plan.header.frameNum = frameNum
    plan.header.idrPictureID = idrPictureID ?? 0
    plan.header.pictureOrderCountLSB = plan.orderCount & 255
    plan.header.activeReferences = max(1, wanted.count)
    modifications.removeAll(keepingCapacity: true)
    // The initial lists of B pictures are in the order of presentation, as they are wanted (8.2.4.2.3).
    if kind == .predicted { buffer.modifications(wanted, current: frameNum, &modifications) }
    plan.header.modifications = modifications
    plan.referenceCount = wanted.count
    plan.header.activeReferencesL1 = max(1, wantedL1.count)
    plan.referenceCountL1 = wantedL1.count
    let target = uses.indices.first { i in uses[i] == 0 && !buffer.entries.contains { $0.picture == i } } ?? 0
    if plan.isReference { mark(&plan, kind, target, index) }
    return target
  }

  private mutating func mark(
    _ plan: inout PicturePlan, _ kind: QueuedPicture.Kind, _ target: Int, _ index: UInt64
  ) {
    commands.removeAll(keepingCapacity: true)
    var entry = DecodedPictureBuffer.Entry(
      picture: target, index: index, frameNum: frameNum, longTermIndex: nil,
      hasRaisedQuality: plan.hasRaisedQuality)
    entry.isBidirectional = kind.isBidirectional
    if kind == .predicted {
      // Nothing refers to the B pictures before it any more. Of those before a key frame that is no IDR picture, a decoder
      // that begins there has none: they go with the window, as does all else that is before it.
      buffer.removeBidirectional(areBeforeKeyFrame: false, current: frameNum, &commands)
      if commands.isEmpty, !plan.hasRaisedQuality,
        let removal = buffer.makeRoomSparingRaisedQuality(index: index, current: frameNum)
      {
        commands.append(removal)
      }
    }
    if kind == .bidirectionalReference, index < keys.last {
      // A picture that such a decoder does not show.
      buffer.removeBidirectional(areBeforeKeyFrame: true, current: frameNum, &commands)
    }
    // Adaptive marking replaces the sliding window: what that would remove is then named.
    if !commands.isEmpty, let removal = buffer.makeRoom(current: frameNum) { commands.append(removal) }
    buffer.store(entry, current: frameNum, &commands)
    if !commands.isEmpty { plan.header.memoryManagement = commands }
  }
}
