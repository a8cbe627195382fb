// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How the pictures of several tracks are made into one, over time.
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

  /// A composition that shows an asset's first video track, turned as the track says, at its size and frame rate.
  public convenience init(propertiesOf asset: AVAsset) {
    self.init()
    fill(propertiesOf: asset)
  }

  func fill(propertiesOf asset: AVAsset) {
    guard let track = asset.tracks.first(where: { $0.mediaType == .video }) else { return }
    let duration = track.minFrameDuration
    let box = CGRect(origin: .zero, size: track.naturalSize).applying(track.preferredTransform)
    let layer = AVMutableVideoCompositionLayerInstruction(assetTrack: track)
    layer.setTransform(
      track.preferredTransform.concatenating(
        CGAffineTransform(translationX: -box.minX, y: -box.minY)), at: .zero)
    let instruction = AVMutableVideoCompositionInstruction()
    instruction.timeRange = CMTimeRange(start: .zero, duration: asset.duration)
    instruction.layerInstructions = [layer]
    lock.withLock {
      values.frameDuration =
        duration.isNumeric && duration > .zero ? duration : CMTime(value: 1, timescale: 30)
      values.renderSize = box.size
      values.instructions = [instruction]
    }
  }

  /// The distance of the pictures that are made.
  public var frameDuration: CMTime { lock.withLock { values.frameDuration } }
  /// Their size in pixels.
  public var renderSize: CGSize { lock.withLock { values.renderSize } }
  /// What the pictures are scaled by for a preview: only 1.0 is possible.
  public var renderScale: Float { lock.withLock { values.renderScale } }
  /// What is made when: one after the other, without gaps, up to the end of what is read.
  public var instructions: [any AVVideoCompositionInstructionProtocol] {
    lock.withLock { values.instructions }
  }
  /// Makes the pictures; nil: layer instructions are followed.
  public var customVideoCompositorClass: (any AVVideoCompositing.Type)? {
    lock.withLock { values.compositor }
  }
  /// The track whose pictures' times are those of the pictures that are made, instead of a regular distance.
  public var sourceTrackIDForFrameTiming: CMPersistentTrackID { lock.withLock { values.sourceTrackID } }

  /// The colours of the pictures that are made, each a value of `AVVideoSettings`: sources are converted to them, and the
  /// pictures say so. All three, or, for the sources' own colours, none.
  public var colorPrimaries: String? { lock.withLock { values.colorPrimaries } }
  public var colorTransferFunction: String? { lock.withLock { values.colorTransferFunction } }
  public var colorYCbCrMatrix: String? { lock.withLock { values.colorYCbCrMatrix } }

  open func copy(with zone: NSZone? = nil) -> Any { copied(to: AVVideoComposition()) }
  open func mutableCopy(with zone: NSZone? = nil) -> Any { copied(to: AVMutableVideoComposition()) }

  private func copied(to other: AVVideoComposition) -> AVVideoComposition {
    other.values = lock.withLock { values }
    return other
  }
}

/// A composition that a program makes.
open class AVMutableVideoComposition: AVVideoComposition, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  override public var frameDuration: CMTime {
    get { super.frameDuration }
    set { lock.withLock { values.frameDuration = newValue } }
  }
  override public var renderSize: CGSize {
    get { super.renderSize }
    set { lock.withLock { values.renderSize = newValue } }
  }
  override public var renderScale: Float {
    get { super.renderScale }
    set { lock.withLock { values.renderScale = newValue } }
  }
  override public var instructions: [any AVVideoCompositionInstructionProtocol] {
    get { super.instructions }
    set { lock.withLock { values.instructions = newValue } }
  }
  override public var customVideoCompositorClass: (any AVVideoCompositing.Type)? {
    get { super.customVideoCompositorClass }
    set { lock.withLock { values.compositor = newValue } }
  }
  override public var sourceTrackIDForFrameTiming: CMPersistentTrackID {
    get { super.sourceTrackIDForFrameTiming }
    set { lock.withLock { values.sourceTrackID = newValue } }
  }

  override public var colorPrimaries: String? {
    get { super.colorPrimaries }
    set { lock.withLock { values.colorPrimaries = newValue } }
  }
  override public var colorTransferFunction: String? {
    get { super.colorTransferFunction }
    set { lock.withLock { values.colorTransferFunction = newValue } }
  }
  override public var colorYCbCrMatrix: String? {
    get { super.colorYCbCrMatrix }
    set { lock.withLock { values.colorYCbCrMatrix = newValue } }
  }

  /// A composition that shows an asset's first video track; see `init(propertiesOf:)`.
  open class func videoComposition(withPropertiesOf asset: AVAsset) async throws -> AVMutableVideoComposition
  {
    _ = try await asset.load(.duration)
    return AVMutableVideoComposition(propertiesOf: asset)
  }
}
