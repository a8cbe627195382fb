// SPDX-License-Identifier: Apache-2.0

/// Payloads of H.264 (RFC 6184, packetization-mode 1): single NAL units, STAP-A and FU-A.
enum H264Payload: PayloadFormat {
  private static let stapA: UInt8 = 24
  private static let fuA: UInt8 = 28

  static let headerSize = 1

  static func isUnit(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.first.map { 1...23 ~= $0 & 0x1F } ?? false
  }

  /// The header of a STAP-A (5.7.1): F is set if it is in any of the units, NRI is the highest of
  /// them.
  static func aggregateHeader(of units: [[UInt8]]) -> [UInt8] {
    var header: UInt8 = 0
    for unit in units {
      header |= unit[0] & 0x80
      header = header & 0x80 | max(header & 0x60, unit[0] & 0x60)
    }
    return [header | stapA]
  }

  static func fragmentHeader(of unit: [UInt8]) -> [UInt8] { [unit[0] & 0xE0 | fuA, unit[0] & 0x1F] }

  static func unitHeader(fromFragment header: ArraySlice<UInt8>) -> [UInt8]? {
    guard let indicator = header.first, let type = header.dropFirst().first else { return nil }
    let unit = [indicator & 0xE0 | type & 0x1F]
    return isUnit(unit) ? unit : nil
  }

  static func kind(of payload: [UInt8]) -> PayloadKind {
    switch (payload.first ?? 0) & 0x1F {
    case 1...23: .single
    case stapA: .aggregate
    case fuA: .fragment
    default: .other
    }
  }
}
