// SPDX-License-Identifier: Apache-2.0
/// The bytes that precede each NAL unit.
package enum NALUnitFraming {
  /// A start code of three bytes, 00 00 01 (Annex B).
  case shortStartCode
  /// A start code with zero_byte, 00 00 00 01 (Annex B), which the first unit of an access unit and
  /// parameter sets require.
  case startCode
  /// The length of the NAL unit in four bytes, big-endian, as in MP4.
  case length

  /// The number of bytes.
  package var byteCount: Int {
    switch self {
    case .shortStartCode: 3
    case .startCode, .length: 4
    }
  }
}

/// Packs raw byte sequence payloads into NAL units of H.264 (7.3.1) or HEVC, one after another in
/// memory of the caller.
package struct NALUnitWriter {
  /// The memory to write to, which the caller owns.
  package let memory: UnsafeMutablePointer<UInt8>
  /// The size of `memory` in bytes.
  package let capacity: Int
  /// The number of bytes written so far.
  package private(set) var count = 0
  /// Whether a NAL unit did not fit and was left out.
  package private(set) var overflowed = false

  /// Creates a writer.
  /// - Parameters:
  ///   - memory: the memory to write to; it must outlive the writer.
  ///   - capacity: its size in bytes.
  package init(_ memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
    self.memory = memory
    self.capacity = capacity
  }

  /// The bytes that suffice for a NAL unit with framing and emulation prevention bytes, whatever
  /// its payload of `payload` bytes is.
  package static func worstCase(payload: Int) -> Int { payload + payload / 2 + 32 }

  /// Writes a NAL unit.
  ///
  /// - Parameters:
  ///   - type: nal_unit_type.
  ///   - refIDC: nal_ref_idc.
  ///   - headerExtension: the three bytes that follow the header in units of type 14 and 20.
  ///   - payload: the raw byte sequence payload.
  ///   - payloadCount: its size in bytes.
  ///   - framing: the bytes that precede the unit.
  /// - Returns: the offsets in `memory` of the unit with its header, without framing. Nil, and
  ///   nothing is written, unless `worstCase(payload:)` bytes are free.
  @discardableResult
  package mutating func append(
    type: H264NALUnitType, refIDC: UInt8, headerExtension: (UInt8, UInt8, UInt8)? = nil,
    payload: UnsafePointer<UInt8>, count payloadCount: Int, framing: NALUnitFraming
  ) -> Range<Int>? {
    var header: (UInt8, UInt8, UInt8, UInt8) = (refIDC << 5 | type.rawValue, 0, 0, 0)
    if let headerExtension {
      (header.1, header.2, header.3) = headerExtension
    }
    return append(
      header, headerExtension == nil ? 1 : 4, payload: payload, count: payloadCount, framing: framing)
  }

  /// Writes a NAL unit of HEVC (H.265, 7.3.1).
  ///
  /// - Parameters:
  ///   - header: its header.
  ///   - payload: the raw byte sequence payload.
  ///   - payloadCount: its size in bytes.
  ///   - framing: the bytes that precede the unit.
  /// - Returns: the offsets in `memory` of the unit with its header, without framing. Nil, and
  ///   nothing is written, unless `worstCase(payload:)` bytes are free.
  @discardableResult
  package mutating func append(
    _ header: HEVCNALUnitHeader, payload: UnsafePointer<UInt8>, count payloadCount: Int,
    framing: NALUnitFraming
  ) -> Range<Int>? {
    let bytes = header.codedBytes
    return append((bytes.0, bytes.1, 0, 0), 2, payload: payload, count: payloadCount, framing: framing)
  }

  /// Writes a NAL unit after the first `headerCount` bytes of a header.
  private mutating func append(
    _ header: (UInt8, UInt8, UInt8, UInt8), _ headerCount: Int, payload: UnsafePointer<UInt8>,
    count payloadCount: Int, framing: NALUnitFraming
  ) -> Range<Int>? {
    guard capacity - count >= Self.worstCase(payload: payloadCount) else {
      overflowed = true
      return nil
    }
    let first = count + framing.byteCount
    var out = memory + first
    out[0] = header.0
    if headerCount > 1 { out[1] = header.1 }
    if headerCount > 2 {
      out[2] = header.2
      out[3] = header.3
    }
    out += headerCount
    out = EmulationPrevention.escape(payload, count: payloadCount, into: out)
    let last = out - memory

    let prefix = memory + count
    switch framing {
    case .shortStartCode:
      prefix[0] = 0
      prefix[1] = 0
      prefix[2] = 1
    case .startCode:
      prefix[0] = 0
      prefix[1] = 0
      prefix[2] = 0
      prefix[3] = 1
    case .length:
      let length = UInt32(truncatingIfNeeded: last - first)
      UnsafeMutableRawPointer(prefix).storeBytes(of: length.bigEndian, as: UInt32.self)
    }
    count = last
    return first..<last
  }
}
