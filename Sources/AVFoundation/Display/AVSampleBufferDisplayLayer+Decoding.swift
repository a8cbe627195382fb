// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Decodes enqueued samples, on the queue `work`.
extension AVSampleBufferDisplayLayer {
  func proceed() {
    while true {
      let next: (CMSampleBuffer, Int)? = lock.withLock {
        guard !needsFlush, decoded.count < Self.decodeAhead, !waiting.isEmpty else { return nil }
        return (waiting.removeFirst(), generation)
      }
      guard let (sample, generation) = next else { break }
      decode(sample, generation)
      let time = CMSampleBufferGetDecodeTimeStamp(sample)
      lock.withLock {
        guard generation == self.generation else { return }
        decodedUntil = time.isNumeric ? time : .positiveInfinity
      }
    }
    present()
    request.ask(for: self)
  }

  /// Whether a picture can be shown: either no picture can precede it any more, or the queue of
  /// decoded pictures is full. Called under `lock`.
  func mayBeSeen(_ picture: Picture) -> Bool {
    !picture.time.isNumeric || picture.time <= decodedUntil || decoded.count >= Self.decodeAhead
  }

  /// Called when a picture is due that another one may still precede. Waits for `longestGap` or, if
  /// the timebase is stopped, shows the picture at once.
  func waitForEarlier(_ base: CMTimebase) {
    let arrivals = lock.withLock { self.arrivals }
    if CMTimebaseGetRate(base) == 0 {
      if endsWaiting(since: arrivals) { present() }
      return
    }
    guard !isWaiting else { return }
    isWaiting = true
    work.asyncAfter(deadline: .now() + longestGap) { [weak self] in
      guard let self else { return }
      isWaiting = false
      _ = endsWaiting(since: arrivals)
      present()
    }
  }

  func endsWaiting(since arrivals: Int) -> Bool {
    lock.withLock {
      guard arrivals == self.arrivals, waiting.isEmpty else { return false }
      decodedUntil = .positiveInfinity
      return true
    }
  }

  func decode(_ sample: CMSampleBuffer, _ generation: Int) {
    defer { notifyConsumed(sample) }
    let attributes =
      CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false)?.firstObject as? NSDictionary
    func flag(_ key: CFString) -> Bool { (attributes?.object(forKey: key) as? NSNumber)?.boolValue ?? false }
    let isHidden = flag(kCMSampleAttachmentKey_DoNotDisplay)
    let isUrgent = flag(kCMSampleAttachmentKey_DisplayImmediately)
    let time = CMSampleBufferGetPresentationTimeStamp(sample)
    let duration = CMSampleBufferGetDuration(sample)
    if Self.isEmptyMedia(sample) {
      let isNow = Self.isSet(kCMSampleBufferAttachmentKey_DisplayEmptyMediaImmediately, sample)
      return take(nil, time, .invalid, isUrgent || isNow, generation)
    }
    if let image = CMSampleBufferGetImageBuffer(sample) {
      if !isHidden { take(image, time, duration, isUrgent, generation) }
      return
    }
    guard let format = CMSampleBufferGetFormatDescription(sample) else {
      return fail(kVTParameterErr, generation)
    }
    if let session, let known = sessionFormat, known !== format,
      !VTDecompressionSessionCanAcceptFormatDescription(session, formatDescription: format)
    {
      VTDecompressionSessionInvalidate(session)
      self.session = nil
    }
    if session == nil {
      let status = VTDecompressionSessionCreate(
        allocator: kCFAllocatorDefault, formatDescription: format, decoderSpecification: nil,
        imageBufferAttributes: nil, decompressionSessionOut: &session)
      guard status == noErr else { return fail(status, generation) }
    }
    sessionFormat = format
    guard let session else { return }
    let status = VTDecompressionSessionDecodeFrame(
      session, sampleBuffer: sample, flags: [], infoFlagsOut: nil
    ) { [weak self] status, flags, image, time, duration in
      guard let self else { return }
      if status != noErr { return fail(status, generation) }
      if let image, !isHidden, !flags.contains(.frameDropped) {
        take(image, time, duration, isUrgent, generation)
      }
    }
    if status != noErr { fail(status, generation) }
  }

  static func isSet(_ key: CFString, _ sample: CMSampleBuffer) -> Bool {
    (CMGetAttachment(sample, key: key, attachmentModeOut: nil) as? NSNumber)?.boolValue ?? false
  }

  /// Whether a sample states that nothing is shown from its time on.
  static func isEmptyMedia(_ sample: CMSampleBuffer) -> Bool {
    isSet(kCMSampleBufferAttachmentKey_EmptyMedia, sample)
      || isSet(kCMSampleBufferAttachmentKey_PermanentEmptyMedia, sample)
  }

  func notifyConsumed(_ sample: CMSampleBuffer) {
    let attachment = CMGetAttachment(
      sample, key: kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed, attachmentModeOut: nil)
    guard let attachment = attachment as? NSDictionary else { return }
    var information: [AnyHashable: Any] = [:]
    for key in attachment.allKeys { if let name = key as? String { information[name] = attachment[key] } }
    NotificationCenter.default.post(
      name: NSNotification.Name(kCMSampleBufferConsumerNotification_BufferConsumed as String), object: self,
      userInfo: information)
  }

  func take(
    _ image: CVPixelBuffer?, _ time: CMTime, _ duration: CMTime, _ isUrgent: Bool, _ generation: Int
  ) {
    let base = timebase
    let (now, isBackward) = (CMTimebaseGetTime(base), CMTimebaseGetRate(base) < 0)
    let shows = lock.withLock { () -> Bool in
      guard generation == self.generation else { return false }
      if isUrgent { return true }
      // A picture that precedes the last one is dropped, unless time runs backward.
      if time.isNumeric, lastTime.isNumeric, time < lastTime, lastTime <= now, !isBackward {
        counts.dropped += 1
        return false
      }
      if start.isNumeric, time.isNumeric, duration.isNumeric, duration > .zero, time + duration <= start {
        return false
      }
      let insertionIndex = decoded.firstIndex { $0.time > time } ?? decoded.count
      counts.numbered += 1
      decoded.insert(Picture(image: image, time: time, number: counts.numbered), at: insertionIndex)
      return false
    }
    guard shows else { return }
    // The presenter shows the picture next, whatever its time.
    let (number, window) = lock.withLock { () -> (Int, (any PicturePresenter)?) in
      counts.numbered += 1
      // Keeps the presenter alive until the lock is released, because its deinitialization reads
      // this layer's counts.
      let window = presenter
      if window != nil {
        let insertionIndex = decoded.firstIndex { $0.time > .negativeInfinity } ?? decoded.count
        decoded.insert(
          Picture(image: image, time: .negativeInfinity, number: counts.numbered), at: insertionIndex)
      }
      return (counts.numbered, window)
    }
    if let window {
      window.picturesChanged()
    } else {
      show(Picture(image: image, time: time, number: number))
    }
  }

  func fail(_ status: OSStatus, _ generation: Int) {
    let error = AVError(
      .decodeFailed, reason: "A sample cannot be decoded (\(status)).",
      advice: "Call flush(), then enqueue from a key frame on.",
      underlying: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
    let isFirst = lock.withLock { () -> Bool in
      guard generation == self.generation, currentStatus != .failed else { return false }
      currentStatus = .failed
      currentError = error
      needsFlush = true
      return true
    }
    guard isFirst else { return }
    let center = NotificationCenter.default
    center.post(
      name: .AVSampleBufferDisplayLayerFailedToDecode, object: self,
      userInfo: [AVSampleBufferDisplayLayerFailedToDecodeNotificationErrorKey: error as NSError])
    center.post(name: .AVSampleBufferDisplayLayerRequiresFlushToResumeDecodingDidChange, object: self)
  }
}
