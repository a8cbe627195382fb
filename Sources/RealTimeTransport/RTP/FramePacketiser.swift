// SPDX-License-Identifier: Apache-2.0
/// Splits a frame's NAL units into the payloads of RTP packets: single NAL units, aggregation
/// packets of several small ones, and fragmentation units with parts of a large one.
public struct FramePacketiser: Sendable {
  private let format: any PayloadFormat.Type

  /// The largest size of a payload, in bytes.
  public let maximumPayload: Int

  /// Creates a packetiser.
  /// - Parameters:
  ///   - codec: The codec of the frames.
  ///   - maximumPayload: The largest size of a payload, from 16 to 65,535 bytes, because the sizes
  ///     in an aggregation packet have 16 bits.
  public init(_ codec: VideoCodec = .h264, maximumPayload: Int) {
    format = codec.payloads
    self.maximumPayload = min(max(maximumPayload, 16), 0xFFFF)
  }

  /// Splits a frame into payloads.
  /// - Parameter units: The frame's NAL units, without start codes. Those that are shorter than
  ///   their header are left out.
  /// - Returns: The payloads, in order.
  public func payloads(of units: [[UInt8]]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var group: [[UInt8]] = []
    let headerSize = format.headerSize
    var groupSize = headerSize
    func flush() {
      if group.count == 1 {
        result.append(group[0])
      } else if group.count > 1 {
        result.append(aggregate(group))
      }
      group.removeAll()
      groupSize = headerSize
    }
    for unit in units where unit.count >= headerSize {
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

  private func aggregate(_ units: [[UInt8]]) -> [UInt8] {
    var result = format.aggregateHeader(of: units)
    for unit in units {
      result.append16(UInt16(unit.count))
      result += unit
    }
    return result
  }

  /// Makes fragments of about the same size, because a small rest would cost a packet too.
  private func fragments(of unit: [UInt8]) -> [[UInt8]] {
    var header = format.fragmentHeader(of: unit)
    let type = header.removeLast()
    let room = maximumPayload - header.count - 1
    let body = unit.dropFirst(format.headerSize)
    let count = (body.count + room - 1) / room
    var start = body.startIndex
    return (0..<count).map { index in
      let end = body.startIndex + body.count * (index + 1) / count
      defer { start = end }
      return header + [(index == 0 ? 0x80 : 0) | (index == count - 1 ? 0x40 : 0) | type] + body[start..<end]
    }
  }
}
