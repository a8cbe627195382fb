// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// Reads the samples of a media file of any format that libavformat can demultiplex.
///
/// Calls that read or seek take `lock`, so that one thread reads at a time. Several demuxers may
/// read one file; `init(again:)` takes over what the first one has found out about it.
package final class Demuxer: @unchecked Sendable {
  // Sendable: `lock` guards every property that changes after `init`.
  package let url: String
  /// libavformat's name of the format ("mov,mp4,m4a,3gp,3g2,mj2").
  package let formatName: String
  /// Set while the file is opened, and not changed afterwards.
  package private(set) var streams: [MediaStream]
  /// The file's metadata as libavformat names it, by key.
  package let metadata: [String: String]
  /// The chapters in the order of their start times, on the corrected time line.
  package private(set) var chapters: [MediaChapter] = []

  private let lock = Lock()
  private var context: UnsafeMutablePointer<AVFormatContext>?
  /// Whether nothing has been read since the file was opened, so that `rewindFile()` need not open
  /// it again.
  private var isFresh = true
  /// Whether timestamps of the format may be discontinuous (libavformat's `AVFMT_TS_DISCONT`).
  private let hasJumps: Bool
  private let elementary: ElementaryStreamIndex?
  /// Which streams and packets of an MPEG transport stream are scrambled.
  private let scrambling: TransportScrambling
  private let frameRate: AVRational?
  private let access: MediaAccess
  /// The source of the file's bytes; nil: libavformat opens `url` itself.
  private let source: (any MediaByteSource)?
  private let interruption: MediaInterruption
  /// libavformat's I/O of `context` over `source`; nil without a source.
  private var io: ByteSourceIO?
  /// State of reading an elementary stream: the index in `elementary.units` of the next access
  /// unit, and the open file.
  private var nextUnit = 0
  private var file: FileHandle?
  /// The packet that seeking has read ahead to see where it arrived; `readNext()` returns it first.
  private var pending: MediaPacket?
  private var corrections = TimeCorrections()
  private var times: StreamTimes
  /// Fills in missing presentation times; nil where they follow from picture order counts
  /// (`corrections.ordered`).
  private var missing: MissingTimes?
  private var durations = SampleDurations()
  /// The error that ended reading. It is thrown once every packet that was read before it has been
  /// handed out.
  private var failure: (any Error)?
  private var readers: [Int: PictureOrderReader] = [:]
  private var isAtEnd = false
  /// Whether AAC packets that are damaged are left out and counted in `lostSound`. To be set before
  /// anything is read.
  package var dropsDamagedSound = false
  /// The number of damaged AAC packets that were left out.
  package private(set) var lostSound = 0
  /// Whether a discontinuity of the timestamps has been found, also before the last seek.
  private var isBroken = false
  private var selected: Set<Int>
  /// Indexes of the streams that turned out to be encrypted only when one of their packets was
  /// read.
  private var encryptedStreams: Set<Int> = []
  /// Indexes of the Annex B streams in which a parameter set was found that the format description
  /// has not. From there on their samples keep their parameter sets.
  private var keepsParameterSets: Set<Int> = []

  /// The frame rate of an elementary stream that has no timing information of its own, in frames
  /// per second.
  package static let defaultFrameRate = AVRational(num: 30, den: 1)

  /// Opens a file, reads its headers and enough packets to correct its timestamps.
  /// - Parameters:
  ///   - url: A path ("/a/b.mov") or a URL of a protocol that libavformat knows.
  ///   - frameRate: Frames per second of an elementary stream; nil: the rate in the stream, or else
  ///     30.
  ///   - access: Which other files and addresses the file may refer to.
  ///   - source: The source of the bytes, for which `url` is only a name; nil: the file at `url`.
  ///   - interruption: Ends opening and all later reading when it is set.
  /// - Throws: `MediaFileError`, or an error of `source`.
  package init(
    url: String, frameRate: AVRational? = nil, access: MediaAccess = MediaAccess(),
    source: (any MediaByteSource)? = nil, interruption: MediaInterruption = MediaInterruption()
  ) throws {
    self.url = url
    self.frameRate = frameRate
    self.access = access
    self.interruption = interruption
    let opened = try Demuxer.open(
      url, frameRate: frameRate, access, source: source, interruption: interruption, isFirst: true)
    let (context, boxes, scrambling) = (opened.context, opened.boxes, opened.scrambling)
    self.context = context
    io = opened.io
    self.scrambling = scrambling
    self.source = opened.source
    let flags = context.pointee.iformat.map { $0.pointee.flags } ?? 0
    hasJumps = flags & AVFMT_TS_DISCONT != 0
    formatName = context.pointee.iformat.flatMap { $0.pointee.name }.map { String(cString: $0) } ?? ""
    let reader = io?.reader ?? (url.isLocalFile ? LocalFileReader(path: Demuxer.path(url)) : nil)
    metadata = dictionaryEntries(context.pointee.metadata)
    selected = Set(0..<Int(context.pointee.nb_streams))
    let length = context.pointee.duration
    let begin = context.pointee.start_time == ovt_av_nopts_value() ? 0 : context.pointee.start_time
    let end = length > 0 ? begin.addingClamped(length) : nil
    var found = Demuxer.streams(of: context).compactMap { MediaStream($0, containerEnd: end) }
    if formatName.hasPrefix("mov") {
      found = found.map { $0.edited(boxes.edits[$0.trackID]).described(boxes) }
    } else if let reader {
      if formatName.hasPrefix("matroska") { found = MatroskaTracks(reader).describe(found) }
      if formatName == "mpegts" { found = scrambling.mark(found) }
    }

    let raw = Demuxer.streams(of: context).first
    if ["h264", "hevc"].contains(formatName), let raw {
      let index: ElementaryStreamIndex
      do {
        index = try ElementaryStreamIndex(scanning: context, stream: raw)
      } catch {
        var closing: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&closing)
        self.context = nil
        throw error
      }
      elementary = index
      found = found.prefix(1).map { $0.asElementary(index, rate: frameRate) }
    } else {
      elementary = nil
    }
    guard found.contains(where: { $0.kind == .video || $0.kind == .audio }) else {
      var closing: UnsafeMutablePointer<AVFormatContext>? = context
      avformat_close_input(&closing)
      throw MediaFileError(.noStreams, "\(Demuxer.name(url)) holds neither video nor sound")
    }
    streams = found
    times = StreamTimes(found, corrections, continuity: nil)
    if isMovie { durations = SampleDurations(context) }
    let chapters = MediaChapter.chapters(of: context)
    if elementary != nil { close() } else { try probe() }
    let shift = corrections.shift(AVRational(num: 1, den: 1_000_000))
    self.chapters = shift == 0 ? chapters : chapters.map { $0.shifted(back: shift) }
  }

  /// Opens a second, independent demuxer of a file that `other` has opened.
  ///
  /// - Parameters:
  ///   - other: The demuxer whose streams, chapters and timing facts are taken over.
  ///   - interruption: Ends opening and all later reading when it is set.
  /// - Throws: `MediaFileError`; of the kind `damaged` if the file has fewer streams than when
  ///   `other` opened it.
  package init(again other: Demuxer, interruption: MediaInterruption = MediaInterruption()) throws {
    url = other.url
    formatName = other.formatName
    streams = other.streams
    metadata = other.metadata
    chapters = other.chapters
    elementary = other.elementary
    frameRate = other.frameRate
    access = other.access
    source = other.source
    self.interruption = interruption
    corrections = other.corrections
    scrambling = other.scrambling
    hasJumps = other.hasJumps
    times = StreamTimes(other.streams, other.corrections, continuity: nil)
    selected = Set(streams.map(\.index))
    encryptedStreams = other.lock.withLock { other.encryptedStreams }
    if elementary == nil {
      let opened = try Demuxer.open(
        url, frameRate: frameRate, access, source: source, interruption: interruption,
        scrambling: other.scrambling)
      (context, io) = (opened.context, opened.io)
    }
    if isMovie, let context { durations = SampleDurations(context) }
    findMissingTimes()
    forget()
    if let context, Int(context.pointee.nb_streams) < streams.count {
      close()
      throw MediaFileError(.damaged, "\(Demuxer.name(url)) has changed since it was opened")
    }
  }

  deinit { close() }

  private func close() {
    if context != nil { avformat_close_input(&context) }
    context = nil
    io = nil
  }

  /// Makes the call under way, if any, and all later reads fail with an error. May be called on any
  /// thread.
  package func interrupt() { interruption.interrupt() }

  /// Whether `interrupt()` was called. May be read on any thread.
  package var isInterrupted: Bool { interruption.isSet }

  /// Closes the file. Its streams and timing facts stay; `rewind()` opens it again, and so does
  /// `init(again:)` for another demuxer.
  package func suspend() {
    lock.withLock {
      close()
      file = nil
      isFresh = false
      forget()
    }
  }

  /// Reads only the samples of these streams from now on. The bytes of the others are skipped where
  /// the format allows it.
  /// - Parameter streamIndexes: Indexes into `streams`.
  package func select(_ streamIndexes: Set<Int>) {
    lock.withLock {
      selected = streamIndexes
      discardUnselected()
    }
  }

  /// Tells libavformat to discard the packets of all streams that are not selected.
  /// - Parameter others: Indexes of selected streams to be discarded as well.
  private func discardUnselected(besides others: Set<Int> = []) {
    guard let context else { return }
    let wanted = selected.subtracting(others)
    for stream in Demuxer.streams(of: context) {
      stream.pointee.discard =
        wanted.contains(Int(stream.pointee.index)) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Returns the next sample of the selected streams in file order; nil at the end.
  ///
  /// - Throws: `MediaFileError`; of the kind `encrypted` if a selected stream is encrypted.
  package func next() throws -> MediaPacket? {
    try lock.withLock {
      try checkProtection()
      return try readNext()
    }
  }

  /// Throws if a selected stream is encrypted: without its key it would be decoded to garbage, or
  /// not at all.
  private func checkProtection() throws {
    let found = streams.first { stream in
      selected.contains(stream.index) && (stream.isProtected || encryptedStreams.contains(stream.index))
    }
    if let found { throw encrypted(found.index) }
  }

  private func encrypted(_ index: Int) -> MediaFileError {
    let what =
      switch streams[index].kind {
      case .video: "video"
      case .audio: "sound"
      case .subtitle, .data: "track \(streams[index].trackID)"
      }
    return MediaFileError(
      .encrypted, "the \(what) of \(Demuxer.name(url)) is encrypted, and there is no key to it")
  }

  // MARK: - Times

  /// Whether every AAC packet has an ADTS header (ISO/IEC 13818-7), as in MPEG transport streams.
  private var hasADTS: Bool { formatName == "mpegts" }
  /// Whether the format is QuickTime or ISO base media (MP4 and its relatives).
  package var isMovie: Bool { formatName.hasPrefix("mov") }

  /// Reads the first packets, finds what is wrong with the file's timestamps and sets `corrections`. The
  /// packets stay to be handed out, or the file is rewound.
  private func probe() throws {
    let timeProbe = TimeProbe(streams: streams, isMovie: isMovie)
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
    if !isWhole {
      isFresh = false
      try rewindFile()
    }
  }

  private static func readers(_ streams: [MediaStream]) -> [Int: PictureOrderReader] {
    streams.filter { $0.kind == .video }.reduce(into: [:]) { $0[$1.index] = PictureOrderReader($1) }
  }

  private func findMissingTimes() {
    missing = corrections.ordered.isEmpty ? context.map { MissingTimes($0) } : nil
  }

  /// Discards all packets that have been read ahead, and the state that depends on the reading
  /// position.
  /// - Parameter isAtEnd: Whether the file has been read to its end.
  private func forget(isAtEnd: Bool = false) {
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

  private func readNext() throws -> MediaPacket? {
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

  private func add(_ packet: MediaPacket) {
    guard missing != nil else { return queue(packet) }
    missing?.add(packet)
    while let next = missing?.next() { queue(next) }
  }

  private func queue(_ packet: MediaPacket) {
    guard isMovie, let context, let raw = context.pointee.streams[packet.streamIndex] else {
      return times.add(packet)
    }
    if let earlier = durations.takeHeld(before: packet) { times.add(earlier) }
    if durations.setDuration(packet, of: raw, streams[packet.streamIndex]) { times.add(packet) }
  }

  private func finish() {
    missing?.finish()
    while let next = missing?.next() { queue(next) }
    while let last = durations.takeLast() { times.add(last) }
    times.finish()
  }

  private func readStored() throws -> MediaPacket? {
    guard let context else {
      isAtEnd = true
      return nil
    }
    while true {
      guard let pointer = av_packet_alloc() else { throw MediaFileError(.outOfMemory, "out of memory") }
      let packet = MediaPacket(owning: pointer)
      let (code, messages) = LibavLog.collect { av_read_frame(context, pointer) }
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
        let error = MediaFileError.libav(code, "reading \(Demuxer.name(url)) failed", messages: messages)
        throw error.kind == .notRecognized ? MediaFileError(.damaged, error.detail, code: code) : error
      }
      guard selected.contains(packet.streamIndex), packet.streamIndex < streams.count else { continue }
      if packet.isCorrupt, formatName.hasPrefix("mov") || formatName.hasPrefix("matroska") {
        throw MediaFileError(
          .damaged, "\(Demuxer.name(url)) ends in the middle of a sample: the file is truncated",
          code: ovt_averror_invaliddata())
      }
      let stream = streams[packet.streamIndex]
      // No decoder can make up for missing sound, and not every player reads a file that holds
      // damaged packets.
      if dropsDamagedSound, stream.codec.codecID == AV_CODEC_ID_AAC,
        packet.isCorrupt || hasADTS && stream.isBrokenADTS(packet)
      {
        lostSound += 1
        continue
      }
      // libavformat marks packets of a transport stream as corrupt where its continuity counters
      // show a loss. Matroska's demuxer skips elements that it cannot parse, and logs that.
      guard !packet.isEncrypted else {
        encryptedStreams.insert(packet.streamIndex)
        throw encrypted(packet.streamIndex)
      }
      packet.followsDataLoss = packet.isCorrupt || messages.contains { $0.contains("EBML") }
      packet.place = readers[packet.streamIndex]?.place(of: packet)
      return stream.isAnnexB ? convert(packet, of: stream) : packet
    }
  }

  /// Whether the movie's sample table has a sample that ends beyond the end of the file.
  private func isCut(_ index: Int) -> Bool {
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
  private static func reportsTruncation(_ message: String) -> Bool {
    message.contains("File ended prematurely")
  }

  private func convert(_ packet: MediaPacket, of stream: MediaStream) -> MediaPacket {
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
    converted.place = packet.place
    converted.followsDataLoss = packet.followsDataLoss
    return converted
  }

  /// Seeks to the last key frame whose presentation time is not later than a time.
  /// - Parameters:
  ///   - index: The stream's index in `streams`.
  ///   - time: The presentation time, in units of the stream's time base.
  /// - Throws: `MediaFileError`; of the kind `encrypted` if a selected stream is encrypted.
  package func seek(stream index: Int, to time: Int64) throws {
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
      if isBroken { return try seekFromBeginning(index, to: time) }
      try seek(streams[index], to: time)
    }
  }

  /// Limits of the search for a key frame: packets read at most, and seconds before the time at
  /// which it begins.
  private static let maxPacketsSearched = 1 << 17
  private static let firstDistance = 1.0

  /// Seeks in one stream. In files without an index, libavformat arrives at any packet, by its
  /// decode time; there this function searches for a key frame from distances before the time that
  /// double with each attempt.
  private func seek(_ stream: MediaStream, to time: Int64) throws {
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
  private func findKey(
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
        if let decoded = packet.dts ?? packet.pts, decoded > time { break }
      }
      guard let next = try readNext() else { break }
      packet = next
    }
    return false
  }

  private func isKey(_ packet: MediaPacket, _ time: Int64) -> Bool {
    packet.isKeyFrame && (packet.pts ?? packet.dts).map { $0 <= time } ?? true
  }

  private func seekByIndex(_ stream: MediaStream, at time: Int64) throws {
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
      let shown = packet.pts ?? packet.dts ?? 0
      guard shown > time else { return }
      let before = (packet.dts ?? shown).subtractingClamped(1)
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

  /// Attempts of `seekByIndex` to find a key frame that is not only decoded but also presented before the
  /// time.
  private static let maxEntries = 64

  /// Reads the file from its beginning twice: first to find the last key frame before the time, and
  /// then up to that key frame.
  private func seekFromBeginning(_ index: Int, to time: Int64) throws {
    try rewindFile()
    var place = 0
    var key = 0
    while let packet = try readNext() {
      if packet.streamIndex == index {
        let shown = packet.pts ?? packet.dts ?? 0
        if packet.isKeyFrame, shown <= time { key = place }
        if (packet.dts ?? shown) > time { break }
      }
      place += 1
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

  private func rewindFile() throws {
    nextUnit = 0
    // Opening a file again can take long, so that one that was opened just now is kept.
    if isFresh, elementary != nil || context != nil { return }
    forget()
    if elementary == nil {
      close()
      let opened = try Demuxer.open(
        url, frameRate: frameRate, access, source: source, interruption: interruption, scrambling: scrambling)
      (context, io) = (opened.context, opened.io)
      if isMovie, let context { durations = SampleDurations(context) }
      findMissingTimes()
    }
    isFresh = true
    discardUnselected()
  }

  // MARK: - Elementary streams

  private func readUnit(_ index: ElementaryStreamIndex) throws -> MediaPacket? {
    guard nextUnit < index.units.count, selected.contains(0) else { return nil }
    if file == nil, source == nil {
      guard let opened = FileHandle(forReadingAtPath: Demuxer.path(url)) else {
        throw MediaFileError(
          .notFound, "\(Demuxer.name(url)) cannot be opened any more", code: ovt_averror(ENOENT))
      }
      file = opened
    }
    let unit = index.units[nextUnit]
    guard let bytes = try read(unit), bytes.count == unit.size else {
      throw MediaFileError(.damaged, "\(Demuxer.name(url)) has become shorter since it was opened")
    }
    let known = index.dropsParameterSets ? index.parameterSets : []
    let converted = bytes.withUnsafeBytes {
      index.nalCodec.lengthPrefixed($0, dropping: known)
    }
    guard let packet = converted else {
      throw MediaFileError(
        .damaged, "\(Demuxer.name(url)) has no access unit at byte \(unit.offset) any more",
        code: ovt_averror_invaliddata())
    }
    packet.pointer.pointee.stream_index = 0
    packet.pointer.pointee.pts = Int64(unit.rank)
    packet.pointer.pointee.dts = Int64(nextUnit - index.reorderDepth)
    packet.pointer.pointee.duration = 1
    packet.pointer.pointee.pos = unit.offset
    if unit.isKeyFrame { packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY }
    nextUnit += 1
    return packet
  }

  private func read(_ unit: ElementaryStreamIndex.Entry) throws -> Data? {
    if let source {
      let io = try self.io ?? ByteSourceIO(source.makeReader())
      if self.io == nil { interruption.attach(io.reader) }
      self.io = io
      var bytes = Data(count: unit.size)
      var filled = 0
      while filled < unit.size {
        let count = try bytes.withUnsafeMutableBytes {
          try io.reader.read(
            at: unit.offset + Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
        }
        guard count > 0 else { return nil }
        filled += count
      }
      return bytes
    }
    try file?.seek(toOffset: UInt64(unit.offset))
    return try file?.read(upToCount: unit.size)
  }

  // MARK: - Opening

  /// A file that libavformat has opened, and the facts that this module read from it besides.
  private struct Opened {
    let context: UnsafeMutablePointer<AVFormatContext>
    let io: ByteSourceIO?
    let boxes: MovieTables.TrackProperties
    let scrambling: TransportScrambling
    let source: (any MediaByteSource)?
  }

  private static func open(
    _ url: String, frameRate: AVRational?, _ access: MediaAccess, source: (any MediaByteSource)?,
    interruption: MediaInterruption, isFirst: Bool = false,
    scrambling known: TransportScrambling = TransportScrambling()
  ) throws -> Opened {
    let path = path(url)
    let isLocal = source == nil && url.isLocalFile
    let sequence = isLocal ? ImageSequence(path) : nil
    if let obstacle = sequence?.obstacle {
      throw MediaFileError(
        .notRecognized, "\(obstacle) of \(Demuxer.name(url)) is no file: a sequence is made of regular files")
    }
    if let missing = sequence?.missing {
      throw MediaFileError(
        .damaged, "\(Demuxer.name(url)) has no picture \(missing): a sequence is numbered without a gap")
    }
    if isLocal, sequence == nil {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
        throw MediaFileError(.notFound, "\(path) does not exist", code: ovt_averror(ENOENT))
      }
      guard !isDirectory.boolValue else {
        throw MediaFileError(.notRecognized, "\(path) is a folder, not a movie", code: ovt_averror(EISDIR))
      }
    }
    let io = try source.map { try ByteSourceIO($0.makeReader()) }
    if let io { interruption.attach(io.reader) }
    var boxes = MovieTables.TrackProperties()
    // libavformat allocates memory for the sizes in the headers, which therefore are checked first.
    if isFirst, let reader = io?.reader ?? (isLocal ? LocalFileReader(path: path) : nil) {
      guard !WebPHeader.isAnimated(reader) else {
        throw MediaFileError(
          .unsupportedFormat, "\(name(url)) is an animated WebP; of WebP, single pictures alone are read")
      }
      boxes = try MovieTables.check(reader, isWhole: isLocal, name: name(url))
    }
    var context = avformat_alloc_context()
    guard context != nil else { throw MediaFileError(.outOfMemory, "out of memory") }
    context?.pointee.interrupt_callback = interruption.callback
    if let io { context?.pointee.pb = io.context }
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    // Only demuxers of raw streams have this option. Timing information in the stream overrides it.
    let rate = frameRate ?? defaultFrameRate
    av_dict_set(&options, "framerate", "\(rate.num)/\(rate.den)", 0)
    for (key, value) in access.options(for: url, isLocal: isLocal) { av_dict_set(&options, key, value, 0) }
    var format: UnsafePointer<AVInputFormat>?
    if let sequence {
      // Only the caller's name selects image2; the content of a file never does.
      format = av_find_input_format("image2")
      av_dict_set(&options, "format_whitelist", "image2", 0)
      av_dict_set(&options, "start_number", String(sequence.first), 0)
    }
    // "file:" keeps a colon in a file's name from being read as a protocol.
    let name = isLocal ? "file:" + (sequence?.pattern ?? path) : url
    var (code, messages) = LibavLog.collect { avformat_open_input(&context, name, format, &options) }
    if code < 0, MediaAccess.isRefusal(messages), isLocal, isJPEG(path) {
      // libavformat has matched the name to image2. The failed call has freed the context.
      context = avformat_alloc_context()
      context?.pointee.interrupt_callback = interruption.callback
      (code, messages) = LibavLog.collect {
        avformat_open_input(&context, name, av_find_input_format("jpeg_pipe"), &options)
      }
    }
    guard code >= 0, let opened = context else {
      if let failure = io?.failure { throw failure }
      if MediaAccess.isRefusal(messages) {
        throw MediaFileError(
          .notRecognized, "\(Demuxer.name(url)) is a list of other files, or of a format that is not read",
          code: code
        )
      }
      throw MediaFileError.libav(code, "\(Demuxer.name(url)) cannot be opened", messages: messages)
    }
    var scrambling = known
    if isFirst, opened.pointee.iformat.map({ String(cString: $0.pointee.name) }) == "mpegts",
      let reader = io?.reader ?? (isLocal ? LocalFileReader(path: path) : nil)
    {
      scrambling = TransportScrambling(reader, of: streams(of: opened).map { Int($0.pointee.id) })
    }
    if isFirst, !scrambling.hidden.isEmpty {
      avformat_close_input(&context)
      let clear = ClearTransport(hiding: scrambling.hidden) {
        if let source { return source.makeReader() }
        guard let reader = LocalFileReader(path: path) else {
          throw MediaFileError(
            .notFound, "\(Demuxer.name(url)) cannot be opened any more", code: ovt_averror(ENOENT))
        }
        return reader
      }
      return try self.open(
        url, frameRate: frameRate, access, source: clear, interruption: interruption, scrambling: scrambling)
    }
    // ClearTransport hides the scrambled packets from libavformat, so that the probe has to reach
    // beyond them.
    opened.pointee.probesize = opened.pointee.probesize.addingClamped(scrambling.clearFrom)
    let (found, complaints) = LibavLog.collect { avformat_find_stream_info(opened, nil) }
    // avformat_find_stream_info fails for scrambled streams without saying that they are scrambled.
    guard found >= 0 || scrambling.isFound else {
      avformat_close_input(&context)
      if let failure = io?.failure { throw failure }
      let error = MediaFileError.libav(found, "\(Demuxer.name(url)) cannot be read", messages: complaints)
      throw error.kind == .notRecognized ? MediaFileError(.damaged, error.detail, code: found) : error
    }
    return Opened(context: opened, io: io, boxes: boxes, scrambling: scrambling, source: source)
  }

  private static func isJPEG(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    return (try? file.read(upToCount: 3))?.elementsEqual([0xFF, 0xD8, 0xFF]) ?? false
  }

  private static func streams(
    of context: UnsafeMutablePointer<AVFormatContext>
  ) -> [UnsafeMutablePointer<AVStream>] {
    (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
  }

  private static func path(_ url: String) -> String {
    guard url.hasPrefix("file://") else { return url }
    return URL(string: url)?.path ?? String(url.dropFirst(7))
  }

  private static func name(_ url: String) -> String {
    (path(url) as NSString).lastPathComponent
  }
}

extension String {
  /// Whether the string is a path or a `file:` URL.
  fileprivate var isLocalFile: Bool { !contains("://") || hasPrefix("file://") }
}

extension MediaStream {
  /// Whether the stream's times count for the beginning of the file's.
  fileprivate var isTimed: Bool { kind == .video || kind == .audio }

  /// The stream with the timing, sample count and parameter sets that the index of an elementary
  /// stream has.
  /// - Parameters:
  ///   - index: The index of the elementary stream.
  ///   - rate: Frames per second; nil: the rate in the stream, or else `Demuxer.defaultFrameRate`.
  fileprivate func asElementary(_ index: ElementaryStreamIndex, rate: AVRational?) -> MediaStream {
    let told =
      averageFrameRate.num > 0 && averageFrameRate.den > 0 ? averageFrameRate : Demuxer.defaultFrameRate
    let frameRate = rate ?? told
    return MediaStream(
      index: 0, trackID: 1, kind: kind, codec: codec,
      timeBase: AVRational(num: frameRate.den, den: frameRate.num), startTime: 0,
      duration: Int64(index.units.count), sampleCount: index.units.count,
      sampleBytes: nil, shortestSample: 1, lastSample: nil, averageFrameRate: frameRate,
      sampleAspectRatio: sampleAspectRatio, reorderDepth: index.reorderDepth, displayMatrix: nil,
      isDefault: true, metadata: metadata, parameterSets: index.parameterSets, isAnnexB: true)
  }
}
