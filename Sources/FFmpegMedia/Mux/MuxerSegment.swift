// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads a media segment that the muxer has written.
package enum MuxerSegment {
  /// The offset of a track's first sample in a segment, in bytes; nil if the segment holds none of
  /// the track.
  /// - Parameters:
  ///   - segment: The media segment.
  ///   - trackID: The number of the track.
  package static func firstSampleOffset(in segment: Data, trackID: UInt32) -> Int? {
    let bytes = [UInt8](segment)
    func number(_ at: Int) -> Int {
      guard at >= 0, at + 4 <= bytes.count else { return 0 }
      return bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    func boxes(_ from: Int, _ to: Int) -> [(type: String, start: Int, end: Int)] {
      var found: [(type: String, start: Int, end: Int)] = []
      var at = from
      while at + 8 <= to {
        let size = number(at)
        guard size >= 8, at + size <= to else { break }
        found.append((String(decoding: bytes[at + 4..<at + 8], as: UTF8.self), at, at + size))
        at += size
      }
      return found
    }
    for fragment in boxes(0, bytes.count) where fragment.type == "moof" {
      for track in boxes(fragment.start + 8, fragment.end) where track.type == "traf" {
        let parts = boxes(track.start + 8, track.end)
        guard let header = parts.first(where: { $0.type == "tfhd" }),
          number(header.start + 12) == Int(trackID),
          let run = parts.first(where: { $0.type == "trun" }), number(run.start + 8) & 1 != 0
        else { continue }
        // Offsets count from the first byte of the `moof` box (default-base-is-moof).
        return fragment.start + number(run.start + 16)
      }
    }
    return nil
  }
}
