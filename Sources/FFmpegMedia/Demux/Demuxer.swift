// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// Reads a media file's samples, whatever libavformat understands.
///
/// One thread at a time: calls are serialised by a lock. Several demuxers may read one file; `init(again:)` shares
/// what has been found out about it.
package final class Demuxer: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  package let url: String
  /// libavformat's name of the format ("mov,mp4,m4a,3gp,3g2,mj2").
  package let formatName: String
  /// Set while the file is opened, and not changed afterwards.
  package private(set) var streams: [MediaStream]
  package let metadata: [String: String]
  package private(set) var chapters: [MediaChapter] = []

  private let lock = Lock()
  private var context: UnsafeMutablePointer<AVFormatContext>?
  /// Nothing has been read since the file was opened.
  private var isFresh = true
  /// libavformat says of the format that its times may jump.
  private let hasJumps: Bool
  private let elementary: ElementaryStreamIndex?
  /// What of a transport stream is scrambled.
  private let scrambling: TransportScrambling
  private let frameRate: AVRational?
  private let access: MediaAccess
  /// Where the bytes come from, if not from a file or a server.
  private let source: (any MediaByteSource)?
  private let interruption: MediaInterruption
  /// Of the open context, over `source`.
  private var io: ByteSourceIO?
  /// State of an elementary stream's reading: the next access unit and the open file.
  private var nextUnit = 0
  private var file: FileHandle?
  /// A packet that seeking has read to see where it arrived.
  private var pending: MediaPacket?
  private var facts = TimeFacts()
  private var times: StreamTimes
  /// Where no picture order counts are needed, presentation times that are missing are made up.
  private var missing: MissingTimes?
  private var durations = SampleDurations()
  /// What was wrong with the file; told when all that was read before has been handed out.
  private var failure: (any Error)?
  private var readers: [Int: PictureOrderReader] = [:]
  private var isAtEnd = false
  /// Leaves packets of sound out that are damaged, and counts them. Set it before anything is read.
  package var dropsDamagedSound = false
  /// Packets of sound that were damaged, and left out.
  package private(set) var lostSound = 0
  /// A jump of times was seen.
  private var isBroken = false
  private var selected: Set<Int>
  /// Streams that a packet has shown to be encrypted, though nothing before it said so.
  private var encryptedStreams: Set<Int> = []
  /// Streams whose parameter sets have changed on the way and stay in the samples from there on.
  private var keepsParameterSets: Set<Int> = []

  /// The frame rate of an elementary stream that does not tell its own.
  package static let defaultFrameRate = AVRational(num: 30, den: 1)

  /// Opens a file.
  /// - Parameters:
  ///   - url: A path ("/a/b.mov") or a URL of a protocol that libavformat knows.
  ///   - frameRate: Frames per second of an elementary stream; nil: what the stream says, or else 30.
  ///   - access: What the file may refer to.
  ///   - source: Where the bytes come from; nil: from the URL, which names them only otherwise.
  ///   - interruption: Ends the opening, and all that follows.
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
    times = StreamTimes(found, facts, continuity: nil)
    if isMovie { durations = SampleDurations(context) }
    let chapters = MediaChapter.chapters(of: context)
    if elementary != nil { close() } else { try probe() }
    let shift = facts.shift(AVRational(num: 1, den: 1_000_000))
    self.chapters = shift == 0 ? chapters : chapters.map { $0.shifted(back: shift) }
  }

  /// A second, independent reader of a file that `other` has opened.
  ///
  /// - Parameter interruption: Ends the opening, and all that follows.
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
    facts = other.facts
    scrambling = other.scrambling
    hasJumps = other.hasJumps
    times = StreamTimes(other.streams, other.facts, continuity: nil)
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

  /// Ends what goes on, and all later reading, with an error. From any thread.
  package func interrupt() { interruption.interrupt() }

  package var isInterrupted: Bool { interruption.isSet }

  /// Lets go of the file. Its facts stay; `init(again:)` opens it again, and so does `rewind()`.
  package func suspend() {
    lock.withLock {
      close()
      file = nil
      isFresh = false
      forget()
    }
  }

  /// Only these streams' samples are read from now on; what is left out costs nothing where the format allows.
  package func select(_ streamIndexes: Set<Int>) {
    lock.withLock {
      selected = streamIndexes
      discardUnselected()
    }
  }

  /// - Parameter others: Streams that are not read either.
  private func discardUnselected(besides others: Set<Int> = []) {
    guard let context else { return }
    let wanted = selected.subtracting(others)
    for stream in Demuxer.streams(of: context) {
      stream.pointee.discard =
        wanted.contains(Int(stream.pointee.index)) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// The next sample in file order; nil at the end.
  ///
  /// - Throws: `MediaFileError`, of the kind `encrypted` where a stream that was selected is.
  package func next() throws -> MediaPacket? {
    try lock.withLock {
      try checkProtection()
      return try readNext()
    }
  }

  /// What is encrypted would be decoded to rubbish, or not at all.
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

  /// Transport streams carry AAC with headers of its own.
  private var hasADTS: Bool { formatName == "mpegts" }
  package var isMovie: Bool { formatName.hasPrefix("mov") }

  /// Finds out what is wrong with the file's times. What is read for it stays to be handed out.
  private func probe() throws {
    let look = TimeProbe(streams: streams, isMovie: isMovie)
    guard look.isWorthwhile else {
      findMissingTimes()
      return forget()
    }
    readers = Self.readers(streams)
    var packets: [MediaPacket] = []
    var bytes = 0
    var isWhole = true
    while packets.count < TimeProbe.packets, bytes < TimeProbe.bytes,
      !look.isEnough(packets, without: encryptedStreams)
    {
      let next: MediaPacket?
      do { next = try readStored() } catch let error as MediaFileError where error.kind == .encrypted {
        // The other streams go on. Whoever selects this one is told.
        discardUnselected(besides: encryptedStreams)
        if streams.contains(where: { $0.isTimed && !encryptedStreams.contains($0.index) }) { continue }
        next = nil
      } catch {
        // Damage is told when it is read, not now.
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
    facts.ordered = look.ordered(packets)
    forget(isAtEnd: isAtEnd)
    findMissingTimes()
    for packet in packets { add(packet) }
    if isAtEnd { finish() }
    let found = look.origin(times.waiting + (missing?.held ?? []))
    facts.origin = found.origin
    facts.starts = found.starts
    let depths = look.depths(packets)
    streams = streams.map { stream in
      var stream = stream.shifted(facts).reordered(atLeast: depths[stream.index] ?? 0)
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
    missing = facts.ordered.isEmpty ? context.map { MissingTimes($0) } : nil
  }

  /// Forgets what has been read ahead.
  private func forget(isAtEnd: Bool = false) {
    pending = nil
    failure = nil
    missing?.forget()
    durations.forget()
    isBroken = isBroken || times.isBroken
    times = StreamTimes(
      streams, facts, continuity: isMovie ? nil : TimeContinuity(jumpsForward: hasJumps))
    self.isAtEnd = isAtEnd
    readers = Self.readers(streams.filter { facts.ordered[$0.index] != nil })
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
        let shift = facts.shift(streams[packet.streamIndex].timeBase)
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
        // What is held is whole.
        finish()
        failure = error
      }
    }
  }

  private func add(_ packet: MediaPacket) {
    guard missing != nil else { return settle(packet) }
    missing?.add(packet)
    while let next = missing?.next() { settle(next) }
  }

  private func settle(_ packet: MediaPacket) {
    guard isMovie, let context, let raw = context.pointee.streams[packet.streamIndex] else {
      return times.add(packet)
    }
    if let earlier = durations.takeHeld(before: packet) { times.add(earlier) }
    if durations.settle(packet, of: raw, streams[packet.streamIndex]) { times.add(packet) }
  }

  private func finish() {
    missing?.finish()
    while let next = missing?.next() { settle(next) }
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
      // Some demuxers, such as GXF's, have no better word for the end of the file than -1.
      let isEnd = code == -1 && context.pointee.pb.map { avio_feof($0) != 0 } ?? false
      if code == ovt_averror_eof() || isEnd {
        // A failed read of the file looks like its end.
        if let pb = context.pointee.pb, pb.pointee.error < 0, pb.pointee.error != ovt_averror_eof() {
          if let failure = io?.failure { throw failure }
          throw MediaFileError.libav(pb.pointee.error, "reading \(Demuxer.name(url)) failed")
        }
        let wasAtEnd = isAtEnd
        isAtEnd = true
        if !wasAtEnd, selected.contains(where: { isCut($0) }) || messages.contains(where: Self.saysCut) {
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
      // Of sound nobody can make up what is missing, and a file that holds it is not read everywhere.
      if dropsDamagedSound, stream.codec.codecID == AV_CODEC_ID_AAC,
        packet.isCorrupt || hasADTS && stream.isBrokenADTS(packet)
      {
        lostSound += 1
        continue
      }
      // A transport stream counts its packets: some are missing about here. Matroska's demuxer passes over what it
      // cannot understand.
      guard !packet.isEncrypted else {
        encryptedStreams.insert(packet.streamIndex)
        throw encrypted(packet.streamIndex)
      }
      packet.isBesideGap = packet.isCorrupt || messages.contains { $0.contains("EBML") }
      packet.place = readers[packet.streamIndex]?.place(of: packet)
      return stream.isAnnexB ? convert(packet, of: stream) : packet
    }
  }

  /// Whether a movie's index knows of a sample beyond the end of the file.
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

  /// Matroska's demuxer knows, and has no other way to say.
  private static func saysCut(_ message: String) -> Bool { message.contains("File ended prematurely") }

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
    converted.isBesideGap = packet.isBesideGap
    return converted
  }

  /// Goes to the last key frame at or before a presentation time.
  /// - Parameter time: In units of the stream's time base.
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
      // Where times jump, libavformat cannot find one.
      if isBroken { return try seekFromBeginning(index, to: time) }
      try seek(streams[index], to: time)
    }
  }

  /// Packets that are read to find a key frame, and seconds that the search begins with.
  private static let mostSearched = 1 << 17
  private static let firstDistance = 1.0

  /// Files without an index are entered at any packet, by its decode time. There a key frame is looked for from farther and
  /// farther back.
  private func seek(_ stream: MediaStream, to time: Int64) throws {
    try enter(stream, at: time)
    guard stream.kind == .video, !isMovie else { return }
    // Behind the last packet there is none.
    if let first = pending, first.streamIndex != stream.index || isKey(first, time) { return }
    let second = Double(stream.timeBase.den) / Double(max(1, stream.timeBase.num))
    var distance = max(1, Int64(Self.firstDistance * second))
    var budget = Self.mostSearched
    var entered: Int64?
    while true {
      // The same packet again is what comes first, or a picture that is shown for long.
      let packet = try readNext()
      if let packet, packet.dts != entered || entered == nil {
        entered = packet.dts
        if try findKey(stream, from: packet, upTo: time, &budget) { return }
      }
      let target = time.subtractingClamped(distance)
      guard budget > 0, target > stream.startTime else { break }
      distance = distance.multipliedClamped(by: 2)
      try enter(stream, at: target)
    }
    // Without key frames, what the first search has found has to do.
    if budget > 0 { try rewindFile() } else { try enter(stream, at: time) }
  }

  /// Reads up to a key frame, which is then what comes next; false if there is none that is shown before the time.
  private func findKey(
    _ stream: MediaStream, from first: MediaPacket, upTo time: Int64, _ budget: inout Int
  ) throws -> Bool {
    var packet = first
    while budget > 0 {
      budget -= 1
      if packet.streamIndex == stream.index {
        // What is made up of times after a seek is wrong until the next one that is stored.
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

  private func enter(_ stream: MediaStream, at time: Int64) throws {
    guard let context else { return }
    isFresh = false
    var target = time
    let shift = facts.shift(stream.timeBase)
    let shortest = max(1, stream.shortestSample ?? 1)
    var misses: Int64 = 0
    // The index holds decode times: the key frame it finds may be shown later than the time asked for.
    for attempt in 0..<Self.mostEntries {
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
        // What comes first comes for all times before it.
        misses += 1
        guard misses < 8 else { return }
        target = target.subtractingClamped(shortest.multipliedClamped(by: 1 << misses))
      } else {
        // One key frame after the other, and where many are decoded long before they are shown, in steps that grow.
        let steps = Int64(max(0, attempt - Self.mostEntries / 2))
        target = steps == 0 ? before : before.subtractingClamped(shortest.multipliedClamped(by: 1 << steps))
      }
    }
  }

  /// Key frames before a time that are looked at until one is shown before it, too.
  private static let mostEntries = 64

  /// Reads up to the time, and then again up to the key frame before it.
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

  /// Back to the first sample.
  package func rewind() throws {
    try lock.withLock {
      try checkProtection()
      try rewindFile()
    }
  }

  private func rewindFile() throws {
    nextUnit = 0
    // Opening a file again can be long work: not for one that was opened just now.
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

  private func read(_ unit: ElementaryStreamIndex.AccessUnit) throws -> Data? {
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

  /// A file that libavformat has opened, and what was found in it besides.
  private struct Opened {
    let context: UnsafeMutablePointer<AVFormatContext>
    let io: ByteSourceIO?
    let boxes: MovieTables.Facts
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
    var boxes = MovieTables.Facts()
    // libavformat takes memory for what the headers claim.
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
    // Taken only by the raw-stream demuxers; where the stream tells its own rate, that wins.
    let rate = frameRate ?? defaultFrameRate
    av_dict_set(&options, "framerate", "\(rate.num)/\(rate.den)", 0)
    for (key, value) in access.options(for: url, isLocal: isLocal) { av_dict_set(&options, key, value, 0) }
    var format: UnsafePointer<AVInputFormat>?
    if let sequence {
      // The program asked for it by name; a file's content never leads here.
      format = av_find_input_format("image2")
      av_dict_set(&options, "format_whitelist", "image2", 0)
      av_dict_set(&options, "start_number", String(sequence.first), 0)
    }
    // "file:" keeps a colon in a file's name from being read as a protocol.
    let name = isLocal ? "file:" + (sequence?.pattern ?? path) : url
    var (code, messages) = LibavLog.collect { avformat_open_input(&context, name, format, &options) }
    if code < 0, MediaAccess.isRefusal(messages), isLocal, isJPEG(path) {
      // By its name it would be one of a sequence. The context went with the failure.
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
    // Of what is left out libavformat learns nothing: it has to look beyond that.
    opened.pointee.probesize = opened.pointee.probesize.addingClamped(scrambling.clearFrom)
    let (found, complaints) = LibavLog.collect { avformat_find_stream_info(opened, nil) }
    // What is scrambled makes no sense to libavformat; that it is, it does not say.
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
  /// A path, or the URL of a file.
  fileprivate var isLocalFile: Bool { !contains("://") || hasPrefix("file://") }
}

extension MediaStream {
  /// Whether its times say something of the file's.
  fileprivate var isTimed: Bool { kind == .video || kind == .audio }

  /// The facts that the index of an elementary stream adds.
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
