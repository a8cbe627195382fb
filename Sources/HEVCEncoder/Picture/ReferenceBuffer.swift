// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The reference pictures that a decoder keeps (8.3.2). The reference picture set of each picture
/// names all of them, so what is removed here is removed there with the next picture.
struct ReferenceBuffer {
  /// A reference picture.
  struct Entry: Equatable {
    /// The index of its planes in the encoder's pool of pictures.
    var picture: Int
    /// `HEVCFrameProperties.index` of the frame.
    var index: UInt64
    /// PicOrderCntVal
    var order: Int
    /// TemporalId
    var temporalLayer = 0
    /// The slot of a long-term reference picture; nil: it is a short-term one.
    var longTermSlot: Int?
    /// Whether it is coded with a lower QP than the pictures around it.
    var hasRaisedQuality = false
    /// slice_type: what it was coded as.
    var kind = HEVCSliceKind.p
    /// What a gradual intra refresh has reached in it.
    var refresh = Refresh(cycle: 0, rows: 0)
  }

  /// The rows of coding tree units, from the top, that the refresh with a number has refreshed.
  struct Refresh: Equatable {
    var cycle: Int
    var rows: Int
  }

  /// The most reference pictures.
  let capacity: Int
  /// The pictures, the newest first.
  private(set) var entries: [Entry] = []

  init(capacity: Int) {
    self.capacity = capacity
    entries.reserveCapacity(capacity + 1)
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }
  /// Removes a frame that the receiver lacks, and all later ones.
  mutating func invalidate(from index: UInt64) { entries.removeAll { $0.index >= index } }
  /// Removes all frames but one.
  mutating func invalidate(except index: UInt64) { entries.removeAll { $0.index != index } }
  /// Removes the pictures of higher temporal layers than that of the picture that is coded next.
  mutating func removeLayers(above layer: Int) { entries.removeAll { $0.temporalLayer > layer } }
  /// Removes short-term pictures that are too far away for a reference picture set.
  mutating func removeDistant(order: Int) {
    entries.removeAll { $0.longTermSlot == nil && order - $0.order > 16000 }
  }

  /// Removes all B pictures.
  mutating func removeBidirectional() { entries.removeAll { $0.kind == .b } }
  /// Removes the frames before one in output order.
  mutating func remove(before index: UInt64) { entries.removeAll { $0.index < index } }

  /// The number of frames for which a better one is kept longer than others.
  private static let spared = 8

  /// Stores the picture that was coded, and makes room for it.
  mutating func store(_ entry: Entry) {
    if let slot = entry.longTermSlot { entries.removeAll { $0.longTermSlot == slot } }
    while entries.count >= capacity {
      guard let oldest = entries.lastIndex(where: { $0.longTermSlot == nil }) else {
        // Only long-term pictures: there are fewer slots than the capacity, so this is never
        // reached.
        entries.removeLast()
        continue
      }
      var removed = oldest
      if entries[oldest].hasRaisedQuality,
        entries[oldest].index.distance(to: entry.index) <= Self.spared,
        let other = entries.lastIndex(where: { $0.longTermSlot == nil && !$0.hasRaisedQuality })
      {
        removed = other
      }
      entries.remove(at: removed)
    }
    entries.insert(entry, at: 0)
  }

  /// Sets what the slice header of the next picture says about reference pictures.
  /// - Parameters:
  ///   - header: receives the reference picture set and the list.
  ///   - order: PicOrderCntVal of the picture.
  ///   - list0: reference list 0.
  ///   - list1: reference list 1; empty: the slice is a P slice.
  func describe(
    _ header: inout HEVCSliceHeader, order: Int, list0: [Entry], list1: [Entry] = []
  ) {
    header.referencePictureSet = HEVCReferencePictureSet()
    header.longTermReferences.removeAll(keepingCapacity: true)
    // Pictures before this one, and after it, each in the order of their distance (7.4.8).
    let shortTerm = entries.filter { $0.longTermSlot == nil }
    let before = shortTerm.filter { $0.order < order }.sorted { $0.order > $1.order }
    let after = shortTerm.filter { $0.order > order }.sorted { $0.order < $1.order }
    func isUsed(_ entry: Entry) -> Bool { list0.contains(entry) || list1.contains(entry) }
    var last = order
    for entry in before {
      header.referencePictureSet.negative.append(
        .init(distance: last - entry.order, isUsed: isUsed(entry)))
      last = entry.order
    }
    last = order
    for entry in after {
      header.referencePictureSet.positive.append(
        .init(distance: entry.order - last, isUsed: isUsed(entry)))
      last = entry.order
    }
    let (usedBefore, usedAfter) = (before.filter(isUsed), after.filter(isUsed))
    var initial = usedBefore + usedAfter
    var initialL1 = usedAfter + usedBefore
    // Long-term pictures are named by the lowest bits of the order count, and where these may be
    // ambiguous by the others, too: as differences from the entry before (7-52).
    let modulus = 1 << HEVCEncoderConfiguration.log2MaxOrderCount
    var lastCycle = 0
    for entry in entries where entry.longTermSlot != nil {
      var reference = HEVCSliceHeader.LongTermReference()
      reference.pictureOrderCountLSB = entry.order % modulus
      reference.isUsed = isUsed(entry)
      if order >= modulus {
        let cycle = order / modulus - entry.order / modulus
        reference.msbCycle = cycle - lastCycle
        lastCycle = cycle
      }
      header.longTermReferences.append(reference)
      if reference.isUsed {
        initial.append(entry)
        initialL1.append(entry)
      }
    }
    func modification(_ initial: [Entry], _ selected: [Entry]) -> [Int]? {
      initial.prefix(selected.count) == selected[...] ? nil : selected.map { initial.firstIndex(of: $0) ?? 0 }
    }
    header.activeReferences = max(list0.count, 1)
    header.activeReferencesL1 = max(list1.count, 1)
    header.list0 = modification(initial, list0)
    header.list1 = modification(initialL1, list1)
  }
}
