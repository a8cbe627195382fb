// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// An encoder of this package whose references can be named and given up.
package protocol ReferenceKeeping: AnyObject {
  /// Whether there is any frame that could be referred to now.
  var hasAvailableReference: Bool { get }
  /// Tells that neither the frame with this number nor any later one may be referred to any more.
  func invalidateReferences(from index: UInt64)
  /// Tells that only the frame with this number may be referred to from now on.
  func invalidateReferences(except index: UInt64)
}

/// Decides the layer, the key frames and the long-term references of each frame of the low-latency
/// mode, for every codec, and keeps account of what the receiver has.
package struct LowLatencyPlanner {
  /// The decisions about a frame.
  package struct Frame {
    /// Whether it is a key frame.
    package var isKeyFrame: Bool
    /// Whether later frames may refer to it.
    package var isReference = true
    /// Its temporal layer, 0 or 1.
    package var temporalLayer = 0
    /// Its bits as a multiple of the mean of all frames.
    package var budgetShare = 1.0
    /// The long-term slot in which it is kept; nil: none.
    package var longTermSlot: Int?
    /// The long-term slot that alone it may refer to; nil: it may refer to any available frame.
    package var reference: Int?
    /// The seconds since the last frame that count for the rate; nil: not known.
    package var duration: Double?
  }

  private var layers: LayerPattern
  /// The long-term references, and which of them the receiver has acknowledged.
  private var longTerm: LongTermReferences
  /// The frames of the last seconds, to which reports of losses may refer.
  private var pendingFrames = PendingFrames()

  /// The presentation time of the last key frame, in units of the timescale.
  private var lastKeyTime: Int64?
  /// The number of frames since the last key frame, itself included.
  private var framesSinceKey = 0
  /// Whether the next frame may be kept in a long-term slot: the last reference frame is a
  /// short-term one, and none was given up since the last key frame or refresh.
  private var canMark = false
  /// Whether a refresh is still due, because the frame that should have been one was dropped.
  private var isRefreshPending = false
  /// The layer of the picture that is being coded, and whether it is a refresh.
  private var current = (frame: LayerPattern.Frame(layer: 0, budgetShare: 1), isRefresh: false)

  /// Begins a stream.
  /// - Parameters:
  ///   - request: the settings of the mode; nil for a stream without them.
  ///   - longTermReferences: the number of long-term slots that the encoder has.
  package init(_ request: LowLatencyRequest?, longTermReferences: Int) {
    let request = request ?? LowLatencyRequest()
    layers = LayerPattern(
      frameRateFraction: request.baseLayerFrameRateFraction,
      bitRateFraction: request.baseLayerBitRateFraction)
    longTerm = LongTermReferences(count: longTermReferences)
  }

  /// Takes changed settings over, from the next frame on.
  package mutating func change(to request: LowLatencyRequest) {
    layers.change(
      frameRateFraction: request.baseLayerFrameRateFraction,
      bitRateFraction: request.baseLayerBitRateFraction)
  }

  // MARK: - Pictures

  /// Decides about the next picture.
  /// - Parameters:
  ///   - time: its presentation time, in units of the timescale.
  ///   - index: the encoder's number of it.
  ///   - isKeyFrame: whether it has to be a key frame for another reason.
  ///   - duration: the seconds since the last picture; nil: not known.
  ///   - request: what the session has asked for.
  ///   - configuration: the configuration of the stream.
  ///   - encoder: the encoder, which is notified of what the receiver lacks.
  package mutating func plan(
    at time: Int64, index: UInt64, isKeyFrame: Bool, duration: Double?, _ request: FrameRequest,
    in configuration: VideoEncoderConfiguration, _ encoder: some ReferenceKeeping
  ) -> Frame {
    longTerm.acknowledge(request.acknowledgedTokens)
    var frame = Frame(isKeyFrame: isKeyFrame)
    let repairs = invalidate(request.lostFrames, before: index, encoder)
    // With long-term references, a repair refers to an acknowledged frame only.
    let isRefresh = request.forcesLongTermRefresh || isRefreshPending || repairs && longTerm.isEnabled
    if isRefresh { prepareRefresh(&frame, before: index, encoder) }
    frame.isKeyFrame =
      frame.isKeyFrame || isKeyFrameDue(at: time, in: configuration) || !encoder.hasAvailableReference
    let layered = layers.next(restarts: frame.isKeyFrame || isRefresh || repairs)
    frame.isReference = layered.layer == 0
    frame.temporalLayer = layered.layer
    frame.budgetShare = layered.budgetShare
    if frame.isReference, longTerm.isEnabled {
      // A decoder can keep a key frame in the first slot at once.
      frame.longTermSlot = frame.isKeyFrame ? 0 : canMark && !isRefresh ? longTerm.slot(for: index) : nil
    }
    // A long pause is not time in which a frame could be sent: 1 s counts at most, or three frames
    // of a slower stream.
    let longest = max(1, 3 / max(configuration.frameRate ?? 30, 0.1))
    frame.duration = duration.map { min(max($0, 1e-4), longest) }
    current = (layered, isRefresh)
    return frame
  }

  /// Takes account of the frame that was planned last.
  /// - Parameters:
  ///   - index: the encoder's number of it.
  ///   - longTermSlot: the long-term slot that it is kept in; nil for none.
  ///   - isDropped: whether the rate control dropped it.
  ///   - frame: the frame, whose properties say what it became; receives its token.
  package mutating func finish(
    index: UInt64, longTermSlot: Int?, isDropped: Bool, _ frame: inout CompressedFrame
  ) {
    layers.advance(after: current.frame, isCoded: !isDropped)
    isRefreshPending = isDropped && current.isRefresh
    guard !isDropped else { return }
    framesSinceKey += 1
    if frame.properties.isKeyFrame {
      framesSinceKey = 1
      lastKeyTime = frame.presentationTime
      longTerm.removeAll()
    }
    if frame.properties.isReference { canMark = longTermSlot == nil }
    pendingFrames.add(
      .init(
        presentationTime: frame.presentationTime, index: index,
        isReference: frame.properties.isReference),
      isKeyFrame: frame.properties.isKeyFrame)
    if let longTermSlot {
      frame.properties.longTermToken = longTerm.mark(longTermSlot, frame: index)
    }
  }

  // MARK: - What the receiver has

  /// Gives up all frames that depend on lost ones.
  /// - Parameters:
  ///   - lostTimes: the presentation times of the lost frames.
  ///   - index: the encoder's number of the next picture.
  /// - Returns: whether there were any.
  private mutating func invalidate(
    _ lostTimes: [Int64], before index: UInt64, _ encoder: some ReferenceKeeping
  ) -> Bool {
    guard let first = pendingFrames.firstThatMatters(of: lostTimes) else { return false }
    giveUp(from: first, before: index, encoder)
    return true
  }

  /// Chooses what a refresh is predicted from: an acknowledged frame, or nothing.
  private mutating func prepareRefresh(
    _ frame: inout Frame, before index: UInt64, _ encoder: some ReferenceKeeping
  ) {
    guard let known = longTerm.newestAcknowledged else {
      frame.isKeyFrame = true
      return
    }
    // Later frames must not refer to the frames after the acknowledged one, which the receiver may
    // lack, nor to those before it: losses may have pushed these out of its buffer.
    giveUp(from: known.frame + 1, before: index, encoder)
    encoder.invalidateReferences(except: known.frame)
    frame.reference = known.slot
  }

  /// Stops referring to the frame with a number and to all that follow it.
  private mutating func giveUp(
    from first: UInt64, before index: UInt64, _ encoder: some ReferenceKeeping
  ) {
    encoder.invalidateReferences(from: first)
    longTerm.abandon(from: first)
    pendingFrames.abandon(first..<max(index, first))
    canMark = false
  }

  // MARK: - Key frames

  /// Whether the interval or the duration of key frames asks for one at a time, in units of the
  /// timescale.
  private func isKeyFrameDue(at time: Int64, in configuration: VideoEncoderConfiguration) -> Bool {
    guard let lastKeyTime else { return true }
    if !configuration.allowsTemporalCompression { return true }
    if configuration.maxKeyFrameInterval > 0, framesSinceKey >= configuration.maxKeyFrameInterval {
      return true
    }
    let seconds = configuration.maxKeyFrameIntervalDuration
    return seconds > 0 && Double(time - lastKeyTime) / Double(configuration.timescale) >= seconds - 0.0005
  }
}
