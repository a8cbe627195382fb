// SPDX-License-Identifier: Apache-2.0
/// nal_unit_header_svc_extension() (G.7.3.1.1) of a prefix NAL unit, which gives the temporal layer
/// of the next slice. Decoders of profiles without layers skip it.
package struct H264ScalableHeader: Equatable, Sendable {
  /// idr_flag
  package var isIDR = false
  /// priority_id, 0...63; lower values are more important.
  package var priorityID = 0
  /// temporal_id, 0...7.
  package var temporalID = 0
  /// discardable_flag: whether pictures of higher layers do not need the picture.
  package var isDiscardable = false

  package init(isIDR: Bool = false, priorityID: Int = 0, temporalID: Int = 0, isDiscardable: Bool = false) {
    self.isIDR = isIDR
    self.priorityID = priorityID
    self.temporalID = temporalID
    self.isDiscardable = isDiscardable
  }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.reserved(1, 1)  // svc_extension_flag
    c.flag(&isIDR)
    c.u(&priorityID, 6)
    c.reserved(1, 1)  // no_inter_layer_pred_flag
    c.reserved(3)  // dependency_id
    c.reserved(4)  // quality_id
    c.u(&temporalID, 3)
    c.reserved(1)  // use_ref_base_pic_flag
    c.flag(&isDiscardable)
    c.reserved(3, 7)  // output_flag, reserved_three_2bits
  }

  /// The three bytes that follow the first byte of the NAL unit.
  package var bytes: (UInt8, UInt8, UInt8) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3) { memory in
      guard let base = memory.baseAddress else { return (0, 0, 0) }
      var bits = BitWriter(base, capacity: 3)
      var header = self
      header.code(&bits)
      bits.flush()
      return (base[0], base[1], base[2])
    }
  }

  /// Reads the header of a prefix NAL unit or a slice extension, types 14 and 20.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes) throws(SyntaxError) {
    // If svc_extension_flag is 0, the header is that of MVC.
    guard let first = nalUnit.dropFirst().first, first & 0x80 != 0 else { throw .invalid }
    var header = Self()
    let failure = BitReader.read(nalUnit, headerLength: 1) { reader in
      header.code(&reader)
      return reader.failure
    }
    if let failure { throw failure }
    self = header
  }

  /// Writes prefix_nal_unit_svc(), which is empty if nal_ref_idc is 0.
  package func writePayload(refIDC: UInt8, to bits: inout BitWriter) {
    guard refIDC != 0 else { return }
    bits.flag(false)  // store_ref_base_pic_flag
    bits.flag(false)  // additional_prefix_nal_unit_extension_flag
    bits.trailingBits()
    bits.flush()
  }
}
