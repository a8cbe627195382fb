// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Creates still images of a movie.
open class AVAssetImageGenerator: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The result of a request.
  public enum Result: Int, Sendable {
    case succeeded = 0
    case failed = 1
    case cancelled = 2
  }

  public typealias ApertureMode = AVVideoApertureMode

  /// How pictures of high dynamic range are converted.
  public struct DynamicRangePolicy: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Pictures are tone-mapped to sRGB.
    public static let forceSDR = DynamicRangePolicy(
      rawValue: "AVAssetImageGeneratorDynamicRangePolicyForceSDR")
    /// Pictures keep the colours of the movie, with 8 bits per component and a colour space that
    /// describes them.
    public static let matchSource = DynamicRangePolicy(
      rawValue: "AVAssetImageGeneratorDynamicRangePolicyMatchSource")
  }

  public let asset: AVAsset
  private let lock = Lock()
  private var turns = false
  private var largest = CGSize.zero
  private var aperture: ApertureMode?
  private var range = DynamicRangePolicy.forceSDR
  private var before = CMTime.positiveInfinity
  private var after = CMTime.positiveInfinity
  private var composition: AVVideoComposition?
  private var compositor: (any AVVideoCompositing)?
  private var cancelCount = 0
  private let queue = DispatchQueue(label: "AVFoundation.images")

  public init(asset: AVAsset) {
    self.asset = asset
    super.init()
  }

  /// Whether images are transformed by the track's preferred transform. Areas that the picture does
  /// not cover are transparent. A transform that cannot be inverted, or whose result has no pixels
  /// or more than 16384 in a direction, is ignored.
  open var appliesPreferredTrackTransform: Bool {
    get { lock.withLock { turns } }
    set { lock.withLock { turns = newValue } }
  }
  /// The size into which images are scaled, with their aspect ratio; zero for the movie's own size.
  /// A width or height of zero sets no limit.
  open var maximumSize: CGSize {
    get { lock.withLock { largest } }
    set { lock.withLock { largest = newValue } }
  }
  /// The part of the picture that images have. Encoded pixels: all, in their stored aspect ratio.
  /// Production aperture: all, scaled to square pixels. Clean aperture or nil: the movie's clean
  /// aperture, if it has one, scaled to square pixels.
  open var apertureMode: ApertureMode? {
    get { lock.withLock { aperture } }
    set { lock.withLock { aperture = newValue } }
  }
  /// How pictures of high dynamic range are converted. If there is a video composition, it
  /// determines the colours instead.
  open var dynamicRangePolicy: DynamicRangePolicy {
    get { lock.withLock { range } }
    set { lock.withLock { range = newValue } }
  }
  /// The composition that makes one picture from the asset's video tracks; it is copied. The
  /// picture is made for exactly the requested time, whatever the tolerances are, and the preferred
  /// transform and aperture of the tracks are not applied to it.
  open var videoComposition: AVVideoComposition? {
    get { lock.withLock { composition } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      let compositor = copy?.makeCompositor()
      let old = lock.withLock {
        defer { (composition, self.compositor) = (copy, compositor) }
        return (composition, self.compositor)
      }
      // The previous objects are released after the lock: their deinitializers may call this
      // generator.
      withExtendedLifetime(old) {}
    }
  }
  /// The object that makes the pictures of `videoComposition`; nil if the layer instructions
  /// determine them.
  open var customVideoCompositor: (any AVVideoCompositing)? { lock.withLock { compositor } }
  /// How much earlier than requested an image may be. If it is infinite, the preceding key frame is
  /// used, which is fastest.
  open var requestedTimeToleranceBefore: CMTime {
    get { lock.withLock { before } }
    set { lock.withLock { before = newValue } }
  }
  /// How much later than requested an image may be.
  open var requestedTimeToleranceAfter: CMTime {
    get { lock.withLock { after } }
    set { lock.withLock { after = newValue } }
  }

  // MARK: - One picture

  /// Returns the image at a time, within the tolerances. It blocks the calling thread.
  /// - Parameters:
  ///   - requestedTime: The time.
  ///   - actualTime: Receives the presentation time of the image.
  /// - Throws: `AVError` if there is no image within the tolerances, or the asset cannot be read.
  @discardableResult
  open func copyCGImage(at requestedTime: CMTime, actualTime: UnsafeMutablePointer<CMTime>?) throws -> CGImage
  {
    let made = try make(requestedTime)
    actualTime?.pointee = made.time
    return made.image
  }

  /// Returns the image at a time, within the tolerances, and its presentation time.
  /// - Throws: `AVError` if there is no image within the tolerances, or the asset cannot be read.
  open func image(at time: CMTime) async throws -> (image: CGImage, actualTime: CMTime) {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Swift.Result { try self.make(time) }.map { (image: $0.image, actualTime: $0.time) })
      }
    }
  }

  // MARK: - Many pictures

  public typealias CompletionHandler =
    @Sendable (
      _ requestedTime: CMTime, _ image: CGImage?, _ actualTime: CMTime, _ result: Result,
      _ error: (any Error)?
    ) -> Void

  /// Creates images one after the other and calls a handler for each, on a queue of the generator.
  /// - Parameters:
  ///   - requestedTimes: The times, as `NSValue` objects with `CMTime` values.
  ///   - handler: Called once for each time.
  @preconcurrency open func generateCGImagesAsynchronously(
    forTimes requestedTimes: [NSValue], completionHandler handler: @escaping CompletionHandler
  ) {
    let start = lock.withLock { cancelCount }
    for value in requestedTimes {
      let time = value.timeValue
      queue.async { [self] in
        guard lock.withLock({ cancelCount == start }) else {
          handler(time, nil, .invalid, .cancelled, AVError(.operationCancelled))
          return
        }
        do {
          let made = try make(time)
          handler(time, made.image, made.time, .succeeded, nil)
        } catch { handler(time, nil, .invalid, .failed, error) }
      }
    }
  }

  /// Cancels the requests whose processing has not begun; their handlers are called with
  /// `.cancelled`.
  open func cancelAllCGImageGeneration() { lock.withLock { cancelCount += 1 } }

  /// The number of calls of `cancelAllCGImageGeneration()`.
  var cancellations: Int { lock.withLock { cancelCount } }

  // MARK: - Generation of one image

  private func make(_ time: CMTime) throws -> (image: CGImage, time: CMTime) {
    guard time.isNumeric else { throw AVError(.noImageAtTime, reason: "The time is not a number.") }
    let (composition, compositor) = lock.withLock { (self.composition, self.compositor) }
    if let composition { return try make(time, composition, compositor) }
    guard let origin = try asset.pictureOrigin(at: time) else {
      throw AVError(
        .noSourceTrack, reason: "The asset has no video.", advice: "Use an asset with a video track.")
    }
    let (properties, track) = (try origin.track.file.properties(), origin.track.properties)
    let asked = origin.time
    let (before, after, turns, largest, mode) = lock.withLock {
      (self.before, self.after, self.turns, self.largest, self.aperture)
    }
    let aperture = PictureAperture(mode, of: track)
    let transform = PictureTransform(turns ? track.transform : .identity, of: aperture.size)
    let size = transform.sourceSize(fitting: largest)
    var settings: [String: Any] = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
    settings[kCVPixelBufferWidthKey as String] = aperture.decodedWidth(size)
    settings[kCVPixelBufferHeightKey as String] = aperture.decodedHeight(size)
    // The created image is tagged as sRGB.
    let matches = dynamicRangePolicy == .matchSource
    if !matches { settings[AVVideoColorPropertiesKey] = CompositionColor.standardRange(for: track.stream) }
    let source = try PictureSource(
      Demuxer(again: properties.demuxer), track, PictureRequirements(settings), copies: false,
      areStills: true)
    let wanted = max(asked, track.timeRange.start)
    // If a key frame is within the tolerance, decoding up to the requested time is not needed. The
    // first key frame of the track may be presented after pictures that depend on it, since no
    // picture is stored before it.
    let key = try keyFrame(before: wanted, properties, track)
    let start = key <= wanted && wanted - key <= before ? key : wanted
    let last = track.timeRange.end
    guard start < last || start == .zero else { throw Self.nothing(at: time) }
    try source.seek(to: CMTimeRange(start: start, duration: .positiveInfinity))
    guard let sample = try source.next(), let image = CMSampleBufferGetImageBuffer(sample) else {
      throw Self.nothing(at: time)
    }
    let actual = CMSampleBufferGetPresentationTimeStamp(sample)
    guard actual - wanted <= after || actual <= wanted else { throw Self.nothing(at: time) }
    let space = matches ? CVImageBufferGetColorSpace(image)?.takeUnretainedValue() : nil
    return (try Self.image(of: image, transform, aperture, space), origin.toAssetTime(actual))
  }

  /// Returns the picture that a composition makes for a time.
  private func make(
    _ time: CMTime, _ composition: AVVideoComposition, _ compositor: (any AVVideoCompositing)?
  ) throws -> (image: CGImage, time: CMTime) {
    let tracks = try asset.loadedTracks().filter { $0.mediaType == .video }
    let transform = PictureTransform(.identity, of: composition.renderSize)
    let size = transform.sourceSize(fitting: maximumSize)
    let requirements = try PictureRequirements([
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
      kCVPixelBufferWidthKey as String: Int(clamping: Double(size.width)),
      kCVPixelBufferHeightKey as String: Int(clamping: Double(size.height)),
    ])
    let source = try VideoCompositionSource(
      composition, compositor, tracks, requirements, asset: asset)
    defer { source.stop() }
    try source.seek(to: CMTimeRange(start: max(.zero, time), duration: .positiveInfinity))
    guard let sample = try source.next(), let image = CMSampleBufferGetImageBuffer(sample) else {
      throw Self.nothing(at: time)
    }
    return (
      try Self.image(of: image, transform, PictureAperture(whole: size)),
      CMSampleBufferGetPresentationTimeStamp(sample)
    )
  }

  private func keyFrame(before time: CMTime, _ properties: AssetDescription, _ track: TrackDescription) throws
    -> CMTime
  {
    let demuxer = try Demuxer(again: properties.demuxer)
    demuxer.select([track.stream.index])
    try demuxer.seek(stream: track.stream.index, to: track.stream.units(time))
    let packet = try demuxer.next()
    return packet.map { track.stream.time($0.pts ?? $0.dts ?? 0) } ?? time
  }

  private static func nothing(at time: CMTime) -> AVError {
    AVError(
      .noImageAtTime, reason: "There is no picture at \(time.seconds) s.",
      advice: "Ask for a time within the movie, or allow a greater tolerance.",
      info: [AVErrorTimeKey: NSValue(time: time)])
  }

  /// Creates a transformed image from a 32-bit BGRA pixel buffer.
  /// - Parameters:
  ///   - buffer: The pixel buffer.
  ///   - transform: The transform.
  ///   - aperture: The part of the pixel buffer that the image has.
  ///   - space: The colour space of the image; nil for sRGB.
  /// - Throws: `AVError` if there is not enough memory.
  private static func image(
    of buffer: CVPixelBuffer, _ transform: PictureTransform, _ aperture: PictureAperture,
    _ space: CGColorSpace? = nil
  ) throws -> CGImage {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    guard let base = CVPixelBufferGetBaseAddress(buffer) else {
      throw AVError(.unknown, reason: "The picture cannot be read.")
    }
    let bytesPerRow = CVPixelBufferGetBytesPerRow(buffer)
    let part = aperture.part(
      ofWidth: CVPixelBufferGetWidth(buffer), height: CVPixelBufferGetHeight(buffer))
    let mode = CVBufferCopyAttachment(buffer, kCVImageBufferAlphaChannelModeKey, nil) as? NSString
    let (pixels, outWidth, outHeight) = transform.apply(
      to: base + part.top * bytesPerRow + part.left * 4, width: part.width, height: part.height,
      bytesPerRow: bytesPerRow, isStraight: mode == kCVImageBufferAlphaChannelMode_StraightAlpha)
    guard let provider = CGDataProvider(data: pixels as NSData),
      let space = space ?? CGColorSpace(name: CGColorSpace.sRGB),
      let image = CGImage(
        width: outWidth, height: outHeight, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: outWidth * 4,
        space: space,
        bitmapInfo: [
          .byteOrder32Little, CGBitmapInfo(rawValue: CGImageAlphaInfo.premultipliedFirst.rawValue),
        ],
        provider: provider, decode: nil, shouldInterpolate: true, intent: .defaultIntent)
    else { throw AVError(.outOfMemory, reason: "There is no memory for a picture.") }
    return image
  }
}
