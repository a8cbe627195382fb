// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

extension MovieSource {
  /// Opens several movies as one, in which they follow one another. Their audio tracks are joined
  /// track by track, with silence where a movie has fewer; subtitles and chapters are left out.
  /// - Throws: a `Failure` if a movie cannot be read, or if they differ in what one stream cannot
  ///   change: rotation, pixel aspect ratio or dynamic range.
  static func open(joining names: [String], streamFrameRate: Double?) async throws -> MovieSource {
    var movies: [MovieSource] = []
    for name in names {
      guard !LiveSource.isLive(name) else {
        throw Failure("--join is for movies, and '\(name)' is a live source", status: 64)
      }
      movies.append(try await open(name, streamFrameRate: streamFrameRate, convertsRate: true))
    }
    let first = movies[0]
    for movie in movies.dropFirst() { try movie.checkJoins(first) }
    let composition = AVMutableComposition()
    guard
      let video = composition.addMutableTrack(
        withMediaType: .video, preferredTrackID: kCMPersistentTrackID_Invalid)
    else { throw Failure("the movies cannot be joined") }
    var compositionTracks: [AVMutableCompositionTrack] = []
    for _ in 0..<(movies.map(\.audioTracks.count).max() ?? 0) {
      guard
        let track = composition.addMutableTrack(
          withMediaType: .audio, preferredTrackID: kCMPersistentTrackID_Invalid)
      else { throw Failure("the movies cannot be joined") }
      compositionTracks.append(track)
    }
    var joinedDuration = CMTime.zero
    var timescales: [CMTimeScale] = []
    var sizes: [UncroppedSize] = []
    var leftOut: [String] = []
    for movie in movies {
      guard let track = movie.video else { continue }
      let range = try await track.load(.timeRange)
      guard range.duration.isNumeric, range.duration > .zero else {
        throw Failure("'\(movie.name)' does not say how long it is, so nothing can follow it")
      }
      do {
        try video.insertTimeRange(range, of: track, at: joinedDuration)
        for (audio, target) in zip(movie.audioTracks, compositionTracks) {
          let common = try await audio.track.load(.timeRange).intersection(range)
          guard common.duration.isNumeric, common.duration > .zero else { continue }
          try target.insertTimeRange(
            common, of: audio.track, at: joinedDuration + (common.start - range.start))
        }
      } catch {
        throw Failure("'\(movie.name)' cannot be joined: \(Failure.describe(error))")
      }
      // A picture's time in the joined movie is its own, less the beginning of its movie, plus the
      // durations of the movies before.
      timescales.append(movie.timescale)
      timescales += [range.start, range.duration].compactMap(CommonTimescale.minimum)
      sizes.append(
        UncroppedSize(width: movie.width, height: movie.height, seconds: range.duration.seconds))
      joinedDuration = joinedDuration + range.duration
      if !movie.subtitles.isEmpty || !movie.chapters.isEmpty { leftOut = ["subtitles and chapters"] }
    }
    video.preferredTransform = first.transform
    var audioTracks: [AudioTrackProperties] = []
    for track in compositionTracks {
      audioTracks.append(try await AudioTrackProperties(track, number: audioTracks.count + 1))
    }
    let rates = movies.map { $0.dataRate * max($0.expectedSeconds ?? 0, 0) }
    let isKnown = movies.allSatisfy { $0.dataRate > 0 }
    var source = MovieSource(
      name: first.name + " and \(TextFormat.plural(movies.count - 1, "more movie"))",
      files: movies.flatMap(\.files), asset: composition, video: video, audioTracks: audioTracks,
      subtitles: [],
      chapters: [], others: leftOut, metadata: first.metadata, width: first.width, height: first.height,
      storedFrameRate: first.storedFrameRate,
      dataRate: isKnown ? rates.reduce(0, +) / max(joinedDuration.seconds, 0.001) : 0,
      duration: joinedDuration,
      timescale: CommonTimescale.of(timescales), transform: first.transform, format: first.format,
      streamFrameRate: nil, isSinglePicture: false)
    source.isJoined = true
    source.uncroppedSizes = sizes
    // Movies of different rates have no common one that all their times fit.
    source.convertedRate = streamFrameRate
    return source
  }

  private func checkJoins(_ first: MovieSource) throws {
    let reason: String?
    if PictureRotation(transform) != PictureRotation(first.transform) {
      reason = "is rotated differently; encode it with --rotate first"
    } else if shape.pixelAspect != first.shape.pixelAspect {
      reason = "has pixels of another shape; encode it with --dimensions first"
    } else if isHighDynamicRange != first.isHighDynamicRange {
      reason = "has another dynamic range; encode it to that of the first one first"
    } else {
      reason = nil
    }
    if let reason { throw Failure("'\(name)' cannot follow '\(first.name)': it \(reason)") }
  }
}
