// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Describes how pictures are made from tracks during a time range. Programs with their own
/// compositor may also define their own classes of instructions.
public protocol AVVideoCompositionInstructionProtocol: NSObjectProtocol {
  var timeRange: CMTimeRange { get }
  /// Whether overlays may be drawn on the pictures. Nothing is drawn here.
  var enablePostProcessing: Bool { get }
  /// Whether pictures differ while the source pictures remain the same.
  var containsTweening: Bool { get }
  /// The identifiers of the tracks whose pictures are needed, as numbers; nil for all tracks.
  var requiredSourceTrackIDs: [NSValue]? { get }
  /// The track whose pictures are used unchanged, without a request to the compositor; invalid for
  /// none.
  var passthroughTrackID: CMPersistentTrackID { get }
}

/// Describes how pictures are made from layers during a time range.
open class AVVideoCompositionInstruction: NSObject, AVVideoCompositionInstructionProtocol, @unchecked Sendable
{
  // Sendable: `lock` guards what changes.
  let lock = Lock()
  var storedRange = CMTimeRange.invalid
  var storedLayers: [AVVideoCompositionLayerInstruction] = []
  var storedProcessing = true
  var storedBackground: CGColor?

  public override init() { super.init() }

  open var timeRange: CMTimeRange { lock.withLock { storedRange } }
  /// The layers, the topmost first.
  open var layerInstructions: [AVVideoCompositionLayerInstruction] { lock.withLock { storedLayers } }
  open var enablePostProcessing: Bool { lock.withLock { storedProcessing } }
  /// The colour where there is no layer; nil for black. A translucent colour is blended with black.
  open var backgroundColor: CGColor? { lock.withLock { storedBackground } }
  open var containsTweening: Bool { true }
  open var requiredSourceTrackIDs: [NSValue]? {
    layerInstructions.map { NSNumber(value: $0.trackID) }
  }
  open var passthroughTrackID: CMPersistentTrackID { kCMPersistentTrackID_Invalid }
}

/// An instruction that can be modified. Where there is no layer, the background colour is visible.
open class AVMutableVideoCompositionInstruction: AVVideoCompositionInstruction, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  override open var timeRange: CMTimeRange {
    get { super.timeRange }
    set { lock.withLock { storedRange = newValue } }
  }
  override open var layerInstructions: [AVVideoCompositionLayerInstruction] {
    get { super.layerInstructions }
    set { lock.withLock { storedLayers = newValue } }
  }
  override open var enablePostProcessing: Bool {
    get { super.enablePostProcessing }
    set { lock.withLock { storedProcessing = newValue } }
  }
  override open var backgroundColor: CGColor? {
    get { super.backgroundColor }
    set { lock.withLock { storedBackground = newValue } }
  }
}

/// A value over time: constant, or interpolated between two values during a time range.
struct ValueRamps<Value: Sendable>: Sendable {
  struct Ramp: Sendable {
    let range: CMTimeRange
    let start: Value
    let end: Value
  }

  private(set) var ramps: [Ramp] = []

  mutating func add(_ range: CMTimeRange, _ start: Value, _ end: Value) {
    guard range.isValid, range.start.isNumeric, range.duration.isNumeric else { return }
    ramps.removeAll {
      $0.range.start == range.start || ($0.range.start < range.end && range.start < $0.range.end)
    }
    ramps.append(Ramp(range: range, start: start, end: end))
    ramps.sort { $0.range.start < $1.range.start }
  }

  /// Returns the ramp that contains `time`, or else the first ramp after it; nil if there is
  /// neither. A constant value is a ramp with equal ends that extends to the start of the next
  /// ramp.
  func ramp(at time: CMTime) -> Ramp? {
    guard time.isNumeric else { return nil }
    let index = ramps.lastIndex { $0.range.start <= time } ?? 0
    guard ramps.indices.contains(index) else { return nil }
    let ramp = ramps[index]
    let isFinished = ramp.range.end <= time
    guard isFinished || ramp.range.duration <= .zero else { return ramp }
    let next = index + 1 < ramps.count ? ramps[index + 1].range.start : .positiveInfinity
    return Ramp(range: CMTimeRange(start: ramp.range.end, end: next), start: ramp.end, end: ramp.end)
  }

  func value(at time: CMTime, _ initial: Value, _ between: (Value, Value, Double) -> Value) -> Value {
    guard let ramp = ramps.last(where: { $0.range.start <= time }) else { return initial }
    guard time < ramp.range.end else { return ramp.end }
    return between(
      ramp.start, ramp.end, (time - ramp.range.start).seconds / ramp.range.duration.seconds)
  }
}

/// Describes how the pictures of a track are placed in the pictures of a composition.
open class AVVideoCompositionLayerInstruction: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let lock = Lock()
  var storedTrackID = kCMPersistentTrackID_Invalid
  var opacities = ValueRamps<Float>()
  var transforms = ValueRamps<CGAffineTransform>()
  var crops = ValueRamps<CGRect>()

  override init() { super.init() }

  open var trackID: CMPersistentTrackID { lock.withLock { storedTrackID } }

  /// Gets the transform ramp that contains a time, or else the first ramp after it. A transform set
  /// at a time, and the end of a ramp, count as a constant ramp that extends to the start of the
  /// next ramp.
  /// - Returns: False if there is no such ramp; nothing is then written.
  open func getTransformRamp(
    for time: CMTime, start startTransform: UnsafeMutablePointer<CGAffineTransform>?,
    end endTransform: UnsafeMutablePointer<CGAffineTransform>?,
    timeRange: UnsafeMutablePointer<CMTimeRange>?
  ) -> Bool { Self.get(lock.withLock { transforms }, time, startTransform, endTransform, timeRange) }

  /// Gets the opacity ramp that contains a time, or else the first ramp after it; see
  /// `getTransformRamp(for:start:end:timeRange:)`.
  /// - Returns: False if there is no such ramp; nothing is then written.
  open func getOpacityRamp(
    for time: CMTime, startOpacity: UnsafeMutablePointer<Float>?,
    endOpacity: UnsafeMutablePointer<Float>?,
    timeRange: UnsafeMutablePointer<CMTimeRange>?
  ) -> Bool { Self.get(lock.withLock { opacities }, time, startOpacity, endOpacity, timeRange) }

  /// Gets the ramp of the crop rectangle that contains a time, or else the first ramp after it; see
  /// `getTransformRamp(for:start:end:timeRange:)`.
  /// - Returns: False if there is no such ramp; nothing is then written.
  open func getCropRectangleRamp(
    for time: CMTime, startCropRectangle: UnsafeMutablePointer<CGRect>?,
    endCropRectangle: UnsafeMutablePointer<CGRect>?, timeRange: UnsafeMutablePointer<CMTimeRange>?
  ) -> Bool { Self.get(lock.withLock { crops }, time, startCropRectangle, endCropRectangle, timeRange) }

  private static func get<Value>(
    _ ramps: ValueRamps<Value>, _ time: CMTime, _ start: UnsafeMutablePointer<Value>?,
    _ end: UnsafeMutablePointer<Value>?, _ range: UnsafeMutablePointer<CMTimeRange>?
  ) -> Bool {
    guard let ramp = ramps.ramp(at: time) else { return false }
    start?.pointee = ramp.start
    end?.pointee = ramp.end
    range?.pointee = ramp.range
    return true
  }

  // MARK: - For the compositor

  func opacity(at time: CMTime) -> Float {
    lock.withLock { opacities }.value(at: time, 1) { $0 + ($1 - $0) * Float($2) }
  }
  func transform(at time: CMTime) -> CGAffineTransform {
    lock.withLock { transforms }.value(at: time, .identity) { a, b, t in
      func interpolate(_ x: CGFloat, _ y: CGFloat) -> CGFloat { x + (y - x) * CGFloat(t) }
      return CGAffineTransform(
        a: interpolate(a.a, b.a), b: interpolate(a.b, b.b), c: interpolate(a.c, b.c),
        d: interpolate(a.d, b.d), tx: interpolate(a.tx, b.tx),
        ty: interpolate(a.ty, b.ty))
    }
  }
  /// Returns the crop rectangle in pixels of the source, with the origin at its top left; nil for
  /// the whole picture.
  func crop(at time: CMTime) -> CGRect? {
    let ramps = lock.withLock { crops }
    guard let first = ramps.ramps.first, first.range.start <= time else { return nil }
    return ramps.value(at: time, first.start) { a, b, t in
      func interpolate(_ x: CGFloat, _ y: CGFloat) -> CGFloat { x + (y - x) * CGFloat(t) }
      return CGRect(
        x: interpolate(a.minX, b.minX), y: interpolate(a.minY, b.minY), width: interpolate(a.width, b.width),
        height: interpolate(a.height, b.height))
    }
  }
}

/// A layer instruction that can be modified.
open class AVMutableVideoCompositionLayerInstruction: AVVideoCompositionLayerInstruction, @unchecked Sendable
{
  // Sendable: the base class's lock guards all.
  public override init() { super.init() }

  /// Creates an instruction for a track, with the identity transform, so that its pictures are
  /// placed at the top left.
  public convenience init(assetTrack track: AVAssetTrack) {
    self.init()
    storedTrackID = track.trackID
  }

  override open var trackID: CMPersistentTrackID {
    get { super.trackID }
    set { lock.withLock { storedTrackID = newValue } }
  }

  /// Sets the transform from pixels of the source to pixels of the composition from a time on. The
  /// x axis points right and the y axis down.
  open func setTransform(_ transform: CGAffineTransform, at time: CMTime) {
    lock.withLock { transforms.add(CMTimeRange(start: time, duration: .zero), transform, transform) }
  }
  open func setTransformRamp(
    fromStart startTransform: CGAffineTransform, toEnd endTransform: CGAffineTransform,
    timeRange: CMTimeRange
  ) { lock.withLock { transforms.add(timeRange, startTransform, endTransform) } }
  /// Sets the opacity from a time on, from 0.0 (invisible) to 1.0 (opaque).
  open func setOpacity(_ opacity: Float, at time: CMTime) {
    lock.withLock { opacities.add(CMTimeRange(start: time, duration: .zero), opacity, opacity) }
  }
  open func setOpacityRamp(
    fromStartOpacity startOpacity: Float, toEndOpacity endOpacity: Float, timeRange: CMTimeRange
  ) { lock.withLock { opacities.add(timeRange, startOpacity, endOpacity) } }
  /// Sets the part of the source that is visible from a time on, in pixels of the source.
  open func setCropRectangle(_ cropRectangle: CGRect, at time: CMTime) {
    lock.withLock { crops.add(CMTimeRange(start: time, duration: .zero), cropRectangle, cropRectangle) }
  }
  open func setCropRectangleRamp(
    fromStartCropRectangle startCropRectangle: CGRect, toEndCropRectangle endCropRectangle: CGRect,
    timeRange: CMTimeRange
  ) { lock.withLock { crops.add(timeRange, startCropRectangle, endCropRectangle) } }
}
