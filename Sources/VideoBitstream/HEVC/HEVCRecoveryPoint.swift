// SPDX-License-Identifier: Apache-2.0
/// recovery_point() of HEVC (D.2.8): where pictures are right for a decoder that begins here, as
/// after a gradual intra refresh.
package struct HEVCRecoveryPoint: Equatable, Sendable {
  package static let payloadType = 6

  /// recovery_poc_cnt: the difference of PicOrderCntVal from this picture to the first right one,
  /// -32768...32767.
  package var orderCount: Int
  /// exact_match_flag: whether the pictures then equal those of a decoder that began earlier.
  package var isExact: Bool

  package init(orderCount: Int, isExact: Bool) {
    self.orderCount = orderCount
    self.isExact = isExact
  }

  /// Writes a sei_rbsp() with this message alone, trailing bits included.
  package func write(to bits: inout BitWriter) {
    // se(v) of up to 33 bits and two flags, then payload alignment.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 8) { scratch in
      guard let base = scratch.baseAddress else { return }
      var payload = BitWriter(base, capacity: 8)
      payload.se(orderCount)
      payload.put(isExact ? 1 : 0, 1)
      // broken_link_flag
      payload.put(0, 1)
      SupplementalInformation.write(type: Self.payloadType, &payload, to: &bits)
    }
  }
}
