// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// A subcommand's options for a run: the options that all of them have, and those that not all
/// have.
struct EncodingRequest: Sendable {
  var options: EncodingOptions
  var purpose: EncodingPlan.Purpose
  var isPaced = false
  var conferencing: ConferencingPlan?
  /// The largest number of passes; nil makes as many as necessary.
  var passes: Int? = 1
  var range: CMTimeRange?
  var changes: ChangeOptions
  /// The movies that follow the first one in the output.
  var joined: [String] = []
  /// The largest size of the file in bytes.
  var targetSize: Int64?
  /// Whether the movie begins again when it has come to its end.
  var repeatsMovie = false
  /// Where the audio is captured that replaces the movie's; nil for the movie's.
  var audio: AudioSource?
  /// How segments are written; nil for subcommands that write none.
  var segments: SegmentPlan?
  /// The sizes and rates in which the movie is encoded at once, the largest first; empty for one.
  var renditions: [Rendition] = []

  /// All inputs: movies, pictures and subtitles.
  var inputs: [String] { [options.movie] + joined + changes.files }

  /// The name from which that of the output is derived.
  private var defaultName: String {
    LiveSource.isReadOnce(options.movie) ? String(options.movie.prefix { $0 != ":" }) : options.movie
  }

  /// Where the run writes to.
  /// - Throws: a `Failure` if nothing can be written there.
  func destination() throws -> Destination {
    let outputs = try (options.outs.isEmpty ? [nil] : options.outs.map(\.self)).map { argument in
      try Destination(
        argument: argument, movie: defaultName, suffix: purpose.rawValue, codec: options.codec,
        format: options.format(for: argument), choices: .init(takesServer: true, segments: segments))
    }
    var first = outputs[0]
    first.further = Array(outputs.dropFirst())
    return first
  }

  /// The options as they are for one rendition.
  func options(for rendition: Rendition) -> EncodingOptions {
    var options = options
    options.dimensions = rendition.size
    options.bitrate = rendition.bitRate
    return options
  }

  /// Makes the settings of a run.
  /// - Parameter options: the run's options, or those of a rendition.
  func plan(
    _ options: EncodingOptions, source: MovieSource, destination: Destination
  ) throws -> EncodingPlan {
    var plan = try EncodingPlan(options, source: source, purpose: purpose, isPaced: isPaced)
    plan.conferencing = conferencing
    plan.adapt(to: source)
    if let place = changes.overlayAt, changes.overlay != nil,
      place.x >= plan.width || place.y >= plan.height
        || place.x < -plan.width || place.y < -plan.height
    {
      throw Failure(
        "--overlay-at \(place.x),\(place.y) lies outside of the encoded picture, which has "
          + "\(plan.width)x\(plan.height) samples", status: 64)
    }
    if changes.burnSubtitles != nil { plan.keepsSubtitles = false }
    try plan.setTargetSize(targetSize, source: source, destination: destination)
    plan.setDefaultQuality(options, passes: passes, source: source)
    // A device cannot show the same pictures again, and a server, a pipe, a second file or segments
    // are not written again.
    let isRewritable =
      !source.isReadOnce && destination.further.isEmpty && destination.path != nil
      && destination.segments == nil
    plan.setCeilingBuffer(source: source, isRepeatable: passes == nil && isRewritable)
    // The passes of several encoders would need the pictures at different times.
    let asked = !source.isReadOnce && renditions.isEmpty ? passes : 1
    plan.setPasses(asked, source: source, destination: destination)
    try plan.checkFullChroma(options, source: source)
    if plan.hasFullChroma, destination.all.contains(where: { $0.isServer || $0.segments != nil }) {
      plan.notices.append("few players and servers take High 4:4:4; omit --profile high444 for them")
    }
    if !isRewritable || audio != nil { plan.mayEncodeAgain = false }
    try plan.setRepetition(repeatsMovie, of: source)
    // A live stream ends when the user says so.
    plan.endsOnRequest =
      source.comesLive || plan.repetition.isEndless || destination.isLive
      || plan.isPaced && destination.all.contains(where: \.isServer)
    if let segments = destination.all.lazy.compactMap(\.segments).first { plan.setSegments(segments) }
    return plan
  }

  /// Opens the source and applies the changes.
  /// - Parameters:
  ///   - hasTransform: whether the output can store a rotation.
  ///   - scratch: the folder for subtitles in a form that libavfilter reads.
  func open(hasTransform: Bool, scratch: String?) async throws -> MovieSource {
    var source = try await openSource()
    source = source.withFields(options.picture.noDeinterlace ? nil : options.picture.deinterlace)
    if !hasTransform { source = source.upright() }
    if let range { source = try source.part(range) }
    source = try source.changed(changes)
    source.drawings = try await drawings(on: source, scratch: scratch)
    if let audio {
      source.captured = .init(try CapturedAudio(audio))
      source.audioTracks = []
    }
    return source
  }

  private func openSource() async throws -> MovieSource {
    let rate = options.picture.framesPerSecond
    if let live = try LiveSource.open(options.movie) {
      if options.reports.psnr {
        throw Failure("--psnr reads the source again, and '\(live.name)' is live; omit it", status: 64)
      }
      var source = try MovieSource.open(live: live)
      source.convertedRate = rate
      return source
    }
    if StreamAddress.isAddress(options.movie) {
      if options.reports.psnr {
        throw Failure("--psnr reads the source again, and an address is read once; omit it", status: 64)
      }
      if !joined.isEmpty {
        throw Failure("--join cannot read network addresses; download the movie first", status: 64)
      }
      return try await NetworkMovie.open(
        options.movie, frameRate: rate, start: range?.start ?? .zero,
        isQuiet: !options.progressOption.progress.showsNotices)
    }
    guard !joined.isEmpty else {
      return try await MovieSource.open(options.movie, streamFrameRate: rate, convertsRate: true)
    }
    return try await MovieSource.open(joining: [options.movie] + joined, streamFrameRate: rate)
  }

  /// The drawings over the pictures, the lowest first.
  private func drawings(on source: MovieSource, scratch: String?) async throws -> [PictureFilter.Drawing] {
    var drawings: [PictureFilter.Drawing] = []
    if let name = changes.overlay {
      let position = changes.overlayAt ?? PicturePosition(x: 0, y: 0)
      var signature: [UInt8] = []
      do {
        try RegularFile.open(name) { descriptor, _ in
          let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
          signature = Array(try handle.read(upToCount: 12) ?? Data())
        }
      } catch { throw RegularFile.failure(error, name) }
      guard let format = PictureFilter.PictureFormat(signature: signature) else {
        throw Failure("--overlay '\(name)' is not an image; use a PNG, JPEG or WebP file", status: 64)
      }
      let path = URL(fileURLWithPath: name).path
      drawings.append(.picture(file: path, format: format, x: position.x, y: position.y))
    }
    if let wanted = changes.burnSubtitles, let scratch {
      drawings.append(try await SubtitleText.drawing(wanted, source: source, folder: scratch))
    }
    if let missing = PictureFilter.missingFilter(for: drawings) {
      throw Failure("this needs FFmpeg's filter '\(missing)', which is not installed here")
    }
    return drawings
  }
}
