// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Which packets of all streams arrived, and when: feedback on the numbers that a header extension
/// gives packets (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1).
public struct TransportFeedback: Equatable, Sendable {
  /// The duration of a unit of ``arrivals`` in seconds.
  public static let unit = 0.00025
  /// The largest number of packets in one report.
  public static let maxPackets = 2048
  /// The number of units in one of the reference time.
  private static let referenceUnits: Int64 = 256

  /// The number of the first packet.
  public var first: UInt16
  /// The counter of reports.
  public var number: UInt8
  /// The arrival time of each packet from ``first`` on, in units of 250 µs of the receiver's clock,
  /// which wraps after some 12 days; nil for a packet that has not arrived.
  public var arrivals: [Int64?]

  public init(first: UInt16, number: UInt8, arrivals: [Int64?]) {
    self.first = first
    self.number = number
    self.arrivals = arrivals
  }

  /// Reads a report; nil if it is malformed.
  /// - Parameter body: What follows the two sources.
  init?(_ body: ArraySlice<UInt8>) {
    var reader = ByteReader(body)
    guard let first = try? reader.uint16(), let count = try? reader.uint16(), let word = try? reader.uint32(),
      count > 0, count <= Self.maxPackets
    else { return nil }
    var symbols: [UInt8] = []
    symbols.reserveCapacity(Int(count) + 14)
    while symbols.count < Int(count) {
      guard let chunk = try? reader.uint16() else { return nil }
      if chunk & 0x8000 == 0 {
        let run = min(Int(chunk & 0x1FFF), Int(count) - symbols.count)
        guard run > 0 else { return nil }
        symbols += repeatElement(UInt8(chunk >> 13 & 3), count: run)
      } else if chunk & 0x4000 == 0 {
        for bit in 0..<14 { symbols.append(UInt8(chunk >> UInt16(13 - bit) & 1)) }
      } else {
        for pair in 0..<7 { symbols.append(UInt8(chunk >> UInt16(12 - 2 * pair) & 3)) }
      }
    }
    var time = Int64(Int32(bitPattern: word) >> 8) * Self.referenceUnits
    var arrivals: [Int64?] = []
    arrivals.reserveCapacity(Int(count))
    for symbol in symbols.prefix(Int(count)) {
      switch symbol {
      case 0: arrivals.append(nil)
      case 1:
        guard let delta = try? reader.uint8() else { return nil }
        time += Int64(delta)
        arrivals.append(time)
      case 2:
        guard let delta = try? reader.uint16() else { return nil }
        time += Int64(Int16(bitPattern: delta))
        arrivals.append(time)
      // Reserved.
      default: return nil
      }
    }
    self.init(first: first, number: UInt8(word & 0xFF), arrivals: arrivals)
  }

  /// Appends the report's fields, padded to 32 bits. A change from one arrival to the next that 16
  /// bits cannot hold is clamped.
  func append(to body: inout [UInt8]) {
    let reported = arrivals.prefix(Self.maxPackets)
    // Rounded down, so that the first difference is small and not negative.
    let earliest = (reported.lazy.compactMap { $0 }.first ?? 0) & ~(Self.referenceUnits - 1)
    var time = earliest
    var symbols: [UInt8] = []
    var deltas: [UInt8] = []
    for arrival in reported {
      guard let arrival else {
        symbols.append(0)
        continue
      }
      let delta = Int16(clamping: arrival - time)
      time += Int64(delta)
      symbols.append((0...255).contains(delta) ? 1 : 2)
      if symbols.last == 1 { deltas.append(UInt8(delta)) } else { deltas.append(bigEndian: delta) }
    }
    body.append16(first)
    body.append16(UInt16(reported.count))
    body.append32(UInt32(truncatingIfNeeded: earliest / Self.referenceUnits) << 8 | UInt32(number))
    var rest = symbols[...]
    while let symbol = rest.first {
      let run = rest.prefix { $0 == symbol }.count
      if run >= 14 || run == rest.count {
        let taken = min(run, 0x1FFF)
        body.append16(UInt16(symbol) << 13 | UInt16(taken))
        rest = rest.dropFirst(taken)
      } else if rest.prefix(14).allSatisfy({ $0 < 2 }) {
        var chunk: UInt16 = 0x8000
        for (index, symbol) in rest.prefix(14).enumerated() { chunk |= UInt16(symbol) << UInt16(13 - index) }
        body.append16(chunk)
        rest = rest.dropFirst(14)
      } else {
        var chunk: UInt16 = 0xC000
        for (index, symbol) in rest.prefix(7).enumerated() {
          chunk |= UInt16(symbol) << UInt16(12 - 2 * index)
        }
        body.append16(chunk)
        rest = rest.dropFirst(7)
      }
    }
    body += deltas
    while body.count % 4 != 0 { body.append(0) }
  }
}
