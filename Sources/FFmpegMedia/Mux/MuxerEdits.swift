// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Changes edit lists and track headers of a finished movie file in place. The samples stay.
struct MuxerEdits {
  let file: MuxerFile
  let movieTimeScale: Int32

  private struct Box {
    var type: String
    var content: Int64
    var end: Int64
  }

  /// Shortens the presentation of tracks: the last edit of each edit list, and the durations in the
  /// track and movie headers.
  /// - Parameters:
  ///   - ends: By track index, the end of the presentation in units of the track's time scale.
  ///   - timeScales: The time scales of all tracks, in the movie's order.
  func trim(_ ends: [Int: Int64], timeScales: [Int32]) throws {
    guard let movie = boxes(from: 0, to: file.size).first(where: { $0.type == "moov" }) else {
      throw MediaFileError(.damaged, "the written movie has no movie box")
    }
    let inside = boxes(from: movie.content, to: movie.end)
    var longest: UInt64 = 0
    for (index, track) in inside.filter({ $0.type == "trak" }).enumerated() {
      let parts = boxes(from: track.content, to: track.end)
      guard let header = parts.first(where: { $0.type == "tkhd" }) else { continue }
      // Fields before the duration: creation time, modification time, track ID, reserved. In
      // version 0 times have 32 bits.
      let wide = try byte(header.content) == 1
      let durationAt = header.content + 4 + (wide ? 24 : 16)
      var duration = try number(at: durationAt, wide: wide)
      if let end = ends[index], index < timeScales.count {
        let scaled = av_rescale(end, Int64(movieTimeScale), Int64(max(1, timeScales[index])))
        // A negative result means that the scaled time does not fit into 64 bits.
        let limit = end >= 0 && scaled < 0 ? .max : UInt64(max(0, scaled))
        if limit < duration {
          try shortenEdits(parts, by: duration - limit)
          duration = limit
          try write(duration, at: durationAt, wide: wide)
        }
      }
      longest = max(longest, duration)
    }
    if let header = inside.first(where: { $0.type == "mvhd" }) {
      // Fields up to the duration: creation time, modification time, time scale.
      let wide = try byte(header.content) == 1
      try write(longest, at: header.content + 4 + (wide ? 20 : 12), wide: wide)
    }
  }

  /// Sets edits of negative duration to zero. libavformat writes one for a track whose samples all
  /// end before the movie begins, and then refuses to read the file.
  func emptyNegativeEdits() throws {
    guard let movie = boxes(from: 0, to: file.size).first(where: { $0.type == "moov" }) else {
      throw MediaFileError(.damaged, "the written movie has no movie box")
    }
    let inside = boxes(from: movie.content, to: movie.end)
    var (longest, isChanged) = (UInt64(0), false)
    for track in inside where track.type == "trak" {
      let parts = boxes(from: track.content, to: track.end)
      guard let header = parts.first(where: { $0.type == "tkhd" }) else { continue }
      let wide = try byte(header.content) == 1
      let durationAt = header.content + 4 + (wide ? 24 : 16)
      if let sum = try emptyNegativeEdits(of: parts) {
        isChanged = true
        try write(wide ? sum : min(sum, UInt64(UInt32.max)), at: durationAt, wide: wide)
      }
      longest = max(longest, try number(at: durationAt, wide: wide))
    }
    if isChanged, let header = inside.first(where: { $0.type == "mvhd" }) {
      let wide = try byte(header.content) == 1
      let duration = wide ? longest : min(longest, UInt64(UInt32.max))
      try write(duration, at: header.content + 4 + (wide ? 20 : 12), wide: wide)
    }
  }

  /// Sets the negative durations in a track's edit list to zero.
  /// - Returns: The sum of the other durations; nil if none was negative.
  private func emptyNegativeEdits(of parts: [Box]) throws -> UInt64? {
    guard let edits = parts.first(where: { $0.type == "edts" }),
      let list = boxes(from: edits.content, to: edits.end).first(where: { $0.type == "elst" })
    else { return nil }
    let wide = try byte(list.content) == 1
    let count = Int64(try number(at: list.content + 4, wide: false))
    let entrySize: Int64 = wide ? 20 : 12
    guard count > 0, list.content + 8 + count * entrySize <= list.end else { return nil }
    var (sum, isChanged) = (UInt64(0), false)
    for index in 0..<count {
      let at = list.content + 8 + index * entrySize
      let duration = try number(at: at, wide: wide)
      // libavformat writes 64-bit entries if a duration does not fit into 31 bits.
      if duration >= 1 << (wide ? 63 : 31) {
        try write(0, at: at, wide: wide)
        isChanged = true
      } else {
        sum = sum.addingReportingOverflow(duration).partialValue
      }
    }
    return isChanged ? sum : nil
  }

  /// Sets properties in the headers that libavformat chooses itself: the enabled flag, the volume,
  /// and languages for which QuickTime has no code of its own.
  func setHeaders(_ tracks: [MuxerTrack]) throws {
    guard let movie = boxes(from: 0, to: file.size).first(where: { $0.type == "moov" }) else {
      throw MediaFileError(.damaged, "the written movie has no movie box")
    }
    let found = boxes(from: movie.content, to: movie.end).filter { $0.type == "trak" }
    for (box, track) in zip(found, tracks) {
      let parts = boxes(from: box.content, to: box.end)
      guard let header = parts.first(where: { $0.type == "tkhd" }) else { continue }
      let wide = try byte(header.content) == 1
      // The last of the three bytes of flags; its lowest bit is "track enabled".
      let flags = try byte(header.content + 3)
      try file.write([track.isEnabled ? flags | 1 : flags & ~1], at: header.content + 3)
      if let language = track.packedLanguage, let media = parts.first(where: { $0.type == "mdia" }),
        let times = boxes(from: media.content, to: media.end).first(where: { $0.type == "mdhd" })
      {
        // Fields before the language: creation time, modification time, time scale, duration.
        let at = times.content + 4 + (try byte(times.content) == 1 ? 28 : 16)
        try file.write([UInt8(language >> 8), UInt8(language & 0xFF)], at: at)
      }
      if track.kind == .audio {
        // Fields between duration and volume: 8 bytes reserved, layer, alternate group. The volume
        // is 8.8 fixed point.
        let volume = UInt16(max(0, min(1, track.volume)) * 256)
        try file.write([UInt8(volume >> 8), UInt8(volume & 0xFF)], at: header.content + (wide ? 48 : 36))
      }
    }
  }

  private func shortenEdits(_ parts: [Box], by excess: UInt64) throws {
    guard let edits = parts.first(where: { $0.type == "edts" }),
      let list = boxes(from: edits.content, to: edits.end).first(where: { $0.type == "elst" })
    else { return }
    let wide = try byte(list.content) == 1
    let count = Int64(try number(at: list.content + 4, wide: false))
    let entrySize: Int64 = wide ? 20 : 12
    guard count > 0, list.content + 8 + count * entrySize <= list.end else { return }
    let last = list.content + 8 + (count - 1) * entrySize
    let duration = try number(at: last, wide: wide)
    try write(duration > excess ? duration - excess : 0, at: last, wide: wide)
  }

  private func boxes(from start: Int64, to end: Int64) -> [Box] {
    var found: [Box] = []
    var at = start
    while at + 8 <= end, let head = file.read(at: at, count: 8) {
      var size = head[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      var content = at + 8
      if size == 1, let long = file.read(at: at + 8, count: 8) {
        size = long.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        content += 8
      } else if size == 0 {
        size = end - at
      }
      guard size >= content - at, at + size <= end else { break }
      found.append(Box(type: String(decoding: head[4..<8], as: UTF8.self), content: content, end: at + size))
      at += size
    }
    return found
  }

  private func byte(_ at: Int64) throws -> UInt8 {
    guard let read = file.read(at: at, count: 1) else {
      throw MediaFileError(.damaged, "the written movie cannot be read back")
    }
    return read[0]
  }

  private func number(at: Int64, wide: Bool) throws -> UInt64 {
    guard let read = file.read(at: at, count: wide ? 8 : 4) else {
      throw MediaFileError(.damaged, "the written movie cannot be read back")
    }
    return read.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func write(_ value: UInt64, at: Int64, wide: Bool) throws {
    let bytes = wide ? 8 : 4
    try file.write(
      (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(bytes - 1 - $0))) }, at: at)
  }
}
