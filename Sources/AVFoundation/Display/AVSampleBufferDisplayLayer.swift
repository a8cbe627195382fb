// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSNotification.Name {
  /// Posted when a sample could not be decoded. The user info contains the error.
  public static let AVSampleBufferDisplayLayerFailedToDecode = NSNotification.Name(
    "AVSampleBufferDisplayLayerFailedToDecodeNotification")
  public static let AVSampleBufferDisplayLayerRequiresFlushToResumeDecodingDidChange = NSNotification.Name(
    "AVSampleBufferDisplayLayerRequiresFlushToResumeDecodingDidChangeNotification")
}

/// The key of the error in the user info of `AVSampleBufferDisplayLayerFailedToDecode`.
public let AVSampleBufferDisplayLayerFailedToDecodeNotificationErrorKey: String =
  "AVSampleBufferDisplayLayerFailedToDecodeNotificationErrorKey"

/// Decodes samples and presents their pictures at their times.
///
/// The layer has no screen. It passes each picture to `frameHandler`, a property that this package
/// adds, when the picture is to be seen. Without a `controlTimebase` the times are those of the
/// host clock.
open class AVSampleBufferDisplayLayer: NSObject, SynchronizedRenderer, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Receives pictures when they are to be seen. Called on a queue of the layer. This type is an
  /// addition of this package.
  /// - Parameters:
  ///   - pixelBuffer: The picture, or nil to show none.
  ///   - presentationTime: The picture's presentation time.
  public typealias FrameHandler =
    @Sendable (_ pixelBuffer: CVPixelBuffer?, _ presentationTime: CMTime) -> Void

  /// A picture that is shown from a time on.
  package struct Picture: Sendable {
    /// Nil if nothing is shown from this time on.
    package let image: CVPixelBuffer?
    package let time: CMTime
    /// A number that identifies the picture among those of the layer.
    package let number: Int
  }

  let lock = Lock()
  var handler: FrameHandler?
  var control: CMTimebase?
  var followed: CMTimebase?
  let own = CMTimebase.onHostClock()
  var gravity = AVLayerVideoGravity.resizeAspect
  var shownSize = CGSize.zero
  var shownImage: CVPixelBuffer?
  var turn = CGAffineTransform.identity
  var counts = (shown: 0, dropped: 0, numbered: 0)
  weak var presenter: (any PicturePresenter)?
  var ownBounds = CGRect.zero
  var renderer: AVSampleBufferVideoRenderer?

  var currentStatus = AVQueuedSampleBufferRenderingStatus.unknown
  var currentError: AVError?
  var needsFlush = false
  var generation = 0
  /// The time of the timebase when the first sample came after a flush. Pictures that end at or
  /// before it are decoded only as references. Invalid if the program has set no timebase.
  var start = CMTime.invalid
  var isStarting = true
  var waiting: [CMSampleBuffer] = []
  var decoded: [Picture] = []
  /// Pictures up to this time are complete: no picture that is decoded later is shown before it,
  /// since no picture is shown before its decode time.
  var decodedUntil = CMTime.negativeInfinity
  /// The time of the last picture that was shown at its presentation time.
  var lastTime = CMTime.invalid
  var arrivals = 0
  let request = MediaDataRequest(pause: .milliseconds(10), notifiesOfRoom: true)

  /// The queue on which pictures are decoded and presented. `session` and `timer` are used on it
  /// only.
  let work = DispatchQueue(label: "AVFoundation.display")
  var session: VTDecompressionSession?
  var sessionFormat: CMFormatDescription?
  var timer: (any DispatchSourceTimer)?
  var timerBase: CMTimebase?
  var changes: [any NSObjectProtocol] = []
  var isWaiting = false

  /// The number of pictures that are decoded ahead, and the number of samples that are kept in
  /// addition.
  static let decodeAhead = 8
  static let queueLength = 16
  /// How long a picture waits for one that may precede it, if no sample arrives.
  var longestGap = DispatchTimeInterval.milliseconds(100)

  public override init() {
    CMTimebaseSetTime(own, time: CMClockGetTime(CMClockGetHostTimeClock()))
    CMTimebaseSetRate(own, rate: 1)
    super.init()
  }

  deinit {
    if let timer, let timerBase { CMTimebaseRemoveTimerDispatchSource(timerBase, timerSource: timer) }
    timer?.cancel()
    for change in changes { NotificationCenter.default.removeObserver(change) }
    if let session { VTDecompressionSessionInvalidate(session) }
  }

  // MARK: - Presentation

  /// Receives pictures when they are to be seen; see `FrameHandler`. This property is an addition
  /// of this package.
  @preconcurrency open var frameHandler: FrameHandler? {
    get { lock.withLock { handler } }
    set {
      let old = lock.withLock {
        defer { handler = newValue }
        return handler
      }
      withExtendedLifetime(old) {}
    }
  }

  /// The timebase for presentation times; nil for the host clock.
  open var controlTimebase: CMTimebase? {
    get { lock.withLock { control } }
    set {
      lock.withLock { control = newValue }
      work.async { [weak self] in self?.present() }
    }
  }

  open var timebase: CMTimebase {
    lock.withLock { followed ?? control ?? own }
  }

  func follow(_ timebase: CMTimebase?) {
    lock.withLock { followed = timebase }
    work.async { [weak self] in self?.present() }
  }

  /// How `videoRect(in:)` fits the picture into a rectangle.
  open var videoGravity: AVLayerVideoGravity {
    get { lock.withLock { gravity } }
    set { lock.withLock { gravity = newValue } }
  }

  /// The layer's rectangle, which `videoRect` fits the picture into.
  open var bounds: CGRect {
    get { lock.withLock { ownBounds } }
    set { lock.withLock { ownBounds = newValue } }
  }

  /// The rectangle of the current picture in `bounds`; empty without a picture. This property is an
  /// addition of this package.
  open var videoRect: CGRect { videoRect(in: bounds) }

  /// A renderer that enqueues samples in this layer.
  open var sampleBufferRenderer: AVSampleBufferVideoRenderer {
    lock.withLock {
      let renderer = renderer ?? AVSampleBufferVideoRenderer(self)
      self.renderer = renderer
      return renderer
    }
  }

  /// Calls a function after the work that has been scheduled before.
  func afterWork(_ body: @escaping @Sendable () -> Void) { work.async { body() } }

  /// The rectangle of the current picture in a rectangle; empty without a picture. This method is
  /// an addition of this package.
  @discardableResult
  open func videoRect(in bounds: CGRect) -> CGRect {
    rect(lock.withLock { shownSize }, in: bounds)
  }

  /// The rectangle of a picture in a rectangle.
  package func rect(of image: CVPixelBuffer, in bounds: CGRect) -> CGRect {
    rect(CVImageBufferGetDisplaySize(image), in: bounds)
  }

  func rect(_ size: CGSize, in bounds: CGRect) -> CGRect {
    let (gravity, turn) = lock.withLock { (self.gravity, self.turn) }
    let isOnItsSide = abs(turn.b) > abs(turn.a)
    let size = isOnItsSide ? CGSize(width: size.height, height: size.width) : size
    guard size.width > 0, size.height > 0, bounds.width > 0, bounds.height > 0 else { return .zero }
    if gravity == .resize { return bounds }
    let (x, y) = (bounds.width / size.width, bounds.height / size.height)
    let scale = gravity == .resizeAspectFill ? max(x, y) : min(x, y)
    let (width, height) = (size.width * scale, size.height * scale)
    return CGRect(x: bounds.midX - width / 2, y: bounds.midY - height / 2, width: width, height: height)
  }

  // MARK: - For windows

  /// The picture that is shown.
  package var shownPicture: CVPixelBuffer? { lock.withLock { shownImage } }

  /// The transform that is applied to pictures before they are fitted into a rectangle.
  package var transform: CGAffineTransform {
    get { lock.withLock { turn } }
    set { lock.withLock { turn = newValue } }
  }

  /// The numbers of pictures that were shown, and of those that were dropped because a later one
  /// was due. This property is an addition of this package.
  open var ovtPictureCounts: (shown: Int, dropped: Int) { lock.withLock { (counts.shown, counts.dropped) } }

  /// Sets the object that shows the pictures. With nil the layer passes them to `frameHandler`
  /// itself.
  package func setPresenter(_ presenter: (any PicturePresenter)?) {
    lock.withLock { self.presenter = presenter }
    work.async { [weak self] in self?.present() }
  }

  /// Removes a presenter, unless another one has been set since.
  package func removePresenter(_ presenter: any PicturePresenter) {
    let old = lock.withLock { () -> (any PicturePresenter)? in
      let old = self.presenter
      if old === presenter { self.presenter = nil }
      return old
    }
    // A presenter that is being deallocated may be read as nil already.
    guard old == nil || old === presenter else { return }
    work.async { [weak self] in self?.present() }
  }

  /// The next picture, whether or not it is due. Drops pictures that are followed by another one
  /// which is due at `time`.
  package func nextPicture(at time: CMTime) -> Picture? {
    // The pictures are released outside of the lock, since releasing a program's picture may call
    // this layer.
    var dropped: [Picture] = []
    let (next, hasRoom) = lock.withLock { () -> (Picture?, Bool) in
      // A picture that is to be shown immediately is only replaced by another such picture.
      while decoded.count > 1, decoded[1].time <= time, mayBeSeen(decoded[1]),
        decoded[0].time.isNumeric || !decoded[1].time.isNumeric
      {
        dropped.append(decoded.removeFirst())
        counts.dropped += 1
      }
      return (decoded.first.flatMap { mayBeSeen($0) ? $0 : nil }, !dropped.isEmpty && !waiting.isEmpty)
    }
    withExtendedLifetime(dropped) {}
    if hasRoom { work.async { [weak self] in self?.proceed() } }
    return next
  }

  /// Called by the presenter when it has shown a picture.
  package func presented(_ picture: Picture) {
    let isThere = lock.withLock { () -> Bool in
      guard let index = decoded.firstIndex(where: { $0.number == picture.number }) else { return false }
      decoded.remove(at: index)
      if picture.time.isNumeric { lastTime = picture.time }
      return true
    }
    guard isThere else { return }
    show(picture)
    work.async { [weak self] in self?.proceed() }
  }

  // MARK: - State

  open var status: AVQueuedSampleBufferRenderingStatus { lock.withLock { currentStatus } }
  open var error: Error? { lock.withLock { currentError } }
  /// Whether decoding has failed, so that nothing is decoded before `flush()`.
  open var requiresFlushToResumeDecoding: Bool { lock.withLock { needsFlush } }

  open var isReadyForMoreMediaData: Bool {
    lock.withLock { waiting.count + decoded.count < Self.decodeAhead + Self.queueLength }
  }

  /// Whether enough has been enqueued to show pictures without interruption.
  open var hasSufficientMediaDataForReliablePlaybackStart: Bool {
    lock.withLock { waiting.count + decoded.count >= Self.decodeAhead }
  }

  /// Whether a picture is shown.
  open var isReadyForDisplay: Bool { lock.withLock { shownImage != nil } }

  open func enqueue(_ sampleBuffer: CMSampleBuffer) {
    lock.withLock {
      // After a failure nothing is decoded before a flush, which would remove the sample.
      guard !needsFlush else { return }
      if isStarting {
        isStarting = false
        start = (followed ?? control).map { CMTimebaseGetTime($0) } ?? .invalid
      }
      waiting.append(sampleBuffer)
      arrivals &+= 1
      if currentStatus == .unknown { currentStatus = .rendering }
    }
    request.received()
    work.async { [weak self] in self?.proceed() }
  }

  open func flush() {
    let (changed, old) = lock.withLock {
      let old = (waiting, decoded)
      waiting = []
      decoded = []
      decodedUntil = .negativeInfinity
      lastTime = .invalid
      generation += 1
      isStarting = true
      currentStatus = .unknown
      currentError = nil
      defer { needsFlush = false }
      return (needsFlush, old)
    }
    withExtendedLifetime(old) {}
    work.async { [weak self] in
      guard let self else { return }
      if let session { VTDecompressionSessionInvalidate(session) }
      session = nil
      sessionFormat = nil
      present()
    }
    if changed {
      NotificationCenter.default.post(
        name: .AVSampleBufferDisplayLayerRequiresFlushToResumeDecodingDidChange, object: self)
    }
    request.ask(for: self)
  }

  /// Removes samples and pictures that have not been presented, and the current picture.
  open func flushAndRemoveImage() {
    flush()
    let (handler, old) = lock.withLock {
      defer { shownImage = nil }
      shownSize = .zero
      return (self.handler, shownImage)
    }
    withExtendedLifetime(old) {}
    work.async { [weak self] in
      handler?(nil, .invalid)
      guard let self else { return }
      lock.withLock { presenter }?.pictureRemoved()
    }
  }

  @preconcurrency open func requestMediaDataWhenReady(
    on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
  ) {
    request.start(self, on: queue, block)
  }

  open func stopRequestingMediaData() { request.stop() }
}

/// Shows the pictures of a layer at their times, in place of the layer.
package protocol PicturePresenter: AnyObject, Sendable {
  /// Called when the layer's next picture may have changed, or its timebase has.
  func picturesChanged()
  /// Called when no picture is to be shown.
  func pictureRemoved()
}

extension CMTimebase {
  /// A timebase whose source is the host clock, with time and rate zero.
  static func onHostClock() -> CMTimebase {
    do { return try CMTimebase(sourceClock: CMClockGetHostTimeClock()) } catch {
      preconditionFailure("the host clock can always be followed: \(error)")
    }
  }
}
