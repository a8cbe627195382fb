// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// Computes the presentation times that a container does not store. Where pictures are reordered, a
/// reference picture is presented when the next reference picture is decoded. libavformat's
/// `genpts` does the same, but where no such picture follows it keeps the rest of the file in
/// memory and searches it again for each packet.
///
/// Packets are added, and returned by `next()`, in the file's order.
struct MissingTimes {
  private struct Entry {
    /// nil once the packet was returned.
    var packet: MediaPacket?
    /// Whether the presentation time is still to be found.
    var isOpen: Bool
    /// The latest decode time of the stream in this packet or after it; nil if a packet without one
    /// follows.
    var last: Int64?
  }

  /// Limits of what is held: packets of a stream, packets of all streams, and bytes.
  private static let maxPacketsPerStream = 64
  private static let maximum = 1024
  private static let maxBytes = 64 << 20

  /// For each stream, the value at which times wrap to 0 (2^33 in MPEG); 0 if they do not wrap.
  private let moduli: [UInt64]
  private var entries: [Entry] = []
  /// Index in `entries` of the first packet that was not returned yet.
  private var head = 0
  private var bytes = 0
  private var counts: [Int: Int] = [:]
  private var isEnding = false

  init(_ context: UnsafeMutablePointer<AVFormatContext>) {
    moduli = (0..<Int(context.pointee.nb_streams)).map { index in
      let bits = context.pointee.streams[index]?.pointee.pts_wrap_bits ?? 64
      return (1..<64).contains(bits) ? 1 << UInt64(bits) : 0
    }
  }

  /// The packets held, in the file's order.
  var held: [MediaPacket] { entries[head...].compactMap(\.packet) }

  mutating func forget() {
    (entries, head, bytes, counts, isEnding) = ([], 0, 0, [:], false)
  }

  mutating func add(_ packet: MediaPacket) {
    isEnding = false
    let index = packet.streamIndex
    if counts[index, default: 0] > 0 { inferDuration(by: packet) }
    entries.append(Entry(packet: packet, isOpen: packet.pts == nil && packet.dts != nil, last: packet.dts))
    bytes += packet.bytes.count
    counts[index, default: 0] += 1
  }

  /// Ends the input, so that `next()` returns all packets that are held.
  mutating func finish() { isEnding = true }

  mutating func next() -> MediaPacket? {
    guard head < entries.count else {
      entries.removeAll(keepingCapacity: true)
      head = 0
      return nil
    }
    let entry = entries[head]
    guard let packet = entry.packet else { return nil }
    let index = packet.streamIndex
    if entry.isOpen {
      let isFull =
        counts[index, default: 0] > Self.maxPacketsPerStream || entries.count - head > Self.maximum
        || bytes > Self.maxBytes
      guard isFull || isEnding else { return nil }
      if let last = entry.last {
        packet.pointer.pointee.pts = last.addingClamped(packet.duration)
      }
    }
    entries[head].packet = nil
    head += 1
    bytes -= packet.bytes.count
    counts[index, default: 0] -= 1
    if head > Self.maximum {
      entries.removeFirst(head)
      head = 0
    }
    return packet
  }

  /// Sets the presentation time of the stream's earlier packets to this packet's decode time,
  /// unless this is a non-reference picture.
  private mutating func inferDuration(by packet: MediaPacket) {
    let index = packet.streamIndex
    let modulus = index < moduli.count ? moduli[index] : 0
    func compare(_ a: Int64, _ b: Int64) -> Int64 {
      av_compare_mod(UInt64(bitPattern: a), UInt64(bitPattern: b), modulus)
    }
    for entryIndex in head..<entries.count {
      guard entries[entryIndex].isOpen, let earlier = entries[entryIndex].packet, earlier.streamIndex == index
      else {
        continue
      }
      guard let time = packet.dts, let own = earlier.dts else {
        entries[entryIndex].last = nil
        continue
      }
      guard compare(own, time) < 0 else { continue }
      if entries[entryIndex].last != nil { entries[entryIndex].last = time }
      // A picture whose presentation time equals its decode time is not reordered: no other picture
      // refers to it.
      if let presentationTime = packet.pts, compare(presentationTime, time) == 0 { continue }
      earlier.pointer.pointee.pts = time
      entries[entryIndex].isOpen = false
    }
  }
}
