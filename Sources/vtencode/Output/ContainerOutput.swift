// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// Writes a file, or standard output, in a container that `StreamMuxer` makes. A file gets its name
/// when it is complete.
final class ContainerOutput: SampleOutput, @unchecked Sendable {
  // Sendable: one task changes the properties before `start` and after the last `append`; `lock`
  // guards the muxer and the interleaver.
  private let path: String?
  private let container: StreamContainer
  private let replaces: Bool
  private let metadata: [String: String]
  private let lock = Lock()
  private var pending: PendingFile?
  private var descriptor: Int32 = -1
  private var encoders: [TrackEncoder] = []
  private var timescales: [CMTimeScale] = []
  private var added: [OutputTrack] = []
  private var muxer: StreamMuxer?
  private var interleaver = SampleInterleaver<(CMSampleBuffer, Int)>(tracks: 0, timeout: .zero)
  private var sampleBytes = 0
  private var chapters: [(range: CMTimeRange, title: String)] = []

  private static let chapterTrack: OutputTrack.ID = -1
  /// How much of the other tracks waits for a track that gives no samples; it bounds the memory.
  private static let timeout = CMTime(value: 10, timescale: 1)

  /// - Parameters:
  ///   - path: the file; nil for standard output.
  ///   - replaces: whether an existing file may be replaced.
  ///   - metadata: metadata of the whole movie.
  init(path: String?, container: StreamContainer, replaces: Bool, metadata: [AVMetadataItem]) {
    (self.path, self.container, self.replaces) = (path, container, replaces)
    self.metadata = Self.entries(metadata)
  }

  deinit { closeFile() }

  var name: String { path.map { "a .\(($0 as NSString).pathExtension) file" } ?? container.name }
  var tracks: Set<OutputTrack.Kind> {
    container.holdsText ? Set(OutputTrack.Kind.allCases) : [.video, .audio]
  }
  // A text is stored near the pictures with which it begins, where players look for it.
  let takesTextsEarly = true
  func plays(_ audio: CMFormatDescription) -> Bool {
    // AAC of a transport stream has its configuration in each packet, which the header of fragments
    // cannot take.
    container.holds(audio) && !(container == .fragmentedMP4 && CodecString.lacksConfiguration(audio))
  }
  let isLive = false
  let beginsAtZero = true
  let backPressure = BackPressure.waits
  var outcomeOfInterruptedRun: String { path == nil ? "the stream breaks off" : "nothing was written" }

  func open() throws {
    guard let path else { return descriptor = STDOUT_FILENO }
    let pending = try PendingFile(for: path, replaces: replaces)
    self.pending = pending
    descriptor = try pending.open()
  }

  func add(_ track: OutputTrack) -> OutputTrack.ID? {
    // Chapters are not a track of the container.
    if track.kind == .chapters { return Self.chapterTrack }
    if track.kind == .audio, added.contains(where: { $0.kind == .audio }), !container.holdsSeveralAudioTracks
    {
      return nil
    }
    guard let encoder = try? TrackEncoder(track), container.holds(encoder.format) else { return nil }
    encoders.append(encoder)
    let rate = encoder.format.audioStreamBasicDescription?.mSampleRate ?? 0
    timescales.append(
      rate >= 1 ? CMTimeScale(clamping: rate) : track.timescale > 0 ? track.timescale : 90_000)
    added.append(track)
    return encoders.count - 1
  }

  func start() throws {
    let texts = added.indices.filter { added[$0].kind == .subtitles }
    interleaver = SampleInterleaver(tracks: encoders.count, timeout: Self.timeout, sparse: Set(texts))
    try writing {
      muxer = try StreamMuxer(
        descriptor: descriptor, container: container, formats: encoders.map(\.format), timeScales: timescales,
        languages: added.map(\.languageCode), enabled: added.map(\.isEnabled), metadata: metadata)
    }
  }

  func append(_ sample: CMSampleBuffer, to track: OutputTrack.ID) throws {
    if track == Self.chapterTrack { return add(chapter: sample) }
    try write(encoding { try encoders[track].encode(sample) }, track)
  }

  func end(_ track: OutputTrack.ID) throws {
    guard track != Self.chapterTrack else { return }
    let rest = try encoding { try encoders[track].finish() }
    try write(rest, track, isLast: true)
  }

  private func write(_ samples: [CMSampleBuffer], _ track: Int, isLast: Bool = false) throws {
    try lock.withLock {
      for sample in samples {
        let decodeTime = sample.decodeTimeStamp
        let time = decodeTime.isNumeric ? decodeTime : sample.presentationTimeStamp
        interleaver.push((sample, track), at: time, to: track)
      }
      if isLast { interleaver.end(track) }
      try drain(isLast: false)
    }
  }

  private func drain(isLast: Bool) throws {
    while let (sample, track) = interleaver.pop(isLast: isLast) {
      try writing { try muxer?.write(sample, to: track) }
    }
  }

  func finish() throws {
    try lock.withLock {
      try drain(isLast: true)
      try writing {
        for (range, title) in chapters { try muxer?.addChapter(range, title: title) }
        try muxer?.finish()
      }
      sampleBytes = Int(clamping: muxer?.sampleBytes ?? 0)
    }
    guard path != nil, descriptor >= 0 else { return }
    defer { descriptor = -1 }
    // Some file systems report a full disk only here.
    if Foundation.close(descriptor) != 0 { throw Failure("cannot write '\(path ?? "")'", systemError: errno) }
  }

  func publish(isPart: Bool) throws -> OutputResult {
    guard let pending else { return OutputResult(fileBytes: sampleBytes) }
    let size = try? FileManager.default.attributesOfItem(atPath: pending.path)[.size] as? NSNumber
    return OutputResult(fileBytes: size?.intValue ?? 0, path: try pending.commit(isPart: isPart))
  }

  func abandon() {
    lock.withLock {
      muxer?.close()
      muxer = nil
      closeFile()
    }
    pending?.discard()
  }

  private func closeFile() {
    if path != nil, descriptor >= 0 { Foundation.close(descriptor) }
    descriptor = -1
  }

  /// Keeps a chapter until the end of the file.
  private func add(chapter sample: CMSampleBuffer) {
    guard let bytes = try? sample.dataBuffer?.dataBytes(),
      let timing = try? sample.sampleTimingInfos().first
    else { return }
    let range = CMTimeRange(start: timing.presentationTimeStamp, duration: timing.duration)
    let title = TimedText(start: 0, end: nil, sample: Array(bytes)).text
    lock.withLock { chapters.append((range, title)) }
  }

  /// The metadata that libavformat has names for.
  private static func entries(_ items: [AVMetadataItem]) -> [String: String] {
    var entries: [String: String] = [:]
    for item in items {
      guard let name = names.first(where: { $0.matches(item) })?.name, entries[name] == nil,
        let text = item.stringValue, !text.isEmpty
      else { continue }
      entries[name] = text
    }
    return entries
  }

  private struct Name {
    var name: String
    var key: AVMetadataKey?
    var identifiers: [AVMetadataIdentifier] = []

    func matches(_ item: AVMetadataItem) -> Bool {
      key != nil && item.commonKey == key || item.identifier.map(identifiers.contains) == true
    }
  }

  private static let names = [
    Name(name: "comment", identifiers: [.iTunesMetadataUserComment, .quickTimeUserDataComment]),
    Name(name: "genre", key: .commonKeyType, identifiers: [.iTunesMetadataUserGenre]),
    Name(name: "title", key: .commonKeyTitle), Name(name: "artist", key: .commonKeyArtist),
    Name(name: "author", key: .commonKeyAuthor), Name(name: "album", key: .commonKeyAlbumName),
    Name(name: "date", key: .commonKeyCreationDate), Name(name: "publisher", key: .commonKeyPublisher),
    Name(name: "description", key: .commonKeyDescription),
    Name(name: "copyright", key: .commonKeyCopyrights),
  ]

  private func encoding<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as MediaFileError {
      throw Failure("the audio cannot be encoded: \(error.detail)")
    }
  }

  private func writing(_ body: () throws -> Void) throws {
    do { try body() } catch let error as MediaFileError {
      let what = "cannot write '\(path ?? "standard output")'"
      if let code = error.posixCode, code != EINVAL { throw Failure(what, systemError: code) }
      throw Failure("\(what): \(error.detail)")
    }
  }
}
