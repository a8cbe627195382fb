// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// The movie to encode, with the properties of its tracks.
struct MovieSource: Sendable {
  let name: String
  /// Keeps copied pipes open as long as the movie is read.
  let files: [InputFile]
  let asset: AVAsset
  /// The video track; nil for a live source.
  let video: AVAssetTrack?
  var audioTracks: [AudioTrackProperties]
  /// Text subtitles; subtitles that are pictures cannot be written.
  var subtitles: [AVAssetTrack]
  let chapters: [AVTimedMetadataGroup]
  /// Descriptions of the tracks that are not encoded: other kinds of tracks, and video tracks
  /// besides the first.
  let others: [String]
  let metadata: [AVMetadataItem]
  /// The picture's width and height in samples: as stored, or as displayed after `upright()`.
  var width: Int
  var height: Int
  /// The frame rate of the pictures that are read, in frames a second.
  private(set) var storedFrameRate: Double
  /// The bit rate of the video track in bits a second; 0 if it is not known.
  let dataRate: Double
  var duration: CMTime
  /// The time scale in which the times of the pictures are exact, in ticks a second.
  let timescale: CMTimeScale
  /// The track's preferred transform.
  var transform: CGAffineTransform
  /// The rotation that `FrameReader` applies to the pictures, for an output that cannot store one.
  var turn: PictureRotation?
  let format: CMFormatDescription
  /// The frame rate that was given for a raw stream, which has no time stamps; nil if none was.
  let streamFrameRate: Double?
  /// Whether the video track holds exactly one picture, regardless of its stated duration.
  var isSinglePicture: Bool
  /// The screen, camera or test picture that is read in place of a movie; nil for a movie.
  var live: LiveSource?
  /// The audio that is captured in place of the source's own; nil if none is.
  var captured: Captured?
  /// The connection that the movie comes over; nil for a file.
  var network: NetworkInput?
  /// The sizes of the pictures before they are cropped, of each movie that is joined. Empty for one
  /// movie that is not cropped, whose size is `width` and `height`.
  var uncroppedSizes: [UncroppedSize] = []
  /// Whether several movies are joined.
  var isJoined = false
  /// The part of the movie that is read; nil for all of it.
  var part: CMTimeRange?
  /// The frame rate to which the pictures are converted; nil if they keep their times.
  var convertedRate: Double?
  /// Whether the user has asked for a rotation, which `turn` contains.
  var isRotatedOnRequest = false
  /// The part of the upright picture that is kept; nil for all of it.
  var crop: CropRect?
  /// How much noise is taken out of the pictures, up to 1; nil for nothing.
  var noiseStrength: Float?
  /// The drawings over the pictures at their encoded size.
  var drawings: [PictureFilter.Drawing] = []
  /// The factor by which the audio is amplified.
  var volume = 1.0

  /// Frames a second of the pictures as they are encoded.
  var frameRate: Double { convertedRate ?? storedFrameRate }

  /// - Parameters:
  ///   - streamFrameRate: the frame rate of a raw stream; nil for what the stream says.
  ///   - convertsRate: whether a movie that has time stamps is converted to that frame rate; it is
  ///     refused otherwise.
  /// - Throws: a `Failure` if the movie cannot be read.
  static func open(
    _ path: String, streamFrameRate: Double?, convertsRate: Bool = false
  ) async throws -> MovieSource {
    try await open(try InputFile(path), streamFrameRate: streamFrameRate, convertsRate: convertsRate)
  }

  static func open(
    _ file: InputFile, streamFrameRate: Double?, convertsRate: Bool = false
  ) async throws -> MovieSource {
    var options: [String: Any] = [:]
    if let streamFrameRate { options[OVTURLAssetElementaryStreamFrameRateKey] = streamFrameRate }
    if file.isPlaylist {
      // Its segments are other files; FFmpegMedia takes those below its folder alone.
      let refused: AVAssetReferenceRestrictions = [
        .forbidRemoteReferenceToLocal, .forbidCrossSiteReference, .forbidLocalReferenceToRemote,
      ]
      options[AVURLAssetReferenceRestrictionsKey] = NSNumber(value: refused.rawValue)
    }
    let asset = AVURLAsset(url: URL(fileURLWithPath: file.path), options: options)
    var source = try await open(
      asset, name: file.name, files: [file], streamFrameRate: streamFrameRate, convertsRate: convertsRate)
    if let video = source.video {
      source.isSinglePicture = try await onThread("pictures") { holdsOnePicture(video, of: asset) }
    }
    return source
  }

  /// Opens the asset of a movie.
  /// - Parameters:
  ///   - path: the movie's name for messages.
  ///   - files: what is to be kept open.
  static func open(
    _ asset: AVURLAsset, name path: String, files: [InputFile], streamFrameRate: Double?, convertsRate: Bool
  ) async throws -> MovieSource {
    let videoTracks: [AVAssetTrack]
    let tracks: [AVAssetTrack]
    do {
      tracks = try await asset.load(.tracks)
      videoTracks = tracks.filter { $0.mediaType == .video }
    } catch {
      throw Failure("cannot read '\(path)' as a movie (\(Failure.describe(error))); is it a complete movie?")
    }
    guard let video = videoTracks.first else {
      throw Failure("'\(path)' has no video track; give a movie that has one")
    }
    let (size, rate, dataRate, range, timescale, storedTransform, formats) = try await video.load(
      .naturalSize, .nominalFrameRate, .estimatedDataRate, .timeRange, .naturalTimeScale, .preferredTransform,
      .formatDescriptions
    )
    // This reports a missing key only; the reader reports a missing decoder.
    if try await asset.load(.hasProtectedContent), !video.isDecodable { throw Self.isEncrypted(path) }
    guard let format = formats.first else {
      throw Failure("'\(path)' does not say how its video is coded; it may be damaged")
    }
    let coded = CMVideoFormatDescriptionGetDimensions(format)
    var width = coded.width > 0 ? Int(coded.width) : Int(clamping: Double(size.width))
    var height = coded.height > 0 ? Int(coded.height) : Int(clamping: Double(size.height))
    var transform = storedTransform
    if let clean = Self.cleanSize(format, keepsFields: false) {
      (width, height) = clean
      transform = transform.movedToOrigin(ofWidth: width, height: height)
    }
    let frameRate = rate > 0 ? Double(rate) : 30
    if let streamFrameRate, !convertsRate, abs(frameRate / streamFrameRate - 1) > 0.01 {
      throw Failure(refusalOfFrameRate(path))
    }
    var audioTracks: [AudioTrackProperties] = []
    for track in tracks where track.mediaType == .audio {
      audioTracks.append(try await AudioTrackProperties(track, number: audioTracks.count + 1))
    }
    var subtitles: [AVAssetTrack] = []
    for track in tracks where track.mediaType == .subtitle {
      let format = try await track.load(.formatDescriptions).first
      if format?.mediaSubType == .mobile3GPP { subtitles.append(track) }
    }
    let chapters = try await asset.loadChapterMetadataGroups(
      bestMatchingPreferredLanguages: Locale.preferredLanguages)
    let carried = Set(subtitles.map(\.trackID))
    let others = tracks.filter { track in
      // The chapters hold the titles that are stored in a text track.
      track.trackID != video.trackID && track.mediaType != .audio && !carried.contains(track.trackID)
        && !(track.mediaType == .text && !chapters.isEmpty)
    }
    var source = MovieSource(
      name: path, files: files, asset: asset, video: video, audioTracks: audioTracks, subtitles: subtitles,
      chapters: chapters,
      others: Self.describe(others), metadata: (try? await asset.load(.metadata)) ?? [],
      width: width, height: height,
      storedFrameRate: frameRate, dataRate: dataRate.isFinite ? Double(dataRate) : 0,
      duration: range.duration,
      timescale: timescale, transform: transform,
      format: format, streamFrameRate: streamFrameRate, isSinglePicture: false)
    if convertsRate { source.convertedRate = streamFrameRate }
    return source
  }

  /// Whether a track holds exactly one picture. Reads the first two samples and decodes none.
  private static func holdsOnePicture(_ track: AVAssetTrack, of asset: AVAsset) -> Bool {
    guard let reader = try? AVAssetReader(asset: asset) else { return false }
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    guard reader.canAdd(output) else { return false }
    reader.add(output)
    guard reader.startReading() else { return false }
    defer { reader.cancelReading() }
    var count = 0
    while count < 2, let sample = output.copyNextSampleBuffer() {
      // Buffers without samples are markers.
      if CMSampleBufferGetNumSamples(sample) > 0 { count += CMSampleBufferGetNumSamples(sample) }
    }
    return count == 1 && reader.status == .completed
  }

  /// The size of the pictures that the reader gives if it crops them to their clean aperture; nil
  /// if it does not.
  /// - Parameter keepsFields: whether interlaced pictures stay interlaced.
  private static func cleanSize(_ format: CMFormatDescription, keepsFields: Bool) -> (
    width: Int, height: Int
  )? {
    let coded = CMVideoFormatDescriptionGetDimensions(format)
    let part = CleanApertureCrop(format, keepsFields: keepsFields)?.rect(
      ofWidth: Int(coded.width), height: Int(coded.height))
    return part.map { ($0.width, $0.height) }
  }

  static func refusalOfFrameRate(_ name: String) -> String {
    "--frame-rate applies to raw streams only, and '\(name)' has time stamps; omit it, or encode the movie "
      + "whole with vtencode transcoding"
  }

  /// Counts tracks by kind, such as `2 subtitle tracks` or `1 video track`.
  private static func describe(_ tracks: [AVAssetTrack]) -> [String] {
    let names: [(AVMediaType, String)] = [
      (.video, "more video track"), (.subtitle, "other subtitle track"), (.text, "text track"),
      (.closedCaption, "caption track"), (.timecode, "timecode track"), (.metadata, "metadata track"),
    ]
    var result: [String] = []
    for (type, name) in names {
      let count = tracks.count { $0.mediaType == type }
      if count > 0 { result.append(TextFormat.plural(count, name)) }
    }
    let rest = tracks.count { track in !names.contains { $0.0 == track.mediaType } }
    if rest > 0 { result.append(TextFormat.plural(rest, "other track")) }
    return result
  }

  /// The duration in seconds of what is read; nil if the movie does not state it.
  var expectedSeconds: Double? {
    let whole = duration.isNumeric ? CMTimeRange(start: .zero, duration: duration) : nil
    let read = part.map { part in whole.map(part.intersection) ?? part } ?? whole
    guard let read, read.duration.isNumeric, read.duration.seconds > 0 else { return nil }
    return read.duration.seconds
  }

  /// The number of frames by duration and frame rate; nil if the movie does not state them.
  var expectedFrames: Int? {
    guard let seconds = expectedSeconds, frameRate > 0 else { return nil }
    return max(Int(Int32(clamping: (seconds * frameRate).rounded())), 1)
  }

  /// Whether the format description says that a frame consists of two fields.
  var isInterlaced: Bool {
    let count =
      CMFormatDescriptionGetExtension(format, extensionKey: kCMFormatDescriptionExtension_FieldCount)
      as? NSNumber
    return count?.intValue == 2
  }

  /// The movie with the frame rate and size that its pictures have after deinterlacing. To be
  /// called before ``upright()``.
  /// - Parameter deinterlacing: how interlaced pictures are deinterlaced; nil leaves them as they
  ///   are.
  func withFields(_ deinterlacing: Deinterlacing?) -> MovieSource {
    guard isInterlaced else { return self }
    var source = self
    switch deinterlacing {
    case .frame: break
    case .field: source.storedFrameRate *= 2
    case nil:
      if let clean = Self.cleanSize(format, keepsFields: true) {
        (source.width, source.height) = clean
        source.transform = transform.movedToOrigin(ofWidth: clean.width, height: clean.height)
      }
    }
    return source
  }

  /// The movie with its pictures rotated upright, for outputs without a transform: elementary
  /// streams and calls.
  func upright() -> MovieSource {
    guard turn == nil, let turn = PictureRotation(transform) else { return self }
    var source = self
    source.turn = turn
    source.transform = .identity
    if turn.swapsSides { source.swapSides() }
    return source
  }

  /// The sample aspect ratio of the pictures; nil if the movie does not state it.
  var pixelAspect: (horizontal: Double, vertical: Double)? {
    let aspect =
      CMFormatDescriptionGetExtension(format, extensionKey: kCMFormatDescriptionExtension_PixelAspectRatio)
      as? [String: Any]
    let spacings = [
      kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing,
      kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing,
    ].compactMap { (aspect?[$0 as String] as? NSNumber)?.doubleValue }
    guard spacings.count == 2, spacings[0] > 0, spacings[1] > 0 else { return nil }
    return turn?.swapsSides == true ? (spacings[1], spacings[0]) : (spacings[0], spacings[1])
  }

  /// Whether samples have more than 8 bits.
  var isDeep: Bool {
    let depth =
      CMFormatDescriptionGetExtension(format, extensionKey: kCMFormatDescriptionExtension_BitsPerComponent)
      as? NSNumber
    return (depth?.intValue ?? 8) > 8 || isHighDynamicRange
  }

  /// Whether the transfer function is PQ or HLG.
  var isHighDynamicRange: Bool {
    let transfer =
      CMFormatDescriptionGetExtension(format, extensionKey: kCMFormatDescriptionExtension_TransferFunction)
      as? String
    return transfer == kCMFormatDescriptionTransferFunction_SMPTE_ST_2084_PQ as String
      || transfer == kCMFormatDescriptionTransferFunction_ITU_R_2100_HLG as String
  }
}

extension CGAffineTransform {
  /// The same rotation, with a translation so that the displayed picture begins at the origin.
  fileprivate func movedToOrigin(ofWidth width: Int, height: Int) -> CGAffineTransform {
    guard !isIdentity else { return self }
    let linear = CGAffineTransform(a: a, b: b, c: c, d: d, tx: 0, ty: 0)
    let box = CGRect(x: 0, y: 0, width: width, height: height).applying(linear)
    return CGAffineTransform(a: a, b: b, c: c, d: d, tx: -box.minX, ty: -box.minY)
  }
}
