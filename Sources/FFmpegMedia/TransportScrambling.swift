// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds the streams of an MPEG transport stream that are scrambled (ISO/IEC 13818-1, 2.4.3.3 and 2.4.3.7):
/// libavformat drops what it cannot read of them, or takes it for what it is not.
enum TransportScrambling {
  /// Bytes of the file's beginning that are looked at.
  private static let most = 8 << 20
  private static let chunk = 1 << 16
  /// Of a packet, with what comes before it on a disc and behind it in a broadcast.
  private static let sizes = [188, 192, 204]
  /// Bytes of a packet, and the first of them.
  private static let packet = 188
  private static let sync: UInt8 = 0x47

  /// Of a stream, the packets with a payload, and the PES packets that begin in them.
  private struct Count {
    var packets = (all: 0, scrambled: 0)
    var elementary = (all: 0, scrambled: 0)

    /// A damaged packet may say that it is, too.
    var isScrambled: Bool {
      [packets, elementary].contains { $0.scrambled > 0 && $0.scrambled * 4 >= $0.all }
    }
  }

  static func mark(_ streams: [MediaStream], in reader: any MediaByteReader) -> [MediaStream] {
    // The number of a stream in the file is that of its packets.
    let counts = counts(of: Set(streams.map { Int($0.trackID) }), in: reader)
    return streams.map { stream in
      guard counts[Int(stream.trackID)]?.isScrambled == true else { return stream }
      var stream = stream
      stream.isProtected = true
      return stream
    }
  }

  /// Whether one of some streams is scrambled.
  static func isFound(in reader: any MediaByteReader, of numbers: [Int]) -> Bool {
    counts(of: Set(numbers), in: reader).values.contains { $0.isScrambled }
  }

  private static func counts(of numbers: Set<Int>, in reader: any MediaByteReader) -> [Int: Count] {
    var counts: [Int: Count] = [:]
    var buffer = [UInt8](repeating: 0, count: chunk)
    var offset: Int64 = 0
    var layout: (first: Int, size: Int)?
    while offset < Int64(most) {
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
      // Each piece is entered anew: a cut in the file moves all packets behind it.
      layout = find(bytes) ?? layout
      guard let layout else { return counts }
      var at = layout.first
      while at + packet <= filled {
        if bytes[at] == sync { note(bytes[at..<at + packet], numbers, &counts) }
        at += layout.size
      }
      // The rest begins the next piece.
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

  private static func note(_ packet: ArraySlice<UInt8>, _ numbers: Set<Int>, _ counts: inout [Int: Count]) {
    let start = packet.startIndex
    let number = Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2])
    guard numbers.contains(number), packet[start + 3] & 0x10 != 0 else { return }
    var count = counts[number, default: Count()]
    defer { counts[number] = count }
    count.packets.all += 1
    if packet[start + 3] & 0xC0 != 0 {
      count.packets.scrambled += 1
      return
    }
    // The payload of a PES packet may be scrambled behind its header: that says so.
    guard packet[start + 1] & 0x40 != 0 else { return }
    let payload = start + (packet[start + 3] & 0x20 != 0 ? 5 + Int(packet[start + 4]) : 4)
    guard payload + 7 <= packet.endIndex, packet[payload..<payload + 3].elementsEqual([0, 0, 1]),
      packet[payload + 6] & 0xC0 == 0x80
    else { return }
    count.elementary.all += 1
    if packet[payload + 6] & 0x30 != 0 { count.elementary.scrambled += 1 }
  }
}
