// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// Finds the presentation times that a container does not tell. Where pictures are reordered, one that others refer to is
/// shown when the next such one is decoded: libavformat's `genpts`, which however holds the rest of the file, and looks
/// through it for each packet, where none follows.
///
/// Packets go in and come out in the file's order.
struct MissingTimes {
  private struct Entry {
    /// nil once it was given out.
    var packet: MediaPacket?
    /// Its time is still to be found.
    var isOpen: Bool
    /// The latest decode time of its stream from it on; nil after a packet that has none.
    var last: Int64?
  }

  /// Packets that are held at most: of a stream, in all, and with so many bytes.
  private static let mostOfStream = 64
  private static let most = 1024
  private static let mostBytes = 64 << 20

  /// Where each stream's times begin anew, 0 for never.
  private let moduli: [UInt64]
  private var entries: [Entry] = []
  /// The first entry that was not given out.
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

  /// What waits, in order.
  var held: [MediaPacket] { entries[head...].compactMap(\.packet) }

  mutating func forget() {
    (entries, head, bytes, counts, isEnding) = ([], 0, 0, [:], false)
  }

  mutating func add(_ packet: MediaPacket) {
    isEnding = false
    let index = packet.streamIndex
    if counts[index, default: 0] > 0 { settle(by: packet) }
    entries.append(Entry(packet: packet, isOpen: packet.pts == nil && packet.dts != nil, last: packet.dts))
    bytes += packet.bytes.count
    counts[index, default: 0] += 1
  }

  /// There are no more packets: all that wait come out.
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
        counts[index, default: 0] > Self.mostOfStream || entries.count - head > Self.most
        || bytes > Self.mostBytes
      guard isFull || isEnding else { return nil }
      if let last = entry.last {
        packet.pointer.pointee.pts = last.addingClamped(packet.duration)
      }
    }
    entries[head].packet = nil
    head += 1
    bytes -= packet.bytes.count
    counts[index, default: 0] -= 1
    if head > Self.most {
      entries.removeFirst(head)
      head = 0
    }
    return packet
  }

  /// Gives earlier packets of a stream the time of this one.
  private mutating func settle(by packet: MediaPacket) {
    let index = packet.streamIndex
    let modulus = index < moduli.count ? moduli[index] : 0
    func compare(_ a: Int64, _ b: Int64) -> Int64 {
      av_compare_mod(UInt64(bitPattern: a), UInt64(bitPattern: b), modulus)
    }
    for place in head..<entries.count {
      guard entries[place].isOpen, let earlier = entries[place].packet, earlier.streamIndex == index else {
        continue
      }
      guard let time = packet.dts, let own = earlier.dts else {
        entries[place].last = nil
        continue
      }
      guard compare(own, time) < 0 else { continue }
      if entries[place].last != nil { entries[place].last = time }
      // A picture that is shown when it is decoded is one that no others refer to.
      if let shown = packet.pts, compare(shown, time) == 0 { continue }
      earlier.pointer.pointee.pts = time
      entries[place].isOpen = false
    }
  }
}
