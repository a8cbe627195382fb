// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// A decoded picture with its presentation time and duration.
struct Frame: @unchecked Sendable {
  // Sendable: the reader hands it over to one encoder.
  let pixelBuffer: CVPixelBuffer
  let time: CMTime
  let duration: CMTime
}

/// Reads the pictures of a source, frame by frame in presentation order, with the changes that were
/// asked for: rotated, cropped, at another rate, scaled, and with what is drawn over them.
final class FrameReader {
  private let source: MovieSource
  private let feed: any PictureFeed
  private let rotator: PictureRotator?
  private let crop: PictureCrop?
  private var trimmer: FrameTrimmer?
  private var rate: FrameRateConverter?
  private let adapter: PictureAdapter?
  private let noiseFilter: NoiseFilter?
  private let drawing: PictureFilter?
  private let range: CMTimeRange?
  /// Frames that wait for a picture which the drawing has not yet given back.
  private var drawn: [Frame] = []
  private var isDrawingOver = false
  private var count = 0
  private var gaps: TimeGaps
  private var end = CMTime.invalid

  /// Reads pictures as a plan has them encoded.
  /// - Parameter pixelFormat: replaces the plan's pixel format.
  convenience init(_ source: MovieSource, plan: EncodingPlan, pixelFormat: OSType? = nil) throws {
    let format = pixelFormat ?? plan.pixelFormat.type
    // Tones are mapped from the source's full bit depth.
    let decoded = plan.mapsTones ? PixelFormatChoice.video10Bit.type : format
    let adapter = PictureAdapter(plan.fit, pixelFormat: format, mapsTones: plan.mapsTones)
    try self.init(
      source, pixelFormat: decoded, deinterlacing: plan.deinterlacing, range: plan.range, adapter: adapter,
      isPaced: plan.isPaced)
  }

  /// - Parameters:
  ///   - source: the movie, or a live source.
  ///   - pixelFormat: the pixel format to decode to.
  ///   - deinterlacing: how interlaced pictures are deinterlaced; nil leaves them as they are.
  ///   - range: limits the pictures to those whose presentation time is in it; nil for all.
  ///   - adapter: scales or converts each picture; nil if nothing is left to do.
  ///   - isPaced: whether pictures are encoded at their times.
  /// - Throws: a `Failure` if the movie cannot be decoded.
  init(
    _ source: MovieSource, pixelFormat: OSType, deinterlacing: Deinterlacing? = nil,
    range: CMTimeRange? = nil,
    adapter: PictureAdapter? = nil, isPaced: Bool = false
  ) throws {
    self.source = source
    self.range = range
    gaps = TimeGaps(frameRate: source.storedFrameRate)
    self.adapter = adapter
    rotator = source.turn.map(PictureRotator.init)
    crop = source.crop.map(PictureCrop.init)
    trimmer = source.part.map(FrameTrimmer.init)
    rate = source.convertedRate.map {
      FrameRateConverter(rate: $0, origin: source.part?.start ?? .zero)
    }
    // Pictures of a live source do not wait for the next ones.
    noiseFilter = source.noiseStrength.map { NoiseFilter(strength: $0, looksAhead: !source.comesLive) }
    let pixelFormat = noiseFilter == nil ? pixelFormat : NoiseFilter.pixelFormat(for: pixelFormat)
    drawing = source.drawings.isEmpty ? nil : PictureFilter(source.drawings)
    if let live = source.live {
      let hasFullChroma =
        pixelFormat == CallPictureFormat.full.type || pixelFormat == kCVPixelFormatType_32BGRA
      feed = try LivePictures(
        live, audio: source.captured, format: hasFullChroma ? .full : .standard, showsTimeOfDay: isPaced)
    } else if let track = source.video {
      // With another frame rate, the picture that is displayed when the range begins may have begun
      // at any time before it; the reader gives that one too.
      let read = source.part.map { part in range.map { part.intersection($0) } ?? part } ?? range
      feed = try TrackPictures(
        source, track, pixelFormat: pixelFormat, deinterlacing: deinterlacing, range: read)
    } else {
      throw Failure("'\(source.name)' has no pictures")
    }
  }

  /// Reads the next frame.
  /// - Returns: the frame; nil at the end of the movie.
  /// - Throws: a `Failure` if the movie cannot be read or contains no picture.
  func next() throws -> Frame? {
    if let frame = try nextDrawn() { return frame }
    if let failure = feed.failure() { throw failure }
    guard count > 0 || Interrupt.shared.isRequested else {
      throw Failure("'\(source.name)' contains no picture that can be decoded")
    }
    return nil
  }

  private func nextDrawn() throws -> Frame? {
    guard let drawing else { return try nextAdapted() }
    while drawn.isEmpty, !isDrawingOver {
      do {
        if let frame = try nextAdapted() {
          drawn = try drawing.add(frame.pixelBuffer, time: frame.time, duration: frame.duration).map(
            Frame.init)
        } else {
          isDrawingOver = true
          drawn = try drawing.finish().map(Frame.init)
        }
      } catch let error as MediaFileError {
        throw Failure("the movie's pictures cannot be drawn on: \(error.detail)")
      }
    }
    return drawn.isEmpty ? nil : drawn.removeFirst()
  }

  private func nextAdapted() throws -> Frame? {
    while let frame = try nextTimed() {
      // The reader also gives the picture that is displayed when the range begins.
      if let range, frame.time < range.start || frame.time >= range.end { continue }
      var picture = try rotator?.upright(frame.pixelBuffer) ?? frame.pixelBuffer
      if let crop { picture = try crop.cut(picture) }
      if let adapter { picture = try adapter.adapt(picture) }
      return Frame(pixelBuffer: picture, time: frame.time, duration: frame.duration)
    }
    return nil
  }

  private func nextTimed() throws -> Frame? {
    guard rate != nil else { return try nextFiltered() }
    return try rate?.next { try nextFiltered() }
  }

  // Before pictures are repeated, for another rate, and scaled: noise is what the camera has made.
  private func nextFiltered() throws -> Frame? {
    guard let noiseFilter else { return try nextOfPart() }
    return try noiseFilter.next { try nextOfPart() }
  }

  private func nextOfPart() throws -> Frame? {
    guard trimmer != nil else { return try nextDecoded() }
    return try trimmer?.next { try nextDecoded() }
  }

  private func nextDecoded() throws -> Frame? {
    guard let frame = try feed.next() else { return nil }
    checkSize(of: frame.pixelBuffer, at: frame.time)
    gaps.add(frame.time)
    count += 1
    let until = frame.time + frame.duration
    end = end.isNumeric ? max(end, until) : until
    return frame
  }

  /// The damage found in the movie so far.
  var damage: SourceDamage {
    guard let found = feed.damage else { return SourceDamage() }
    var damage = SourceDamage(found, end: end.isNumeric ? end : nil, source: source)
    // Packets that are missing leave nothing to decode, and so nothing that the decoder reports.
    if !damage.isEmpty { damage.missingSeconds = gaps.missingSeconds(count: count) }
    return damage
  }

  private var size: (width: Int, height: Int)?

  /// Tells the user if the picture size changes; the session scales pictures of another size than
  /// the first one's.
  private func checkSize(of picture: CVPixelBuffer, at time: CMTime) {
    let now = (width: CVPixelBufferGetWidth(picture), height: CVPixelBufferGetHeight(picture))
    if let size, size != now {
      Console.note(
        "'\(source.name)': the picture changes from \(size.width)x\(size.height) to \(now.width)x\(now.height) "
          + "at \(TextFormat.fixed(time.seconds, 2)) s; it is scaled to the encoded size")
    }
    size = now
  }

  func cancel() { feed.cancel() }
}

extension Frame {
  fileprivate init(_ picture: PictureFilter.Picture) {
    self.init(pixelBuffer: picture.buffer, time: picture.time, duration: picture.duration)
  }
}

extension MovieSource {
  /// The error for an input whose samples are encrypted.
  static func isEncrypted(_ name: String) -> Failure {
    Failure("'\(name)' is encrypted, and its key is not available; decrypt it first")
  }

  func failure(_ error: (any Error)?) -> Failure {
    if (error as? AVError)?.code == .contentIsProtected { return Self.isEncrypted(name) }
    let reason = error.map { " (\(Failure.describe($0)))" } ?? ""
    return Failure("'\(name)' cannot be read to its end\(reason); it may be damaged or cut off")
  }
}
