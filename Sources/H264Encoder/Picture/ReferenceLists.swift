// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The reference picture lists of the present picture, and what B pictures derive from them.
/// Entries of list 1 follow those of list 0, from `ReferencePlanes.list1` on.
struct ReferenceLists {
  /// The reference pictures.
  let entries: UnsafeMutablePointer<ReferencePlanes>
  /// The explicit weights of each reference where `PicturePlan.isWeighted`.
  let weights: UnsafeMutablePointer<PredictionWeight>
  /// For each reference of a B picture, the index of the first reference that is the same picture.
  let pictureIdentities: UnsafeMutablePointer<Int8>
  /// The implicit weights of B pictures (8.4.2.3.1).
  let implicitWeights: ImplicitWeights
  /// The motion of temporal direct prediction (8.4.1.2.3).
  let temporalDirect: TemporalDirect

  /// Allocates the lists.
  /// - Parameters:
  ///   - isWeighted: whether pictures of the stream may have explicit weights.
  ///   - memory: owns the lists.
  init(isWeighted: Bool, memory: inout EncoderMemory) {
    let count = 2 * ReferencePlanes.list1
    entries = memory.allocate(ReferencePlanes.self, count: count)
    weights = memory.allocate(PredictionWeight.self, count: count)
    let inverses = memory.allocate(UInt8.self, count: isWeighted ? count * 256 : 1)
    for i in 0..<count { (weights + i).initialize(to: PredictionWeight(inverse: inverses + i * 256)) }
    pictureIdentities = memory.allocate(Int8.self, count: count)
    implicitWeights = ImplicitWeights(memory: &memory)
    temporalDirect = TemporalDirect(memory: &memory)
  }

  /// Sets an entry for the next picture.
  func set(_ i: Int, _ picture: PicturePlanes) {
    (entries + i).initialize(to: ReferencePlanes(picture))
  }

  /// Derives what the motion of a B picture takes from its lists: the references that are the same
  /// picture, the scale of temporal direct prediction, and the implicit weights.
  /// - Parameters:
  ///   - plan: the plan of the picture.
  ///   - pps: its picture parameter set.
  /// - Returns: whether implicit weights are in use and any of them differs from a half.
  func deriveBidirectional(_ plan: PicturePlan, _ pps: H264PictureParameterSet) -> Bool {
    identifyPictures(plan)
    temporalDirect.set(plan, UnsafePointer(entries))
    return pps.weightedBipredIDC == 2 && implicitWeights.set(plan, UnsafePointer(entries))
  }

  /// Finds the references that are the same picture.
  private func identifyPictures(_ plan: PicturePlan) {
    let end = ReferencePlanes.list1 + plan.referenceCountL1
    func isUsed(_ i: Int) -> Bool { i < plan.referenceCount || i >= ReferencePlanes.list1 }
    for i in 0..<end where isUsed(i) {
      var first = 0
      while !isUsed(first) || entries[first].luma != entries[i].luma { first += 1 }
      pictureIdentities[i] = Int8(first)
    }
  }

  /// Stores the order counts of a picture's references, for B pictures that take it as colocated
  /// picture.
  func storeOrderCounts(_ plan: PicturePlan, in stored: StoredMotion) {
    for i in 0..<plan.referenceCount { stored.orderCounts[i] = entries[i].orderCount }
    for i in 0..<plan.referenceCountL1 {
      stored.orderCounts[ReferencePlanes.list1 + i] = entries[ReferencePlanes.list1 + i].orderCount
    }
  }
}
