// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation
import VideoBitstream

/// Opens a file, an image sequence, a network stream or a byte source with libavformat.
extension Demuxer {
  /// A file that libavformat has opened, and the properties that this module read from it itself.
  struct Opened {
    let context: UnsafeMutablePointer<AVFormatContext>
    let io: ByteSourceIO?
    let boxes: MovieTables.TrackProperties
    let scrambling: TransportScrambling
    let source: (any MediaByteSource)?
    var connection: NetworkConnection?
    /// The files and addresses that a playlist may refer to; nil for what is not a playlist.
    var references: PlaylistReferences?
  }

  /// Checks that the file, or each picture of an image sequence, exists and is a regular file.
  /// - Parameters:
  ///   - url: The name or address as the caller gave it.
  ///   - path: The path of the file.
  ///   - sequence: The image sequence that the name stands for; nil if it stands for none.
  ///   - isLocal: Whether the name is that of a file.
  /// - Throws: `MediaFileError` if that is not so.
  private static func checkFiles(
    _ url: String, path: String, _ sequence: ImageSequence?, isLocal: Bool
  ) throws {
    if let obstacle = sequence?.obstacle {
      throw MediaFileError(
        .notRecognized,
        "\(obstacle) of \(Demuxer.name(url)) is not a regular file, and an image sequence consists of regular files"
      )
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
  }

  static func open(
    _ url: String, frameRate: AVRational?, _ access: MediaAccess, source: (any MediaByteSource)?,
    interruption: MediaInterruption, isFirst: Bool = false,
    scrambling known: TransportScrambling = TransportScrambling()
  ) throws -> Opened {
    let path = path(url)
    let isLocal = source == nil && url.isLocalFile
    let sequence = isLocal ? ImageSequence(path) : nil
    try checkFiles(url, path: path, sequence, isLocal: isLocal)
    if isLocal, access.localToLocal, PlaylistText.isName(path) {
      return try openPlaylist(path, interruption: interruption)
    }
    let io = try source.map { try ByteSourceIO($0.makeReader()) }
    if let io { interruption.attach(io.reader) }
    let boxes =
      isFirst
      ? try checkHeaders(url, io?.reader ?? (isLocal ? LocalFileReader(path: path) : nil), isWhole: isLocal)
      : MovieTables.TrackProperties()
    let opened = try openInput(
      url, frameRate: frameRate, access, io: io, sequence: sequence, interruption: interruption)
    var scrambling = known
    if isFirst, opened.pointee.iformat.map({ String(cString: $0.pointee.name) }) == "mpegts",
      let reader = io?.reader ?? (isLocal ? LocalFileReader(path: path) : nil)
    {
      scrambling = TransportScrambling(reader, of: streams(of: opened).map { Int($0.pointee.id) })
    }
    if isFirst, !scrambling.hidden.isEmpty {
      var context: UnsafeMutablePointer<AVFormatContext>? = opened
      avformat_close_input(&context)
      let clear = ClearTransport(hiding: scrambling.hidden) {
        if let source { return source.makeReader() }
        guard let reader = LocalFileReader(path: path) else {
          throw MediaFileError(
            .notFound, "\(name(url)) cannot be opened any more", code: ovt_averror(ENOENT))
        }
        return reader
      }
      return try self.open(
        url, frameRate: frameRate, access, source: clear, interruption: interruption, scrambling: scrambling)
    }
    try findStreams(of: opened, url, io: io, scrambling)
    return Opened(context: opened, io: io, boxes: boxes, scrambling: scrambling, source: source)
  }

  /// Checks a file's headers before libavformat reads them, because libavformat allocates memory
  /// for the sizes in them.
  /// - Parameters:
  ///   - url: The name of the file, for messages.
  ///   - reader: Reads the file; nil if it cannot be read in this way.
  ///   - isWhole: Whether the size of the file is known and final.
  /// - Returns: The properties of a movie's tracks that libavformat does not expose.
  /// - Throws: `MediaFileError` if a header is damaged, or the format is not read.
  private static func checkHeaders(
    _ url: String, _ reader: (any MediaByteReader)?, isWhole: Bool
  ) throws -> MovieTables.TrackProperties {
    guard let reader else { return MovieTables.TrackProperties() }
    guard !WebPHeader.isAnimated(reader) else {
      throw MediaFileError(
        .unsupportedFormat, "\(name(url)) is an animated WebP; of WebP, single pictures alone are read")
    }
    return try MovieTables.check(reader, isWhole: isWhole, name: name(url))
  }

  /// Opens a name or a byte source with the demuxer that fits its content.
  /// - Parameters:
  ///   - url: The name or address as the caller gave it.
  ///   - frameRate: The frame rate of raw streams; nil for `defaultFrameRate`.
  ///   - access: What the name may refer to.
  ///   - io: The byte source; nil if libavformat opens the name itself.
  ///   - sequence: The image sequence that the name stands for; nil if it stands for none.
  ///   - interruption: Ends the call early.
  /// - Returns: libavformat's context, which the caller closes.
  /// - Throws: `MediaFileError` if the file cannot be opened or is in no format that is read.
  private static func openInput(
    _ url: String, frameRate: AVRational?, _ access: MediaAccess, io: ByteSourceIO?,
    sequence: ImageSequence?, interruption: MediaInterruption
  ) throws -> UnsafeMutablePointer<AVFormatContext> {
    let path = path(url)
    let isLocal = io == nil && url.isLocalFile
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
    if code < 0, MediaAccess.isPermissionError(messages), isLocal, isJPEG(path) {
      // libavformat has matched the name to image2. The failed call has freed the context.
      context = avformat_alloc_context()
      context?.pointee.interrupt_callback = interruption.callback
      (code, messages) = LibavLog.collect {
        avformat_open_input(&context, name, av_find_input_format("jpeg_pipe"), &options)
      }
    }
    if code >= 0, let context { return context }
    if let failure = io?.failure { throw failure }
    if MediaAccess.isPermissionError(messages) {
      throw MediaFileError(
        .notRecognized, "\(Demuxer.name(url)) is a list of other files, or of a format that is not read",
        code: code
      )
    }
    throw MediaFileError.libav(code, "\(Demuxer.name(url)) cannot be opened", messages: messages)
  }

  /// Reads the first packets of a file until the properties of its streams are known.
  /// - Throws: `MediaFileError` if the file cannot be read; its context is closed then.
  private static func findStreams(
    of opened: UnsafeMutablePointer<AVFormatContext>, _ url: String, io: ByteSourceIO?,
    _ scrambling: TransportScrambling
  ) throws {
    // ClearTransport hides the scrambled packets from libavformat, so that the probe has to reach
    // beyond them.
    opened.pointee.probesize = opened.pointee.probesize.addingClamped(scrambling.clearFrom)
    let (found, complaints) = LibavLog.collect { avformat_find_stream_info(opened, nil) }
    // avformat_find_stream_info fails for scrambled streams without saying that they are scrambled.
    guard found >= 0 || scrambling.isFound else {
      var context: UnsafeMutablePointer<AVFormatContext>? = opened
      avformat_close_input(&context)
      if let failure = io?.failure { throw failure }
      let error = MediaFileError.libav(found, "\(name(url)) cannot be read", messages: complaints)
      throw error.kind == .notRecognized ? MediaFileError(.damaged, error.detail, code: found) : error
    }
  }

  static func isJPEG(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    return (try? file.read(upToCount: 3))?.elementsEqual([0xFF, 0xD8, 0xFF]) ?? false
  }

  static func streams(
    of context: UnsafeMutablePointer<AVFormatContext>
  ) -> [UnsafeMutablePointer<AVStream>] {
    (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
  }

  static func path(_ url: String) -> String {
    guard url.hasPrefix("file://") else { return url }
    return URL(string: url)?.path ?? String(url.dropFirst(7))
  }

  /// The name of a file for messages: without its folder, or of an address without secrets.
  static func name(_ url: String) -> String {
    if !url.isLocalFile, let address = StreamAddress(input: url) { return address.description }
    return (path(url) as NSString).lastPathComponent
  }
}

extension String {
  /// Whether the string is a path or a `file:` URL.
  var isLocalFile: Bool { !contains("://") || hasPrefix("file://") }
}

extension MediaStream {
  /// Whether the stream's times count for the beginning of the file's.
  var isTimed: Bool { kind == .video || kind == .audio }

  /// The stream with the timing, sample count and parameter sets that the index of an elementary
  /// stream has.
  /// - Parameters:
  ///   - index: The index of the elementary stream.
  ///   - rate: Frames per second; nil: the rate in the stream, or else `Demuxer.defaultFrameRate`.
  func asElementary(_ index: ElementaryStreamIndex, rate: AVRational?) -> MediaStream {
    let storedRate =
      averageFrameRate.num > 0 && averageFrameRate.den > 0 ? averageFrameRate : Demuxer.defaultFrameRate
    let frameRate = rate ?? storedRate
    return MediaStream(
      index: 0, trackID: 1, kind: kind, codec: codec,
      timeBase: AVRational(num: frameRate.den, den: frameRate.num), startTime: 0,
      duration: Int64(index.units.count), sampleCount: index.units.count,
      sampleBytes: nil, shortestSample: 1, lastSample: nil, averageFrameRate: frameRate,
      sampleAspectRatio: sampleAspectRatio, reorderDepth: index.reorderDepth, displayMatrix: nil,
      isDefault: true, metadata: metadata, parameterSets: index.parameterSets, isAnnexB: true)
  }
}
