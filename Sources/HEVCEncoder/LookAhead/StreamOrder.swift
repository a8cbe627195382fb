// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Decoding order as slice headers describe it with a look-ahead: picture order counts, NAL unit
/// types, reference lists, and the reference pictures that a decoder keeps.
struct StreamOrder {
  /// The reference pictures that a decoder keeps.
  private(set) var buffer: ReferenceBuffer
  /// The input index of the last IDR picture, from which picture order counts.
  private var origin: UInt64 = 0
  /// The input indices of the last key frame and of the key frame before it. After an IDR picture
  /// both are its own.
  private var keys: (last: UInt64, before: UInt64) = (0, 0)
  /// The selected pictures of each list, in the order of the list.
  private(set) var list0: [ReferenceBuffer.Entry] = []
  private(set) var list1: [ReferenceBuffer.Entry] = []

  /// Creates the order of a new stream.
  /// - Parameter capacity: the number of reference pictures.
  init(capacity: Int) { buffer = ReferenceBuffer(capacity: capacity) }

  /// Selects the reference pictures of a picture (`list0`, `list1`).
  ///
  /// For a P picture these are the newest pictures that are not B pictures. If the second of them
  /// is not of raised quality, the newest one further back that is takes its place. For a B picture
  /// they are the closest ones before it, and the closest one after it, in output order.
  /// - Parameters:
  ///   - kind: the type of the picture.
  ///   - index: its index in input order.
  ///   - most: the most pictures in list 0.
  private mutating func select(_ kind: QueuedPicture.Kind, index: UInt64, most: Int) {
    list0.removeAll(keepingCapacity: true)
    list1.removeAll(keepingCapacity: true)
    if kind.isKey { return }
    // No picture refers to one before the last key frame that precedes it in output order.
    let first = index < keys.last ? keys.before : keys.last
    if kind.isBidirectional {
      list0 = buffer.entries.filter { $0.index < index && $0.index >= first }
      list0.sort { $0.index > $1.index }
      list1 = buffer.entries.filter { $0.index > index }
      list1.sort { $0.index < $1.index }
      if list1.count > 1 { list1.removeLast(list1.count - 1) }
    } else {
      list0 = buffer.entries.filter { $0.index >= first }
      if most > 1, list0.count > 2, !list0[1].hasRaisedQuality,
        let better = list0.dropFirst().firstIndex(where: \.hasRaisedQuality)
      {
        list0.insert(list0.remove(at: better), at: 1)
      }
    }
    if list0.count > most { list0.removeLast(list0.count - most) }
  }

  /// Selects the reference pictures of a picture, and fills in its plan and slice header.
  /// - Parameters:
  ///   - plan: receives the type, the order and the slice header.
  ///   - kind: the type of the picture.
  ///   - index: its index in input order.
  ///   - most: the most pictures in list 0.
  ///   - pictures: the number of pictures in the pool, one more than the buffer holds at least.
  /// - Returns: the index in the pool of the picture to code into.
  mutating func prepare(
    _ plan: inout PicturePlan, _ kind: QueuedPicture.Kind, index: UInt64, most: Int, pictures: Int
  ) -> Int {
    if kind == .idr {
      origin = index
      buffer.removeAll()
      keys = (index, index)
    } else if kind == .openKey {
      keys = (index, keys.last)
    }
    if !kind.isBidirectional {
      // No later picture refers to the B pictures before this one, a P picture after a CRA picture
      // to none before that, and a CRA picture to none before the last key frame (8.3.2).
      buffer.removeBidirectional()
      buffer.remove(before: kind == .openKey ? keys.before : keys.last)
    }
    select(kind, index: index, most: most)
    plan.isKeyFrame = kind.isKey
    plan.isOpenKeyFrame = kind == .openKey
    plan.isReference = kind != .bidirectional
    plan.order = Int(index - origin)
    let isLeading = kind.isBidirectional && index < keys.last
    let type: HEVCNALUnitType =
      switch kind {
      case .idr: .idrWithoutLeading
      case .openKey: .cra
      case .bidirectional: isLeading ? .raslN : .trailN
      case .bidirectionalReference: isLeading ? .raslR : .trailR
      case .predicted: .trailR
      }
    plan.header.nal = HEVCNALUnitHeader(type: type)
    plan.header.kind = kind.isKey ? .i : kind.isBidirectional ? .b : .p
    plan.header.pictureOrderCountLSB =
      plan.order & (1 << HEVCEncoderConfiguration.log2MaxOrderCount - 1)
    if kind != .idr {
      buffer.describe(&plan.header, order: plan.order, list0: list0, list1: list1)
      plan.header.hasTemporalMotion = true
      // The collocated picture is that after a B picture, unless it has no motion.
      plan.header.collocated.isFromL0 = list1.first.map { $0.kind == .i } ?? true
    }
    return (0..<pictures).first { i in !buffer.entries.contains { $0.picture == i } } ?? 0
  }

  /// Stores a reference picture that was coded.
  /// - Parameters:
  ///   - plan: its plan.
  ///   - target: its index in the pool.
  ///   - index: its index in input order.
  mutating func store(_ plan: PicturePlan, target: Int, index: UInt64) {
    guard plan.isReference else { return }
    buffer.store(
      ReferenceBuffer.Entry(
        picture: target, index: index, order: plan.order, hasRaisedQuality: plan.hasRaisedQuality,
        kind: plan.header.kind))
  }
}
