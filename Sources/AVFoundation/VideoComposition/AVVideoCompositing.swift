// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes a composition's pictures. A class of this kind inherits from `NSObject`, and objects are made of it with `init()`.
public protocol AVVideoCompositing: NSObjectProtocol {
  /// What source pictures are to be like: Core Video's pixel buffer attributes. Nil: as they are decoded.
  @preconcurrency var sourcePixelBufferAttributes: [String: any Sendable]? { get }
  /// What pictures of the render context are to be like: Core Video's pixel buffer attributes.
  @preconcurrency var requiredPixelBufferAttributesForRenderContext: [String: any Sendable] { get }
  /// Called before the first request, and when size or format of the pictures change.
  func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext)
  /// Asks for a picture. The request is finished in the call or later, from any thread.
  func startRequest(_ asyncVideoCompositionRequest: AVAsynchronousVideoCompositionRequest)
  func cancelAllPendingVideoCompositionRequests()
  var supportsWideColorSourceFrames: Bool { get }
  var supportsHDRSourceFrames: Bool { get }
  var canConformColorOfSourceFrames: Bool { get }
}

extension AVVideoCompositing {
  /// Nothing to be done for requests that are finished in `startRequest(_:)`.
  public func cancelAllPendingVideoCompositionRequests() {}
  public var supportsWideColorSourceFrames: Bool { false }
  public var supportsHDRSourceFrames: Bool { false }
  public var canConformColorOfSourceFrames: Bool { false }
}

/// What pictures a compositor makes: their size, and where to get them.
open class AVVideoCompositionRenderContext: NSObject, @unchecked Sendable {
  // Sendable: immutable; the pool has its own lock.
  /// In pixels.
  public let size: CGSize
  public let videoComposition: AVVideoComposition
  private let pool: CVPixelBufferPool

  init(_ composition: AVVideoComposition, size: CGSize, attributes: [String: Any]) throws {
    videoComposition = composition
    self.size = size
    var all = attributes
    all[kCVPixelBufferWidthKey as String] = Int(clamping: Double(size.width))
    all[kCVPixelBufferHeightKey as String] = Int(clamping: Double(size.height))
    // Of several formats the first that there are buffers of.
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
        reason: "There are no pixel buffers as the compositor wants them (\(status)).")
    }
    pool = made
    super.init()
  }

  /// From the composition's coordinates to pixels: identity, as the render scale is 1.
  open var renderTransform: CGAffineTransform { .identity }
  open var renderScale: Float { 1 }
  open var pixelAspectRatio: AVPixelAspectRatio {
    AVPixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1)
  }
  open var edgeWidths: AVEdgeWidths { AVEdgeWidths(left: 0, top: 0, right: 0, bottom: 0) }
  /// Reading is not done for a preview.
  open var highQualityRendering: Bool { true }

  /// A picture to fill; nil if there is no memory.
  open func newPixelBuffer() -> CVPixelBuffer? {
    var made: CVPixelBuffer?
    CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &made)
    return made
  }
}

/// The shape of a pixel.
public struct AVPixelAspectRatio: Hashable, Sendable {
  public var horizontalSpacing: Int
  public var verticalSpacing: Int
  public init(horizontalSpacing: Int, verticalSpacing: Int) {
    self.horizontalSpacing = horizontalSpacing
    self.verticalSpacing = verticalSpacing
  }
}

/// What lies around a picture on each side, in pixels.
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

/// A picture that a compositor is asked for.
open class AVAsynchronousVideoCompositionRequest: NSObject, @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  public let renderContext: AVVideoCompositionRenderContext
  /// When the picture is shown.
  public let compositionTime: CMTime
  public let videoCompositionInstruction: any AVVideoCompositionInstructionProtocol
  private let frames: [CMPersistentTrackID: CMSampleBuffer]
  /// The tracks whose pictures may let through what lies below. Their colours are not multiplied by alpha.
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

  /// The tracks that there are pictures of at this time, as numbers.
  open var sourceTrackIDs: [NSNumber] { frames.keys.sorted().map { NSNumber(value: $0) } }

  /// A track's picture; nil if it shows none at this time. It must not be written to.
  open func sourceFrame(byTrackID trackID: CMPersistentTrackID) -> CVPixelBuffer? {
    frames[trackID].flatMap { CMSampleBufferGetImageBuffer($0) }
  }
  /// A track's picture with its times.
  open func sourceSampleBuffer(byTrackID trackID: CMPersistentTrackID) -> CMSampleBuffer? {
    frames[trackID]
  }

  /// Here is the picture. Only the first answer to a request counts.
  open func finish(withComposedVideoFrame composedVideoFrame: CVPixelBuffer) {
    finish(.success(composedVideoFrame))
  }
  /// There is no picture, and reading ends with this error.
  open func finish(with error: any Error) {
    finish(
      .failure(
        AVError(
          .invalidVideoComposition, reason: "The compositor made no picture: \(error).", underlying: error)))
  }
  /// The request has been given up.
  open func finishCancelledRequest() { finish(.failure(AVError(.operationCancelled))) }

  private func finish(_ result: Result<CVPixelBuffer, AVError>) {
    condition.lock()
    if outcome == nil { outcome = result }
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for the answer.
  func wait() throws -> CVPixelBuffer {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let outcome { return try outcome.get() }
      condition.wait()
    }
  }

  /// Gives the request up: whoever waits for it gets no picture.
  func cancel() { finish(.failure(AVError(.operationCancelled))) }
}
