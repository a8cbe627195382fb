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
  package internal(set) var streams: [MediaStream]
  /// The file's metadata as libavformat names it, by key.
  package let metadata: [String: String]
  /// The chapters in the order of their start times, on the corrected time line.
  package internal(set) var chapters: [MediaChapter] = []

  let lock = Lock()
  var context: UnsafeMutablePointer<AVFormatContext>?
  /// Whether nothing has been read since the file was opened, so that `rewindFile()` need not open
  /// it again.
  var isFresh = true
  /// Whether timestamps of the format may be discontinuous (libavformat's `AVFMT_TS_DISCONT`).
  let hasJumps: Bool
  let elementary: ElementaryStreamIndex?
  /// Which streams and packets of an MPEG transport stream are scrambled.
  let scrambling: TransportScrambling
  let frameRate: AVRational?
  let access: MediaAccess
  /// The source of the file's bytes; nil: libavformat opens `url` itself.
  let source: (any MediaByteSource)?
  let interruption: MediaInterruption
  /// libavformat's I/O of `context` over `source`; nil without a source.
  var io: ByteSourceIO?
  /// The connection of `context` to a network input; nil for files.
  var connection: NetworkConnection?
  /// The files and addresses that `context` may open, if it is a playlist; nil for everything else.
  var references: PlaylistReferences?
  /// The packets of a network input, which this demuxer and others take from one connection; nil
  /// for a demuxer that reads by itself.
  let shared: SharedPackets?
  /// Ends the reading of this demuxer alone, if it shares packets.
  let branch = SharedPackets.Branch()
  /// State of reading an elementary stream: the index in `elementary.units` of the next access
  /// unit, and the open file.
  var nextUnit = 0
  var file: FileHandle?
  /// The packet that seeking has read ahead to see where it arrived; `readNext()` returns it first.
  var pending: MediaPacket?
  var corrections = TimeCorrections()
  var times: StreamTimes
  /// Fills in missing presentation times; nil where they follow from picture order counts
  /// (`corrections.ordered`).
  var missing: MissingTimes?
  var durations = SampleDurations()
  /// The error that ended reading. It is thrown once every packet that was read before it has been
  /// handed out.
  var failure: (any Error)?
  var readers: [Int: PictureOrderReader] = [:]
  var isAtEnd = false
  /// Whether AAC packets that are damaged are left out and counted in `lostAudio`. To be set before
  /// anything is read.
  package var dropsDamagedAudio = false
  /// The number of damaged AAC packets that were left out.
  package internal(set) var lostAudio = 0
  /// Whether a discontinuity of the timestamps has been found, also before the last seek.
  var isBroken = false
  var selected: Set<Int>
  /// Indexes of the streams that turned out to be encrypted only when one of their packets was
  /// read.
  var encryptedStreams: Set<Int> = []
  /// Indexes of the Annex B streams in which a parameter set was found that the format description
  /// has not. From there on their samples keep their parameter sets.
  var keepsParameterSets: Set<Int> = []

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
  package convenience init(
    url: String, frameRate: AVRational? = nil, access: MediaAccess = MediaAccess(),
    source: (any MediaByteSource)? = nil, interruption: MediaInterruption = MediaInterruption()
  ) throws {
    let opened = try Demuxer.open(
      url, frameRate: frameRate, access, source: source, interruption: interruption, isFirst: true)
    try self.init(
      opened, url: url, frameRate: frameRate, access: access, interruption: interruption, isLive: false)
  }

  /// - Parameters:
  ///   - opened: The file that libavformat has opened.
  ///   - isLive: Whether it comes while it is made, so that it is not read far ahead, and its times
  ///     may jump.
  init(
    _ opened: Opened, url: String, frameRate: AVRational?, access: MediaAccess,
    interruption: MediaInterruption, isLive: Bool
  ) throws {
    self.url = url
    self.frameRate = frameRate
    self.access = access
    self.interruption = interruption
    shared = nil
    let (context, boxes, scrambling) = (opened.context, opened.boxes, opened.scrambling)
    self.context = context
    io = opened.io
    connection = opened.connection
    references = opened.references
    self.scrambling = scrambling
    self.source = opened.source
    let flags = context.pointee.iformat.map { $0.pointee.flags } ?? 0
    hasJumps = flags & AVFMT_TS_DISCONT != 0 || isLive
    formatName = context.pointee.iformat.flatMap { $0.pointee.name }.map { String(cString: $0) } ?? ""
    let reader = io?.reader ?? (url.isLocalFile ? LocalFileReader(path: Demuxer.path(url)) : nil)
    metadata = dictionaryEntries(context.pointee.metadata)
    selected = Set(0..<Int(context.pointee.nb_streams))
    let tracks = formatName.hasPrefix("matroska") ? reader.map { MatroskaTracks($0) } : nil
    if tracks != nil { Demuxer.discardGuessedDurations(context) }
    let length = context.pointee.duration
    let begin = context.pointee.start_time == ovt_av_nopts_value() ? 0 : context.pointee.start_time
    var end = length > 0 ? begin.addingClamped(length) : nil
    if formatName.hasPrefix("matroska"), begin > 0, length > 0 {
      end = Demuxer.endOfMatroska(
        url, access, source: opened.source, begin: begin, length: length, interruption: interruption)
    }
    if end == nil, !isLive, let reader, let tracks {
      end = MatroskaEnd.ticks(reader, interruption: interruption).map {
        av_rescale($0, tracks.timestampScale, 1000)
      }
    }
    var found = Demuxer.streams(of: context).compactMap { MediaStream($0, containerEnd: end) }
    if formatName.hasPrefix("mov") {
      found = found.map { $0.edited(boxes.edits[$0.trackID]).described(boxes) }
    } else if reader != nil {
      if let tracks { found = tracks.describe(found) }
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
      throw MediaFileError(.noStreams, "\(Demuxer.name(url)) holds neither video nor audio")
    }
    streams = found
    times = StreamTimes(found, corrections, continuity: nil)
    if isMovie { durations = SampleDurations(context) }
    let chapters = MediaChapter.chapters(of: context)
    if elementary != nil { close() } else { try probe(isLive: isLive) }
    let shift = corrections.shift(AVRational(num: 1, den: 1_000_000))
    self.chapters = shift == 0 ? chapters : chapters.map { $0.shifted(back: shift) }
  }

  /// Opens a second, independent demuxer of a file that `other` has opened. Of a network input it
  /// takes the packets from where they are: each packet is read once, by one demuxer.
  ///
  /// - Parameters:
  ///   - other: The demuxer whose streams, chapters and timing properties are taken over.
  ///   - interruption: Ends opening and all later reading when it is set.
  /// - Throws: `MediaFileError`; of the kind `damaged` if the file has fewer streams than when
  ///   `other` opened it.
  package convenience init(
    again other: Demuxer, interruption: MediaInterruption = MediaInterruption()
  ) throws {
    try self.init(again: other, sharing: other.shared, interruption: interruption)
  }

  init(
    again other: Demuxer, sharing shared: SharedPackets?, interruption: MediaInterruption
  ) throws {
    url = other.url
    self.shared = shared
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
    if let shared { interruption.attach(shared.canceller(of: branch)) }
    if elementary == nil, shared == nil {
      let opened = try Demuxer.open(
        url, frameRate: frameRate, access, source: source, interruption: interruption,
        scrambling: other.scrambling)
      (context, io, references) = (opened.context, opened.io, opened.references)
    }
    if isMovie, let context { durations = SampleDurations(context) }
    findMissingTimes()
    forget()
    if let context, Int(context.pointee.nb_streams) < streams.count {
      close()
      throw MediaFileError(.damaged, "\(Demuxer.name(url)) has changed since it was opened")
    }
  }

  deinit {
    shared?.leave(branch)
    close()
  }

  func close() {
    if context != nil { avformat_close_input(&context) }
    context = nil
    io = nil
    connection = nil
    references = nil
  }

  /// Makes the call under way, if any, and all later reads fail with an error. May be called on any
  /// thread.
  package func interrupt() { interruption.interrupt() }

  /// Whether `interrupt()` was called. May be read on any thread.
  package var isInterrupted: Bool { interruption.isSet }

  /// Closes the file. Its streams and timing properties stay; `rewind()` opens it again, and so
  /// does `init(again:)` for another demuxer.
  package func suspend() {
    guard shared == nil else { return }
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
  func discardUnselected(besides others: Set<Int> = []) {
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
    if let shared {
      let wanted = try lock.withLock {
        try checkProtection()
        return selected
      }
      return try shared.next(of: wanted, for: branch)
    }
    return try lock.withLock {
      try checkProtection()
      return try readNext()
    }
  }

  /// Throws if a selected stream is encrypted: without its key it would be decoded to garbage, or
  /// not at all.
  func checkProtection() throws {
    let found = streams.first { stream in
      selected.contains(stream.index) && (stream.isProtected || encryptedStreams.contains(stream.index))
    }
    if let found { throw encrypted(found.index) }
  }

  func encrypted(_ index: Int) -> MediaFileError {
    let what =
      switch streams[index].kind {
      case .video: "video"
      case .audio: "audio"
      case .subtitle, .data: "track \(streams[index].trackID)"
      }
    return MediaFileError(
      .encrypted, "the \(what) of \(Demuxer.name(url)) is encrypted, and no key is available")
  }
}
