// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes the pictures of a video composition. A class that conforms to it must inherit from
/// `NSObject`; instances are created with `init()`.
public protocol AVVideoCompositing: NSObjectProtocol {
  /// The required format of source pictures, as Core Video's pixel buffer attributes; nil for
  /// pictures as they are decoded.
  @preconcurrency var sourcePixelBufferAttributes: [String: any Sendable]? { get }
  /// The format of the pictures of the render context, as Core Video's pixel buffer attributes.
  @preconcurrency var requiredPixelBufferAttributesForRenderContext: [String: any Sendable] { get }
  /// Called before the first request, and when the size or format of the pictures changes.
  func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext)
  /// Requests a picture. The compositor completes the request during the call or later, from any
  /// thread.
  func startRequest(_ asyncVideoCompositionRequest: AVAsynchronousVideoCompositionRequest)
  func cancelAllPendingVideoCompositionRequests()
  var supportsWideColorSourceFrames: Bool { get }
  var supportsHDRSourceFrames: Bool { get }
  var canConformColorOfSourceFrames: Bool { get }
}

extension AVVideoCompositing {
  /// Does nothing, which is sufficient if requests are completed in `startRequest(_:)`.
  public func cancelAllPendingVideoCompositionRequests() {}
  public var supportsWideColorSourceFrames: Bool { false }
  public var supportsHDRSourceFrames: Bool { false }
  public var canConformColorOfSourceFrames: Bool { false }
}

/// The size of the pictures that a compositor makes, and the pool of their pixel buffers.
open class AVVideoCompositionRenderContext: NSObject, @unchecked Sendable {
  // Sendable: immutable; the pool has its own lock.
  /// The size of the pictures in pixels.
  public let size: CGSize
  public let videoComposition: AVVideoComposition
  private let pool: CVPixelBufferPool

  init(_ composition: AVVideoComposition, size: CGSize, attributes: [String: Any]) throws {
    videoComposition = composition
    self.size = size
    var all = attributes
    all[kCVPixelBufferWidthKey as String] = Int(clamping: Double(size.width))
    all[kCVPixelBufferHeightKey as String] = Int(clamping: Double(size.height))
    // If there are several formats, the first is used.
    if let list = all[kCVPixelBufferPixelFormatTypeKey as String] as? [Any] {
      all[kCVPixelBufferPixelFormatTypeKey as String] = list.first
    }
    if all[kCVPixelBufferPixelFormatTypeKey as String] == nil {
      all[kCVPixelBufferPixelFormatTypeKey as String] = kCVPixelFormatType_32BGRA
    }
    let dictionary = NSMutableDictionary()
    for (key, value) in all { dictionary[key as NSString] = value }
    var made: CVPixelBufferPool?
    let status = CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, dictionary, &made)
    guard status == kCVReturnSuccess, let made else {
      throw AVError(
        .invalidVideoComposition,
        reason: "No pixel buffers can be created with the compositor's required attributes (\(status)).")
    }
    pool = made
    super.init()
  }

  /// Converts coordinates of the composition to pixels: always the identity, since the render scale
  /// is 1.
  open var renderTransform: CGAffineTransform { .identity }
  open var renderScale: Float { 1 }
  open var pixelAspectRatio: AVPixelAspectRatio {
    AVPixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1)
  }
  open var edgeWidths: AVEdgeWidths { AVEdgeWidths(left: 0, top: 0, right: 0, bottom: 0) }
  /// Always true: pictures that are read are not previews.
  open var highQualityRendering: Bool { true }

  /// Returns a pixel buffer to render into; nil if there is not enough memory.
  open func newPixelBuffer() -> CVPixelBuffer? {
    var made: CVPixelBuffer?
    CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &made)
    return made
  }
}

/// The aspect ratio of a pixel.
public struct AVPixelAspectRatio: Hashable, Sendable {
  public var horizontalSpacing: Int
  public var verticalSpacing: Int
  public init(horizontalSpacing: Int, verticalSpacing: Int) {
    self.horizontalSpacing = horizontalSpacing
    self.verticalSpacing = verticalSpacing
  }
}

/// The widths of the borders around a picture, in pixels.
public struct AVEdgeWidths: Hashable, Sendable {
  public var left: CGFloat
  public var top: CGFloat
  public var right: CGFloat
  public var bottom: CGFloat
  public init(left: CGFloat, top: CGFloat, right: CGFloat, bottom: CGFloat) {
    self.left = left
    self.top = top
    self.right = right
    self.bottom = bottom
  }
}

/// A request for a picture of a video composition.
open class AVAsynchronousVideoCompositionRequest: NSObject, @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  public let renderContext: AVVideoCompositionRenderContext
  /// The presentation time of the picture.
  public let compositionTime: CMTime
  public let videoCompositionInstruction: any AVVideoCompositionInstructionProtocol
  private let frames: [CMPersistentTrackID: CMSampleBuffer]
  /// The tracks whose codec has an alpha channel. Their pictures have straight alpha: colours are
  /// not premultiplied.
  let tracksWithAlpha: Set<CMPersistentTrackID>
  private let condition = NSCondition()
  private var outcome: Result<CVPixelBuffer, AVError>?

  init(
    _ context: AVVideoCompositionRenderContext, at time: CMTime,
    _ instruction: any AVVideoCompositionInstructionProtocol,
    _ frames: [CMPersistentTrackID: CMSampleBuffer], withAlpha tracksWithAlpha: Set<CMPersistentTrackID> = []
  ) {
    renderContext = context
    compositionTime = time
    videoCompositionInstruction = instruction
    self.frames = frames
    self.tracksWithAlpha = tracksWithAlpha
    super.init()
  }

  /// The identifiers of the tracks that have a picture at this time, as numbers.
  open var sourceTrackIDs: [NSNumber] { frames.keys.sorted().map { NSNumber(value: $0) } }

  /// Returns a track's picture, which must not be modified; nil if the track presents none at this
  /// time.
  open func sourceFrame(byTrackID trackID: CMPersistentTrackID) -> CVPixelBuffer? {
    frames[trackID].flatMap { CMSampleBufferGetImageBuffer($0) }
  }
  /// Returns a track's picture with its times; nil if the track presents none at this time.
  open func sourceSampleBuffer(byTrackID trackID: CMPersistentTrackID) -> CMSampleBuffer? {
    frames[trackID]
  }

  /// Completes the request with a picture. Only the first completion of a request has an effect.
  open func finish(withComposedVideoFrame composedVideoFrame: CVPixelBuffer) {
    finish(.success(composedVideoFrame))
  }
  /// Completes the request with an error, with which reading fails.
  open func finish(with error: any Error) {
    finish(
      .failure(
        AVError(
          .invalidVideoComposition, reason: "The compositor made no picture: \(error).", underlying: error)))
  }
  /// Completes the request without a picture, because it was cancelled.
  open func finishCancelledRequest() { finish(.failure(AVError(.operationCancelled))) }

  private func finish(_ result: Result<CVPixelBuffer, AVError>) {
    condition.lock()
    if outcome == nil { outcome = result }
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until the request is completed.
  /// - Throws: The error with which it was completed.
  func wait() throws -> CVPixelBuffer {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let outcome { return try outcome.get() }
      condition.wait()
    }
  }

  /// Cancels the request, so that `wait()` throws `AVError.Code.operationCancelled`.
  func cancel() { finish(.failure(AVError(.operationCancelled))) }
}
