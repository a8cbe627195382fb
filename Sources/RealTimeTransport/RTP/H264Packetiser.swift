// SPDX-License-Identifier: Apache-2.0
/// Splits a frame's NAL units into the payloads of RTP packets (RFC 6184, packetization-mode 1):
/// single NAL units, STAP-A for several small ones, FU-A for parts of a large one.
public struct H264Packetiser: Sendable {
  static let stapA: UInt8 = 24
  static let fuA: UInt8 = 28

  /// The largest size of a payload, in bytes.
  public let maximumPayload: Int

  /// Creates a packetiser.
  /// - Parameter maximumPayload: The largest size of a payload, from 16 to 65,535 bytes, because
  ///   the sizes in a STAP-A have 16 bits.
  public init(maximumPayload: Int) { self.maximumPayload = min(max(maximumPayload, 16), 0xFFFF) }

  /// Splits a frame into payloads.
  /// - Parameter units: The frame's NAL units, without start codes. Empty ones are left out.
  /// - Returns: The payloads, in order.
  public func payloads(of units: [[UInt8]]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var group: [[UInt8]] = []
    var groupSize = 1
    func flush() {
      if group.count == 1 {
        result.append(group[0])
      } else if group.count > 1 {
        result.append(aggregate(group))
      }
      group.removeAll()
      groupSize = 1
    }
    for unit in units where !unit.isEmpty {
      // A single NAL unit packet has no framing.
      let fitsAlone = unit.count <= maximumPayload
      if groupSize + 2 + unit.count > maximumPayload { flush() }
      if groupSize + 2 + unit.count <= maximumPayload {
        group.append(unit)
        groupSize += 2 + unit.count
      } else if fitsAlone {
        result.append(unit)
      } else {
        result += fragments(of: unit)
      }
    }
    flush()
    return result
  }

  /// Makes a STAP-A (5.7.1): F is set if it is in any of the units, NRI is the highest of them.
  private func aggregate(_ units: [[UInt8]]) -> [UInt8] {
    var header: UInt8 = 0
    for unit in units {
      header |= unit[0] & 0x80
      header = header & 0x80 | max(header & 0x60, unit[0] & 0x60)
    }
    var result = [header | Self.stapA]
    for unit in units {
      result.append16(UInt16(unit.count))
      result += unit
    }
    return result
  }

  /// Makes FU-A packets (5.8): fragments of about the same size, because a small rest would cost a
  /// packet too.
  private func fragments(of unit: [UInt8]) -> [[UInt8]] {
    let room = maximumPayload - 2
    let body = unit.dropFirst()
    let count = (body.count + room - 1) / room
    let indicator = unit[0] & 0xE0 | Self.fuA
    let type = unit[0] & 0x1F
    var start = body.startIndex
    return (0..<count).map { index in
      let end = body.startIndex + body.count * (index + 1) / count
      defer { start = end }
      let header = (index == 0 ? 0x80 : 0) | (index == count - 1 ? 0x40 : 0) | type
      return [indicator, header] + body[start..<end]
    }
  }
}
