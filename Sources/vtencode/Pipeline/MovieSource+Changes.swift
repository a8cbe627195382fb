// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

extension MovieSource {
  /// A live source: a screen, a camera or a test picture, which has no audio.
  static func open(live: LiveSource) throws -> MovieSource {
    var format: CMFormatDescription?
    CMVideoFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, codecType: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
      width: Int32(clamping: live.width), height: Int32(clamping: live.height), extensions: nil,
      formatDescriptionOut: &format)
    guard let format else { throw Failure("out of memory for the pictures of '\(live.name)'") }
    var source = MovieSource(
      name: live.name, files: [], asset: AVMutableComposition(), video: nil, audioTracks: [], subtitles: [],
      chapters: [], others: [], metadata: [], width: live.width, height: live.height,
      storedFrameRate: live.frameRate, dataRate: 0, duration: .indefinite, timescale: 90_000,
      transform: .identity, format: format, streamFrameRate: nil, isSinglePicture: false)
    source.live = live
    return source
  }

  /// The part of the movie in a time range.
  /// - Throws: a `Failure` if the range begins after the movie's end, or a live source is to begin
  ///   later than now.
  func part(_ range: CMTimeRange) throws -> MovieSource {
    var source = self
    if comesLive, range.start > .zero { throw Self.cannotBeginLater(name) }
    // A still picture has no duration, and begins at zero all the same.
    if range.start > .zero, duration.isNumeric, range.start >= duration {
      throw Failure(
        "--start \(TextFormat.fixed(range.start.seconds, 2)) lies after the end of '\(name)', which is "
          + "\(TextFormat.fixed(duration.seconds, 2)) s long", status: 64)
    }
    source.part = range
    return source
  }

  static func cannotBeginLater(_ name: String) -> Failure {
    Failure("'\(name)' is a live source, which begins now; omit --start, or give --duration", status: 64)
  }

  /// The movie with the changes that the options ask for. Changes of the picture are made to
  /// upright pictures.
  /// - Throws: a `Failure` if a change is not possible for this movie.
  func changed(_ changes: ChangeOptions) throws -> MovieSource {
    var source = changes.changesPictures ? upright() : self
    if let rotation = changes.rotate { source.rotate(rotation) }
    if let crop = changes.crop { try source.keep(crop) }
    if let strength = changes.denoise?.value, strength > 0 {
      guard !isHighDynamicRange else {
        throw Failure(
          "--denoise filters pictures of 8 bits, and '\(name)' has a high dynamic range; omit it",
          status: 64)
      }
      source.noiseStrength = strength
    }
    source.volume = changes.volume?.factor ?? 1
    if let number = changes.audioTrack {
      guard let audio = audioTracks.first(where: { $0.number == number }) else {
        throw Failure(
          audioTracks.isEmpty
            ? "'\(name)' has no audio; omit --audio-track"
            : "'\(name)' has \(TextFormat.plural(audioTracks.count, "audio track")); --audio-track must be from 1 to "
              + "\(audioTracks.count)", status: 64)
      }
      source.audioTracks = [audio]
    }
    return source
  }

  private mutating func rotate(_ rotation: Rotation) {
    let stored = turn ?? PictureRotation.none
    let quarters = (stored.quarters + rotation.quarters) % 4
    turn =
      quarters == 0 && !stored.isMirrored
      ? nil : PictureRotation(quarters: quarters, isMirrored: stored.isMirrored)
    isRotatedOnRequest = true
    if rotation.quarters % 2 != 0 { swapSides() }
  }
}

extension EncodingPlan {
  /// Changes what depends on the changes of the movie.
  mutating func adapt(to source: MovieSource) {
    if source.joinsSizes, fit.scaling == nil { fit.scaling = kVTScalingMode_Letterbox as String }
    // Audio that is amplified or joined is decoded, so it cannot be copied.
    if audio == .auto, source.volume != 1 || source.isJoined { audio = .aac }
    if source.live != nil {
      let isEndless = source.part == nil && frameLimit == nil
      if source.captured == nil, audio != .none {
        notices.append(
          "'\(source.name)' has pictures only, so there is no audio"
            + (purpose == .conferencing ? "" : "; --sound pulse: records a microphone")
            + (isEndless ? "; Ctrl-C ends the recording" : ""))
      } else if isEndless {
        notices.append("Ctrl-C ends the recording")
      }
    }
  }
}
