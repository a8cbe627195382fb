// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation

/// Writes segments of fragmented MP4 and playlists for HTTP Live Streaming (RFC 8216bis).
///
/// The playlists of a live stream appear with its first segment, and are replaced with each one.
/// Those of a movie appear at the end of a run that has succeeded, and so do its segments.
final class HTTPLiveOutput: SampleOutput, @unchecked Sendable {
  // Sendable: one task changes the properties before `start`; `lock` guards the rest.
  private let path: String
  let plan: SegmentPlan
  private let replaces: Bool
  /// The settings of the renditions of the pictures, the largest first.
  private let encodings: [EncodingPlan]
  private let names: [String]
  private let lock = Lock()
  private var files: SegmentFiles?
  private(set) var streams: [SegmentStream] = []
  private(set) var writers: [SegmentWriter] = []
  private(set) var texts: [SegmentText] = []
  private var addedTracks: [AddedTrack] = []
  /// The peak rates that the multivariant playlist has stated, by stream, then those of the key
  /// frames, and those of the text.
  private var statedRates: [Double] = []
  private var isAbandoned = false

  private enum AddedTrack {
    /// A track of pictures or of audio: its stream, and its number there.
    case media(stream: Int, track: Int)
    /// A track of text, by its number.
    case text(Int)
  }

  /// The time from which segments are counted: that of the first picture.
  private var origin = CMTime.zero

  /// How long pictures wait for audio that does not come: in a movie, and in a live stream.
  private static let timeout = CMTime(value: 10, timescale: 1)
  private static let liveTimeout = CMTime(value: 1, timescale: 1)
  /// 2020-01-01 in seconds since 1970: numbers of segments count from there, so that they fit into
  /// 31 bits.
  private static let firstTime = 1_577_836_800.0
  /// The assumed bit rate of copied audio until it is measured, in bits a second.
  private static let defaultAudioRate = 160_000.0

  /// - Parameters:
  ///   - path: the path of the multivariant playlist.
  ///   - plan: how segments are written.
  ///   - replaces: whether the files of an earlier run may be replaced.
  ///   - encodings: the settings of each rendition of the pictures, at least one.
  init(path: String, plan: SegmentPlan, replaces: Bool, encodings: [EncodingPlan]) {
    (self.path, self.plan, self.replaces, self.encodings) = (path, plan, replaces, encodings)
    names = SegmentNames.renditions(heights: encodings.map(\.height))
  }

  let name = "HTTP Live Streaming"
  let tracks: Set<OutputTrack.Kind> = [.video, .audio, .subtitles]
  let beginsAtZero = true
  let backPressure = BackPressure.waits
  /// A segment of a live stream does not wait for the end of a text that is shown beyond its own.
  var takesTextsEarly: Bool { isLive }
  var isLive: Bool { plan.isLive }
  var outcomeOfInterruptedRun: String { isLive ? "the stream has ended" : "nothing was written" }

  func plays(_ audio: CMFormatDescription) -> Bool {
    CodecString.of(audio) != nil && !CodecString.lacksConfiguration(audio)
  }

  // MARK: Steps of a run

  func begin(with first: CMSampleBuffer) {
    // Times begin with the first picture's decode time, and it is presented later.
    let decodeTime = first.decodeTimeStamp
    if decodeTime.isNumeric { origin = first.presentationTimeStamp - decodeTime }
  }

  func open() throws {
    files = try SegmentFiles(playlist: path, isStaged: !isLive, replaces: replaces)
  }

  func add(_ track: OutputTrack) -> OutputTrack.ID? {
    guard let files, CMTimeCompare(plan.length, .zero) > 0 else { return nil }
    if track.kind == .subtitles { return addText(track, files) }
    let isVideo = track.kind == .video
    let hasOwnStream = isVideo || plan.separatesAudio
    if !hasOwnStream, addedTracks.count > 1 { return nil }
    let index = hasOwnStream ? streams.count : 0
    if hasOwnStream {
      let pictures = streams.count { $0.kind == .video }
      guard !isVideo || encodings.indices.contains(pictures) else { return nil }
      makeStream(
        name: isVideo ? names[pictures] : SegmentNames.audio(streams.count - pictures + 1), kind: track.kind,
        encoding: isVideo ? encodings[pictures] : nil, files)
      streams[index].languageCode = track.languageCode
    }
    guard writers.indices.contains(index), let number = writers[index].add(track) else {
      if hasOwnStream {
        streams.removeLast()
        writers.removeLast()
      }
      return nil
    }
    addedTracks.append(.media(stream: index, track: number))
    if !isVideo {
      streams[index].audioRate += track.encoding.map { Double($0.bitRate) } ?? Self.defaultAudioRate
    }
    return addedTracks.count - 1
  }

  private func addText(_ track: OutputTrack, _ files: SegmentFiles) -> OutputTrack.ID {
    let stream = stream(SegmentNames.text(texts.count + 1), .subtitles, encoding: nil, files)
    stream.languageCode = track.languageCode
    texts.append(SegmentText(stream))
    addedTracks.append(.text(texts.count - 1))
    return addedTracks.count - 1
  }

  private func stream(
    _ name: String, _ kind: OutputTrack.Kind, encoding: EncodingPlan?, _ files: SegmentFiles
  ) -> SegmentStream {
    // Numbers that go on from an earlier stream's, so that neither players nor caches take one
    // segment for another: no segment is shorter than half a second.
    let first = isLive ? Int((Date().timeIntervalSince1970 - Self.firstTime) * 2) : 0
    return SegmentStream(
      name: name, kind: kind, encoding: encoding, plan: plan, files: files,
      firstNumber: streams.first?.playlist.firstNumber ?? first, frameRate: encodings[0].frameRate)
  }

  private func makeStream(
    name: String, kind: OutputTrack.Kind, encoding: EncodingPlan?, _ files: SegmentFiles
  ) {
    let stream = stream(name, kind, encoding: encoding, files)
    let longest = isLive ? Double(stream.playlist.targetDuration) + 0.49 : nil
    let number = streams.count
    streams.append(stream)
    writers.append(
      SegmentWriter(
        interval: plan.length, origin: origin, partSeconds: stream.playlist.partTarget, longest: longest,
        timeout: isLive ? Self.liveTimeout : Self.timeout
      ) { [unowned self] header, piece in try take(header, piece, stream: number) })
  }

  func start() throws {
    statedRates = Array(repeating: 0, count: streams.count * 2 + texts.count)
    let now = Date().timeIntervalSince1970
    if isLive { for stream in playlists { stream.epoch = now } }
    for writer in writers { try writer.start() }
  }

  func append(_ sample: CMSampleBuffer, to track: OutputTrack.ID) throws {
    switch addedTracks[track] {
    case .media(let stream, let number): try writers[stream].append(sample, to: number)
    case .text(let number): lock.withLock { texts[number].add(sample) }
    }
  }

  func end(_ track: OutputTrack.ID) throws {
    if case .media(let stream, let number) = addedTracks[track] { try writers[stream].end(number) }
  }

  func finish() async throws {
    for writer in writers { try await writer.finish() }
    try lock.withLock {
      for text in texts {
        _ = try text.write(isLast: true)
        if text.lateCount > 0 {
          Console.note(
            "vtencode: \(text.lateCount) texts came after their segments had been written, and are missing there; "
              + "without --unpaced, or from a faster source, they come in time")
        }
      }
      if isLive { try endPlaylists() }
    }
  }

  func publish(isPart: Bool) throws -> OutputResult {
    try lock.withLock {
      guard let files else { return OutputResult() }
      if isLive {
        files.discard()
        return OutputResult(fileBytes: files.byteCount)
      }
      let whole = playlists.filter(\.hasSegments)
      let target = whole.map(\.neededTarget).max() ?? 1
      for stream in whole {
        stream.setTargetDuration(target)
        stream.end()
      }
      let published = try files.publish(isPart: isPart, replaces: replaces) { names in
        var texts = whole.flatMap { $0.texts(names) }
        if plan.writesManifest { texts.append((SegmentNames.manifest, manifest(isWhole: true).text(names))) }
        return (texts, multivariant(isWhole: true).text(names))
      }
      return OutputResult(fileBytes: files.byteCount, path: published)
    }
  }

  func abandon() {
    for writer in writers { writer.cancel() }
    lock.withLock {
      guard !isAbandoned else { return }
      isAbandoned = true
      // Players of a live stream are notified that it has ended; the playlists list whole segments.
      if isLive { try? endPlaylists() }
      files?.discard()
    }
  }

  // MARK: Segments

  private func take(_ header: Data?, _ piece: SegmentWriter.Piece, stream index: Int) throws {
    try lock.withLock {
      guard !isAbandoned, let files else { return }
      let stream = streams[index]
      let hasChanged = try stream.take(header, piece)
      // The first stream is one of pictures.
      if index == 0, piece.endsSegment, let segment = stream.playlist.segments.last {
        for text in texts { text.follow(segment) }
      }
      guard hasChanged, isLive else { return }
      let isAligned = try alignTargetDurations(besides: stream)
      if index == 0, piece.endsSegment { try writeTexts(files) }
      if stream.playlist.partTarget != nil {
        stream.setReports(streams.filter { $0 !== stream }.compactMap(\.report))
      }
      try write(stream, files, endsSegment: piece.endsSegment || isAligned)
      guard isComplete else { return }
      if plan.writesManifest, piece.endsSegment {
        try files.replace(manifest(isWhole: false).text(files.names), as: SegmentNames.manifest)
      }
      let rates =
        streams.map { peak($0, isWhole: false) } + streams.map(\.keyFrameRate.peak)
        + texts.map(\.stream.rate.peak)
      guard zip(rates, statedRates).contains(where: { $0 > $1 }) else { return }
      statedRates = rates
      try files.replaceMultivariant(multivariant(isWhole: false).text(files.names))
    }
  }

  /// The streams of all playlists.
  private var playlists: [SegmentStream] { streams + texts.map(\.stream) }

  /// Writes the segments of text that are due, and their playlists.
  private func writeTexts(_ files: SegmentFiles) throws {
    for text in texts where try text.write(isLast: false) {
      try write(text.stream, files, endsSegment: true)
    }
  }

  /// Whether viewers can begin: all renditions have a segment, or those of the pictures have some
  /// and audio comes later, if at all.
  private var isComplete: Bool {
    playlists.allSatisfy(\.hasSegments)
      || streams.allSatisfy { $0.kind != .video || $0.playlist.segments.count > 2 }
  }

  /// Writes the playlists of a stream.
  /// - Parameter endsSegment: whether its segments have changed, and not only its parts.
  private func write(_ stream: SegmentStream, _ files: SegmentFiles, endsSegment: Bool) throws {
    for (suffix, text) in stream.texts(files.names) where endsSegment || suffix == stream.playlistSuffix {
      try files.replace(text, as: suffix)
    }
  }

  /// Gives all playlists the same target duration (RFC 8216bis, 6.2.4), and writes them.
  /// - Parameter written: a stream whose playlists the caller writes.
  /// - Returns: whether the target of that stream has changed.
  private func alignTargetDurations(besides written: SegmentStream) throws -> Bool {
    let target = playlists.map(\.playlist.targetDuration).max() ?? 1
    let hasChanged = written.playlist.targetDuration < target
    for stream in playlists where stream.playlist.targetDuration < target {
      stream.setTargetDuration(target)
      if stream !== written, stream.hasSegments, let files {
        try write(stream, files, endsSegment: true)
      }
    }
    return hasChanged
  }

  /// Marks the playlists that have been published as complete.
  private func endPlaylists() throws {
    guard let files else { return }
    for stream in playlists where stream.hasSegments {
      stream.end()
      try write(stream, files, endsSegment: true)
    }
    guard streams.contains(where: \.hasSegments),
      streams.allSatisfy({ $0.kind != .video || $0.hasSegments })
    else { return }
    if plan.writesManifest {
      try files.replace(manifest(isWhole: true).text(files.names), as: SegmentNames.manifest)
    }
    try files.replaceMultivariant(multivariant(isWhole: true).text(files.names))
  }
}
