// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// Exports a movie to a file.
struct ExportRun: Sendable {
  let movie: String
  let preset: ExportPresetName
  let out: String
  let range: CMTimeRange
  let limit: Int64
  let makesPasses: Bool
  let isFastStart: Bool
  let overwrites: Bool
  let progress: ProgressStyle

  func perform() async throws {
    let path = Destination.target(of: out)
    let container = MovieRewrap.container(ofEnding: (path as NSString).pathExtension)
    let type = try container == nil ? fileType(of: path) : movieType(for: container)
    try OutputCheck.check(path, option: "--out", others: [movie])
    let replaces = try OutputCheck.mayReplace(path, overwrites: overwrites)
    Interrupt.shared.watch()
    let file = try InputFile(movie)
    let asset = AVURLAsset(url: URL(fileURLWithPath: file.path))
    let session = try await makeSession(for: asset)
    let pending = try PendingFile(for: path, replaces: replaces)
    defer { pending.discard() }
    // A container that the session does not write is made of its movie.
    // A whole movie that is only copied needs none.
    let isCopied =
      container != nil && preset.name == AVAssetExportPresetPassthrough && limit == 0
      && range.start <= .zero && range.duration == .positiveInfinity
    let between = container == nil || isCopied ? nil : try ScratchFolder(in: folder(of: path))
    defer { withExtendedLifetime(between) {} }
    let written = between.map { $0.path + (type == .mp4 ? "/export.mp4" : "/export.mov") } ?? pending.path
    session.outputURL = URL(fileURLWithPath: written)
    session.outputFileType = type
    session.shouldOptimizeForNetworkUse = isFastStart
    session.timeRange = range
    session.fileLengthLimit = limit
    // The readable part of a damaged movie is exported, and the damage is reported.
    session.ovtToleratesDamage = true
    let onePass = makesPasses ? reasonForOnePass : nil
    if let onePass { note(onePass) }
    let textless = noticeOfText(in: asset.tracks)
    if let textless { note(textless) }
    session.canPerformMultiplePassesOverSourceMediaData = makesPasses && onePass == nil
    // Temporary files are written next to the output, where there is room.
    let scratch =
      session.canPerformMultiplePassesOverSourceMediaData ? try ScratchFolder(in: folder(of: path)) : nil
    session.directoryForTemporaryFiles = scratch.map { URL(fileURLWithPath: $0.path) }
    defer { withExtendedLifetime(scratch) {} }
    let began = SessionTime.now
    if !isCopied { try await run(session) }
    let left = try container.flatMap {
      try MovieRewrap.copy(isCopied ? file.path : written, to: pending, as: $0)
    }
    if let left { note(left) }
    let bytes = (try? FileManager.default.attributesOfItem(atPath: pending.path)[.size] as? NSNumber)?
      .intValue
    let made = try? await AVURLAsset(url: URL(fileURLWithPath: pending.path)).load(.duration)
    let name = try pending.commit(isPart: false)
    let limits = limitNotices(bytes: bytes ?? 0, seconds: made?.seconds ?? 0, of: asset)
    limits.forEach(note)
    let passes = session.ovtPassCount
    let damage = SourceDamage(exported: session.ovtDamage).summary
    if progress == .json {
      Console.conclude(
        ExportEvent(
          output: name, preset: preset.text, fileBytes: bytes ?? 0, passes: passes,
          wallSeconds: SessionTime.now - began,
          notices: [onePass, textless, left].compactMap { $0 } + limits,
          damage: damage))
    }
    try Console.print(
      "file    \(name), \(TextFormat.bytes(bytes ?? 0))\(passes > 1 ? ", in \(passes) passes" : "")\n")
    if let damage {
      throw Failure(
        "'\(movie)' is damaged, and '\(name)' holds what could be read: \(damage)",
        status: SourceDamage.exitStatus)
    }
  }

  /// Checks that the movie can be read and exported with the preset, and makes the session.
  /// - Throws: a `Failure` if it cannot.
  private func makeSession(for asset: AVURLAsset) async throws -> AVAssetExportSession {
    do {
      _ = try await asset.load(.tracks)
    } catch {
      throw Failure("cannot read '\(movie)' as a movie (\(Failure.describe(error))); is it a complete movie?")
    }
    let tracks = asset.tracks
    try ResourceLimits.check(tracks: tracks.count(where: isRead))
    for track in tracks where track.mediaType == .video {
      let size = (
        Int(clamping: Double(track.naturalSize.width)), Int(clamping: Double(track.naturalSize.height))
      )
      try ResourceLimits.check(decoded: size, encoded: preset.codec == nil ? nil : size, isDeep: false)
    }
    if preset.name != AVAssetExportPresetPassthrough, asset.hasProtectedContent,
      tracks.contains(where: { isRead($0) && !$0.isDecodable })
    {
      throw MovieSource.isEncrypted(movie)
    }
    if preset.name == AVAssetExportPresetAppleM4A, !tracks.contains(where: isRead) {
      throw Failure("'\(movie)' has no audio, which is all that the preset \(preset.text) writes")
    }
    guard let session = AVAssetExportSession(asset: asset, presetName: preset.name) else {
      throw Failure("the preset \(preset.text) has no encoder here; see vtencode export --help")
    }
    guard
      await AVAssetExportSession.compatibility(ofExportPreset: preset.name, with: asset, outputFileType: nil)
    else {
      throw Failure("the preset \(preset.text) cannot be used for '\(movie)'; choose another")
    }
    return session
  }

  /// Whether the preset reads a track.
  private func isRead(_ track: AVAssetTrack) -> Bool {
    let isAudio = preset.name == AVAssetExportPresetAppleM4A
    return switch track.mediaType {
    case .audio: true
    case .video: !isAudio
    // Text and metadata tracks are copied by Passthrough only.
    default: !isAudio && preset.codec == nil
    }
  }

  /// The notice that subtitles are left out; nil if there are none, or the preset copies them.
  private func noticeOfText(in tracks: [AVAssetTrack]) -> String? {
    // Titles of chapters are text that is disabled.
    let count = tracks.count {
      [.subtitle, .closedCaption].contains($0.mediaType) || $0.mediaType == .text && $0.isEnabled
    }
    guard count > 0, preset.codec != nil, preset.name != AVAssetExportPresetAppleM4A else { return nil }
    return
      "\(TextFormat.plural(count, "subtitle track")) left out, as the preset \(preset.text) writes pictures and "
      + "audio alone; vtencode transcoding keeps subtitles"
  }

  private func fileType(of path: String) throws -> AVFileType {
    let ending = (path as NSString).pathExtension.lowercased()
    let types: [String: AVFileType] = ["mov": .mov, "qt": .mov, "mp4": .mp4, "m4v": .m4v, "m4a": .m4a]
    let isAudio = preset.name == AVAssetExportPresetAppleM4A
    guard let type = types[ending], isAudio == (type == .m4a) else {
      throw Failure(
        "the preset \(preset.text) writes \(isAudio ? ".m4a" : ".mov, .mp4, .m4v, .mkv, .ts or .flv"); end the name of --out in that",
        status: 64)
    }
    return type
  }

  /// The type of the movie that a container is made of.
  private func movieType(for container: StreamContainer?) throws -> AVFileType {
    guard preset.name != AVAssetExportPresetAppleM4A else {
      throw Failure("the preset \(preset.text) writes .m4a; end the name of --out in that", status: 64)
    }
    return container == .webm ? .mp4 : .mov
  }

  /// The notice why --multi-pass has no effect; nil if it has.
  private var reasonForOnePass: String? {
    guard let codec = preset.codec else {
      return "the preset \(preset.text) encodes no pictures, so --multi-pass changes nothing"
    }
    return encoderMakesPasses(codec) ? nil : "the encoder makes only one pass, so the movie is encoded in one"
  }

  /// The notices about the effect of a limit of the file's length.
  private func limitNotices(bytes: Int, seconds: Double, of asset: AVAsset) -> [String] {
    guard limit > 0 else { return [] }
    var notices: [String] = []
    if bytes > limit {
      notices.append(
        "the file has \(TextFormat.bytes(bytes)), more than --file-length-limit: with this preset and all of "
          + "its audio the movie cannot be smaller; --end shortens it")
    }
    let whole = range.intersection(CMTimeRange(start: .zero, duration: asset.duration)).duration.seconds
    // Passthrough copies whole samples, which may end after the range, so a difference of half a
    // second counts as none.
    if preset.codec == nil, seconds > 0, seconds < whole - 0.5 {
      notices.append(
        "cut to \(TextFormat.fixed(seconds, 1)) s of \(TextFormat.fixed(whole, 1)) s so as to fit --file-length-limit; a preset "
          + "that encodes takes a lower rate instead")
    }
    return notices
  }

  private func note(_ text: String) { if progress.showsNotices { Console.note("vtencode: \(text)") } }

  private func run(_ session: AVAssetExportSession) async throws {
    Interrupt.shared.onRequest { session.cancelExport() }
    let line = ProgressLine(total: nil, style: progress)
    defer { line.finish() }
    let watching = Task {
      while !Task.isCancelled {
        line.update(share: Double(session.progress))
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    await session.export()
    watching.cancel()
    // No progress event may follow the last one.
    _ = await watching.result
    switch session.status {
    case .completed where !Interrupt.shared.isRequested: line.update(share: 1, isDue: true)
    case .cancelled, .completed:
      throw Failure("interrupted; nothing was written", status: Interrupt.shared.status)
    default:
      let reason = session.error.map { Failure.describe($0) } ?? "the export gave no reason"
      throw Failure("cannot export '\(movie)': \(reason)")
    }
  }
}
