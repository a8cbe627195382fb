// SPDX-License-Identifier: Apache-2.0

/// Where scenes begin, and key frames.
extension LookAheadQueue {
  func isCut(_ picture: QueuedPicture, after before: QueuedPicture) -> Bool {
    let (inter, intra) = (Double(picture.interCost), Double(picture.intraCost))
    // Scene after scene.
    if before.isCut { return inter > LookAheadQueue.cut.early * intra }
    guard inter > LookAheadQueue.cut.late * intra else { return false }
    // Under noise all pictures are far from their neighbours: in a new scene prediction saves less than it just did.
    let usual = Double(before.intraCost - before.interCost)
    return usual <= 0 || (intra - inter) * Double(before.intraCost) < LookAheadQueue.cutSaving * usual * intra
  }

  func isFlash(_ flash: QueuedPicture, between a: QueuedPicture, and b: QueuedPicture) -> Bool {
    let across = analysis.sample(b, from: a.half)
    let into = analysis.sample(flash, from: a.half)
    return across * 3 < into * 2
  }

  /// Gives each picture its kind.
  func assignKinds(_ configuration: H264EncoderConfiguration) {
    var since = sinceKey
    var key = keyTime
    let interval = configuration.keyFrameInterval ?? LookAheadQueue.usualInterval
    for picture in pictures {
      var isKey = since == nil || picture.options.isKeyFrame
      var isDue = false
      if let since, !isKey {
        isDue = since >= interval
        if let seconds = configuration.lookAhead.keyFrameDuration, picture.time - key >= seconds - 0.0005 {
          isDue = true
        }
        if configuration.lookAhead.placesKeyFramesAtCuts, picture.isCut {
          isKey =
            isDue || since >= LookAheadQueue.early
            || Double(picture.interCost) > LookAheadQueue.cut.early * Double(picture.intraCost)
        }
      }
      // Until its order is settled.
      picture.kind =
        isKey || isDue && !configuration.hasOpenGOP ? .idr : isDue ? .openKey : .predicted
      since = isKey || isDue ? 1 : (since ?? 0) + 1
      if isKey || isDue { key = picture.time }
    }
  }
}
