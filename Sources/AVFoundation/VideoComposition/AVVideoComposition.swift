// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Describes how pictures are made from the pictures of several tracks, over time.
open class AVVideoComposition: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  struct Values {
    var frameDuration = CMTime.invalid
    var renderSize = CGSize.zero
    var renderScale: Float = 1
    var instructions: [any AVVideoCompositionInstructionProtocol] = []
    var compositor: (any AVVideoCompositing.Type)?
    var sourceTrackID = kCMPersistentTrackID_Invalid
    var colorPrimaries: String?
    var colorTransferFunction: String?
    var colorYCbCrMatrix: String?
  }

  let lock = Lock()
  var values = Values()

  public override init() { super.init() }

  /// Creates a composition that presents the enabled video tracks of an asset with their preferred
  /// transforms, the first track on top. The render size contains all of them, and the frame
  /// duration follows the highest frame rate. With a single track, its pictures keep their times.
  public convenience init(propertiesOf asset: AVAsset) {
    self.init()
    fill(propertiesOf: asset)
  }

  /// Returns a composition that presents an asset's video tracks; see `init(propertiesOf:)`.
  /// - Throws: `AVError` if the asset cannot be read.
  open class func videoComposition(withPropertiesOf asset: AVAsset) async throws -> AVVideoComposition {
    _ = try await asset.load(.duration)
    return AVVideoComposition(propertiesOf: asset)
  }

  /// Does the same as `videoComposition(withPropertiesOf:)`; the completion handler is called on
  /// any queue.
  @preconcurrency open class func videoComposition(
    withPropertiesOf asset: AVAsset,
    completionHandler: @escaping @Sendable (AVVideoComposition?, (any Error)?) -> Void
  ) {
    Task {
      do { completionHandler(try await videoComposition(withPropertiesOf: asset), nil) } catch {
        completionHandler(nil, error)
      }
    }
  }

  func fill(propertiesOf asset: AVAsset) {
    let properties = PropertiesOfTracks(asset)
    guard let fastest = properties.fastest else { return }
    let frameDuration = fastest.regularFrameDuration
    let instructions = properties.instructions(frameDuration)
    lock.withLock {
      values.frameDuration = frameDuration
      values.renderSize = properties.box.size
      values.instructions = instructions
      values.sourceTrackID = properties.timing
    }
  }

  /// The interval between pictures. `init(propertiesOf:)` derives it from the tracks' nominal frame
  /// rates, up to 240 pictures per second.
  open var frameDuration: CMTime { lock.withLock { values.frameDuration } }
  /// The size of the pictures in pixels.
  open var renderSize: CGSize { lock.withLock { values.renderSize } }
  /// The scale of pictures for a preview: only 1.0 is supported.
  open var renderScale: Float { lock.withLock { values.renderScale } }
  /// The instructions, in order and without gaps. They must cover the time range that is read.
  open var instructions: [any AVVideoCompositionInstructionProtocol] {
    lock.withLock { values.instructions }
  }
  /// The class that makes the pictures; nil to follow the layer instructions.
  open var customVideoCompositorClass: (any AVVideoCompositing.Type)? {
    lock.withLock { values.compositor }
  }
  /// The track whose pictures determine the times of the composition's pictures, in place of a
  /// regular interval. Where the track has a gap, pictures are `frameDuration` apart.
  open var sourceTrackIDForFrameTiming: CMPersistentTrackID { lock.withLock { values.sourceTrackID } }

  /// The colours of the pictures, each a value of `AVVideoSettings`. Sources are converted to them,
  /// and the pictures are tagged with them. Either all three are set or none. If none is set, the
  /// colours are those of the first source, or of BT.709 if a source has a high dynamic range that
  /// the compositor does not support.
  open var colorPrimaries: String? { lock.withLock { values.colorPrimaries } }
  open var colorTransferFunction: String? { lock.withLock { values.colorTransferFunction } }
  open var colorYCbCrMatrix: String? { lock.withLock { values.colorYCbCrMatrix } }

  open func copy(with zone: NSZone? = nil) -> Any { copied(to: AVVideoComposition()) }
  open func mutableCopy(with zone: NSZone? = nil) -> Any { copied(to: AVMutableVideoComposition()) }

  private func copied(to other: AVVideoComposition) -> AVVideoComposition {
    other.values = lock.withLock { values }
    return other
  }
}

extension AVAssetTrack {
  /// The frame duration of the track's frame rate. The shortest sample duration alone does not tell
  /// it: in a track without a regular rate that duration is not typical.
  fileprivate var regularFrameDuration: CMTime {
    let (rate, shortest) = (Double(nominalFrameRate), minFrameDuration)
    guard rate.isFinite, rate > 0 else { return CMTime(value: 1, timescale: 30) }
    guard rate < 240 else { return CMTime(value: 1, timescale: 240) }
    /// The rate of the shortest sample divided by the average rate; 0 if it is not known.
    let ratio = shortest.isNumeric && shortest > .zero ? 1 / (shortest.seconds * rate) : 0
    if abs(ratio - 1) < 1e-5 { return shortest }
    // The track is nearly regular, with pictures that are missing or shown for longer; or it is
    // regular with rounded times.
    let isNear = (1...1.1).contains(ratio)
    if isNear, Self.standardFrameDuration(rate * ratio) != nil { return shortest }
    if let standard = Self.standardFrameDuration(rate) { return standard }
    return isNear ? shortest : CMTime(nearest: 1 / max(rate, 0.001), preferredTimescale: 90_000)
  }

  /// The frame duration of an integral rate, or of such a rate divided by 1.001; nil for other
  /// rates.
  private static func standardFrameDuration(_ rate: Double) -> CMTime? {
    let (whole, slowed) = (rate.rounded(), (rate * 1.001).rounded())
    if whole >= 1, abs(rate / whole - 1) < 1e-4 {
      return CMTime(value: 1, timescale: CMTimeScale(clamping: whole))
    }
    guard [12, 15, 24, 30, 48, 60, 120].contains(slowed), abs(rate * 1.001 / slowed - 1) < 1e-4 else {
      return nil
    }
    return CMTime(value: 1001, timescale: CMTimeScale(clamping: slowed * 1000))
  }
}

/// A video composition that can be modified.
open class AVMutableVideoComposition: AVVideoComposition, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  override open var frameDuration: CMTime {
    get { super.frameDuration }
    set { lock.withLock { values.frameDuration = newValue } }
  }
  override open var renderSize: CGSize {
    get { super.renderSize }
    set { lock.withLock { values.renderSize = newValue } }
  }
  override open var renderScale: Float {
    get { super.renderScale }
    set { lock.withLock { values.renderScale = newValue } }
  }
  override open var instructions: [any AVVideoCompositionInstructionProtocol] {
    get { super.instructions }
    set { lock.withLock { values.instructions = newValue } }
  }
  override open var customVideoCompositorClass: (any AVVideoCompositing.Type)? {
    get { super.customVideoCompositorClass }
    set { lock.withLock { values.compositor = newValue } }
  }
  override open var sourceTrackIDForFrameTiming: CMPersistentTrackID {
    get { super.sourceTrackIDForFrameTiming }
    set { lock.withLock { values.sourceTrackID = newValue } }
  }

  override open var colorPrimaries: String? {
    get { super.colorPrimaries }
    set { lock.withLock { values.colorPrimaries = newValue } }
  }
  override open var colorTransferFunction: String? {
    get { super.colorTransferFunction }
    set { lock.withLock { values.colorTransferFunction = newValue } }
  }
  override open var colorYCbCrMatrix: String? {
    get { super.colorYCbCrMatrix }
    set { lock.withLock { values.colorYCbCrMatrix = newValue } }
  }

  /// Returns a composition that presents an asset's video tracks; see `init(propertiesOf:)`.
  /// - Throws: `AVError` if the asset cannot be read.
  override open class func videoComposition(withPropertiesOf asset: AVAsset) async throws
    -> AVMutableVideoComposition
  {
    _ = try await asset.load(.duration)
    return AVMutableVideoComposition(propertiesOf: asset)
  }
}
