// SPDX-License-Identifier: Apache-2.0
/// What stands before each NAL unit.
package enum NALUnitFraming {
  /// Annex B, 00 00 01.
  case shortStartCode
  /// Annex B with zero_byte, 00 00 00 01: for the first unit of an access unit and for parameter sets.
  case startCode
  /// The unit's length in four bytes, big-endian, as in MP4.
  case length

  package var byteCount: Int {
    switch self {
    case .shortStartCode: 3
    case .startCode, .length: 4
    }
  }
}

/// Packs raw byte sequence payloads into NAL units of H.264 (7.3.1), one after another in memory that the
/// caller owns.
package struct NALUnitWriter {
  package let memory: UnsafeMutablePointer<UInt8>
  package let capacity: Int
  /// Bytes written so far.
  package private(set) var count = 0
  /// A unit did not fit and was left out.
  package private(set) var overflowed = false

  package init(_ memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
    self.memory = memory
    self.capacity = capacity
  }

  /// Memory that surely holds a unit with `payload` bytes, whatever they are.
  package static func worstCase(payload: Int) -> Int { payload + payload / 2 + 32 }

  /// Writes a NAL unit and returns where it lies in the memory, its header included and its framing
  /// not. Nil if it might not fit: `worstCase(payload:)` bytes must be free.
  ///
  /// - Parameter headerExtension: the three bytes that follow the header in types 14 and 20.
  @discardableResult
  package mutating func append(
    type: H264NALUnitType, refIDC: UInt8, headerExtension: (UInt8, UInt8, UInt8)? = nil,
    payload: UnsafePointer<UInt8>, count payloadCount: Int, framing: NALUnitFraming
  ) -> Range<Int>? {
    guard capacity - count >= Self.worstCase(payload: payloadCount) else {
      overflowed = true
      return nil
    }
    let first = count + framing.byteCount
    var out = memory + first
    out.pointee = refIDC << 5 | type.rawValue
    out += 1
    if let headerExtension {
      out[0] = headerExtension.0
      out[1] = headerExtension.1
      out[2] = headerExtension.2
      out += 3
    }
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
