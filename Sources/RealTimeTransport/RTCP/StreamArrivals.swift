// SPDX-License-Identifier: Apache-2.0
/// When the packets of one source arrived: a part of congestion control feedback (RFC 8888, 3.1).
public struct StreamArrivals: Equatable, Sendable {
  public var source: UInt32
  /// The number of the first packet that is reported.
  public var first: UInt16
  /// For each number from the first on: before the report's time stamp, in 1,024ths of a second, ``farPast`` for what was
  /// earlier than can be said; nil for what has not arrived.
  public var offsets: [UInt16?]

  public static let farPast: UInt16 = 0x1FFE
  /// Packets that one report tells of, of all sources.
  public static let mostPackets = 512

  public init(source: UInt32, first: UInt16, offsets: [UInt16?]) {
    self.source = source
    self.first = first
    self.offsets = offsets
  }

  /// - Parameter body: behind the sender's source; ends with the time stamp.
  static func read(_ body: ArraySlice<UInt8>) -> (streams: [StreamArrivals], time: UInt32)? {
    var reader = ByteReader(body)
    var result: [StreamArrivals] = []
    var left = mostPackets
    while reader.remaining >= 12 {
      guard let source = reader.read32(), let first = reader.read16(), let count = reader.read16() else {
        return nil
      }
      left -= Int(count)
      guard left >= 0 else { return nil }
      var offsets: [UInt16?] = []
      for _ in 0..<count {
        guard let word = reader.read16() else { return nil }
        offsets.append(word & 0x8000 != 0 ? word & 0x1FFF : nil)
      }
      // Blocks end with a word.
      if count % 2 != 0, reader.read16() == nil { return nil }
      result.append(StreamArrivals(source: source, first: first, offsets: offsets))
    }
    guard reader.remaining == 4, let time = reader.read32() else { return nil }
    return (result, time)
  }

  func append(to body: inout [UInt8]) {
    let told = offsets.prefix(Self.mostPackets)
    body.append32(source)
    body.append16(first)
    body.append16(UInt16(told.count))
    for offset in told { body.append16(offset.map { 0x8000 | min($0, Self.farPast) } ?? 0) }
    if told.count % 2 != 0 { body.append16(0) }
  }
}
