// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// The source of a call: its name, size and frame rate, and its pictures.
struct SendSource: Sendable {
  private enum Kind: Sendable {
    case movie(MovieSource, MovieOrigin)
    case live(LiveSource)
  }

  private let kind: Kind
  let name: String
  let width: Int
  let height: Int
  let frameRate: Double
  /// The duration of a live source in seconds; nil if it has no end.
  private let duration: Double?
  /// The pixel format of the pictures.
  private var format = CallPictureFormat.standard
  /// The audio that is captured in place of the movie's; nil if none is.
  private var captured: CapturedAudio?

  static func open(_ options: SendOptions) async throws -> SendSource {
    var source = try await openPictures(options)
    if options.encoding.profile == .high444 { source.format = .full }
    source.captured = try options.audioSource.audio.map { try CapturedAudio($0) }
    return source
  }

  private static func openPictures(_ options: SendOptions) async throws -> SendSource {
    if let live = try LiveSource.open(options.source, testSize: options.dimensions) {
      if options.range.start != nil {
        throw Failure(
          "'\(live.name)' is a live source, which begins now; omit --start, or give --duration",
          status: 64)
      }
      let width = options.dimensions?.width ?? live.width
      let height = options.dimensions?.height ?? live.height
      guard Dimensions.encodable.contains(width), Dimensions.encodable.contains(height) else {
        throw Failure(
          "'\(options.source)' has pictures of \(width) by \(height); give a size with --dimensions")
      }
      return SendSource(
        kind: .live(live), name: live.name, width: width, height: height, frameRate: live.frameRate,
        duration: options.range.range?.duration.seconds)
    }
    var movie = try await MovieSource.open(options.source, streamFrameRate: nil).upright()
    if let range = options.range.range { movie = try movie.part(range) }
    let (width, height) = try movie.callSize(options.dimensions)
    return SendSource(
      kind: .movie(movie, MovieOrigin(repeats: options.loops)), name: options.source, width: width,
      height: height,
      frameRate: movie.frameRate, duration: nil)
  }

  func pictures() throws -> any CallPictures {
    switch kind {
    case .movie(let movie, let origin) where origin.repeats:
      try LoopedMovie(movie, width: width, height: height, format: format, origin: origin)
    case .movie(let movie, let origin):
      try MoviePictures(movie, width: width, height: height, format: format) {
        origin.begin(.init(first: $0, time: 0))
      }
    case .live(let live): try live.pictures(width: width, height: height, format: format)
    }
  }

  /// The audio with the pictures; nil if there is none.
  func audio() -> (any CallAudio)? {
    if let captured { return CapturedCallAudio(captured) }
    guard case .movie(let movie, let origin) = kind else { return nil }
    return MovieCallAudio(movie, origin: origin)
  }

  /// Whether a picture at a time in seconds since the first one lies after the end.
  func hasEnded(at time: Double) -> Bool { duration.map { time >= $0 } ?? false }
}

/// A movie that starts again when it ends.
final class LoopedMovie: CallPictures {
  private let source: MovieSource
  private let width: Int
  private let height: Int
  private let format: CallPictureFormat
  private let origin: MovieOrigin
  private var lap: MoviePictures
  private var start = 0.0
  private var last = 0.0
  /// The damage found in the first pass that had any; later passes have the same damage.
  private var found = SourceDamage()

  var damage: SourceDamage { found.isEmpty ? lap.damage : found }

  init(
    _ source: MovieSource, width: Int, height: Int, format: CallPictureFormat, origin: MovieOrigin
  ) throws {
    self.source = source
    self.width = width
    self.height = height
    self.format = format
    self.origin = origin
    lap = try MoviePictures(source, width: width, height: height, format: format) {
      origin.begin(.init(first: $0, time: 0))
    }
  }

  func next() throws -> CallPicture? {
    if let picture = try lap.next() {
      last = picture.time
      return CallPicture(buffer: picture.buffer, time: start + picture.time)
    }
    if found.isEmpty { found = lap.damage }
    start += last + 1 / max(source.frameRate, 1)
    lap = try MoviePictures(source, width: width, height: height, format: format) { [origin, start] in
      origin.begin(.init(first: $0, time: start))
    }
    guard let picture = try lap.next() else { return nil }
    last = picture.time
    return CallPicture(buffer: picture.buffer, time: start + picture.time)
  }
}
