// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What is made of which tracks for some time. Programs with a compositor of their own have classes of their own too.
public protocol AVVideoCompositionInstructionProtocol: NSObjectProtocol {
  var timeRange: CMTimeRange { get }
  /// Whether overlays are drawn on the pictures. There are none here.
  var enablePostProcessing: Bool { get }
  /// Whether pictures differ though sources stay the same.
  var containsTweening: Bool { get }
  /// The tracks whose pictures are needed, as numbers; nil: all tracks.
  var requiredSourceTrackIDs: [NSValue]? { get }
  /// A track whose pictures are taken as they are, without asking the compositor; invalid: none.
  var passthroughTrackID: CMPersistentTrackID { get }
}

/// What is made for some time, by layers.
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
  /// From the uppermost layer to the lowest.
  open var layerInstructions: [AVVideoCompositionLayerInstruction] { lock.withLock { storedLayers } }
  open var enablePostProcessing: Bool { lock.withLock { storedProcessing } }
  /// What is seen where no layer is; nil: black. Where it lets through, black is behind it.
  open var backgroundColor: CGColor? { lock.withLock { storedBackground } }
  open var containsTweening: Bool { true }
  open var requiredSourceTrackIDs: [NSValue]? {
    layerInstructions.map { NSNumber(value: $0.trackID) }
  }
  open var passthroughTrackID: CMPersistentTrackID { kCMPersistentTrackID_Invalid }
}

/// What a program has made for some time, by layers. Where no layer is, the background is seen.
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

/// A value over time: what was set last, or on its way from one to another.
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

  /// The ramp that holds a time, or else the first after it; nil if there is neither. A value that stays is a
  /// flat ramp up to the next that is set.
  func ramp(at time: CMTime) -> Ramp? {
    guard time.isNumeric else { return nil }
    let index = ramps.lastIndex { $0.range.start <= time } ?? 0
    guard ramps.indices.contains(index) else { return nil }
    let ramp = ramps[index]
    let isOver = ramp.range.end <= time
    guard isOver || ramp.range.duration <= .zero else { return ramp }
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

/// How the pictures of one track lie in those that are made.
open class AVVideoCompositionLayerInstruction: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let lock = Lock()
  var storedTrackID = kCMPersistentTrackID_Invalid
  var opacities = ValueRamps<Float>()
  var transforms = ValueRamps<CGAffineTransform>()
  var crops = ValueRamps<CGRect>()

  override init() { super.init() }

  open var trackID: CMPersistentTrackID { lock.withLock { storedTrackID } }

  /// The ramp of the transform at a time, or the first after it; false if there is neither. What was set at a
  /// time is a flat ramp up to the next that is set, and so is what a ramp ended with.
  open func getTransformRamp(
    for time: CMTime, start startTransform: UnsafeMutablePointer<CGAffineTransform>?,
    end endTransform: UnsafeMutablePointer<CGAffineTransform>?,
    timeRange: UnsafeMutablePointer<CMTimeRange>?
  ) -> Bool { Self.get(lock.withLock { transforms }, time, startTransform, endTransform, timeRange) }

  /// The ramp of the opacity at a time, or the first after it, as for transforms; false if there is neither.
  open func getOpacityRamp(
    for time: CMTime, startOpacity: UnsafeMutablePointer<Float>?,
    endOpacity: UnsafeMutablePointer<Float>?,
    timeRange: UnsafeMutablePointer<CMTimeRange>?
  ) -> Bool { Self.get(lock.withLock { opacities }, time, startOpacity, endOpacity, timeRange) }

  /// The ramp of the part that is shown at a time, or the first after it, as for transforms; false if there is
  /// neither.
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
      func mid(_ x: CGFloat, _ y: CGFloat) -> CGFloat { x + (y - x) * CGFloat(t) }
      return CGAffineTransform(
        a: mid(a.a, b.a), b: mid(a.b, b.b), c: mid(a.c, b.c), d: mid(a.d, b.d), tx: mid(a.tx, b.tx),
        ty: mid(a.ty, b.ty))
    }
  }
  /// In pixels of the source, from its top left; nil: all of it.
  func crop(at time: CMTime) -> CGRect? {
    let ramps = lock.withLock { crops }
    guard let first = ramps.ramps.first, first.range.start <= time else { return nil }
    return ramps.value(at: time, first.start) { a, b, t in
      func mid(_ x: CGFloat, _ y: CGFloat) -> CGFloat { x + (y - x) * CGFloat(t) }
      return CGRect(
        x: mid(a.minX, b.minX), y: mid(a.minY, b.minY), width: mid(a.width, b.width),
        height: mid(a.height, b.height))
    }
  }
}

/// How a program has the pictures of one track lie in those that are made.
open class AVMutableVideoCompositionLayerInstruction: AVVideoCompositionLayerInstruction, @unchecked Sendable
{
  // Sendable: the base class's lock guards all.
  public override init() { super.init() }

  /// For a track: its pictures as they are, at the top left.
  public convenience init(assetTrack track: AVAssetTrack) {
    self.init()
    storedTrackID = track.trackID
  }

  override open var trackID: CMPersistentTrackID {
    get { super.trackID }
    set { lock.withLock { storedTrackID = newValue } }
  }

  /// Where the source's pixels come to lie: x goes to the right, y down.
  open func setTransform(_ transform: CGAffineTransform, at time: CMTime) {
    lock.withLock { transforms.add(CMTimeRange(start: time, duration: .zero), transform, transform) }
  }
  open func setTransformRamp(
    fromStart startTransform: CGAffineTransform, toEnd endTransform: CGAffineTransform,
    timeRange: CMTimeRange
  ) { lock.withLock { transforms.add(timeRange, startTransform, endTransform) } }
  /// 0.0: not to be seen, to 1.0: hides what is below.
  open func setOpacity(_ opacity: Float, at time: CMTime) {
    lock.withLock { opacities.add(CMTimeRange(start: time, duration: .zero), opacity, opacity) }
  }
  open func setOpacityRamp(
    fromStartOpacity startOpacity: Float, toEndOpacity endOpacity: Float, timeRange: CMTimeRange
  ) { lock.withLock { opacities.add(timeRange, startOpacity, endOpacity) } }
  /// The part of the source that is shown.
  open func setCropRectangle(_ cropRectangle: CGRect, at time: CMTime) {
    lock.withLock { crops.add(CMTimeRange(start: time, duration: .zero), cropRectangle, cropRectangle) }
  }
  open func setCropRectangleRamp(
    fromStartCropRectangle startCropRectangle: CGRect, toEndCropRectangle endCropRectangle: CGRect,
    timeRange: CMTimeRange
  ) { lock.withLock { crops.add(timeRange, startCropRectangle, endCropRectangle) } }
}
