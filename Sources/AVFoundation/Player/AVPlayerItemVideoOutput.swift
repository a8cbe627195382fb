// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Gives a program the pictures of an item that is played, to show or to process them.
open class AVPlayerItemVideoOutput: AVPlayerItemOutput, PictureConsumer, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private struct Picture {
    let image: CVPixelBuffer
    let time: CMTime
  }

  private let lock = Lock()
  private let attributes: NSDictionary?
  private var pictures: [Picture] = []
  private var vended = CMTime.invalid
  private weak var listener: (any AVPlayerItemOutputPullDelegate)?
  private var listenerQueue: DispatchQueue?
  private var isWanted = false
  /// Held while a picture is converted.
  private let conversion = NSLock()
  private var session: VTPixelTransferSession?
  private var pool: CVPixelBufferPool?
  private var poolKey: [Int] = []

  /// Creates an output.
  /// - Parameter pixelBufferAttributes: Core Video's pixel buffer attributes: the pixel format (a
  ///   number, or a list of numbers in order of preference), the width and the height. Without a
  ///   format pictures have the decoder's format.
  public init(pixelBufferAttributes: [String: Any]? = nil) {
    attributes = pixelBufferAttributes.map { $0 as NSDictionary }
    super.init()
  }

  /// Creates an output.
  /// - Parameter outputSettings: Pixel buffer attributes, as in `init(pixelBufferAttributes:)`.
  public convenience init(outputSettings: [String: Any]?) {
    self.init(pixelBufferAttributes: outputSettings)
  }

  deinit { if let session { VTPixelTransferSessionInvalidate(session) } }

  // MARK: - Pictures

  /// Whether the picture that is to be seen at a time differs from the one that was copied last.
  @discardableResult
  open func hasNewPixelBuffer(forItemTime itemTime: CMTime) -> Bool {
    lock.withLock {
      guard let picture = current(itemTime) else { return false }
      return !vended.isNumeric || picture.time != vended
    }
  }

  /// The picture that is to be seen at a time; nil if there is none. Earlier pictures are removed.
  /// - Parameters:
  ///   - itemTime: A time of the item.
  ///   - outItemTimeForDisplay: Receives the picture's presentation time; invalid without a
  ///     picture.
  @discardableResult
  open func copyPixelBuffer(
    forItemTime itemTime: CMTime, itemTimeForDisplay outItemTimeForDisplay: UnsafeMutablePointer<CMTime>?
  ) -> CVPixelBuffer? {
    let found = lock.withLock { () -> Picture? in
      guard let picture = current(itemTime) else { return nil }
      pictures.removeAll { $0.time < picture.time }
      vended = picture.time
      return picture
    }
    outItemTimeForDisplay?.pointee = found?.time ?? .invalid
    return found.flatMap { convert($0.image) }
  }

  private func current(_ time: CMTime) -> Picture? {
    guard time.isNumeric else { return nil }
    return pictures.last { $0.time <= time }
  }

  func receive(_ sample: CMSampleBuffer) {
    guard let image = CMSampleBufferGetImageBuffer(sample) else { return }
    let now = item?.currentTime() ?? .invalid
    let receiver = lock.withLock { () -> (any AVPlayerItemOutputPullDelegate, DispatchQueue)? in
      // Pictures before the current one are removed, as the program has not asked for them in time.
      if let picture = current(now) { pictures.removeAll { $0.time < picture.time } }
      pictures.append(Picture(image: image, time: CMSampleBufferGetPresentationTimeStamp(sample)))
      guard isWanted, let listener else { return nil }
      isWanted = false
      return (listener, listenerQueue ?? .main)
    }
    guard let receiver else { return }
    let call = Call(delegate: receiver.0)
    receiver.1.async { [weak self] in if let self { call.delegate.outputMediaDataWillChange(self) } }
  }

  func forget() {
    let receiver = lock.withLock { () -> (any AVPlayerItemOutputPullDelegate, DispatchQueue)? in
      pictures = []
      vended = .invalid
      return listener.map { ($0, listenerQueue ?? .main) }
    }
    guard let receiver else { return }
    let call = Call(delegate: receiver.0)
    receiver.1.async { [weak self] in if let self { call.delegate.outputSequenceWasFlushed(self) } }
  }

  // Sendable: only used on the delegate's queue.
  private struct Call: @unchecked Sendable { let delegate: any AVPlayerItemOutputPullDelegate }

  // MARK: - Delegate

  /// Sets the delegate.
  /// - Parameters:
  ///   - delegate: Receives events of the output. The output does not retain it.
  ///   - delegateQueue: The queue on which its methods are called; nil for the main queue.
  open func setDelegate(
    _ delegate: (any AVPlayerItemOutputPullDelegate)?, queue delegateQueue: DispatchQueue?
  ) {
    lock.withLock { (listener, listenerQueue) = (delegate, delegateQueue) }
  }

  open var delegate: (any AVPlayerItemOutputPullDelegate)? { lock.withLock { listener } }
  open var delegateQueue: DispatchQueue? { lock.withLock { listenerQueue } }

  /// Calls the delegate's `outputMediaDataWillChange` once, when the next picture has been decoded.
  /// - Parameter interval: The time in seconds by which the call should precede the picture. It is
  ///   not used, since pictures are always decoded a few ahead.
  open func requestNotificationOfMediaDataChange(withAdvanceInterval interval: TimeInterval) {
    lock.withLock { isWanted = true }
  }

  // MARK: - Conversion

  private func convert(_ image: CVPixelBuffer) -> CVPixelBuffer? {
    guard let attributes else { return image }
    let has = CVPixelBufferGetPixelFormatType(image)
    let formats: [OSType] =
      switch attributes[kCVPixelBufferPixelFormatTypeKey as String] {
      case let number as NSNumber: [number.uint32Value]
      case let list as [NSNumber]: list.map(\.uint32Value)
      default: []
      }
    func side(_ key: CFString, _ own: Int) -> Int {
      (attributes[key as String] as? NSNumber)?.intValue ?? own
    }
    let width = side(kCVPixelBufferWidthKey, CVPixelBufferGetWidth(image))
    let height = side(kCVPixelBufferHeightKey, CVPixelBufferGetHeight(image))
    let format = formats.isEmpty || formats.contains(has) ? has : formats[0]
    if format == has, width == CVPixelBufferGetWidth(image), height == CVPixelBufferGetHeight(image) {
      return image
    }
    return conversion.withLock {
      if session == nil {
        VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &session)
      }
      let key = [Int(format), width, height]
      if pool == nil || poolKey != key {
        let wanted: [CFString: Any] = [
          kCVPixelBufferPixelFormatTypeKey: NSNumber(value: format),
          kCVPixelBufferWidthKey: NSNumber(value: width), kCVPixelBufferHeightKey: NSNumber(value: height),
        ]
        pool = nil
        CVPixelBufferPoolCreate(nil, nil, wanted as NSDictionary, &pool)
        poolKey = key
      }
      var made: CVPixelBuffer?
      guard let session, let pool, CVPixelBufferPoolCreatePixelBuffer(nil, pool, &made) == kCVReturnSuccess,
        let made, VTPixelTransferSessionTransferImage(session, from: image, to: made) == noErr
      else { return nil }
      return made
    }
  }
}
