// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What of an MPEG transport stream is scrambled (ISO/IEC 13818-1, 2.4.3.3 and 2.4.3.7): libavformat drops what it cannot
/// read of it, or takes it for what it is not.
///
/// A recording that is scrambled at its beginning only, as of a receiver that had to wait for its key, can be read from
/// there on.
struct TransportScrambling: Sendable {
  /// By their numbers (PIDs), the streams of which nothing clear was found.
  private var scrambled: Set<Int> = []
  /// Where the last of the streams that begin scrambled becomes clear, in bytes from the beginning of the file; 0 if none
  /// of those that are clear somewhere begins so.
  private(set) var clearFrom: Int64 = 0
  /// Where the packets lie that come before that in their streams, in ascending order.
  private(set) var hidden: [UInt32] = []

  /// Bytes of the file's beginning that are looked at, and those of a file on the disk while a stream is scrambled.
  private static let most: Int64 = 8 << 20
  private static let mostScrambled: Int64 = 64 << 20
  private static let chunk = 1 << 16
  /// PES packets one after the other that are clear in all packets: damaged ones may say anything.
  private static let enoughClear = 3
  /// Of a packet, with what comes before it on a disc and behind it in a broadcast.
  private static let sizes = [188, 192, 204]
  /// Bytes of a packet, and the first of them.
  private static let packet = 188
  private static let sync: UInt8 = 0x47

  /// Of a stream, the packets with a payload, and the PES packets that begin in them.
  private struct Count {
    var packets = (all: 0, scrambled: 0)
    var elementary = (all: 0, scrambled: 0)
    /// PES packets in a row without a sign of scrambling, and where the first of them begins.
    var clear = (count: 0, start: Int64(0))
    /// Where it begins to be clear, and whether it was scrambled before.
    var clearFrom: Int64?
    var beginsScrambled = false
    /// Where its packets lie, while it is not clear.
    var places: [UInt32] = []

    /// A damaged packet may say that it is, too.
    var isScrambled: Bool {
      [packets, elementary].contains { $0.scrambled > 0 && $0.scrambled * 4 >= $0.all }
    }

    mutating func noteScrambled() { clear = (0, 0) }

    mutating func noteClear(at place: Int64) {
      if clear.count == 0 { clear.start = place }
      clear.count += 1
      // The packets of the row before this one are whole.
      guard clear.count > TransportScrambling.enoughClear, clearFrom == nil else { return }
      (clearFrom, beginsScrambled) = (clear.start, isScrambled)
      places.removeAll { Int64($0) >= clear.start }
      if !beginsScrambled { places = [] }
    }
  }

  /// Of a file that is none, or in which nothing is scrambled.
  init() {}

  /// Looks at a transport stream.
  /// - Parameters:
  ///   - reader: The file.
  ///   - numbers: The PIDs of its streams.
  init(_ reader: any MediaByteReader, of numbers: [Int]) {
    for (number, count) in Self.counts(of: Set(numbers), in: reader) {
      if count.beginsScrambled, let start = count.clearFrom {
        clearFrom = max(clearFrom, start)
        hidden += count.places
      }
      if count.isScrambled, count.clearFrom == nil { scrambled.insert(number) }
    }
    hidden.sort()
  }

  /// Whether nothing of one of the streams is clear.
  var isFound: Bool { !scrambled.isEmpty }

  /// The number of a stream in the file is that of its packets.
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
    // Farther only where that costs little.
    let end = reader is LocalFileReader ? mostScrambled : most
    while offset < most
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
      // Each piece is entered anew: a cut in the file moves all packets behind it.
      layout = find(bytes) ?? layout
      guard let layout else { return counts }
      var at = layout.first
      while at + packet <= filled {
        if bytes[at] == sync { note(bytes[at..<at + packet], at: offset + Int64(at), numbers, &counts) }
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

  private static func note(
    _ packet: ArraySlice<UInt8>, at place: Int64, _ numbers: Set<Int>, _ counts: inout [Int: Count]
  ) {
    let start = packet.startIndex
    let number = Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2])
    guard numbers.contains(number), packet[start + 3] & 0x10 != 0 else { return }
    // Taken out, so that its list is not copied.
    var count = counts.removeValue(forKey: number) ?? Count()
    defer { counts[number] = count }
    count.packets.all += 1
    if count.clearFrom == nil, let place = UInt32(exactly: place) { count.places.append(place) }
    if packet[start + 3] & 0xC0 != 0 {
      count.packets.scrambled += 1
      count.noteScrambled()
      return
    }
    // The payload of a PES packet may be scrambled behind its header: that says so.
    guard packet[start + 1] & 0x40 != 0 else { return }
    let payload = start + (packet[start + 3] & 0x20 != 0 ? 5 + Int(packet[start + 4]) : 4)
    guard payload + 7 <= packet.endIndex, packet[payload..<payload + 3].elementsEqual([0, 0, 1]),
      packet[payload + 6] & 0xC0 == 0x80
    else { return }
    count.elementary.all += 1
    if packet[payload + 6] & 0x30 != 0 {
      count.elementary.scrambled += 1
      count.noteScrambled()
    } else {
      count.noteClear(at: place)
    }
  }
}
