// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Writes samples into a QuickTime movie or an ISO media file, or into segments of one.
///
/// Samples are written in the order they come; the caller interleaves. Not thread-safe: the caller serialises.
package final class Muxer {
  package struct Options: Sendable {
    /// The index comes before the samples, so that a player can begin while it loads.
    package var fastStart = false
    /// Write in fragments; each `cutFragment()` ends one.
    package var isFragmented = false
    /// Units per second of the movie header; 0 chooses one that suits the tracks.
    package var movieTimeScale: Int32 = 0
    /// The number of the first fragment.
    package var firstFragment: Int32 = 1
    package var metadata: [String: String] = [:]
    /// Further metadata of the movie.
    package var items: [MovieMetadataItem] = []
    /// Seconds that a movie in fragments will last, as far as is known; 0: not.
    package var durationHint = 0.0
    /// Fragments carry the samples' own times, without an edit list that moves them to zero.
    package var keepsTimes = false
    /// With `keepsTimes`: the first decode times are below zero.
    package var hasNegativeTimes = false

    package init() {}
  }

  /// One sample as the container stores it. Times are in units of the track's time scale.
  package struct Sample {
    package var track: Int
    package var pts: Int64
    package var dts: Int64
    package var duration: Int64
    package var isSync: Bool
    package var isDisposable = false

    package init(track: Int, pts: Int64, dts: Int64, duration: Int64, isSync: Bool) {
      self.track = track
      self.pts = pts
      self.dts = dts
      self.duration = duration
      self.isSync = isSync
    }
  }

  private let tracks: [MuxerTrack]
  private let container: MuxerContainer
  private var descriptions: [Int: MuxerSampleDescriptions] = [:]
  private var sampleCounts: [Int]
  private let options: Options
  private var context: UnsafeMutablePointer<AVFormatContext>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var file: MuxerFile?
  private var sink: MuxerSink?
  private var lastDTS: [Int64?]
  private var fragmentedHeaderIsWritten = false
  private var initialization = Data()
  private var movieTimeScale: Int32 = 1000
  /// Where the last complete fragment ends.
  private var completeLength: Int64 = 0

  /// Begins a movie file at `path`, where nothing may exist.
  package convenience init(
    path: String, container: MuxerContainer, tracks: [MuxerTrack], options: Options
  ) throws {
    let file = try MuxerFile(finalPath: path, visible: options.isFragmented)
    try self.init(file: file, container: container, tracks: tracks, options: options)
  }

  /// Begins a movie in a file that has been reserved before: visible if, and only if, it is fragmented.
  package convenience init(
    file: MuxerFile, container: MuxerContainer, tracks: [MuxerTrack], options: Options
  ) throws {
    try self.init(container: container, tracks: tracks, options: options, file: file, sink: nil)
  }

  /// Begins a movie in segments. Bytes are collected between calls of `takeSegment()`.
  package convenience init(segmentsOf container: MuxerContainer, tracks: [MuxerTrack], options: Options)
    throws
  {
    var options = options
    options.isFragmented = true
    try self.init(container: container, tracks: tracks, options: options, file: nil, sink: MuxerSink())
  }

  private init(
    container: MuxerContainer, tracks: [MuxerTrack], options: Options, file: MuxerFile?, sink: MuxerSink?
  ) throws {
    self.tracks = tracks
    self.container = container
    sampleCounts = Array(repeating: 0, count: tracks.count)
    self.options = options
    self.file = file
    self.sink = sink
    lastDTS = Array(repeating: nil, count: tracks.count)
    guard !tracks.isEmpty else {
      throw MediaFileError(.noStreams, "a movie needs at least one track with samples")
    }
    guard avformat_alloc_output_context2(&context, nil, container.format.name, nil) >= 0, let context,
      let packet = av_packet_alloc()
    else { throw MediaFileError(.unsupportedFormat, "libavformat was built without the \(container) muxer") }
    self.packet = packet
    // Keeps the library's version out of the file.
    context.pointee.flags |= AVFMT_FLAG_BITEXACT
    context.pointee.strict_std_compliance = -2
    context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
    // Also avoids a delay for packets that might follow: the caller has interleaved them.
    context.pointee.max_interleave_delta = 0
    for (key, value) in options.metadata { av_dict_set(&context.pointee.metadata, key, value, 0) }
    for track in tracks {
      guard let stream = avformat_new_stream(context, nil) else {
        throw MediaFileError(.outOfMemory, "out of memory")
      }
      guard track.timeScale > 0 else {
        throw MediaFileError(.badTiming, "a time scale of \(track.timeScale) cannot be stored")
      }
      try track.apply(to: stream)
    }
    try open(context, container: container)
  }

  deinit {
    release()
    if let file { options.isFragmented ? file.keep(length: completeLength) : file.discard() }
  }

  private func open(_ context: UnsafeMutablePointer<AVFormatContext>, container: MuxerContainer) throws {
    if let file {
      let (code, messages) = LibavLog.collect {
        avio_open(&context.pointee.pb, file.workingURL, AVIO_FLAG_READ_WRITE)
      }
      guard code >= 0 else {
        throw MediaFileError.libav(code, "\(file.finalPath) cannot be written", messages: messages)
      }
      // The muxer opens the file a second time, by name, when it moves the index to the front.
      context.pointee.url = av_strdup(file.workingURL)
    } else if let sink {
      context.pointee.pb = try sink.makeContext()
    }
    movieTimeScale = options.movieTimeScale > 0 ? options.movieTimeScale : Muxer.movieTimeScale(for: tracks)
    var settings: OpaquePointer?
    defer { av_dict_free(&settings) }
    if container.isMovie {
      set(movieOptions: &settings)
    } else {
      // A WAVE file of more than 4 GiB becomes one of RF64 (EBU Tech 3306).
      av_dict_set(&settings, "rf64", "auto", 0)
    }
    let (code, messages) = LibavLog.collect { avformat_write_header(context, &settings) }
    guard code >= 0 else {
      let error = MediaFileError.libav(code, "the \(container) header cannot be written", messages: messages)
      throw error.kind == .other ? MediaFileError(.unsupportedFormat, error.detail, code: code) : error
    }
    for (index, track) in tracks.enumerated() {
      guard let base = context.pointee.streams[index]?.pointee.time_base,
        base.num == 1, base.den % track.timeScale == 0
      else {
        throw MediaFileError(
          .badTiming, "the container cannot keep the time scale \(track.timeScale) exactly")
      }
    }
  }

  private func set(movieOptions settings: inout OpaquePointer?) {
    var flags = ["disable_chpl"]
    if options.isFragmented {
      flags += ["frag_custom", "delay_moov", "default_base_moof", "skip_trailer"]
    } else if options.fastStart {
      flags += ["faststart"]
    }
    if options.keepsTimes {
      flags += ["frag_discont"]
      // Decode times cannot be written below zero: pictures are shown before their decode times instead.
      if options.hasNegativeTimes { flags += ["negative_cts_offsets"] }
      av_dict_set(&settings, "use_editlist", "0", 0)
    }
    av_dict_set(&settings, "movflags", "+" + flags.joined(separator: "+"), 0)
    av_dict_set(&settings, "movie_timescale", "\(movieTimeScale)", 0)
    // One for all tracks of pictures.
    let scales = Set(tracks.filter { $0.kind == .video }.map(\.timeScale))
    if scales.count == 1, let scale = scales.first,
      tracks.contains(where: { $0.kind == .video && $0.keepsTimeScale })
    {
      av_dict_set(&settings, "video_track_timescale", "\(scale)", 0)
    }
    if options.isFragmented {
      av_dict_set(&settings, "fragment_index", "\(max(1, options.firstFragment))", 0)
    }
    if let brand = container.format.brand { av_dict_set(&settings, "brand", brand, 0) }
  }

  /// A movie time scale in which every track's times are whole numbers, if there is one of sensible size.
  private static func movieTimeScale(for tracks: [MuxerTrack]) -> Int32 {
    let video = tracks.filter { $0.kind == .video }
    var scale: Int64 = 1
    for track in video.isEmpty ? tracks : video where scale <= 1_000_000 {
      scale = leastCommonMultiple(scale, Int64(track.timeScale))
    }
    guard scale <= 1_000_000 else { return tracks.first?.timeScale ?? 1000 }
    while scale < 600 { scale *= 10 }
    return Int32(scale)
  }

  private static func leastCommonMultiple(_ a: Int64, _ b: Int64) -> Int64 {
    var (x, y) = (a, b)
    while y != 0 { (x, y) = (y, x % y) }
    return a / max(1, x) * b
  }

  /// Whether a track can change its format: the index of a movie in fragments is written before all formats are known.
  package var holdsSeveralFormats: Bool { !options.isFragmented }

  /// From the next sample on, those of a track have another format of the same kind.
  package func changeFormat(of index: Int, to track: MuxerTrack) throws {
    guard holdsSeveralFormats, tracks.indices.contains(index), track.codecID == tracks[index].codecID,
      track.codecTag == tracks[index].codecTag
    else { throw MediaFileError(.unsupportedFormat, "the track cannot hold both formats") }
    let entry = try MuxerSampleDescriptions.entry(of: track, container: container)
    var known =
      try descriptions[index]
      ?? MuxerSampleDescriptions(
        first: MuxerSampleDescriptions.entry(of: tracks[index], container: container))
    known.change(to: entry, at: sampleCounts[index])
    descriptions[index] = known
  }

  /// Writes one sample. `bytes` are needed during the call only.
  package func write(_ sample: Sample, bytes: UnsafeRawBufferPointer) throws {
    guard let context, let packet, tracks.indices.contains(sample.track) else {
      throw MediaFileError(.other, "the movie has been closed")
    }
    if let last = lastDTS[sample.track], sample.dts <= last {
      throw MediaFileError(
        .badTiming, "a sample's decode time (\(sample.dts)) does not follow the one before (\(last))")
    }
    guard sample.pts >= sample.dts else {
      throw MediaFileError(
        .badTiming, "a sample would be shown (\(sample.pts)) before it is decoded (\(sample.dts))")
    }
    guard bytes.count < Int(Int32.max), let base = bytes.baseAddress else {
      throw MediaFileError(.other, "a sample of \(bytes.count) bytes cannot be stored")
    }
    guard !tracks[sample.track].holdsByteStreams || MuxerTrack.beginsWithStartCode(bytes) else {
      throw MediaFileError(
        .unsupportedFormat,
        "the track's configuration record is no avcC or hvcC, and its samples are no byte streams either")
    }
    // libavformat, for one, opens no movie with a fragment that has such samples.
    guard !options.isFragmented || !bytes.isEmpty else {
      throw MediaFileError(.other, "a sample without a byte cannot be stored in a movie of fragments")
    }
    let scale =
      Int64(context.pointee.streams[sample.track]?.pointee.time_base.den ?? 1)
      / Int64(max(1, tracks[sample.track].timeScale))
    let times = [sample.pts, sample.dts, max(0, sample.duration)].map { $0.multipliedClamped(by: scale) }
    // libavformat subtracts times from each other, and multiplies by time scales.
    guard times.allSatisfy({ $0.magnitude < 1 << 60 }) else {
      throw MediaFileError(
        .badTiming, "a sample's time (\(sample.pts)) or duration is too large for the container")
    }
    // A movie file has 32 bits for what lies between two samples, for how long one is shown, and for what presentation is
    // behind decoding. libavformat ends the process on such a duration, when the movie is finished.
    let gap = lastDTS[sample.track].map { times[1] - $0.multipliedClamped(by: scale) } ?? 0
    guard [gap, times[2], times[0] - times[1]].allSatisfy({ $0 < Int64(Int32.max) }) else {
      let seconds = Double(Int32.max) / Double(max(1, Int64(tracks[sample.track].timeScale) * scale))
      throw MediaFileError(
        .badTiming,
        "a sample at \(sample.pts) is shown, or comes, more than \(Int(seconds)) s after another; a smaller time scale than \(tracks[sample.track].timeScale) has room for that"
      )
    }
    lastDTS[sample.track] = sample.dts
    av_packet_unref(packet)
    packet.pointee.stream_index = Int32(sample.track)
    packet.pointee.pts = times[0]
    packet.pointee.dts = times[1]
    packet.pointee.duration = times[2]
    packet.pointee.flags =
      (sample.isSync ? AV_PKT_FLAG_KEY : 0) | (sample.isDisposable ? AV_PKT_FLAG_DISPOSABLE : 0)
    packet.pointee.data = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
    packet.pointee.size = Int32(bytes.count)
    let (code, messages) = LibavLog.collect { av_write_frame(context, packet) }
    packet.pointee.data = nil
    packet.pointee.size = 0
    try check(code, "writing a sample failed", messages)
    if !bytes.isEmpty { sampleCounts[sample.track] += 1 }
  }

  /// Ends the current fragment. The first call also writes the header.
  package func cutFragment() throws {
    guard let context, options.isFragmented else { return }
    if !fragmentedHeaderIsWritten {
      // libavformat's first flush writes the header alone: it has waited for the first samples' times.
      let (code, messages) = LibavLog.collect { av_write_frame(context, nil) }
      try check(code, "writing the header failed", messages)
      avio_flush(context.pointee.pb)
      fragmentedHeaderIsWritten = true
      initialization = sink?.take() ?? Data()
      try completeHeader()
    }
    let (code, messages) = LibavLog.collect { av_write_frame(context, nil) }
    try check(code, "writing a fragment failed", messages)
    avio_flush(context.pointee.pb)
    try check(0, "writing a fragment failed", [])
    completeLength = file?.size ?? 0
  }

  private var completion: MuxerCompletion {
    MuxerCompletion(tracks: tracks, options: options, isQuickTime: container == .mov)
  }

  /// Puts what libavformat does not write into the header of a movie in fragments, before any of them.
  private func completeHeader() throws {
    guard let context, completion.isNeeded else { return }
    if sink != nil {
      initialization = Data(try completion.completed(header: [UInt8](initialization)))
    } else if let file {
      guard let header = file.read(at: 0, count: Int(file.size)) else {
        throw MediaFileError(.damaged, "the written movie cannot be read back")
      }
      let completed = try completion.completed(header: header)
      guard completed != header else { return }
      let place = avio_seek(context.pointee.pb, 0, SEEK_SET)
      try check(Int32(clamping: min(0, place)), "writing the header failed", [])
      avio_write(context.pointee.pb, completed, Int32(clamping: completed.count))
      avio_flush(context.pointee.pb)
    }
  }

  /// The initialization segment, once, after the first cut.
  package func takeInitialization() -> Data {
    defer { initialization = Data() }
    return initialization
  }

  /// The media bytes since the last call; empty when there are none.
  package func takeSegment() -> Data {
    guard let sink, let context else { return Data() }
    avio_flush(context.pointee.pb)
    return sink.take()
  }

  /// Completes the movie and gives the file its name.
  /// - Parameter ends: Where the presentation of a track is cut, in the track's time units.
  package func finish(trackEnds ends: [Int: Int64] = [:]) throws {
    guard let context else { throw MediaFileError(.other, "the movie has been closed") }
    if options.isFragmented { try cutFragment() }
    let (code, messages) = LibavLog.collect { av_write_trailer(context) }
    try check(code, "completing the movie failed", messages)
    avio_flush(context.pointee.pb)
    try check(0, "completing the movie failed", [])
    guard let file else { return }
    let closed = avio_closep(&context.pointee.pb)
    try check(closed, "completing the movie failed", [])
    if !options.isFragmented, container.isMovie {
      if !descriptions.isEmpty || completion.isNeeded {
        var index = try MuxerIndex(of: file)
        try MuxerSampleDescriptions.write(descriptions, into: &index.movie)
        try completion.apply(to: &index.movie)
        try index.commit()
      }
      let edits = MuxerEdits(file: file, movieTimeScale: movieTimeScale)
      try edits.emptyNegativeEdits()
      if !ends.isEmpty { try edits.trim(ends, timeScales: tracks.map(\.timeScale)) }
      if tracks.contains(where: { !$0.isEnabled || $0.volume != 1 || $0.packedLanguage != nil }) {
        try edits.setHeaders(tracks)
      }
    }
    release()
    try file.commit()
    self.file = nil
  }

  /// Gives up: nothing remains.
  package func cancel() {
    release()
    file?.discard()
    file = nil
  }

  private func check(_ code: Int32, _ what: String, _ messages: [String]) throws {
    let stored = context?.pointee.pb?.pointee.error ?? 0
    let code = stored < 0 ? stored : code
    guard code < 0 else { return }
    let error = MediaFileError.libav(code, what, messages: messages)
    throw error.kind == .notRecognized ? MediaFileError(.badTiming, error.detail, code: code) : error
  }

  private func release() {
    av_packet_free(&packet)
    guard let context else { return }
    // The muxer's own memory goes with the context. A trailer over samples that made it fail may end the process.
    if file != nil {
      if context.pointee.pb != nil { avio_closep(&context.pointee.pb) }
    } else if sink != nil {
      MuxerSink.free(&context.pointee.pb)
    }
    avformat_free_context(context)
    self.context = nil
  }
}

/// Memory that takes a muxer's output.
final class MuxerSink {
  private var bytes = Data()

  func take() -> Data {
    defer { bytes = Data() }
    return bytes
  }

  /// An I/O context that appends to this object, which must outlive it.
  func makeContext() throws -> UnsafeMutablePointer<AVIOContext> {
    let size: Int32 = 1 << 16
    guard let buffer = av_malloc(Int(size)) else { throw MediaFileError(.outOfMemory, "out of memory") }
    let context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), size, 1, Unmanaged.passUnretained(self).toOpaque(), nil,
      { opaque, data, count in
        guard let opaque, let data, count > 0 else { return 0 }
        Unmanaged<MuxerSink>.fromOpaque(opaque).takeUnretainedValue().bytes.append(data, count: Int(count))
        return count
      }, nil)
    guard let context else {
      av_free(buffer)
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    return context
  }

  static func free(_ context: inout UnsafeMutablePointer<AVIOContext>?) {
    guard context != nil else { return }
    av_freep(&context!.pointee.buffer)
    avio_context_free(&context)
  }
}
