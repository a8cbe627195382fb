// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Payloads of HEVC (RFC 7798): single NAL units, aggregation packets and fragmentation units,
/// without decoding order numbers (DONL), which sprop-max-don-diff 0 excludes. PACI packets (4.4.4)
/// are not taken.
enum HEVCPayload: PayloadFormat {
  private static let aggregate: UInt8 = 48
  private static let fragment: UInt8 = 49
  /// The types below this one are those of NAL units; the others are kinds of payloads.
  private static let unitTypes: UInt8 = 48

  static let headerSize = 2

  static func isUnit(_ bytes: some Collection<UInt8>) -> Bool {
    HEVCNALUnitHeader(of: bytes).map { $0.type.rawValue < unitTypes } ?? false
  }

  /// The header of an aggregation packet (4.4.2): F is set if it is in any of the units, the layer
  /// and the temporal layer are the lowest of them.
  static func aggregateHeader(of units: [[UInt8]]) -> [UInt8] {
    var isForbidden: UInt8 = 0
    var (layer, temporal): (UInt16, UInt8) = (63, 7)
    for unit in units {
      isForbidden |= unit[0] & 0x80
      layer = min(layer, UInt16(unit[0] & 1) << 5 | UInt16(unit[1] >> 3))
      temporal = min(temporal, unit[1] & 7)
    }
    return [
      isForbidden | aggregate << 1 | UInt8(truncatingIfNeeded: layer >> 5),
      UInt8(truncatingIfNeeded: layer << 3) | temporal,
    ]
  }

  static func fragmentHeader(of unit: [UInt8]) -> [UInt8] {
    [unit[0] & 0x81 | fragment << 1, unit[1], unit[0] >> 1 & 63]
  }

  static func unitHeader(fromFragment header: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes = header.makeIterator()
    guard let first = bytes.next(), let second = bytes.next(), let type = bytes.next() else { return nil }
    let unit = [first & 0x81 | (type & 63) << 1, second]
    return isUnit(unit) ? unit : nil
  }

  static func kind(of payload: [UInt8]) -> PayloadKind {
    guard let header = HEVCNALUnitHeader(of: payload) else { return .other }
    switch header.type.rawValue {
    case ..<unitTypes: return .single
    case aggregate: return .aggregate
    case fragment: return .fragment
    default: return .other
    }
  }
}
