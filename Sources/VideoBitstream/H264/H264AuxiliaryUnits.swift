// SPDX-License-Identifier: Apache-2.0
/// access_unit_delimiter_rbsp() of H.264 (7.3.2.4).
package struct H264AccessUnitDelimiter: Equatable, Sendable {
  /// primary_pic_type (Table 7-5), which tells the slice types of the picture. 0: I; 1: I and P; 2:
  /// I, P and B.
  package var primaryPictureType = 0

  package init(primaryPictureType: Int = 0) { self.primaryPictureType = primaryPictureType }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) { c.u(&primaryPictureType, 3) }

  /// Writes the raw byte sequence payload, trailing bits included.
  package func write(to bits: inout BitWriter) {
    var delimiter = self
    delimiter.code(&bits)
    bits.trailingBits()
    bits.flush()
  }
}

/// recovery_point() (D.1.8): the number of frames after which decoding that begins here gives
/// correct pictures, as after a gradual intra refresh.
package struct H264RecoveryPoint: Equatable, Sendable {
  package static let payloadType = 6

  /// recovery_frame_cnt, 0...65535
  package var frameCount = 0
  /// exact_match_flag: whether the pictures then equal those of a decoder that began earlier.
  package var isExact = false
  /// broken_link_flag
  package var isBrokenLink = false

  package init(frameCount: Int = 0, isExact: Bool = false) {
    self.frameCount = frameCount
    self.isExact = isExact
  }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&frameCount, 0...65535)
    c.flag(&isExact)
    c.flag(&isBrokenLink)
    c.reserved(2)  // changing_slice_group_idc
  }

  /// Writes a sei_rbsp() with this message alone, trailing bits included.
  package func write(to bits: inout BitWriter) {
    // ue(v), two flags and u(2), then payload alignment: 33 + 4 bits and 3 of alignment at most.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 8) { scratch in
      guard let base = scratch.baseAddress else { return }
      var payload = BitWriter(base, capacity: 8)
      var message = self
      message.code(&payload)
      SupplementalInformation.write(
        type: Self.payloadType, &payload, to: &bits)
    }
  }

  /// Reads the message from its payload, which has no emulation prevention bytes.
  package init(payload: [UInt8]) throws(SyntaxError) {
    var message = Self()
    let failure = payload.withUnsafeBufferPointer { bytes in
      var reader = BitReader(bytes, hasEmulationPrevention: false)
      message.code(&reader)
      return reader.failure
    }
    if let failure { throw failure }
    self = message
  }
}

/// filler_data_rbsp() (7.3.2.7), the same in HEVC.
package enum FillerData {
  /// Writes `count` bytes of 0xFF and the trailing bits. In H.264 the NAL unit has `count` + 2
  /// bytes.
  package static func write(count: Int, to bits: inout BitWriter) {
    for _ in 0..<max(count, 0) { bits.put(0xFF, 8) }
    bits.trailingBits()
    bits.flush()
  }
}
