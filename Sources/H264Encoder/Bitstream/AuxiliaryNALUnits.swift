/// Payloads of the small NAL units around the slices. Each writes a whole payload, trailing bits included.
enum AuxiliaryPayload {
  /// access_unit_delimiter_rbsp(): primary_pic_type 0 (I) or 1 (I and P).
  static func accessUnitDelimiter(onlyIntra: Bool, to bits: inout BitWriter) {
    bits.put(onlyIntra ? 0 : 1, 3)
    bits.trailingBits()
    bits.flush()
  }

  /// filler_data_rbsp() with `count` bytes of 0xFF. The NAL unit is `count` + 2 bytes long.
  static func fillerData(count: Int, to bits: inout BitWriter) {
    for _ in 0..<max(count, 0) { bits.put(0xFF, 8) }
    bits.trailingBits()
    bits.flush()
  }

  /// A sei_rbsp() with a recovery point (D.1.8): after `frameCount` more frames the pictures are right
  /// (exactMatch: bit for bit), as after a gradual intra refresh.
  static func recoveryPoint(frameCount: Int, exactMatch: Bool, to bits: inout BitWriter) {
    // recovery_frame_cnt ue(v), two flags and changing_slice_group_idc u(2), then payload alignment.
    let countLength = 2 * (Int.bitWidth - (frameCount + 1).leadingZeroBitCount) - 1
    let length = (countLength + 4 + 7) / 8
    bits.put(6, 8)
    bits.put(UInt32(length), 8)
    bits.ue(frameCount)
    bits.flag(exactMatch)
    bits.flag(false)  // broken_link_flag
    bits.put(0, 2)
    if !bits.isByteAligned { bits.trailingBits() }  // bit_equal_to_one, then zeros
    bits.trailingBits()
    bits.flush()
  }

  /// A sei_rbsp() with user_data_unregistered (D.1.7): a UUID of 16 bytes and the data.
  static func userData(
    uuid: UnsafePointer<UInt8>, data: UnsafePointer<UInt8>, count: Int, to bits: inout BitWriter
  ) {
    bits.put(5, 8)
    var size = 16 + count
    while size >= 255 {
      bits.put(0xFF, 8)
      size -= 255
    }
    bits.put(UInt32(size), 8)
    bits.append(uuid, count: 16)
    bits.append(data, count: count)
    bits.trailingBits()
    bits.flush()
  }
}

/// nal_unit_header_svc_extension() (G.7.3.1.1) of a prefix NAL unit, which tells the temporal layer of the
/// slice that follows. Decoders of other profiles skip it.
struct ScalableHeader: Equatable, Sendable {
  var idr = false
  /// 0...63; lower is more important.
  var priorityID: UInt8 = 0
  /// 0...7
  var temporalID: UInt8 = 0
  /// Not needed by pictures of layers above.
  var discardable = false

  /// The three bytes after the NAL unit's first.
  var bytes: (UInt8, UInt8, UInt8) {
    (
      0x80 | (idr ? 0x40 : 0) | priorityID & 0x3F,
      0x80,  // no_inter_layer_pred_flag, dependency_id 0, quality_id 0
      temporalID << 5 | (discardable ? 0x08 : 0) | 0x04 | 0x03  // output_flag, reserved_three_2bits
    )
  }

  /// The payload, prefix_nal_unit_svc(): empty when nal_ref_idc is 0.
  func writePayload(refIDC: UInt8, to bits: inout BitWriter) {
    guard refIDC != 0 else { return }
    bits.flag(false)  // store_ref_base_pic_flag
    bits.flag(false)  // additional_prefix_nal_unit_extension_flag
    bits.trailingBits()
    bits.flush()
  }
}
