// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import H264Encoder

/// A stream of H.264 with zero latency: decides the layers and the long-term references, and keeps
/// account of what the receiver has.
final class EngineAdapter: SynchronousVideoEncoder {
  /// The configuration of the stream.
  private var configuration: VideoEncoderConfiguration
  let engine: H264Encoder
  private var layers: LayerPattern
  /// The long-term references, and which of them the receiver has acknowledged.
  private var longTerm: LongTermReferences
  /// The frames of the last seconds, to which reports of losses may refer.
  private var pendingFrames = PendingFrames()
  /// Enlarges pictures to the coded size.
  private let padding: PicturePadding

  /// The parameter sets, until the first frame has been output.
  private var parameterSets: ParameterSets?
  /// The encoder's index of the next picture.
  private var nextIndex: UInt64 = 0
  /// The presentation time of the last picture, in units of the timescale.
  private var lastTime: Int64?
  /// The presentation time of the last key frame, in units of the timescale.
  private var lastKeyTime: Int64?
  /// The number of frames since the last key frame, itself included.
  private var framesSinceKey = 0
  /// Whether the next frame may be kept in a long-term slot: the last reference frame is a
  /// short-term one, and none was given up since the last key frame or refresh.
  private var canMark = false
  /// Whether a refresh is still due, because the frame that should have been one was dropped.
  private var owesRefresh = false

  /// Makes the encoder.
  /// - Parameter configuration: the configuration of the session.
  /// - Throws: `CodecError` if the encoder does not support the configuration.
  init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    self.configuration = configuration
    padding = PicturePadding(configuration.codedSize)
    let converted = try Self.converted(configuration)
    do { engine = try H264Encoder(configuration: converted) } catch { throw CodecError(engine: error) }
    let lowLatency = configuration.lowLatency ?? LowLatency()
    layers = LayerPattern(
      frameRateFraction: lowLatency.baseLayerFrameRateFraction,
      bitRateFraction: lowLatency.baseLayerBitRateFraction)
    longTerm = LongTermReferences(count: converted.lowLatency.longTermReferences)
    let sets = engine.parameterSets
    parameterSets = ParameterSets(sps: [sets.sequence], pps: sets.pictures)
  }

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

  /// Frames are never reordered.
  var reorderingDepth: Int { 0 }
  /// Does nothing: no frame is ever held.
  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {}

  /// Applies a configuration, or asks for a new stream where it cannot change within one.
  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    guard new != configuration else { return .applied }
    guard new.lowLatency != nil || !H264Codec.looksAhead(new) else { return .needsNewStream }
    var converted = try Self.converted(new)
    if new.asksForReferences(as: configuration) { converted.keepReferences(of: engine.configuration) }
    do {
      try engine.reconfigure(converted)
    } catch {
      switch error as? H264EncoderError {
      // A new stream may have another level.
      case .fixedInStream, .levelExceeded: return .needsNewStream
      default: throw CodecError(engine: error)
      }
    }
    if let lowLatency = new.lowLatency {
      layers.change(
        frameRateFraction: lowLatency.baseLayerFrameRateFraction,
        bitRateFraction: lowLatency.baseLayerBitRateFraction)
    }
    configuration = new
    return .applied
  }

  /// Encodes a picture, as the protocol says.
  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    guard picture.format == configuration.format else {
      throw .invalidConfiguration("a picture of another format")
    }
    let source = try SourcePicture(padding.pad(picture, of: configuration))
    longTerm.acknowledge(request.acknowledgedTokens)

    var wish = H264FrameOptions()
    let repairs = invalidate(request.lostFrames)
    // With long-term references, a repair refers to an acknowledged frame only.
    let wantsRefresh = request.forcesLongTermRefresh || owesRefresh || repairs && longTerm.isEnabled
    if wantsRefresh { prepareRefresh(&wish) }
    wish.isKeyFrame =
      wish.isKeyFrame || request.forcesKeyFrame || isKeyFrameDue(at: picture.presentationTime)
      || !engine.hasAvailableReference
    let place = layers.next(restarts: wish.isKeyFrame || wantsRefresh || repairs)
    wish.isReference = place.layer == 0
    wish.temporalLayer = place.layer
    wish.budgetShare = place.budgetShare
    if wish.isReference, longTerm.isEnabled {
      // A decoder can keep a key frame in the first slot at once.
      wish.longTermSlot = wish.isKeyFrame ? 0 : canMark && !wantsRefresh ? longTerm.slot(for: nextIndex) : nil
    }
    wish.qp = request.baseQP
    wish.duration = duration(of: picture)

    let coded: H264EncodedFrame
    do { coded = try engine.encode(source, options: wish) } catch { throw CodecError(engine: error) }
    let facts = coded.facts
    nextIndex = facts.index + 1
    lastTime = picture.presentationTime
    layers.note(place, isCoded: !facts.isDropped)
    owesRefresh = facts.isDropped && wantsRefresh
    var frame = CompressedFrame(presentationTime: picture.presentationTime, data: CompressedData(coded))
    if !facts.isDropped { describe(&frame, facts) }
    output(frame)
  }

  // MARK: - What the receiver has

  /// Gives up all frames that depend on lost ones.
  /// - Parameter lostTimes: the presentation times of the lost frames.
  /// - Returns: whether there were any.
  private func invalidate(_ lostTimes: [Int64]) -> Bool {
    guard let first = pendingFrames.firstThatMatters(of: lostTimes) else { return false }
    giveUp(from: first)
    return true
  }

  /// Chooses what a refresh is predicted from: an acknowledged frame, or nothing.
  private func prepareRefresh(_ wish: inout H264FrameOptions) {
    guard let known = longTerm.newestAcknowledged else {
      wish.isKeyFrame = true
      return
    }
    // Later frames must not refer to the frames after the acknowledged one, which the receiver may
    // lack, nor to those before it: losses may have pushed these out of its buffer.
    giveUp(from: known.frame + 1)
    engine.invalidateReferences(except: known.frame)
    wish.references = .longTerm([known.slot])
  }

  /// Stops referring to the frame with an index and to all that follow it.
  private func giveUp(from first: UInt64) {
    engine.invalidateReferences(from: first)
    longTerm.abandon(from: first)
    pendingFrames.abandon(first..<max(nextIndex, first))
    canMark = false
  }

  // MARK: - When

  /// Whether the interval or the duration of key frames asks for one at a time, in units of the
  /// timescale.
  private func isKeyFrameDue(at time: Int64) -> Bool {
    guard let lastKeyTime else { return true }
    if !configuration.allowsTemporalCompression { return true }
    if configuration.maxKeyFrameInterval > 0, framesSinceKey >= configuration.maxKeyFrameInterval {
      return true
    }
    let seconds = configuration.maxKeyFrameIntervalDuration
    return seconds > 0 && Double(time - lastKeyTime) / Double(configuration.timescale) >= seconds - 0.0005
  }

  /// Seconds since the last picture, for the rate control; nil if unknown.
  private func duration(of picture: InputPicture) -> Double? {
    let ticks = lastTime.map { picture.presentationTime - $0 } ?? picture.duration
    guard ticks > 0 else { return nil }
    // A long pause is not time in which a frame could be sent: 1 s counts at most.
    return min(max(Double(ticks) / Double(configuration.timescale), 1e-4), 1)
  }

  // MARK: - Results

  private func describe(_ frame: inout CompressedFrame, _ facts: H264FrameFacts) {
    let presentationTime = frame.presentationTime
    framesSinceKey += 1
    if facts.isKeyFrame {
      framesSinceKey = 1
      lastKeyTime = presentationTime
      longTerm.removeAll()
    }
    if facts.isReference { canMark = facts.longTermSlot == nil }
    pendingFrames.note(
      .init(presentationTime: presentationTime, index: facts.index, isReference: facts.isReference),
      isKeyFrame: facts.isKeyFrame)

    frame.facts.isKeyFrame = facts.isKeyFrame
    frame.facts.isIntra = facts.isKeyFrame
    frame.facts.isReference = facts.isReference
    frame.facts.temporalLayer = facts.temporalLayer
    frame.facts.averageQP = facts.averageQP
    frame.facts.highestQP = facts.highestQP
    frame.facts.meanSquaredError = facts.meanSquaredError.map { (y: $0.luma, cb: $0.cb, cr: $0.cr) }
    if let slot = facts.longTermSlot { frame.facts.longTermToken = longTerm.mark(slot, frame: facts.index) }
    frame.header = parameterSets.map { .parameterSets($0) }
    parameterSets = nil
  }
}

extension CompressedData {
  /// The engine's memory, which goes back to the engine's pool; nil if the frame was dropped.
  init?(_ frame: consuming H264EncodedFrame) {
    let count = frame.byteCount
    guard let memory = frame.takeMemory() else { return nil }
    let (address, capacity, pool) = memory.release()
    self.init(adopting: address, count: count, capacity: capacity, context: pool.toOpaque()) {
      guard let pool = $0 else { return }
      FrameMemory.giveBack($1, capacity: $2, pool: Unmanaged<FrameMemoryPool>.fromOpaque(pool))
    }
  }
}
