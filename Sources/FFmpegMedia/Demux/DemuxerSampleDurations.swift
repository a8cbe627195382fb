// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// The durations of a movie's samples according to its sample table (`stts`; ISO/IEC 14496-12,
/// 8.6.1.2): the distance from one sample's decode time to the next one's.
///
/// Where samples have composition offsets, or are in fragments, libavformat derives durations from
/// the frame rate of the codec, which is wrong for pictures of another rate.
struct SampleDurations {
  private struct Track {
    /// Number of index entries when the file was opened.
    let entries: Int32
    /// Index entry at which the search for the next sample begins.
    var next: Int32 = 0
    /// Whether the index has got more entries since then. It may have gaps, where fragments were
    /// skipped.
    var isGrowing = false
    /// A packet whose duration is not known until the next one of the stream is read.
    var held: MediaPacket?
    /// The last duration that was set, in units of the time base.
    var last: Int64 = 0
  }

  private var tracks: [Track] = []

  init() {}

  /// - Parameter context: A movie that was just opened, so that its index holds the sample tables
  ///   only.
  init(_ context: UnsafeMutablePointer<AVFormatContext>) {
    for index in 0..<Int(context.pointee.nb_streams) {
      let entries = context.pointee.streams[index].map { avformat_index_get_entries_count($0) } ?? 0
      tracks.append(Track(entries: entries))
    }
  }

  /// Discards held packets and positions in the index. Called after a seek.
  mutating func forget() {
    for index in tracks.indices {
      (tracks[index].next, tracks[index].held, tracks[index].last) = (0, nil, 0)
    }
  }

  /// Takes out the held packet of the same stream, and sets its duration by the decode time of this
  /// one.
  mutating func takeHeld(before packet: MediaPacket) -> MediaPacket? {
    let index = packet.streamIndex
    guard index < tracks.count, let held = tracks[index].held else { return nil }
    tracks[index].held = nil
    if let time = held.dts, let next = packet.dts, next > time {
      set(next.subtractingClamped(time), of: held)
    }
    return held
  }

  /// Takes out a packet that is still held at the end of the file; nil if there is none.
  mutating func takeLast() -> MediaPacket? {
    for index in tracks.indices {
      guard let held = tracks[index].held else { continue }
      tracks[index].held = nil
      if tracks[index].last > 0 { set(tracks[index].last, of: held) }
      return held
    }
    return nil
  }

  /// Sets a packet's duration. Must be called before its times are changed.
  /// - Returns: false if the packet is held until the next one of its stream is read.
  mutating func setDuration(
    _ packet: MediaPacket, of raw: UnsafeMutablePointer<AVStream>, _ stream: MediaStream
  ) -> Bool {
    let index = packet.streamIndex
    guard index < tracks.count, let time = packet.dts else { return true }
    let count = avformat_index_get_entries_count(raw)
    if count != tracks[index].entries { tracks[index].isGrowing = true }
    if !tracks[index].isGrowing {
      guard let entryIndex = entryIndex(of: packet, time, raw, count) else { return true }
      tracks[index].next = entryIndex + 1
      if entryIndex + 1 < count, let next = avformat_index_get_entry(raw, entryIndex + 1) {
        let step = next.pointee.timestamp.subtractingClamped(time)
        // Samples before the start of an edit all have the same time, and from one edit to the next
        // it may decrease.
        if step > 0 { set(step, of: packet) }
        if step < 0, tracks[index].last > 0 { set(tracks[index].last, of: packet) }
        return true
      }
      if stream.isTableComplete {
        if let last = stream.lastSample { set(last, of: packet) }
        return true
      }
    }
    guard stream.kind == .video || stream.kind == .audio else { return true }
    tracks[index].held = packet
    return false
  }

  private mutating func set(_ duration: Int64, of packet: MediaPacket) {
    packet.pointer.pointee.duration = duration
    tracks[packet.streamIndex].last = duration
  }

  private func entryIndex(
    of packet: MediaPacket, _ time: Int64, _ raw: UnsafeMutablePointer<AVStream>, _ count: Int32
  ) -> Int32? {
    func isEntryOfPacket(_ entryIndex: Int32) -> Bool {
      guard let entry = avformat_index_get_entry(raw, entryIndex) else { return false }
      // Packets that a parser has split have no file position.
      return entry.pointee.timestamp == time
        && (entry.pointee.pos == packet.filePosition || packet.filePosition < 0)
    }
    let expected = tracks[packet.streamIndex].next
    if expected < count, isEntryOfPacket(expected) { return expected }
    let found = av_index_search_timestamp(raw, time, AVSEEK_FLAG_ANY | AVSEEK_FLAG_BACKWARD)
    guard found >= 0 else { return nil }
    // Several entries may have the same time.
    return (max(0, found - 32)..<min(count, found + 32)).first(where: isEntryOfPacket)
  }
}
