// SPDX-License-Identifier: Apache-2.0

/// Scene cuts and the placement of key frames.
extension LookAheadQueue {
  /// Whether a picture begins a new scene, judged by its costs of intra prediction and of inter
  /// prediction from the picture before it.
  package func isCut(_ picture: QueuedPicture, after before: QueuedPicture) -> Bool {
    let (inter, intra) = (Double(picture.interCost), Double(picture.intraCost))
    // After another cut, the saving of inter prediction in the previous picture says nothing about
    // this one.
    if before.isCut { return inter > LookAheadQueue.cut.early * intra }
    guard inter > LookAheadQueue.cut.late * intra else { return false }
    // In noisy content every picture is predicted badly. A new scene is therefore also required to
    // save much less by inter prediction than the picture before did.
    let previousSaving = Double(before.intraCost - before.interCost)
    return previousSaving <= 0
      || (intra - inter) * Double(before.intraCost) < LookAheadQueue.cutSaving * previousSaving * intra
  }

  /// Whether a picture is a flash: the picture after it is predicted much better from the picture
  /// before it than the flash itself is.
  /// - Parameters:
  ///   - flash: the picture that may be a flash.
  ///   - a: the picture before it.
  ///   - b: the picture after it.
  func isFlash(_ flash: QueuedPicture, between a: QueuedPicture, and b: QueuedPicture) -> Bool {
    let costWithoutFlash = analysis.sample(b, from: a.lowResolution)
    let costOfFlash = analysis.sample(flash, from: a.lowResolution)
    return costWithoutFlash * 3 < costOfFlash * 2
  }

  /// Sets the type of every picture whose decoding order is not decided: key frames are final, all
  /// others are `predicted` until their order is decided.
  func assignKinds(_ settings: LookAheadSettings) {
    var since = sinceKey
    var key = keyTime
    let interval = settings.mostPicturesOfGroup
    for picture in pictures {
      var isKey = since == nil || picture.request.isKeyFrame
      var isDue = false
      if let since, !isKey {
        isDue = since >= interval
        if let seconds = settings.keyFrameDuration, picture.time - key >= seconds - 0.0005 {
          isDue = true
        }
        if settings.placesKeyFramesAtCuts, picture.isCut {
          isKey =
            isDue || since >= LookAheadQueue.early
            || Double(picture.interCost) > LookAheadQueue.cut.early * Double(picture.intraCost)
        }
      }
      // Whether it is a B picture is decided when its order is decided.
      picture.kind =
        isKey || isDue && !settings.hasOpenGOP ? .idr : isDue ? .openKey : .predicted
      since = isKey || isDue ? 1 : (since ?? 0) + 1
      if isKey || isDue { key = picture.time }
    }
  }
}
