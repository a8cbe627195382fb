// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// Packets with corrected times, in the order of the file.
extension Demuxer {
  /// Whether every AAC packet has an ADTS header (ISO/IEC 13818-7), as in MPEG transport streams.
  var hasADTS: Bool { formatName == "mpegts" }
  /// Whether the format is QuickTime or ISO base media (MP4 and its relatives).
  package var isMovie: Bool { formatName.hasPrefix("mov") }

  /// Reads the first packets, finds what is wrong with the file's timestamps and sets
  /// `corrections`. The packets stay to be handed out, or the file is rewound.
  func probe(isLive: Bool) throws {
    let timeProbe = TimeProbe(streams: streams, isMovie: isMovie, isLive: isLive)
    guard timeProbe.isWorthwhile else {
      findMissingTimes()
      return forget()
    }
    readers = Self.readers(streams)
    var packets: [MediaPacket] = []
    var bytes = 0
    var isWhole = true
    while packets.count < TimeProbe.packets, bytes < TimeProbe.bytes,
      !timeProbe.isEnough(packets, without: encryptedStreams)
    {
      let next: MediaPacket?
      do { next = try readStored() } catch let error as MediaFileError where error.kind == .encrypted {
        // The other streams are read on. A caller that selects this one gets the error.
        discardUnselected(besides: encryptedStreams)
        if streams.contains(where: { $0.isTimed && !encryptedStreams.contains($0.index) }) { continue }
        next = nil
      } catch {
        // Damage is reported when the packet is read, not when the file is opened.
        next = nil
      }
      guard let packet = next else {
        isWhole = isAtEnd
        break
      }
      packets.append(packet)
      bytes += packet.bytes.count
    }
    if !encryptedStreams.isEmpty { discardUnselected() }
    corrections.ordered = timeProbe.ordered(packets)
    forget(isAtEnd: isAtEnd)
    findMissingTimes()
    for packet in packets { add(packet) }
    if isAtEnd { finish() }
    let found = timeProbe.origin(times.waiting + (missing?.held ?? []))
    corrections.origin = found.origin
    corrections.starts = found.starts
    let depths = timeProbe.depths(packets)
    streams = streams.map { stream in
      var stream = stream.shifted(corrections).reordered(atLeast: depths[stream.index] ?? 0)
      stream.isProtected = stream.isProtected || encryptedStreams.contains(stream.index)
      return stream
    }
    if !isWhole, !isLive {
      isFresh = false
      try rewindFile()
    }
  }

  static func readers(_ streams: [MediaStream]) -> [Int: PictureOrderReader] {
    streams.filter { $0.kind == .video }.reduce(into: [:]) { $0[$1.index] = PictureOrderReader($1) }
  }

  func findMissingTimes() {
    missing = corrections.ordered.isEmpty ? context.map { MissingTimes($0) } : nil
  }

  /// Discards all packets that have been read ahead, and the state that depends on the reading
  /// position.
  /// - Parameter isAtEnd: Whether the file has been read to its end.
  func forget(isAtEnd: Bool = false) {
    pending = nil
    failure = nil
    missing?.forget()
    durations.forget()
    isBroken = isBroken || times.isBroken
    times = StreamTimes(
      streams, corrections, continuity: isMovie ? nil : TimeContinuity(jumpsForward: hasJumps))
    self.isAtEnd = isAtEnd
    readers = Self.readers(streams.filter { corrections.ordered[$0.index] != nil })
  }

  func readNext() throws -> MediaPacket? {
    isFresh = false
    if let packet = pending {
      pending = nil
      return packet
    }
    if let elementary { return try readUnit(elementary) }
    while true {
      while let packet = times.next() {
        guard selected.contains(packet.streamIndex) else { continue }
        let shift = corrections.shift(streams[packet.streamIndex].timeBase)
        if shift != 0 { packet.shift(back: shift) }
        return packet
      }
      if let failure {
        self.failure = nil
        throw failure
      }
      if isAtEnd { return nil }
      do {
        if let packet = try readStored() { add(packet) } else { finish() }
      } catch {
        // Packets that wait for their times were read completely: they come before the error.
        finish()
        failure = error
      }
    }
  }

  func add(_ packet: MediaPacket) {
    guard missing != nil else { return queue(packet) }
    missing?.add(packet)
    while let next = missing?.next() { queue(next) }
  }

  func queue(_ packet: MediaPacket) {
    guard isMovie, let context, let raw = context.pointee.streams[packet.streamIndex] else {
      return times.add(packet)
    }
    if let earlier = durations.takeHeld(before: packet) { times.add(earlier) }
    if durations.setDuration(packet, of: raw, streams[packet.streamIndex]) { times.add(packet) }
  }

  func finish() {
    missing?.finish()
    while let next = missing?.next() { queue(next) }
    while let last = durations.takeLast() { times.add(last) }
    times.finish()
  }

  func readStored() throws -> MediaPacket? {
    guard let context else {
      isAtEnd = true
      return nil
    }
    while true {
      guard let pointer = av_packet_alloc() else { throw MediaFileError(.outOfMemory, "out of memory") }
      let packet = MediaPacket(owning: pointer)
      let (code, messages) = LibavLog.collect { av_read_frame(context, pointer) }
      try checkReferences()
      // Some demuxers, such as GXF's, return -1 instead of AVERROR_EOF at the end of the file.
      let isEnd = code == -1 && context.pointee.pb.map { avio_feof($0) != 0 } ?? false
      if code == ovt_averror_eof() || isEnd {
        // libavformat returns AVERROR_EOF also where reading the file failed; the I/O context has
        // the error.
        if let pb = context.pointee.pb, pb.pointee.error < 0, pb.pointee.error != ovt_averror_eof() {
          if let failure = io?.failure { throw failure }
          throw MediaFileError.libav(pb.pointee.error, "reading \(Demuxer.name(url)) failed")
        }
        let wasAtEnd = isAtEnd
        isAtEnd = true
        if !wasAtEnd,
          selected.contains(where: { isCut($0) }) || messages.contains(where: Self.reportsTruncation)
        {
          throw MediaFileError(
            .damaged, "\(Demuxer.name(url)) is cut off: the file is shorter than it says",
            code: ovt_averror_invaliddata())
        }
        return nil
      }
      guard code >= 0 else {
        if let failure = io?.failure { throw failure }
        // Messages about playlists have the addresses of segments, with their secrets.
        let error = MediaFileError.libav(
          code, "reading \(Demuxer.name(url)) failed", messages: references == nil ? messages : [])
        throw error.kind == .notRecognized ? MediaFileError(.damaged, error.detail, code: code) : error
      }
      guard selected.contains(packet.streamIndex), packet.streamIndex < streams.count else { continue }
      if packet.isCorrupt, formatName.hasPrefix("mov") || formatName.hasPrefix("matroska") {
        throw MediaFileError(
          .damaged, "\(Demuxer.name(url)) ends in the middle of a sample: the file is truncated",
          code: ovt_averror_invaliddata())
      }
      let stream = streams[packet.streamIndex]
      // No decoder can make up for missing audio, and not every player reads a file that holds
      // damaged packets.
      if dropsDamagedAudio, stream.codec.codecID == AV_CODEC_ID_AAC,
        packet.isCorrupt || hasADTS && stream.isBrokenADTS(packet)
      {
        lostAudio += 1
        continue
      }
      // libavformat marks packets of a transport stream as corrupt where its continuity counters
      // show a loss. Matroska's demuxer skips elements that it cannot parse, and logs that.
      guard !packet.isEncrypted else {
        encryptedStreams.insert(packet.streamIndex)
        throw encrypted(packet.streamIndex)
      }
      packet.followsDataLoss = packet.isCorrupt || messages.contains { $0.contains("EBML") }
      packet.outputPosition = readers[packet.streamIndex]?.outputPosition(of: packet)
      return stream.isAnnexB ? convert(packet, of: stream) : packet
    }
  }

  /// Whether the movie's sample table has a sample that ends beyond the end of the file.
  func isCut(_ index: Int) -> Bool {
    guard isMovie, let context, index < Int(context.pointee.nb_streams),
      let stream = context.pointee.streams[index]
    else { return false }
    let count = avformat_index_get_entries_count(stream)
    guard count > 0, let last = avformat_index_get_entry(stream, count - 1), let io = context.pointee.pb
    else {
      return false
    }
    let size = avio_size(io)
    return size > 0 && last.pointee.pos.addingClamped(Int64(last.pointee.size)) > size
  }

  /// Whether a log message of Matroska's demuxer says that the file is truncated: it returns no
  /// error for that.
  static func reportsTruncation(_ message: String) -> Bool {
    message.contains("File ended prematurely")
  }

  func convert(_ packet: MediaPacket, of stream: MediaStream) -> MediaPacket {
    let codec: NALCodec = stream.codec.codecID == AV_CODEC_ID_HEVC ? .hevc : .h264
    let bytes = UnsafeRawBufferPointer(packet.bytes)
    if !keepsParameterSets.contains(stream.index) {
      ByteStream.forEachUnit(in: bytes) { range in
        if codec.isParameterSet(codec.unitType(bytes[range.lowerBound])),
          !NALCodec.contains(stream.parameterSets, UnsafeRawBufferPointer(rebasing: bytes[range]))
        {
          keepsParameterSets.insert(stream.index)
        }
      }
    }
    let known = keepsParameterSets.contains(stream.index) ? [] : stream.parameterSets
    guard let converted = codec.lengthPrefixed(bytes, dropping: known) else { return packet }
    av_packet_copy_props(converted.pointer, packet.pointer)
    converted.outputPosition = packet.outputPosition
    converted.followsDataLoss = packet.followsDataLoss
    return converted
  }
}
