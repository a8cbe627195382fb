// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The arrival times of one source's packets: a part of congestion control feedback (RFC 8888,
/// 3.1).
public struct StreamArrivals: Equatable, Sendable {
  public var source: UInt32
  /// The sequence number of the first packet in the report.
  public var first: UInt16
  /// The arrival time of each packet from ``first`` on, as the time before the report's time stamp
  /// in units of 1/1024 s; ``farPast`` for a packet that arrived earlier than that can express; nil
  /// for one that has not arrived.
  public var offsets: [UInt16?]

  public static let farPast: UInt16 = 0x1FFE
  /// The largest number of packets in one report, of all sources together.
  public static let maxPackets = 512

  public init(source: UInt32, first: UInt16, offsets: [UInt16?]) {
    self.source = source
    self.first = first
    self.offsets = offsets
  }

  /// Reads the streams of a report; nil if it is malformed.
  /// - Parameter body: What follows the sender's source, including the time stamp at the end.
  static func read(_ body: ArraySlice<UInt8>) -> (streams: [StreamArrivals], time: UInt32)? {
    var reader = ByteReader(body)
    var result: [StreamArrivals] = []
    var left = maxPackets
    while reader.remaining >= 12 {
      guard let source = try? reader.uint32(), let first = try? reader.uint16(),
        let count = try? reader.uint16()
      else {
        return nil
      }
      left -= Int(count)
      guard left >= 0 else { return nil }
      var offsets: [UInt16?] = []
      for _ in 0..<count {
        guard let word = try? reader.uint16() else { return nil }
        offsets.append(word & 0x8000 != 0 ? word & 0x1FFF : nil)
      }
      // Blocks are padded to 32 bits.
      if count % 2 != 0, (try? reader.uint16()) == nil { return nil }
      result.append(StreamArrivals(source: source, first: first, offsets: offsets))
    }
    guard reader.remaining == 4, let time = try? reader.uint32() else { return nil }
    return (result, time)
  }

  func append(to body: inout [UInt8]) {
    let reported = offsets.prefix(Self.maxPackets)
    body.append32(source)
    body.append16(first)
    body.append16(UInt16(reported.count))
    for offset in reported { body.append16(offset.map { 0x8000 | min($0, Self.farPast) } ?? 0) }
    if reported.count % 2 != 0 { body.append16(0) }
  }
}
