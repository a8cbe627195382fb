// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

extension MovieSource {
  /// Opens several movies as one, in which they follow one another. Their audio and subtitle tracks
  /// are joined track by track, with silence or no text where a movie has fewer. The joined movie
  /// has the chapters of all movies; if one has chapters, each one without is a chapter with its
  /// name.
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
    var joined = try JoinedMovie(movies)
    for movie in movies { try await joined.append(movie) }
    joined.video.preferredTransform = first.transform
    var audioTracks: [AudioTrackProperties] = []
    for track in joined.audio {
      audioTracks.append(try await AudioTrackProperties(track, number: audioTracks.count + 1))
    }
    let rates = movies.map { $0.dataRate * max($0.expectedSeconds ?? 0, 0) }
    let isKnown = movies.allSatisfy { $0.dataRate > 0 }
    var source = MovieSource(
      name: first.name + " and \(TextFormat.plural(movies.count - 1, "more movie"))",
      files: movies.flatMap(\.files), asset: joined.composition, video: joined.video,
      audioTracks: audioTracks, subtitles: joined.subtitles, chapters: joined.chapters, others: [],
      metadata: first.metadata, width: first.width, height: first.height,
      storedFrameRate: first.storedFrameRate,
      dataRate: isKnown ? rates.reduce(0, +) / max(joined.duration.seconds, 0.001) : 0,
      duration: joined.duration,
      timescale: CommonTimescale.of(joined.timescales), transform: first.transform, format: first.format,
      streamFrameRate: nil, isSinglePicture: false)
    source.isJoined = true
    source.uncroppedSizes = joined.sizes
    // Movies of different rates have no common one that all their times fit.
    source.convertedRate = streamFrameRate
    return source
  }

  /// A chapter with the movie's name.
  fileprivate func chapter(_ range: CMTimeRange) -> AVTimedMetadataGroup {
    let title = AVMutableMetadataItem()
    title.identifier = .commonIdentifierTitle
    title.value = ((name as NSString).lastPathComponent as NSString).deletingPathExtension as NSString
    return AVTimedMetadataGroup(items: [title], timeRange: range)
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

/// A composition to which movies are appended one after the other.
private struct JoinedMovie {
  let composition = AVMutableComposition()
  let video: AVMutableCompositionTrack
  let audio: [AVMutableCompositionTrack]
  let subtitles: [AVMutableCompositionTrack]
  private let hasChapters: Bool
  private(set) var chapters: [AVTimedMetadataGroup] = []
  /// The sum of the durations of the movies.
  private(set) var duration = CMTime.zero
  /// The timescales that the times of the movies need.
  private(set) var timescales: [CMTimeScale] = []
  private(set) var sizes: [UncroppedSize] = []

  /// Creates the tracks of the composition: of each kind as many as the movie with the most has.
  init(_ movies: [MovieSource]) throws {
    let composition = composition
    func addTracks(_ type: AVMediaType, _ count: Int) throws -> [AVMutableCompositionTrack] {
      try (0..<count).map { _ in
        guard
          let track = composition.addMutableTrack(
            withMediaType: type, preferredTrackID: kCMPersistentTrackID_Invalid)
        else { throw Failure("the movies cannot be joined") }
        return track
      }
    }
    video = try addTracks(.video, 1)[0]
    audio = try addTracks(.audio, movies.map(\.audioTracks.count).max() ?? 0)
    subtitles = try addTracks(.subtitle, movies.map(\.subtitles.count).max() ?? 0)
    hasChapters = movies.contains { !$0.chapters.isEmpty }
  }

  /// Appends a movie's tracks and chapters.
  /// - Throws: a `Failure` if the movie does not say how long it is, or a track cannot be inserted.
  mutating func append(_ movie: MovieSource) async throws {
    guard let track = movie.video else { return }
    let range = try await track.load(.timeRange)
    guard range.duration.isNumeric, range.duration > .zero else {
      throw Failure("'\(movie.name)' does not say how long it is, so nothing can follow it")
    }
    do {
      try video.insertTimeRange(range, of: track, at: duration)
      let others = Array(zip(movie.audioTracks.map(\.track), audio)) + zip(movie.subtitles, subtitles)
      for (track, target) in others {
        let common = try await track.load(.timeRange).intersection(range)
        guard common.duration.isNumeric, common.duration > .zero else { continue }
        try target.insertTimeRange(common, of: track, at: duration + (common.start - range.start))
      }
      for (track, target) in zip(movie.subtitles, subtitles) where target.languageCode == nil {
        target.languageCode = try await track.load(.languageCode)
      }
    } catch {
      throw Failure("'\(movie.name)' cannot be joined: \(Failure.describe(error))")
    }
    // A picture's time in the joined movie is its own, less the beginning of its movie, plus the
    // durations of the movies before.
    timescales.append(movie.timescale)
    timescales += [range.start, range.duration].compactMap(CommonTimescale.minimum)
    sizes.append(UncroppedSize(width: movie.width, height: movie.height, seconds: range.duration.seconds))
    for chapter in movie.chapters.isEmpty && hasChapters ? [movie.chapter(range)] : movie.chapters {
      let common = chapter.timeRange.intersection(range)
      guard common.duration.isNumeric, common.duration > .zero else { continue }
      chapters.append(
        AVTimedMetadataGroup(
          items: chapter.items,
          timeRange: CMTimeRange(start: duration + (common.start - range.start), duration: common.duration)))
    }
    duration = duration + range.duration
  }
}
