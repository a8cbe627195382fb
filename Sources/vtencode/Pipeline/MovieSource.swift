// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// The movie to encode: what its tracks say, and readers for them.
struct MovieSource: Sendable {
  let name: String
  /// Kept open as long as it is read.
  let file: InputFile
  let asset: AVURLAsset
  let video: AVAssetTrack
  let sounds: [SoundFacts]
  /// Subtitles of words; those that are pictures cannot be written.
  let subtitles: [AVAssetTrack]
  let chapters: [AVTimedMetadataGroup]
  /// Tracks that are neither the picture nor sound, and pictures besides the first, in a person's words.
  let others: [String]
  let metadata: [AVMetadataItem]
  /// Size of the picture in samples: as stored, before any rotation, or upright.
  private(set) var width: Int
  private(set) var height: Int
  private(set) var frameRate: Double
  /// Bits a second of the picture; 0 if nothing is known.
  let dataRate: Double
  let duration: CMTime
  let timescale: CMTimeScale
  /// How the pictures are shown.
  private(set) var transform: CGAffineTransform
  /// Done to the pictures already, for an output that cannot say it.
  private(set) var turn: PictureTurn?
  let format: CMFormatDescription
  /// Frames a second given for a raw stream, which has no times of its own.
  let streamFrameRate: Double?
  /// There is one picture in it, whatever it says of its length.
  let isSinglePicture: Bool

  /// - Parameter streamFrameRate: frames a second, for a raw stream alone.
  static func open(_ path: String, streamFrameRate: Double?) async throws -> MovieSource {
    try await open(try InputFile(path), streamFrameRate: streamFrameRate)
  }

  static func open(_ file: InputFile, streamFrameRate: Double?) async throws -> MovieSource {
    let path = file.name
    let options = streamFrameRate.map { [OVTURLAssetElementaryStreamFrameRateKey: $0 as Any] }
    let asset = AVURLAsset(url: URL(fileURLWithPath: file.path), options: options)
    let videoTracks: [AVAssetTrack]
    let tracks: [AVAssetTrack]
    do {
      tracks = try await asset.load(.tracks)
      videoTracks = tracks.filter { $0.mediaType == .video }
    } catch {
      throw Failure("cannot read '\(path)' as a movie (\(Failure.describe(error))); is it one, and whole?")
    }
    guard let video = videoTracks.first else {
      throw Failure("'\(path)' has no video track; give a movie that has one")
    }
    let (size, rate, dataRate, range, timescale, storedTransform, formats) = try await video.load(
      .naturalSize, .nominalFrameRate, .estimatedDataRate, .timeRange, .naturalTimeScale, .preferredTransform,
      .formatDescriptions
    )
    // Only for want of a key, that is: without a decoder it is told by the reader.
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
    if let streamFrameRate, abs(frameRate / streamFrameRate - 1) > 0.01 {
      throw Failure(refusalOfFrameRate(path))
    }
    var sounds: [SoundFacts] = []
    for track in tracks where track.mediaType == .audio {
      sounds.append(try await SoundFacts(track, number: sounds.count + 1))
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
      // Titles of chapters are the chapters.
      track.trackID != video.trackID && track.mediaType != .audio && !carried.contains(track.trackID)
        && !(track.mediaType == .text && !chapters.isEmpty)
    }
    return MovieSource(
      name: path, file: file, asset: asset, video: video, sounds: sounds, subtitles: subtitles,
      chapters: chapters,
      others: Self.describe(others), metadata: (try? await asset.load(.metadata)) ?? [],
      width: width, height: height,
      frameRate: frameRate, dataRate: dataRate.isFinite ? Double(dataRate) : 0, duration: range.duration,
      timescale: timescale, transform: transform,
      format: format, streamFrameRate: streamFrameRate,
      isSinglePicture: try await onThread("pictures") { holdsOnePicture(video, of: asset) })
  }

  /// Whether a track has one picture alone: reads the first two that are stored, and decodes none.
  private static func holdsOnePicture(_ track: AVAssetTrack, of asset: AVAsset) -> Bool {
    guard let reader = try? AVAssetReader(asset: asset) else { return false }
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    guard reader.canAdd(output) else { return false }
    reader.add(output)
    guard reader.startReading() else { return false }
    defer { reader.cancelReading() }
    var count = 0
    while count < 2, let sample = output.copyNextSampleBuffer() {
      // There are markers without data.
      if CMSampleBufferGetNumSamples(sample) > 0 { count += CMSampleBufferGetNumSamples(sample) }
    }
    return count == 1 && reader.status == .completed
  }

  /// The size of the pictures that the reader gives, where they are cropped to their clean aperture; nil where they are not.
  /// - Parameter keepsFields: they are not deinterlaced.
  private static func cleanSize(_ format: CMFormatDescription, keepsFields: Bool) -> (
    width: Int, height: Int
  )? {
    let coded = CMVideoFormatDescriptionGetDimensions(format)
    let part = CleanPart(format, keepsFields: keepsFields)?.rect(
      ofWidth: Int(coded.width), height: Int(coded.height))
    return part.map { ($0.width, $0.height) }
  }

  static func refusalOfFrameRate(_ name: String) -> String {
    "--frame-rate is for raw streams, and '\(name)' has times of its own; leave it out"
  }

  /// `2 subtitle tracks`, `1 video track`.
  private static func describe(_ tracks: [AVAssetTrack]) -> [String] {
    let names: [(AVMediaType, String)] = [
      (.video, "more video track"), (.subtitle, "other subtitle track"), (.text, "text track"),
      (.closedCaption, "caption track"), (.timecode, "timecode track"), (.metadata, "metadata track"),
    ]
    var result: [String] = []
    for (type, name) in names {
      let count = tracks.count { $0.mediaType == type }
      if count > 0 { result.append(Wording.plural(count, name)) }
    }
    let rest = tracks.count { track in !names.contains { $0.0 == track.mediaType } }
    if rest > 0 { result.append(Wording.plural(rest, "other track")) }
    return result
  }

  /// Frames that the movie should have, as far as it says; nil if it does not.
  var expectedFrames: Int? {
    guard duration.isNumeric, duration.seconds > 0, frameRate > 0 else { return nil }
    return max(Int(Int32(clamping: (duration.seconds * frameRate).rounded())), 1)
  }

  /// The movie says that its pictures have two fields.
  var isInterlaced: Bool {
    let count =
      CMFormatDescriptionGetExtension(format, extensionKey: kCMFormatDescriptionExtension_FieldCount)
      as? NSNumber
    return count?.intValue == 2
  }

  /// The same movie with the pictures that a run makes of its fields. To be called before ``upright()``.
  /// - Parameter deinterlacing: what becomes of the fields; nil leaves them.
  func withFields(_ deinterlacing: Deinterlacing?) -> MovieSource {
    guard isInterlaced else { return self }
    var source = self
    switch deinterlacing {
    case .frame: break
    case .field: source.frameRate *= 2
    case nil:
      if let clean = Self.cleanSize(format, keepsFields: true) {
        (source.width, source.height) = clean
        source.transform = transform.movedToOrigin(ofWidth: clean.width, height: clean.height)
      }
    }
    return source
  }

  /// The same movie with pictures that stand upright as they are, for what has no transform: streams and calls.
  func upright() -> MovieSource {
    guard turn == nil, let turn = PictureTurn(transform) else { return self }
    var source = self
    source.turn = turn
    source.transform = .identity
    if turn.swapsSides { (source.width, source.height) = (height, width) }
    return source
  }

  /// Width and height of a sample, as its pictures have them; nil if the movie does not say.
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

  /// More than 8 bits in a sample.
  var isDeep: Bool {
    let depth =
      CMFormatDescriptionGetExtension(format, extensionKey: kCMFormatDescriptionExtension_BitsPerComponent)
      as? NSNumber
    return (depth?.intValue ?? 8) > 8 || isHighDynamicRange
  }

  /// PQ or HLG.
  var isHighDynamicRange: Bool {
    let transfer =
      CMFormatDescriptionGetExtension(format, extensionKey: kCMFormatDescriptionExtension_TransferFunction)
      as? String
    return transfer == kCMFormatDescriptionTransferFunction_SMPTE_ST_2084_PQ as String
      || transfer == kCMFormatDescriptionTransferFunction_ITU_R_2100_HLG as String
  }
}

extension CGAffineTransform {
  /// The same turn for pictures of a size, so that what is shown begins at zero.
  fileprivate func movedToOrigin(ofWidth width: Int, height: Int) -> CGAffineTransform {
    guard !isIdentity else { return self }
    let linear = CGAffineTransform(a: a, b: b, c: c, d: d, tx: 0, ty: 0)
    let box = CGRect(x: 0, y: 0, width: width, height: height).applying(linear)
    return CGAffineTransform(a: a, b: b, c: c, d: d, tx: -box.minX, ty: -box.minY)
  }
}
