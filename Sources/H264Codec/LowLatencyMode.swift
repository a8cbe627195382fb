// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import H264Encoder

/// The mode with zero latency: decides the layers, the key frames and the long-term references, and
/// keeps account of what the receiver has.
final class LowLatencyMode: H264Mode {
  let engine: H264Encoder
  var looksAhead: Bool { false }
  var wantsAnotherPass: Bool? { nil }
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

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration.
  init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    let converted = try Self.converted(configuration)
    do { engine = try H264Encoder(configuration: converted) } catch { throw CodecError(engine: error) }
    let lowLatency = configuration.lowLatency ?? LowLatencyRequest()
    layers = LayerPattern(
      frameRateFraction: lowLatency.baseLayerFrameRateFraction,
      bitRateFraction: lowLatency.baseLayerBitRateFraction)
    longTerm = LongTermReferences(count: converted.lowLatency.longTermReferences)
  }

  // MARK: - Configuration

  /// Bits per second that the level allows at least. A rate that follows a network may rise; if the
  /// level only allowed the first rate, it would have to change, with a key frame. Level 3 allows
  /// this rate, and every decoder in use decodes level 3.
  private static let levelBitRate = 10_000_000

  /// The encoder's configuration for that of a session.
  private static func converted(_ configuration: VideoEncoderConfiguration) throws(CodecError)
    -> H264EncoderConfiguration
  {
    var converted = try H264EncoderConfiguration(configuration)
    converted.levelBitRate = levelBitRate
    return converted
  }

  func converted(
    _ new: VideoEncoderConfiguration, from old: VideoEncoderConfiguration
  ) throws(CodecError) -> H264EncoderConfiguration {
    var converted = try Self.converted(new)
    if new.asksForReferences(as: old) { converted.keepReferences(of: engine.configuration) }
    return converted
  }

  func change(to new: VideoEncoderConfiguration) {
    guard let lowLatency = new.lowLatency else { return }
    layers.change(
      frameRateFraction: lowLatency.baseLayerFrameRateFraction,
      bitRateFraction: lowLatency.baseLayerBitRateFraction)
  }

  // MARK: - Pictures

  func complete(
    _ options: inout H264FrameOptions, at time: Int64, index: UInt64, _ request: FrameRequest,
    in configuration: VideoEncoderConfiguration
  ) throws(CodecError) {
    longTerm.acknowledge(request.acknowledgedTokens)
    let repairs = invalidate(request.lostFrames, before: index)
    // With long-term references, a repair refers to an acknowledged frame only.
    let isRefresh = request.forcesLongTermRefresh || isRefreshPending || repairs && longTerm.isEnabled
    if isRefresh { prepareRefresh(&options, before: index) }
    options.isKeyFrame =
      options.isKeyFrame || isKeyFrameDue(at: time, in: configuration) || !engine.hasAvailableReference
    let layered = layers.next(restarts: options.isKeyFrame || isRefresh || repairs)
    options.isReference = layered.layer == 0
    options.temporalLayer = layered.layer
    options.budgetShare = layered.budgetShare
    if options.isReference, longTerm.isEnabled {
      // A decoder can keep a key frame in the first slot at once.
      options.longTermSlot = options.isKeyFrame ? 0 : canMark && !isRefresh ? longTerm.slot(for: index) : nil
    }
    // A long pause is not time in which a frame could be sent: 1 s counts at most.
    options.duration = options.duration.map { min(max($0, 1e-4), 1) }
    current = (layered, isRefresh)
  }

  func record(_ properties: H264FrameProperties, _ frame: inout CompressedFrame) {
    layers.advance(after: current.frame, isCoded: !properties.isDropped)
    isRefreshPending = properties.isDropped && current.isRefresh
    guard !properties.isDropped else { return }
    framesSinceKey += 1
    if properties.isKeyFrame {
      framesSinceKey = 1
      lastKeyTime = frame.presentationTime
      longTerm.removeAll()
    }
    if properties.isReference { canMark = properties.longTermSlot == nil }
    pendingFrames.add(
      .init(
        presentationTime: frame.presentationTime, index: properties.index, isReference: properties.isReference
      ),
      isKeyFrame: properties.isKeyFrame)
    if let slot = properties.longTermSlot {
      frame.properties.longTermToken = longTerm.mark(slot, frame: properties.index)
    }
  }

  func collectStatistics() {}
  func finish(_ configuration: VideoEncoderConfiguration) {}

  // MARK: - What the receiver has

  /// Gives up all frames that depend on lost ones.
  /// - Parameters:
  ///   - lostTimes: the presentation times of the lost frames.
  ///   - index: the encoder's index of the next picture.
  /// - Returns: whether there were any.
  private func invalidate(_ lostTimes: [Int64], before index: UInt64) -> Bool {
    guard let first = pendingFrames.firstThatMatters(of: lostTimes) else { return false }
    giveUp(from: first, before: index)
    return true
  }

  /// Chooses what a refresh is predicted from: an acknowledged frame, or nothing.
  private func prepareRefresh(_ options: inout H264FrameOptions, before index: UInt64) {
    guard let known = longTerm.newestAcknowledged else {
      options.isKeyFrame = true
      return
    }
    // Later frames must not refer to the frames after the acknowledged one, which the receiver may
    // lack, nor to those before it: losses may have pushed these out of its buffer.
    giveUp(from: known.frame + 1, before: index)
    engine.invalidateReferences(except: known.frame)
    options.references = .longTerm([known.slot])
  }

  /// Stops referring to the frame with an index and to all that follow it.
  private func giveUp(from first: UInt64, before index: UInt64) {
    engine.invalidateReferences(from: first)
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
