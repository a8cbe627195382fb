// SPDX-License-Identifier: Apache-2.0

/// A gradual intra refresh: rows of coding tree units are coded intra in turn, from the top, and
/// the rows above them refer to refreshed samples alone. Rows need no constrained intra prediction,
/// since the samples that intra prediction reads are above a unit or in its row.
///
/// A step is a picture, whether others refer to it or not, so that the number of steps is a
/// difference of order counts, as the recovery point message has it. Which rows of a picture are
/// right for a decoder that came in at the recovery point follows from its own reference picture.
struct IntraRefresh {
  /// The rows of a picture.
  let rows: Int
  /// PicOrderCntVal of the picture that the last refresh began with; nil: there was none since the
  /// last key frame.
  private var start: Int?
  /// Whether there is a reference picture of the lowest layer that it has refreshed as a whole.
  private var isComplete = false
  /// The number of refreshes so far; reference pictures before the present one are of no use.
  private var cycle = 0
  /// Whether a refresh is to begin with the next reference picture.
  private var isPending = false

  init(rows: Int) { self.rows = rows }

  /// Ends a refresh, at a key frame.
  mutating func reset() {
    start = nil
    isPending = false
  }

  /// The pictures of a list, the newest first, that a picture should refer to: those that were
  /// refreshed as a whole, or the newest alone, which has the most refreshed rows.
  func useful(_ entries: [ReferenceBuffer.Entry]) -> [ReferenceBuffer.Entry] {
    guard start != nil else { return entries }
    let whole = entries.filter { refreshedRows($0) == rows }
    return whole.isEmpty ? Array(entries.prefix(1)) : whole
  }

  /// The rows of a reference picture that the last refresh has refreshed.
  private func refreshedRows(_ entry: ReferenceBuffer.Entry) -> Int {
    entry.refresh.cycle == cycle ? entry.refresh.rows : 0
  }

  /// Begins a refresh if one is wanted.
  /// - Parameters:
  ///   - order: PicOrderCntVal of the next picture.
  ///   - isReference: whether other pictures may refer to it; a refresh begins with no other.
  ///   - isWanted: whether a refresh was asked for.
  ///   - options: the options of the mode.
  /// - Returns: whether a refresh begins or ends, so that other references are useful (`useful`).
  mutating func begin(
    order: Int, isReference: Bool, isWanted: Bool, _ options: HEVCEncoderConfiguration.LowLatency
  ) -> Bool {
    guard options.intraRefreshPeriod > 0 else {
      defer { reset() }
      return start != nil
    }
    if isWanted || (start == nil || isComplete) && options.refreshesContinuously { isPending = true }
    guard isPending, isReference else { return false }
    isPending = false
    isComplete = false
    start = order
    cycle += 1
    return true
  }

  /// Plans the step of a picture.
  /// - Parameters:
  ///   - plan: receives the rows.
  ///   - references: the pictures that it refers to.
  ///   - period: the number of pictures of a refresh.
  /// - Returns: what is stored with it as a reference picture.
  mutating func plan(
    _ plan: inout PicturePlan, _ references: [ReferenceBuffer.Entry], period: Int
  ) -> ReferenceBuffer.Refresh {
    guard let start, !plan.isKeyFrame, period > 0 else {
      return ReferenceBuffer.Refresh(cycle: cycle, rows: 0)
    }
    let step = plan.order - start
    plan.refreshStarts = step == 0
    let from = references.map(refreshedRows).min() ?? 0
    let to = max(min((step + 1) * rows / period, rows), from)
    // What refers to whole pictures needs no care.
    if from < rows { (plan.refreshFrom, plan.refreshTo) = (from, to) }
    if plan.isReference, plan.temporalLayer == 0, to == rows, step + 1 >= period { isComplete = true }
    return ReferenceBuffer.Refresh(cycle: cycle, rows: to)
  }
}
