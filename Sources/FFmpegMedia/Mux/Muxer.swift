// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Writes samples into a QuickTime movie, an ISO base media file or an audio file, or into segments
/// of a movie in memory.
///
/// Samples are written in the order in which they come; the caller interleaves the tracks. Not
/// thread-safe: the caller serialises all calls.
package final class Muxer {
  /// Options of the file to be written.
  package struct Options: Sendable {
    /// Moves the index in front of the samples when the movie is finished, so that a player can
    /// begin while it downloads.
    package var fastStart = false
    /// Writes a movie in fragments (`moof`); each call of `cutFragment()` ends one.
    package var isFragmented = false
    /// Time units per second of the movie header; 0: a value in which the tracks' times are whole
    /// numbers.
    package var movieTimeScale: Int32 = 0
    /// Sequence number of the first fragment (`mfhd`).
    package var firstFragment: Int32 = 1
    /// The movie's metadata as libavformat names it, by key.
    package var metadata: [String: String] = [:]
    /// Further metadata items of the movie.
    package var items: [MovieMetadataItem] = []
    /// The expected duration of a movie in fragments in seconds, for `mehd`; 0: unknown.
    package var durationHint = 0.0
    /// Stores the times of samples in fragments as they are, without an edit list that moves the
    /// beginning to zero.
    package var keepsTimes = false
    /// With `keepsTimes`: whether the first decode times are negative.
    package var hasNegativeTimes = false

    package init() {}
  }

  /// The times and flags of one sample. Times are in units of the track's time scale.
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
  /// For each track, the shortest time so far from one sample to the next in decoding order, in
  /// units of the stream; and whether its samples are shown in another order than they are decoded.
  private var shortestGaps: [Int64?]
  private var reorders: [Bool]
  private var fragmentedHeaderIsWritten = false
  private var initialization = Data()
  private var movieTimeScale: Int32 = 1000
  /// Length in bytes of the file up to the end of the last complete fragment.
  private var completeLength: Int64 = 0

  /// Begins a movie file.
  /// - Parameters:
  ///   - path: The final path, where no file may exist.
  ///   - container: The container.
  ///   - tracks: The tracks, at least one.
  ///   - options: The options.
  /// - Throws: `MediaFileError`.
  package convenience init(
    path: String, container: MuxerContainer, tracks: [MuxerTrack], options: Options
  ) throws {
    let file = try MuxerFile(finalPath: path, visible: options.isFragmented)
    try self.init(file: file, container: container, tracks: tracks, options: options)
  }

  /// Begins a movie in a file that has been created before.
  /// - Parameters:
  ///   - file: The file; visible if, and only if, the movie is fragmented.
  ///   - container: The container.
  ///   - tracks: The tracks, at least one.
  ///   - options: The options.
  /// - Throws: `MediaFileError`.
  package convenience init(
    file: MuxerFile, container: MuxerContainer, tracks: [MuxerTrack], options: Options
  ) throws {
    try self.init(container: container, tracks: tracks, options: options, file: file, sink: nil)
  }

  /// Begins a movie in segments in memory, which `takeInitialization()` and `takeSegment()` return.
  /// It is always fragmented.
  /// - Parameters:
  ///   - container: The container.
  ///   - tracks: The tracks, at least one.
  ///   - options: The options.
  /// - Throws: `MediaFileError`.
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
    shortestGaps = Array(repeating: nil, count: tracks.count)
    reorders = Array(repeating: false, count: tracks.count)
    guard !tracks.isEmpty else {
      throw MediaFileError(.noStreams, "a movie needs at least one track with samples")
    }
    guard avformat_alloc_output_context2(&context, nil, container.format.name, nil) >= 0, let context,
      let packet = av_packet_alloc()
    else { throw MediaFileError(.unsupportedFormat, "libavformat was built without the \(container) muxer") }
    self.packet = packet
    // Without it, the file would contain the version of libavformat.
    context.pointee.flags |= AVFMT_FLAG_BITEXACT
    context.pointee.strict_std_compliance = -2
    context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
    // Without it, libavformat would delay packets that the caller has interleaved already.
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
      // For `faststart`, libavformat opens the file again by its name.
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
      // A WAVE file of more than 4 GiB is written as RF64 (EBU Tech 3306).
      av_dict_set(&settings, "rf64", "auto", 0)
    }
    let (code, messages) = LibavLog.collect { avformat_write_header(context, &settings) }
    guard code >= 0 else {
      let error = MediaFileError.libav(code, "the \(container) header cannot be written", messages: messages)
      if error.kind == .other,
        let track = tracks.first(where: {
          $0.sampleDescription == nil && $0.kind != .metadata && !container.holds($0.codecID)
        })
      {
        let name = avcodec_get_name(track.codecID).map { String(cString: $0) } ?? "this format"
        throw MediaFileError(
          .unsupportedFormat,
          "a .\(container.rawValue) file cannot hold samples of \(name); a .mkv file holds most formats",
          code: code)
      }
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
      // libavformat cannot store negative decode times. It stores negative composition offsets
      // instead.
      if options.hasNegativeTimes { flags += ["negative_cts_offsets"] }
      av_dict_set(&settings, "use_editlist", "0", 0)
    }
    av_dict_set(&settings, "movflags", "+" + flags.joined(separator: "+"), 0)
    av_dict_set(&settings, "movie_timescale", "\(movieTimeScale)", 0)
    // libavformat has one time scale option for all video tracks.
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

  /// A time scale of at least 600 in which the times of all video tracks (of all tracks if there is
  /// no video) are whole numbers; the first track's if that would exceed 1,000,000.
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

  /// Whether the format of a track can change. The header of a movie in fragments is written before
  /// all formats are known.
  package var holdsSeveralFormats: Bool { !options.isFragmented }

  /// Changes the format of a track from its next sample on.
  /// - Parameters:
  ///   - index: The track's index.
  ///   - track: A track of the new format, with the same codec and the same sample entry type.
  /// - Throws: `MediaFileError` if the track cannot hold both formats.
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

  /// Writes one sample.
  /// - Parameters:
  ///   - sample: Its track, times and flags. Decode times of a track must increase, and none may be
  ///     later than the presentation time.
  ///   - bytes: Its data, which is used during the call only.
  /// - Throws: `MediaFileError`; of the kind `badTiming` if the container cannot store the times.
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
        "the track has no valid avcC or hvcC record, and its samples are not in byte stream format (Annex B)")
    }
    // libavformat, among others, cannot open a movie with empty samples in a fragment.
    guard !options.isFragmented || !bytes.isEmpty else {
      throw MediaFileError(.other, "an empty sample cannot be stored in a fragmented movie")
    }
    let scale =
      Int64(context.pointee.streams[sample.track]?.pointee.time_base.den ?? 1)
      / Int64(max(1, tracks[sample.track].timeScale))
    let times = [sample.pts, sample.dts, max(0, sample.duration)].map { $0.multipliedClamped(by: scale) }
    // The limit keeps libavformat's sums and products of times from overflowing.
    guard times.allSatisfy({ $0.magnitude < 1 << 60 }) else {
      throw MediaFileError(
        .badTiming, "a sample's time (\(sample.pts)) or duration is too large for the container")
    }
    // A movie file stores durations and composition offsets in 32 bits (ISO/IEC 14496-12, 8.6.1).
    // For a larger duration libavformat aborts the process when the movie is finished.
    let gap = lastDTS[sample.track].map { times[1] - $0.multipliedClamped(by: scale) } ?? 0
    guard [gap, times[2], times[0] - times[1]].allSatisfy({ $0 < Int64(Int32.max) }) else {
      let seconds = Double(Int32.max) / Double(max(1, Int64(tracks[sample.track].timeScale) * scale))
      throw MediaFileError(
        .badTiming,
        "the duration, the composition offset or the decode time after the previous sample of the sample at \(sample.pts) exceeds \(Int(seconds)) s; use a time scale smaller than \(tracks[sample.track].timeScale)"
      )
    }
    lastDTS[sample.track] = sample.dts
    if gap > 0 { shortestGaps[sample.track] = min(shortestGaps[sample.track] ?? gap, gap) }
    if sample.pts != sample.dts { reorders[sample.track] = true }
    av_packet_unref(packet)
    packet.pointee.stream_index = Int32(sample.track)
    packet.pointee.pts = times[0]
    packet.pointee.dts = times[1]
    // libavformat takes the duration of a fragment's last sample for the time until the next one is
    // decoded, and moves that one if it comes earlier. With reordered pictures of different
    // durations the two differ.
    packet.pointee.duration =
      options.keepsTimes && reorders[sample.track]
      ? min(times[2], shortestGaps[sample.track] ?? times[2]) : times[2]
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

  /// Writes the samples since the last call as a fragment. The first call also writes the header.
  /// - Throws: `MediaFileError` if writing fails.
  package func cutFragment() throws {
    guard let context, options.isFragmented else { return }
    if !fragmentedHeaderIsWritten {
      // libavformat's first flush writes only the header, which needs the times of the first
      // samples.
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
    // The next fragment begins at the time of its first sample, and not where the last sample of
    // this one ends. The flag holds for one fragment.
    if options.keepsTimes { av_opt_set(context.pointee.priv_data, "movflags", "+frag_discont", 0) }
  }

  private var completion: MuxerCompletion {
    MuxerCompletion(tracks: tracks, options: options, isQuickTime: container == .mov)
  }

  /// Adds what libavformat does not write to the header of a movie in fragments, before the first
  /// fragment is written.
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
      let result = avio_seek(context.pointee.pb, 0, SEEK_SET)
      try check(Int32(clamping: min(0, result)), "writing the header failed", [])
      avio_write(context.pointee.pb, completed, Int32(clamping: completed.count))
      avio_flush(context.pointee.pb)
    }
  }

  /// Removes and returns the initialization segment. It is empty before the first call of
  /// `cutFragment()`.
  package func takeInitialization() -> Data {
    defer { initialization = Data() }
    return initialization
  }

  /// Removes and returns the bytes of the fragments since the last call; empty if there are none.
  package func takeSegment() -> Data {
    guard let sink, let context else { return Data() }
    avio_flush(context.pointee.pb)
    return sink.take()
  }

  /// Completes the movie and gives the file its final name.
  /// - Parameter ends: By track index, where the presentation of the track is cut, in units of its
  ///   time scale.
  /// - Throws: `MediaFileError` if writing fails.
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

  /// Stops writing and deletes the file.
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
    // The context owns the muxer's memory. Writing a trailer after a failed sample may abort the
    // process.
    if file != nil {
      if context.pointee.pb != nil { avio_closep(&context.pointee.pb) }
    } else if sink != nil {
      MuxerSink.free(&context.pointee.pb)
    }
    avformat_free_context(context)
    self.context = nil
  }
}

/// Collects a muxer's output in memory.
final class MuxerSink {
  private var bytes = Data()

  func take() -> Data {
    defer { bytes = Data() }
    return bytes
  }

  /// Makes an I/O context that appends to this object. It does not retain the object, which must
  /// outlive it.
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
