// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The motion of blocks of 4x4 samples, found near that of the blocks of 16x16 around them.
///
/// So few samples match by chance in many places: a block is compared together with the two samples
/// around it, and only vectors near those of its neighbourhood are considered.
struct FineMotion {
  let picture: FilterPicture
  let reference: FilterPicture
  let field: MotionField
  let kernels: UnsafePointer<OVTVideoKernels>
  let isFractional: Bool

  /// Searches for a row of blocks; `TemporalFilter.fineMotion` describes it.
  func search(_ row: Int, _ output: UnsafeMutablePointer<MotionField.Vector>) {
    var search = BlockSearch(
      kernels: kernels, picture: picture.luma, reference: reference.luma, size: 8,
      reach: FilterPicture.reach)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { memory in
      guard let scratch = memory.baseAddress else { return }
      for column in 0..<4 &* picture.columns {
        let (parentColumn, parentRow) = (column / 4, row / 4)
        let parent = field.vectors[parentRow &* picture.columns &+ parentColumn].whole
        search.begin(4 &* column &- 2, 4 &* row &- 2, near: parent)
        // The blocks of 16x16 on the side of this block.
        let side = column & 3 < 2 ? parentColumn &- 1 : parentColumn &+ 1
        let above = row & 3 < 2 ? parentRow &- 1 : parentRow &+ 1
        if side >= 0 && side < picture.columns {
          search.consider(field.vectors[parentRow &* picture.columns &+ side].whole)
        }
        if above >= 0 && above < picture.rows {
          search.consider(field.vectors[above &* picture.columns &+ parentColumn].whole)
        }
        if column > 0 { search.consider(output[column &- 1].whole) }
        search.refine(steps: 2)
        output[column] = isFractional ? search.refineBetweenSamples(scratch) : search.bestInQuarters
      }
    }
  }
}
