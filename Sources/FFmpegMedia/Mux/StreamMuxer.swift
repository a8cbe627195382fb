// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// Writes compressed samples into a container that needs no index at its end: to a file, to a pipe,
/// or to a server.
///
/// Samples are written in the order in which they come; `SampleInterleaver` makes that order. H.264
/// and HEVC come with length prefixes, as Core Media has them, and are converted where the
/// container holds byte streams (H.264, annex B). Not thread-safe: the caller serialises all calls.
package final class StreamMuxer {
  /// Properties of a connection to a server.
  package struct Connection: Sendable {
    /// The time limit in seconds of connecting and of each write.
    package var timeout = 10.0
    /// A file of certificates (PEM) that are trusted for `rtmps`; nil: the system's.
    package var certificates: String?

    package init() {}
  }

  /// The delay in microseconds between a sample's arrival at a decoder of a transport stream and
  /// its decoding: the difference of its decode time and the program clock reference.
  private static let fileDelay: Int32 = 700_000
  private static let liveDelay: Int32 = 200_000

  /// The duration of a text that lasts until the next one where none follows.
  private static let textDuration = CMTime(value: 5, timescale: 1)

  private let container: StreamContainer
  private let interruption: StreamInterruption
  /// The time limit of a write in seconds; nil for a file or pipe.
  private let timeout: Double?
  private let address: StreamAddress?
  private var tracks: [MuxerTrack]
  private var context: UnsafeMutablePointer<AVFormatContext>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var sink: DescriptorSink?
  private var lastDTS: [Int64?]
  private var formats: [CMFormatDescription]
  private var hasOpened = false
  /// The bytes of the samples that were written.
  package private(set) var sampleBytes: Int64 = 0

  /// Begins a stream to a file or pipe.
  /// - Parameters:
  ///   - descriptor: The file descriptor, which the caller keeps open until `finish()` and closes.
  ///   - container: The container.
  ///   - formats: The format of each track. Subtitles are 3GPP timed text.
  ///   - timeScales: By track, units per second in which its times are whole numbers.
  ///   - languages: By track, its code of ISO 639-2; nil where it is not known.
  ///   - enabled: By track, whether players use it by default; empty: all of them.
  ///   - metadata: Metadata of the whole stream by the names that libavformat has for it, `title`
  ///     for example; a container leaves out tracks and tags that it cannot store.
  /// - Throws: `MediaFileError`; of the kind `unsupportedFormat` if the container cannot hold a
  ///   track.
  package init(
    descriptor: Int32, container: StreamContainer, formats: [CMFormatDescription], timeScales: [Int32],
    languages: [String?] = [], enabled: [Bool] = [], metadata: [String: String] = [:]
  ) throws {
    (self.container, self.formats) = (container, formats)
    (interruption, timeout, address) = (StreamInterruption(), nil, nil)
    tracks = try Self.tracks(formats, timeScales, container)
    for (track, language) in zip(tracks.indices, languages) { tracks[track].language = language }
    for (track, isEnabled) in zip(tracks.indices, enabled) { tracks[track].isEnabled = isEnabled }
    lastDTS = Array(repeating: nil, count: tracks.count)
    let sink = try DescriptorSink(descriptor)
    self.sink = sink
    let context = try makeContext()
    context.pointee.pb = sink.context
    context.pointee.max_delay = Self.fileDelay
    for (key, value) in metadata { av_dict_set(&context.pointee.metadata, key, value, 0) }
    try writeHeader(isSeekable: sink.context?.pointee.seekable ?? 0 != 0)
  }

  /// Connects to a server.
  /// - Parameters:
  ///   - address: The server's address.
  ///   - container: The container; nil: that of the address's scheme.
  ///   - formats: The format of each track.
  ///   - timeScales: By track, units per second in which its times are whole numbers.
  ///   - connection: Properties of the connection.
  ///   - interruption: Ends connecting and all later calls when it is cancelled.
  /// - Throws: `MediaFileError`, whose text contains no secret of the address.
  package init(
    address: StreamAddress, container: StreamContainer? = nil, formats: [CMFormatDescription],
    timeScales: [Int32], connection: Connection, interruption: StreamInterruption
  ) throws {
    self.container = container ?? address.container
    (self.interruption, self.formats) = (interruption, formats)
    (timeout, self.address) = (connection.timeout, address)
    tracks = try Self.tracks(formats, timeScales, self.container)
    lastDTS = Array(repeating: nil, count: tracks.count)
    let context = try makeContext()
    context.pointee.interrupt_callback = interruption.callback
    context.pointee.max_delay = Self.liveDelay
    context.pointee.flush_packets = 1
    context.pointee.url = av_strdup(address.url)
    interruption.begin(address.isListener ? nil : connection.timeout)
    if self.container != .rtsp { try connect(context, address, connection) }
    try writeHeader(isSeekable: false)
  }

  deinit { release() }

  private static func tracks(
    _ formats: [CMFormatDescription], _ timeScales: [Int32], _ container: StreamContainer
  ) throws -> [MuxerTrack] {
    guard !formats.isEmpty, formats.count == timeScales.count else {
      throw MediaFileError(.noStreams, "a stream needs at least one track")
    }
    return try zip(formats, timeScales).map { format, scale in
      var track = try MuxerTrack(format, timeScale: max(1, scale))
      if track.isText, let codec = container.textCodec {
        (track.kind, track.codecID, track.extradata) = (.subtitle, codec, Data())
      }
      guard container.holds(track.codecID) else {
        let name = avcodec_get_name(track.codecID).map { String(cString: $0) } ?? "this codec"
        throw MediaFileError(.unsupportedFormat, "\(container.name) cannot hold \(name)")
      }
      // Only movie files have these codes.
      if container != .fragmentedMP4 { track.codecTag = 0 }
      return track
    }
  }

  private func makeContext() throws -> UnsafeMutablePointer<AVFormatContext> {
    LibavLog.takeOver()
    guard avformat_alloc_output_context2(&context, nil, container.muxerName, nil) >= 0, let context,
      let packet = av_packet_alloc()
    else {
      throw MediaFileError(
        .unsupportedFormat, "libavformat was built without the muxer for \(container.name)")
    }
    self.packet = packet
    // Without it, the stream would contain the version of libavformat.
    context.pointee.flags |= AVFMT_FLAG_BITEXACT
    for track in tracks {
      guard let stream = avformat_new_stream(context, nil) else {
        throw MediaFileError(.outOfMemory, "out of memory")
      }
      try track.apply(to: stream)
    }
    return context
  }

  private func connect(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ address: StreamAddress, _ connection: Connection
  ) throws {
    var settings: OpaquePointer?
    defer { av_dict_free(&settings) }
    var callback = interruption.callback
    switch address.scheme {
    case "rtmps":
      av_dict_set(&settings, "tls_verify", "1", 0)
      if let file = connection.certificates { av_dict_set(&settings, "ca_file", file, 0) }
    // Seven packets of a transport stream fit into an Ethernet frame.
    case "udp": av_dict_set(&settings, "pkt_size", "1316", 0)
    default: break
    }
    let (code, messages) = LibavLog.collect {
      avio_open2(&context.pointee.pb, address.url, AVIO_FLAG_WRITE, &callback, &settings)
    }
    guard code >= 0 else { throw failure(code, "cannot connect to \(address)", messages) }
  }

  private func writeHeader(isSeekable: Bool) throws {
    guard let context else { return }
    var settings: OpaquePointer?
    defer { av_dict_free(&settings) }
    switch container {
    case .flv: if !isSeekable { av_dict_set(&settings, "flvflags", "no_duration_filesize", 0) }
    case .fragmentedMP4:
      av_dict_set(&settings, "movflags", "frag_keyframe+delay_moov+default_base_moof", 0)
      av_dict_set(&settings, "frag_duration", "2000000", 0)
    // Over TCP, as few servers take datagrams through a firewall.
    case .rtsp: av_dict_set(&settings, "rtsp_transport", "tcp", 0)
    case .transportStream, .matroska, .webm: break
    }
    let (code, messages) = LibavLog.collect { avformat_write_header(context, &settings) }
    guard code >= 0 else {
      throw failure(
        code,
        address.map { "cannot connect to \($0)" } ?? "the header of \(container.name) cannot be written",
        messages)
    }
    hasOpened = true
    if context.pointee.pb != nil {
      avio_flush(context.pointee.pb)
      try check(0, "writing failed", [])
    }
  }

  /// Writes one sample.
  /// - Parameters:
  ///   - buffer: One compressed sample, or several that follow each other, whose data is ready.
  ///   - index: The track's index.
  /// - Throws: `MediaFileError`; of the kind `badTiming` if a sample has no time.
  package func write(_ buffer: CMSampleBuffer, to index: Int) throws {
    guard context != nil, tracks.indices.contains(index) else {
      throw MediaFileError(.other, "the stream has been closed")
    }
    guard let block = CMSampleBufferGetDataBuffer(buffer), let data = try? block.dataBytes() else {
      throw MediaFileError(.other, "a sample has no data")
    }
    let prefix = try takeFormat(of: buffer, index)
    let count = CMSampleBufferGetNumSamples(buffer)
    guard count == 1 || count <= data.count else {
      throw MediaFileError(.other, "a sample buffer has more samples than bytes")
    }
    let attachments =
      CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) as? [[CFString: Any]]
    var position = data.startIndex
    for number in 0..<max(0, count) {
      var timing = CMSampleTimingInfo()
      guard CMSampleBufferGetSampleTimingInfo(buffer, at: number, timingInfoOut: &timing) == noErr,
        timing.presentationTimeStamp.isNumeric
      else { throw MediaFileError(.badTiming, "a sample has no presentation time") }
      let size = count == 1 ? data.count : CMSampleBufferGetSampleSize(buffer, at: number)
      guard size >= 0, size <= data.endIndex - position, size < Int(Int32.max) - 1024 else {
        throw MediaFileError(.other, "a sample's size does not fit its data")
      }
      let attributes = attachments.flatMap { number < $0.count ? $0[number] : nil } ?? [:]
      let isSync = !((attributes[kCMSampleAttachmentKey_NotSync] as? Bool) ?? false)
      var bytes = (number == 0 ? prefix : Data()) + data[position..<position + size]
      position += size
      if tracks[index].isText {
        bytes = text(bytes)
        if !timing.duration.isNumeric || timing.duration <= .zero { timing.duration = Self.textDuration }
      }
      try write(bytes, timing, isSync: isSync, to: index)
    }
  }

  /// A sample of 3GPP timed text in the container's format, which has no style; no bytes for a
  /// sample that only ends the text before it.
  private func text(_ sample: Data) -> Data {
    let text = TimedText(start: 0, end: nil, sample: [UInt8](sample)).text
    return Data(
      (container.textCodec == AV_CODEC_ID_WEBVTT ? TimedText.webVTT(text) : TimedText.lines(of: text)).utf8)
  }

  /// Records a new format of a track.
  /// - Returns: The parameter sets that the header does not have, with length prefixes; else no
  ///   bytes.
  private func takeFormat(of buffer: CMSampleBuffer, _ index: Int) throws -> Data {
    guard let format = buffer.formatDescription, format !== formats[index],
      tracks[index].kind == .video,
      !CMFormatDescriptionEqual(format, otherFormatDescription: formats[index])
    else { return Data() }
    formats[index] = format
    guard container.holds(format) else {
      throw MediaFileError(.unsupportedFormat, "\(container.name) cannot hold the track's new format")
    }
    return format.parameterSetsWithLengthPrefixes
  }

  private func write(_ bytes: Data, _ timing: CMSampleTimingInfo, isSync: Bool, to index: Int) throws {
    guard let context, let packet, !bytes.isEmpty,
      let base = context.pointee.streams[index]?.pointee.time_base
    else { return }
    let decodeTime = timing.decodeTimeStamp.isNumeric ? timing.decodeTimeStamp : timing.presentationTimeStamp
    guard var pts = Self.units(timing.presentationTimeStamp, base), var dts = Self.units(decodeTime, base)
    else {
      throw MediaFileError(.badTiming, "a sample's time is too large for the container")
    }
    // Containers with milliseconds round two times to one, and decode times must increase.
    if let last = lastDTS[index], dts <= last { dts = last + 1 }
    pts = max(pts, dts)
    lastDTS[index] = dts
    interruption.begin(timeout)
    var code: Int32 = 0
    var messages: [String] = []
    bytes.withUnsafeBytes { raw in
      av_packet_unref(packet)
      packet.pointee.stream_index = Int32(index)
      (packet.pointee.pts, packet.pointee.dts) = (pts, dts)
      packet.pointee.duration = Self.units(timing.duration, base).map { max(0, $0) } ?? 0
      packet.pointee.flags = isSync ? AV_PKT_FLAG_KEY : 0
      packet.pointee.data = UnsafeMutablePointer(mutating: raw.bindMemory(to: UInt8.self).baseAddress)
      packet.pointee.size = Int32(raw.count)
      (code, messages) = LibavLog.collect { av_write_frame(context, packet) }
      packet.pointee.data = nil
      packet.pointee.size = 0
    }
    try check(code, "writing failed", messages)
    sampleBytes += Int64(bytes.count)
  }

  /// A time in units of a time base, rounded; nil if it has no number or is too large for
  /// libavformat's sums and products.
  private static func units(_ time: CMTime, _ base: AVRational) -> Int64? {
    guard time.isNumeric, time.timescale > 0, base.num > 0, base.den > 0 else { return nil }
    let value = av_rescale_q_rnd(time.value, AVRational(num: 1, den: time.timescale), base, AV_ROUND_NEAR_INF)
    return value.magnitude < 1 << 60 ? value : nil
  }

  /// Adds a chapter, which Matroska holds; to be called before `finish()`.
  /// - Parameters:
  ///   - range: Its time in the stream, which begins at 0. A chapter without numeric times is left
  ///     out.
  ///   - title: Its title.
  /// - Throws: `MediaFileError` if there is no memory.
  package func addChapter(_ range: CMTimeRange, title: String) throws {
    let base = AVRational(num: 1, den: 1_000_000)
    guard let context, let start = Self.units(range.start, base), let end = Self.units(range.end, base),
      start >= 0, end >= start
    else { return }
    guard let chapter = av_mallocz(MemoryLayout<AVChapter>.size)?.bindMemory(to: AVChapter.self, capacity: 1)
    else { throw MediaFileError(.outOfMemory, "out of memory") }
    chapter.pointee.id = Int64(context.pointee.nb_chapters) + 1
    chapter.pointee.time_base = base
    (chapter.pointee.start, chapter.pointee.end) = (start, end)
    av_dict_set(&chapter.pointee.metadata, "title", title, 0)
    // The context owns the list and its elements.
    var count = Int32(clamping: context.pointee.nb_chapters)
    guard av_dynarray_add_nofree(&context.pointee.chapters, &count, chapter) >= 0 else {
      av_dict_free(&chapter.pointee.metadata)
      av_free(chapter)
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    context.pointee.nb_chapters = UInt32(count)
  }

  /// Writes what is left and the container's end. A server is notified that the stream has ended.
  /// - Throws: `MediaFileError` if that fails.
  package func finish() throws {
    guard let context else { throw MediaFileError(.other, "the stream has been closed") }
    interruption.begin(timeout)
    let (code, messages) = LibavLog.collect { av_write_trailer(context) }
    hasOpened = false
    try check(code, "ending the stream failed", messages)
    if context.pointee.pb != nil { avio_flush(context.pointee.pb) }
    try check(0, "ending the stream failed", [])
    if let address { interruption.hold(address.holdingTime) }
    release()
  }

  /// Closes the connection without an end. A file is as complete as its container allows.
  package func close() { release() }

  private func check(_ code: Int32, _ what: String, _ messages: [String]) throws {
    let stored = context?.pointee.pb?.pointee.error ?? 0
    let code = stored < 0 ? stored : code
    guard code < 0 else { return }
    throw failure(code, address.map { "the connection to \($0) was lost" } ?? what, messages)
  }

  private func failure(_ code: Int32, _ what: String, _ messages: [String]) -> MediaFileError {
    let isExit = code == ovt_averror_exit()
    if isExit, interruption.isSet {
      return MediaFileError(.other, "\(what): the stream was ended before", code: code)
    }
    let isLate = isExit
    let error =
      isLate
      ? MediaFileError(
        .other, "\(what): no answer within \(Int32(clamping: timeout ?? 0)) s", code: ovt_averror(ETIMEDOUT))
      : MediaFileError.libav(code, what, messages: messages)
    return MediaFileError(error.kind, address?.redacted(error.detail) ?? error.detail, code: error.code)
  }

  private func release() {
    av_packet_free(&packet)
    guard let context else { return }
    interruption.begin(1)
    // Only the end closes a connection of RTSP.
    if hasOpened, container == .rtsp { _ = LibavLog.collect { av_write_trailer(context) } }
    hasOpened = false
    if sink != nil {
      context.pointee.pb = nil
    } else if context.pointee.pb != nil {
      // Closing sends what is in the buffer.
      _ = LibavLog.collect { avio_close(context.pointee.pb) }
      context.pointee.pb = nil
    }
    avformat_free_context(context)
    self.context = nil
    sink = nil
  }
}
