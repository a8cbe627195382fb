// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Which parts of an MPEG transport stream are scrambled (ISO/IEC 13818-1, 2.4.3.3 and 2.4.3.7).
/// libavformat drops scrambled packets that it cannot parse, and misinterprets others.
///
/// A recording that is scrambled at its beginning only, because the receiver had to wait for its
/// key, can be read from where it becomes clear.
struct TransportScrambling: Sendable {
  /// PIDs of the streams in which nothing clear was found.
  private var scrambled: Set<Int> = []
  /// The offset, in bytes from the beginning of the file, where the last of the streams that begin
  /// scrambled becomes clear; 0 if there is none. Streams that stay scrambled do not count.
  private(set) var clearFrom: Int64 = 0
  /// Offsets of the scrambled packets of these streams before they become clear, in ascending
  /// order.
  private(set) var hidden: [UInt32] = []

  /// Bytes that are read at the beginning of the file, and of a local file as long as a stream is
  /// scrambled.
  private static let maximum: Int64 = 8 << 20
  private static let maxScrambled: Int64 = 64 << 20
  private static let chunk = 1 << 16
  /// Consecutive clear PES packets, complete, after which a stream counts as clear: single ones may
  /// be damaged.
  private static let clearPacketsNeeded = 3
  /// Sizes of a packet: plain, with the time code of M2TS files before it, and with the error
  /// correction of broadcasts after it.
  private static let sizes = [188, 192, 204]
  /// Bytes of a plain packet, and the value of its sync byte.
  private static let packet = 188
  private static let sync: UInt8 = 0x47

  /// Counts of one stream: packets that have a payload, and PES packets that begin in them.
  private struct Count {
    var packets = (all: 0, scrambled: 0)
    var elementary = (all: 0, scrambled: 0)
    /// Number of consecutive clear PES packets, and the offset of the first of them.
    var clear = (count: 0, start: Int64(0))
    /// The offset where the stream becomes clear (nil: not yet), and whether it was scrambled
    /// before.
    var clearFrom: Int64?
    var beginsScrambled = false
    /// Offsets of the packets, as long as the stream is not clear.
    var positions: [UInt32] = []

    /// Whether at least a quarter of the packets, or of the PES packets, are scrambled. A few may
    /// be damaged ones.
    var isScrambled: Bool {
      [packets, elementary].contains { $0.scrambled > 0 && $0.scrambled * 4 >= $0.all }
    }

    mutating func addScrambled() { clear = (0, 0) }

    mutating func addClear(at position: Int64) {
      if clear.count == 0 { clear.start = position }
      clear.count += 1
      // The PES packets before this one are complete.
      guard clear.count > TransportScrambling.clearPacketsNeeded, clearFrom == nil else { return }
      (clearFrom, beginsScrambled) = (clear.start, isScrambled)
      positions.removeAll { Int64($0) >= clear.start }
      if !beginsScrambled { positions = [] }
    }
  }

  /// The result for a file that is not a transport stream, or is clear.
  init() {}

  /// Reads the beginning of a transport stream.
  /// - Parameters:
  ///   - reader: The file.
  ///   - numbers: The PIDs of its streams.
  init(_ reader: any MediaByteReader, of numbers: [Int]) {
    for (number, count) in Self.counts(of: Set(numbers), in: reader) {
      if count.beginsScrambled, let start = count.clearFrom {
        clearFrom = max(clearFrom, start)
        hidden += count.positions
      }
      if count.isScrambled, count.clearFrom == nil { scrambled.insert(number) }
    }
    hidden.sort()
  }

  /// Whether one of the streams is scrambled throughout.
  var isFound: Bool { !scrambled.isEmpty }

  /// Marks the scrambled streams as protected. The track ID of a stream is its PID.
  func mark(_ streams: [MediaStream]) -> [MediaStream] {
    streams.map { stream in
      guard scrambled.contains(Int(stream.trackID)) else { return stream }
      var stream = stream
      stream.isProtected = true
      return stream
    }
  }

  private static func counts(of numbers: Set<Int>, in reader: any MediaByteReader) -> [Int: Count] {
    var counts: [Int: Count] = [:]
    var buffer = [UInt8](repeating: 0, count: chunk)
    var offset: Int64 = 0
    var layout: (first: Int, size: Int)?
    // Only a local file is cheap to read farther.
    let end = reader is LocalFileReader ? maxScrambled : maximum
    while offset < maximum
      || offset < end && counts.values.contains(where: { $0.isScrambled && $0.clearFrom == nil })
    {
      var filled = 0
      while filled < chunk {
        let count =
          (try? buffer.withUnsafeMutableBytes {
            try reader.read(
              at: offset + Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
          }) ?? 0
        guard count > 0 else { break }
        filled += count
      }
      let bytes = buffer[..<filled]
      // The packet positions are found again in each piece, because missing bytes shift all packets
      // after them.
      layout = find(bytes) ?? layout
      guard let layout else { return counts }
      var at = layout.first
      while at + packet <= filled {
        if bytes[at] == sync {
          countPacket(bytes[at..<at + packet], at: offset + Int64(at), numbers, &counts)
        }
        at += layout.size
      }
      // An incomplete packet at the end is read again with the next piece.
      guard filled == chunk else { return counts }
      offset += Int64(at)
    }
    return counts
  }

  private static func find(_ bytes: ArraySlice<UInt8>) -> (first: Int, size: Int)? {
    for size in sizes {
      for first in 0..<size where first + 7 * size < bytes.count {
        if (0..<8).allSatisfy({ bytes[first + $0 * size] == sync }) { return (first, size) }
      }
    }
    return nil
  }

  private static func countPacket(
    _ packet: ArraySlice<UInt8>, at position: Int64, _ numbers: Set<Int>, _ counts: inout [Int: Count]
  ) {
    let start = packet.startIndex
    let number = Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2])
    guard numbers.contains(number), packet[start + 3] & 0x10 != 0 else { return }
    // The count is removed from the dictionary while it changes, so that its array is not copied.
    var count = counts.removeValue(forKey: number) ?? Count()
    defer { counts[number] = count }
    count.packets.all += 1
    if count.clearFrom == nil, let position = UInt32(exactly: position) { count.positions.append(position) }
    if packet[start + 3] & 0xC0 != 0 {
      count.packets.scrambled += 1
      count.addScrambled()
      return
    }
    // The payload of a PES packet may be scrambled after a clear header, which has a flag for that
    // (2.4.3.7).
    guard packet[start + 1] & 0x40 != 0 else { return }
    let payload = start + (packet[start + 3] & 0x20 != 0 ? 5 + Int(packet[start + 4]) : 4)
    guard payload + 7 <= packet.endIndex, packet[payload..<payload + 3].elementsEqual([0, 0, 1]),
      packet[payload + 6] & 0xC0 == 0x80
    else { return }
    count.elementary.all += 1
    if packet[payload + 6] & 0x30 != 0 {
      count.elementary.scrambled += 1
      count.addScrambled()
    } else {
      count.addClear(at: position)
    }
  }
}
