// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Makes still pictures of a movie.
open class AVAssetImageGenerator: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// How a request ended.
  public enum Result: Int, Sendable {
    case succeeded = 0
    case failed = 1
    case cancelled = 2
  }

  public typealias ApertureMode = AVVideoApertureMode

  /// What becomes of a high dynamic range.
  public struct DynamicRangePolicy: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Tones are mapped: all pictures are of sRGB.
    public static let forceSDR = DynamicRangePolicy(
      rawValue: "AVAssetImageGeneratorDynamicRangePolicyForceSDR")
    /// Pictures have the colours of the movie, and a colour space that says so, in eight bits.
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

  /// Turn, scale and shear pictures as the track's transform says. What it leaves uncovered is transparent. A
  /// transform that would make nothing, or a picture of more than 16384 pixels a side, is left out.
  open var appliesPreferredTrackTransform: Bool {
    get { lock.withLock { turns } }
    set { lock.withLock { turns = newValue } }
  }
  /// Pictures are made to fit into this, keeping their shape; zero: the movie's own size. A side of zero sets no limit.
  open var maximumSize: CGSize {
    get { lock.withLock { largest } }
    set { lock.withLock { largest = newValue } }
  }
  /// Which pixels pictures have. Encoded pixels: all, in the shape that they are stored in. Production aperture: all, made
  /// square. Clean aperture, which nil means as well: those of the movie's clean aperture, if it has one, made square.
  open var apertureMode: ApertureMode? {
    get { lock.withLock { aperture } }
    set { lock.withLock { aperture = newValue } }
  }
  /// What becomes of a high dynamic range. Of a composition's pictures the composition says it.
  open var dynamicRangePolicy: DynamicRangePolicy {
    get { lock.withLock { range } }
    set { lock.withLock { range = newValue } }
  }
  /// How the asset's video tracks are made into one picture: it is made for the time that is asked for, whatever the
  /// tolerances, and neither turned nor cut by what a track says.
  open var videoComposition: AVVideoComposition? {
    get { lock.withLock { composition } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      let compositor = copy?.makeCompositor()
      let old = lock.withLock {
        defer { (composition, self.compositor) = (copy, compositor) }
        return (composition, self.compositor)
      }
      // A client's objects go when the lock is free: they may come back here.
      withExtendedLifetime(old) {}
    }
  }
  /// The object that makes the pictures of `videoComposition`; nil where layer instructions are followed.
  open var customVideoCompositor: (any AVVideoCompositing)? { lock.withLock { compositor } }
  /// How much earlier than asked a picture may be. Infinite: the key frame before will do, which is fastest.
  open var requestedTimeToleranceBefore: CMTime {
    get { lock.withLock { before } }
    set { lock.withLock { before = newValue } }
  }
  /// How much later than asked a picture may be.
  open var requestedTimeToleranceAfter: CMTime {
    get { lock.withLock { after } }
    set { lock.withLock { after = newValue } }
  }

  // MARK: - One picture

  /// The picture at a time, within the tolerances. Blocks.
  ///
  /// Of the parameters:
  ///
  /// - `actualTime`: Receives the picture's own time.
  @discardableResult
  open func copyCGImage(at requestedTime: CMTime, actualTime: UnsafeMutablePointer<CMTime>?) throws -> CGImage
  {
    let made = try make(requestedTime)
    actualTime?.pointee = made.time
    return made.image
  }

  /// The picture at a time, within the tolerances.
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

  /// Makes the pictures one after the other; the handler is called for each, on a thread of the generator.
  ///
  /// Of the parameters:
  ///
  /// - `requestedTimes`: `NSValue`s of `CMTime`.
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

  /// Requests that have not been begun end as cancelled.
  open func cancelAllCGImageGeneration() { lock.withLock { cancelCount += 1 } }

  /// How often the generation was cancelled.
  var cancellations: Int { lock.withLock { cancelCount } }

  // MARK: - The work

  private func make(_ time: CMTime) throws -> (image: CGImage, time: CMTime) {
    guard time.isNumeric else { throw AVError(.noImageAtTime, reason: "The time is not a number.") }
    let (composition, compositor) = lock.withLock { (self.composition, self.compositor) }
    if let composition { return try make(time, composition, compositor) }
    guard let origin = try asset.pictureOrigin(at: time) else {
      throw AVError(
        .noSourceTrack, reason: "The asset has no video.", advice: "Use an asset with a video track.")
    }
    let (facts, track) = (try origin.track.file.facts(), origin.track.facts)
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
    // The image is said to be of sRGB.
    let matches = dynamicRangePolicy == .matchSource
    if !matches { settings[AVVideoColorPropertiesKey] = CompositionColor.standardRange(for: track.stream) }
    let source = try PictureSource(
      Demuxer(again: facts.demuxer), track, PictureRequirements(settings), copies: false,
      areStills: true)
    let wanted = max(asked, track.timeRange.start)
    // With a key frame in reach there is no need to decode up to the time. The first one of all may be shown later than
    // pictures that need it, as nothing else is stored before them.
    let key = try keyFrame(before: wanted, facts, track)
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
    return (try Self.image(of: image, transform, aperture, space), origin.back(actual))
  }

  /// The picture that a composition makes for a time.
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
    let source = try ComposedVideo(
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

  private func keyFrame(before time: CMTime, _ facts: AssetFacts, _ track: TrackFacts) throws -> CMTime {
    let demuxer = try Demuxer(again: facts.demuxer)
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

  /// A BGRA buffer's picture, transformed.
  /// - Parameter space: nil: sRGB.
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
