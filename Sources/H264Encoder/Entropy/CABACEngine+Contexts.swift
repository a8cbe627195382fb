// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

extension CABACEngine {
  /// Initialises the context variables for a slice (9.3.1.1).
  ///
  /// - Parameters:
  ///   - column: the column of the tables of m and n: 0 for I slices, cabac_init_idc + 1 for P and
  ///     B slices.
  ///   - qp: SliceQP_Y.
  func initialiseContexts(column: Int, qp: Int) {
    let table = ovt_cabac_init(Int32(truncatingIfNeeded: column))!
    let qp = Int32(truncatingIfNeeded: max(0, min(qp, 51)))
    for i in 0..<Self.contextCount {
      let m = Int32(table[i &* 2])
      let n = Int32(table[i &* 2 &+ 1])
      let state = max(1, min(126, (m &* qp) &>> 4 &+ n))
      contexts[i] = UInt8(truncatingIfNeeded: state <= 63 ? (63 &- state) &<< 1 : (state &- 64) &<< 1 | 1)
    }
  }

  /// The number of context variables in use, for frame macroblocks at 4:2:0.
  static let contextCount = 460
}
