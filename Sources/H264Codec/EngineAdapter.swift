// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import H264Encoder

/// A stream of H.264 with zero latency: decides the layers and the long-term references, and keeps
/// account of what the receiver has.
final class EngineAdapter: VideoEncoder {
  private var configuration: VideoEncoderConfiguration
  let engine: H264Encoder
  private var layers: LayerPattern
  private var longTerm: LongTermReferences
  private var ledger = FrameLedger()
  private let padding: PicturePadding

  private var parameterSets: ParameterSets?
  private var nextIndex: UInt64 = 0
  private var lastTime: Int64?
  private var lastKeyTime: Int64?
  private var framesSinceKey = 0
  /// The last reference frame is a short-term one that follows on a key frame or a refresh without a break.
  private var canMark = false
  /// A refresh was asked for, and the frame that should have been one was dropped.
  private var owesRefresh = false

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

  /// A rate that follows a network rises: a stream with a level that allows no more than its first rate would end in a key
  /// frame then. Level 3 allows this much, and who decodes any decodes that.
  private static let levelBitRate = 10_000_000

  private static func converted(_ configuration: VideoEncoderConfiguration) throws(CodecError)
    -> H264EncoderConfiguration
  {
    var converted = try H264EncoderConfiguration(configuration)
    converted.levelBitRate = levelBitRate
    return converted
  }

  var reorderingDepth: Int { 0 }
  /// Nothing is ever held.
  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {}

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
    // With long-term references a repair rests on what was acknowledged, and on nothing else.
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
      // The slot that a decoder can give to a key frame at once is the first.
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

  /// Gives up what depends on lost frames. Returns whether anything did.
  private func invalidate(_ lostTimes: [Int64]) -> Bool {
    guard let first = ledger.firstThatMatters(of: lostTimes) else { return false }
    giveUp(from: first)
    return true
  }

  /// Chooses what a refresh is predicted from: an acknowledged frame, or nothing.
  private func prepareRefresh(_ wish: inout H264FrameOptions) {
    guard let known = longTerm.newestAcknowledged else {
      wish.isKeyFrame = true
      return
    }
    // Nothing to come refers to frames between, which the receiver may lack, nor to what came before: losses
    // may have pushed that out of its buffer.
    giveUp(from: known.frame + 1)
    engine.invalidateReferences(except: known.frame)
    wish.references = .longTerm([known.slot])
  }

  private func giveUp(from first: UInt64) {
    engine.invalidateReferences(from: first)
    longTerm.abandon(from: first)
    ledger.abandon(first..<max(nextIndex, first))
    canMark = false
  }

  // MARK: - When

  private func isKeyFrameDue(at time: Int64) -> Bool {
    guard let lastKeyTime else { return true }
    if !configuration.allowsTemporalCompression { return true }
    if configuration.maxKeyFrameInterval > 0, framesSinceKey >= configuration.maxKeyFrameInterval {
      return true
    }
    let seconds = configuration.maxKeyFrameIntervalDuration
    return seconds > 0 && Double(time - lastKeyTime) / Double(configuration.timescale) >= seconds - 0.0005
  }

  /// Seconds since the last picture, which rate control goes by.
  private func duration(of picture: InputPicture) -> Double? {
    let ticks = lastTime.map { picture.presentationTime - $0 } ?? picture.duration
    guard ticks > 0 else { return nil }
    // A long pause is no reason for a frame that takes as long to send.
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
    ledger.note(
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
