// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// Searches for key frames, and returns to the beginning.
extension Demuxer {
  /// Seeks to the last key frame whose presentation time is not later than a time.
  /// - Parameters:
  ///   - index: The stream's index in `streams`.
  ///   - time: The presentation time, in units of the stream's time base.
  /// - Throws: `MediaFileError`; of the kind `encrypted` if a selected stream is encrypted.
  package func seek(stream index: Int, to time: Int64) throws {
    // The packets up to the time come anyway.
    guard shared == nil else { return }
    try lock.withLock {
      try checkProtection()
      forget()
      if let elementary {
        let frame = Int(max(0, time))
        nextUnit = elementary.units.lastIndex { $0.isKeyFrame && $0.rank <= frame } ?? 0
        return
      }
      guard context != nil, index < streams.count else { return }
      // libavformat cannot find a time where timestamps are discontinuous.
      if isBroken || isFragmentedPlaylist { return try seekFromBeginning(index, to: time) }
      try seek(streams[index], to: time)
    }
  }

  /// Limits of the search for a key frame: packets read at most, and seconds before the time at
  /// which it begins.
  static let maxPacketsSearched = 1 << 17
  static let firstDistance = 1.0

  /// Seeks in one stream. In files without an index, libavformat arrives at any packet, by its
  /// decode time; there this function searches for a key frame from distances before the time that
  /// double with each attempt.
  func seek(_ stream: MediaStream, to time: Int64) throws {
    try seekByIndex(stream, at: time)
    guard stream.kind == .video, !isMovie else { return }
    // `pending` is nil after the last packet. There is nothing to search for if the packet is that
    // key frame already, or belongs to another stream.
    if let first = pending, first.streamIndex != stream.index || isKey(first, time) { return }
    let second = Double(stream.timeBase.den) / Double(max(1, stream.timeBase.num))
    var distance = max(1, Int64(Self.firstDistance * second))
    var budget = Self.maxPacketsSearched
    var seekTarget: Int64?
    while true {
      // Arriving at the same packet again means that it is the first one, or one of long duration.
      let packet = try readNext()
      if let packet, packet.dts != seekTarget || seekTarget == nil {
        seekTarget = packet.dts
        if try findKey(stream, from: packet, upTo: time, &budget) { return }
      }
      let target = time.subtractingClamped(distance)
      guard budget > 0, target > stream.startTime else { break }
      distance = distance.multipliedClamped(by: 2)
      try seekByIndex(stream, at: target)
    }
    // No key frame was found. If the search has reached the file's beginning, reading begins there;
    // if it has used up its budget, where the first attempt arrived.
    if budget > 0 { try rewindFile() } else { try seekByIndex(stream, at: time) }
  }

  /// Reads packets up to the first key frame that is presented at or before the time, and leaves it
  /// in `pending`.
  /// - Returns: Whether there is such a key frame.
  func findKey(
    _ stream: MediaStream, from first: MediaPacket, upTo time: Int64, _ budget: inout Int
  ) throws -> Bool {
    var packet = first
    while budget > 0 {
      budget -= 1
      if packet.streamIndex == stream.index {
        // After a seek, libavformat computes wrong times up to the next packet whose time is
        // stored. A packet without a file position is taken for one of those.
        if isKey(packet, time), packet === first || packet.filePosition >= 0 {
          pending = packet
          return true
        }
        if let decodeTime = packet.dts ?? packet.pts, decodeTime > time { break }
      }
      guard let next = try readNext() else { break }
      packet = next
    }
    return false
  }

  func isKey(_ packet: MediaPacket, _ time: Int64) -> Bool {
    packet.isKeyFrame && (packet.pts ?? packet.dts).map { $0 <= time } ?? true
  }

  func seekByIndex(_ stream: MediaStream, at time: Int64) throws {
    guard let context else { return }
    isFresh = false
    var target = time
    let shift = corrections.shift(stream.timeBase)
    let shortest = max(1, stream.shortestSample ?? 1)
    var misses: Int64 = 0
    // The index holds decode times: the key frame it finds may be shown later than the time asked
    // for.
    for attempt in 0..<Self.maxEntries {
      let (code, messages) = LibavLog.collect {
        av_seek_frame(context, Int32(stream.index), target.addingClamped(shift), AVSEEK_FLAG_BACKWARD)
      }
      if code < 0 {
        let rewound = LibavLog.collect {
          av_seek_frame(context, Int32(stream.index), Int64.min / 4, AVSEEK_FLAG_BACKWARD)
        }
        forget()
        if rewound.0 >= 0 || avio_seek(context.pointee.pb, 0, SEEK_SET) >= 0 { return }
        throw MediaFileError.libav(code, "seeking in \(Demuxer.name(url)) failed", messages: messages)
      }
      forget()
      guard let packet = try readNext() else { return }
      pending = packet
      guard packet.streamIndex == stream.index, stream.kind == .video else { return }
      let presentationTime = packet.pts ?? packet.dts ?? 0
      guard presentationTime > time else { return }
      let before = (packet.dts ?? presentationTime).subtractingClamped(1)
      if before >= target {
        // Any earlier target arrives at this packet, too: it is the first one in the index.
        misses += 1
        guard misses < 8 else { return }
        target = target.subtractingClamped(shortest.multipliedClamped(by: 1 << misses))
      } else {
        // Steps back one key frame at a time; in the second half of the attempts by distances that
        // double, for streams that decode many frames long before their presentation.
        let steps = Int64(max(0, attempt - Self.maxEntries / 2))
        target = steps == 0 ? before : before.subtractingClamped(shortest.multipliedClamped(by: 1 << steps))
      }
    }
  }

  /// Attempts of `seekByIndex` to find a key frame that is not only decoded but also presented
  /// before the time.
  static let maxEntries = 64

  /// Reads the file from its beginning twice: first to find the last key frame before the time, and
  /// then up to that key frame.
  func seekFromBeginning(_ index: Int, to time: Int64) throws {
    try rewindFile()
    var position = 0
    var key = 0
    while let packet = try readNext() {
      if packet.streamIndex == index {
        let presentationTime = packet.pts ?? packet.dts ?? 0
        if packet.isKeyFrame, presentationTime <= time { key = position }
        if (packet.dts ?? presentationTime) > time { break }
      }
      position += 1
    }
    try rewindFile()
    for _ in 0..<key { _ = try readNext() }
  }

  /// Returns to the first sample. Opens the file again unless nothing has been read from it.
  /// - Throws: `MediaFileError`; of the kind `encrypted` if a selected stream is encrypted.
  package func rewind() throws {
    try lock.withLock {
      try checkProtection()
      try rewindFile()
    }
  }

  func rewindFile() throws {
    guard shared == nil else { return }
    nextUnit = 0
    // Opening a file again can take long, so that one that was opened just now is kept.
    if isFresh, elementary != nil || context != nil { return }
    forget()
    if elementary == nil {
      close()
      let opened = try Demuxer.open(
        url, frameRate: frameRate, access, source: source, interruption: interruption, scrambling: scrambling)
      (context, io, references) = (opened.context, opened.io, opened.references)
      if isMovie, let context { durations = SampleDurations(context) }
      findMissingTimes()
    }
    isFresh = true
    discardUnselected()
  }
}
