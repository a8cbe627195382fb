// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The segments and the media playlist of one rendition: of pictures, with or without audio, of
/// audio alone, or of text. `HTTPLiveOutput` guards it with its lock.
final class SegmentStream {
  /// The rendition's name within the names of its files, such as `720p`.
  let name: String
  let kind: OutputTrack.Kind
  /// The settings of its pictures; nil for audio and text.
  let encoding: EncodingPlan?
  var languageCode: String?
  /// The bit rate of the audio among its tracks, as far as it is known beforehand, in bits a
  /// second.
  var audioRate = 0.0
  private(set) var playlist: MediaPlaylist
  private(set) var rate: SegmentRate
  /// The rate of the key frames alone.
  private(set) var keyFrameRate: SegmentRate
  /// The time in seconds since 1970 of time zero; nil where playlists give none.
  var epoch: Double?

  private let plan: SegmentPlan
  private let files: SegmentFiles
  /// The number in the names of files of which a run has one.
  private let run: Int
  private var number: Int
  private var partNumber = 0
  private var segmentChunks: [Data] = []
  private var segmentStart = CMTime.invalid
  private var keyFrameBytes: Int?
  private var hasPaused = false
  /// The longest duration of the playlist so far, in seconds.
  private var longestSeconds = 0.0
  /// Files that have left the playlist, and when they may be removed, in seconds of `SessionTime`.
  private var leaving: [(suffix: String, due: Double)] = []

  /// - Parameters:
  ///   - firstNumber: the number of the first segment.
  ///   - frameRate: pictures a second.
  init(
    name: String, kind: OutputTrack.Kind, encoding: EncodingPlan?, plan: SegmentPlan, files: SegmentFiles,
    firstNumber: Int, frameRate: Double
  ) {
    (self.name, self.kind, self.encoding, self.plan, self.files) = (name, kind, encoding, plan, files)
    (run, number) = (firstNumber, firstNumber)
    let target = plan.targetDuration(frameRate: frameRate)
    playlist = MediaPlaylist(targetDuration: target, kind: plan.playlist)
    // A segment of text is written whole.
    playlist.partTarget = kind == .subtitles ? nil : plan.partTarget(frameRate: frameRate)
    playlist.firstNumber = firstNumber
    playlist.keyURI = plan.key?.uri
    rate = SegmentRate(targetDuration: target)
    keyFrameRate = SegmentRate(targetDuration: target)
  }

  var playlistSuffix: String { SegmentNames.playlist(name) }
  /// The suffix of the playlist of key frames; nil if there is none: a part of an encrypted segment
  /// cannot be decrypted without the rest of it.
  var keyFramePlaylistSuffix: String? {
    kind == .video && plan.key == nil ? SegmentNames.keyFramePlaylist(name) : nil
  }
  var hasSegments: Bool { !playlist.segments.isEmpty }

  /// The state of this playlist for other playlists; nil if it is still empty.
  var report: MediaPlaylist.Report? {
    if partNumber > 0 {
      return MediaPlaylist.Report(suffix: playlistSuffix, number: number, part: partNumber - 1)
    }
    guard let last = playlist.segments.last, !last.parts.isEmpty else { return nil }
    return MediaPlaylist.Report(suffix: playlistSuffix, number: last.number, part: last.parts.count - 1)
  }

  /// Writes what has been cut off.
  /// - Returns: whether the playlist has changed.
  func take(_ initialization: Data?, _ piece: SegmentWriter.Piece) throws -> Bool {
    if let initialization { try writeMap(initialization) }
    if segmentChunks.isEmpty { (segmentStart, keyFrameBytes) = (piece.start, piece.keyFrameBytes) }
    segmentChunks += piece.chunks
    if playlist.partTarget != nil {
      let suffix = SegmentNames.part(name, number, partNumber)
      try files.write(piece.chunks, as: suffix)
      partNumber += 1
      // A picture may last longer than was planned (4.4.3.7).
      playlist.partTarget = playlist.partTarget.map { max($0, piece.seconds) }
      playlist.openParts.append(
        MediaPlaylist.Part(suffix: suffix, seconds: piece.seconds, isIndependent: piece.beginsWithKeyFrame))
    }
    if piece.endsSegment { try endSegment(piece) }
    if playlist.partTarget != nil { playlist.hint = SegmentNames.part(name, number, partNumber) }
    return piece.endsSegment || playlist.partTarget != nil
  }

  private func writeMap(_ data: Data) throws {
    if plan.isSingleFile {
      let suffix = SegmentNames.wholeFile(name, run: run)
      playlist.map = MediaPlaylist.Resource(suffix: suffix, range: try files.append(data, to: suffix))
    } else {
      let suffix = SegmentNames.initialization(name, run: run)
      try files.write([data], as: suffix)
      playlist.map = MediaPlaylist.Resource(suffix: suffix)
    }
  }

  private func endSegment(_ piece: SegmentWriter.Piece) throws {
    var chunks = segmentChunks
    segmentChunks = []
    if let key = plan.key { chunks = [try SegmentCipher.encrypt(chunks, key: key, number: number)] }
    let bytes = chunks.reduce(0) { $0 + $1.count }
    let isText = kind == .subtitles
    var resource = MediaPlaylist.Resource(
      suffix: isText ? SegmentNames.textSegment(name, number) : SegmentNames.segment(name, number))
    if plan.isSingleFile {
      resource.suffix =
        isText ? SegmentNames.textSegment(name, run) : SegmentNames.wholeFile(name, run: run)
      resource.range = try files.append(chunks.reduce(into: Data()) { $0.append($1) }, to: resource.suffix)
    } else {
      try files.write(chunks, as: resource.suffix)
    }
    let parts = playlist.openParts
    let seconds = parts.isEmpty ? piece.seconds : parts.reduce(0) { $0 + $1.seconds }
    playlist.openParts = []
    playlist.segments.append(
      MediaPlaylist.Segment(
        number: number, resource: resource, start: segmentStart.seconds, seconds: seconds,
        date: epoch.map { $0 + segmentStart.seconds },
        isDiscontinuous: hasPaused, parts: parts, keyFrameBytes: keyFrameBytes))
    if let keyFrameBytes { keyFrameRate.add(bytes: keyFrameBytes, seconds: seconds) }
    hasPaused = piece.pausesAfterwards
    rate.add(bytes: bytes, seconds: seconds)
    number += 1
    partNumber = 0
    guard plan.isLive else { return }
    // No segment may be longer (4.4.3.1). A single picture can be, whatever was planned; then a
    // playlist with another target is better than one that violates its own.
    setTargetDuration(max(playlist.targetDuration, Int(clamping: seconds.rounded())))
    longestSeconds = max(longestSeconds, playlist.seconds)
    removeOld()
  }

  /// Takes old segments and parts out of the playlist, and removes the files that no player needs
  /// any more: a file stays for as long as it lasts, and as the longest playlist that had it
  /// (RFC 8216bis, 6.2.2).
  private func removeOld() {
    let now = SessionTime.now
    func leave(_ suffix: String, _ seconds: Double) {
      leaving.append((suffix, now + seconds + longestSeconds))
    }
    for part in playlist.shrinkParts() { leave(part.suffix, part.seconds) }
    if plan.playlist == .window {
      for segment in playlist.shrink(to: plan.windowSize) {
        for part in segment.parts { leave(part.suffix, part.seconds) }
        leave(segment.resource.suffix, segment.seconds)
      }
    }
    for file in leaving where file.due <= now { files.remove(file.suffix) }
    leaving.removeAll { $0.due <= now }
  }

  /// The texts of its playlists, by the suffixes of their files; that of key frames has none before
  /// the first segment.
  func texts(_ names: SegmentNames) -> [(suffix: String, text: String)] {
    var texts = [(playlistSuffix, playlist.text(names))]
    if hasSegments, let suffix = keyFramePlaylistSuffix {
      texts.append((suffix, playlist.keyFrameText(names)))
    }
    return texts
  }

  func setReports(_ reports: [MediaPlaylist.Report]) { playlist.reports = reports }

  /// Marks the playlist as complete.
  func end() {
    playlist.hasEnded = true
    // Published parts of an incomplete segment are removed from the playlist.
    playlist.openParts = []
    playlist.hint = nil
    _ = playlist.shrinkParts()
  }

  /// The target duration that the segments need, in seconds.
  var neededTarget: Int { max(1, playlist.segments.map { Int(clamping: $0.seconds.rounded()) }.max() ?? 1) }

  func setTargetDuration(_ seconds: Int) { playlist.targetDuration = seconds }
}
