import CodecInterface
import H264Encoder

/// A stream of H.264 through `LowLatencyEncoder`: decides the layers and the long-term references, and keeps
/// account of what the receiver has.
final class EngineAdapter: CodecInterface.VideoEncoder {
  private var configuration: CodecInterface.EncoderConfiguration
  let engine: LowLatencyEncoder
  private var layers: LayerPattern
  private var longTerm: LongTermReferences
  private var ledger = FrameLedger()

  private var parameterSets: ParameterSets?
  private var nextIndex: UInt64 = 0
  private var lastTime: Int64?
  private var lastKeyTime: Int64?
  private var framesSinceKey = 0
  /// The last reference frame is a short-term one that follows on a key frame or a refresh without a break.
  private var canMark = false
  /// A refresh was asked for, and the frame that should have been one was dropped.
  private var owesRefresh = false

  init(_ configuration: CodecInterface.EncoderConfiguration) throws(CodecError) {
    self.configuration = configuration
    let converted = try EngineConfiguration(configuration)
    do { engine = try LowLatencyEncoder(configuration: converted) } catch { throw CodecError(engine: error) }
    let lowLatency = configuration.lowLatency ?? LowLatency()
    layers = LayerPattern(
      frameRateFraction: lowLatency.baseLayerFrameRateFraction,
      bitRateFraction: lowLatency.baseLayerBitRateFraction)
    longTerm = LongTermReferences(count: converted.longTermReferences)
    let sets = engine.parameterSets
    parameterSets = ParameterSets(sps: [sets.sequence], pps: [sets.picture])
  }

  var heldFrameCount: Int { 0 }
  var reorderingDepth: Int { 0 }
  func flush() throws(CodecError) -> [CodecInterface.EncodedFrame] { [] }

  func reconfigure(_ new: CodecInterface.EncoderConfiguration) throws(CodecError) {
    guard new != configuration else { return }
    let converted = try EngineConfiguration(new)
    do { try engine.reconfigure(converted) } catch { throw .unsupported("\(error)") }
    if let lowLatency = new.lowLatency {
      layers.change(
        frameRateFraction: lowLatency.baseLayerFrameRateFraction,
        bitRateFraction: lowLatency.baseLayerBitRateFraction)
    }
    configuration = new
  }

  func encode(
    _ picture: CodecInterface.SourcePicture, options: CodecInterface.FrameOptions
  ) throws(CodecError) -> [CodecInterface.EncodedFrame] {
    guard picture.format == configuration.format else {
      throw .invalidConfiguration("a picture of another format")
    }
    let source = try EngineSource(picture)
    if let lastTime, picture.presentationTime <= lastTime {
      throw .invalidConfiguration("time stamps do not increase")
    }
    longTerm.acknowledge(options.acknowledgedTokens)

    var wish = EngineOptions()
    let repairs = invalidate(options.lostFrames)
    // With long-term references a repair rests on what was acknowledged, and on nothing else.
    let wantsRefresh = options.forcesLongTermRefresh || owesRefresh || repairs && longTerm.isEnabled
    if wantsRefresh { prepareRefresh(&wish) }
    wish.isKeyFrame =
      wish.isKeyFrame || options.forcesKeyFrame || isKeyFrameDue(at: picture.presentationTime)
      || engine.availableReferences.isEmpty
    let place = layers.next(restarts: wish.isKeyFrame || wantsRefresh || repairs)
    wish.isReference = place.layer == 0
    wish.temporalLayer = place.layer
    wish.budgetShare = place.budgetShare
    if wish.isReference, longTerm.isEnabled {
      // The slot that a decoder can give to a key frame at once is the first.
      wish.longTermSlot = wish.isKeyFrame ? 0 : canMark && !wantsRefresh ? longTerm.slot(for: nextIndex) : nil
    }
    wish.qp = options.baseQP
    wish.duration = duration(of: picture)

    let coded: H264Encoder.EncodedFrame
    do { coded = try engine.encode(source, options: wish) } catch { throw CodecError(engine: error) }
    nextIndex = coded.facts.index + 1
    lastTime = picture.presentationTime
    layers.note(place, isCoded: !coded.facts.isDropped)
    if coded.facts.isDropped {
      owesRefresh = wantsRefresh
      return [CodecInterface.EncodedFrame(presentationTime: picture.presentationTime, data: nil)]
    }
    owesRefresh = false
    return [deliver(coded, presentationTime: picture.presentationTime)]
  }

  // MARK: - What the receiver has

  /// Gives up what depends on lost frames. Returns whether anything did.
  private func invalidate(_ lostTimes: [Int64]) -> Bool {
    guard let first = ledger.firstThatMatters(of: lostTimes) else { return false }
    giveUp(from: first)
    return true
  }

  /// Chooses what a refresh is predicted from: an acknowledged frame, or nothing.
  private func prepareRefresh(_ wish: inout EngineOptions) {
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
  private func duration(of picture: CodecInterface.SourcePicture) -> Double? {
    let ticks = lastTime.map { picture.presentationTime - $0 } ?? picture.duration
    guard ticks > 0 else { return nil }
    // A long pause is no reason for a frame that takes as long to send.
    return min(max(Double(ticks) / Double(configuration.timescale), 1e-4), 1)
  }

  // MARK: - Results

  private func deliver(
    _ coded: borrowing H264Encoder.EncodedFrame, presentationTime: Int64
  ) -> CodecInterface.EncodedFrame {
    let facts = coded.facts
    var size = 0
    for unit in coded.nalUnits { size += unit.range.count + 4 }
    // The block buffer keeps the memory: no more of it than is needed.
    let data = EncodedData(capacity: size)
    for unit in coded.nalUnits {
      coded.withBytes(of: unit) { bytes in bytes.withUnsafeBytes { data.appendNALUnit($0) } }
    }

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

    var frame = CodecInterface.EncodedFrame(presentationTime: presentationTime, data: data)
    frame.facts.isKeyFrame = facts.isKeyFrame
    frame.facts.isIntra = facts.isKeyFrame
    frame.facts.isReference = facts.isReference
    frame.facts.temporalLayer = facts.temporalLayer
    frame.facts.averageQP = facts.averageQP
    frame.facts.highestQP = facts.highestQP
    frame.facts.meanSquaredError = facts.meanSquaredError.map { (y: $0.luma, cb: $0.cb, cr: $0.cr) }
    if let slot = facts.longTermSlot { frame.facts.longTermToken = longTerm.mark(slot, frame: facts.index) }
    frame.parameterSets = parameterSets
    parameterSets = nil
    return frame
  }
}
