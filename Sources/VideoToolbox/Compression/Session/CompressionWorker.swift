// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Owns the encoder, and turns frames into sample buffers. Used by the pipeline's thread alone.
final class CompressionWorker {
  struct Result {
    let output: CompressionOutput
    let status: OSStatus
    let flags: VTEncodeInfoFlags
    let sample: CMSampleBuffer?
  }

  private struct InFlight {
    let presentationTime: CMTime
    let duration: CMTime
    let output: CompressionOutput
  }

  private let description: EncoderDescription
  private let wishedFormat: OSType?
  private let converter = SourceConverter()
  private var assembly: SampleAssembly

  private var encoder: RunningEncoder?
  /// What the encoder runs with; kept after it is gone.
  private var configuration: VideoEncoderConfiguration?
  private var draftGeneration = -1
  private var traits: SourceTraits?
  private var hasFrames = false
  private var pass: EncodingPass?
  /// Of the pass, so far.
  private(set) var passResult = PassResult()
  /// Frame by frame, since a next pass may be over parts.
  private var keepsPassFrames = false
  /// Of a pass over parts: those that are still to come, and the one at hand, with the frames that it has to get.
  private var parts: ArraySlice<PassPart> = []
  private var part: (part: PassPart, missing: Int)?
  private var lacksFrames = false

  private var clock: FrameClock?
  private var lastTick: Int64?
  private var lastDuration = CMTime(value: 1, timescale: 30)
  private var lastTime: CMTime?
  private var inFlight: [Int64: InFlight] = [:]
  /// Those from `taken` on were not given out yet.
  private var results: [Result] = []
  private var taken = 0

  /// Called from any thread when an encoder hands something over between its calls. Set before the first frame.
  var wake: @Sendable () -> Void = {}

  private let formatLock = Lock()
  private var sharedInputFormat: PictureFormat?

  init(encoder: EncoderDescription, width: Int, height: Int, wishedFormat: OSType?) {
    description = encoder
    self.wishedFormat = wishedFormat
    assembly = SampleAssembly(codec: encoder.codec, width: width, height: height)
  }

  /// What the encoder takes, once it is known. May be asked from any thread.
  var inputFormat: PictureFormat? { formatLock.withLock { sharedInputFormat } }

  /// The next result in decode order, if there is one.
  func takeResult() -> Result? {
    guard taken < results.count else { return nil }
    let result = results[taken]
    taken += 1
    if taken == results.count {
      results.removeAll(keepingCapacity: true)
      taken = 0
    }
    return result
  }

  // MARK: - Work

  /// Makes an encoder for these settings, unless there is one.
  /// - Parameter buffer: the first buffer that will come, if it is known.
  func prepare(_ draft: CompressionDraft, buffer: CVPixelBuffer?, duration: CMTime) -> OSStatus {
    guard !hasFrames else { return apply(draft) }
    traits = SourceTraits(
      encoder: description, wished: wishedFormat, draft: draft, buffer: buffer, duration: duration)
    // Each part gets an encoder of its own.
    guard parts.isEmpty else { return noErr }
    let wanted = makeConfiguration(draft)
    if encoder != nil, wanted == configuration { return noErr }
    encoder = nil
    return open(wanted, draft: draft)
  }

  func encode(_ frame: CompressionFrame, draft: CompressionDraft) {
    guard enterPart(at: frame.presentationTime) else {
      fail(frame, kVTParameterErr)
      return
    }
    let status = apply(draft)
    guard status == noErr, let encoder, let configuration else {
      fail(frame, status == noErr ? kVTVideoEncoderMalfunctionErr : status)
      return
    }
    hasFrames = true
    let tick = self.tick(of: frame.presentationTime)
    if let lastTime {
      lastDuration = CMTimeSubtract(frame.presentationTime, lastTime)
    } else if frame.duration.isNumeric, frame.duration > .zero {
      lastDuration = frame.duration
    }
    do {
      converter.settings = draft.pixelTransfer
      let buffer = try converter.prepare(frame.buffer, for: configuration)
      inFlight[tick] = InFlight(
        presentationTime: frame.presentationTime, duration: frame.duration, output: frame.output)
      let duration =
        frame.duration.isNumeric
        ? max(0, Int64(clamping: frame.duration.seconds * Double(CompressionDraft.timescale))) : 0
      clock?.noteInput(frame.presentationTime)
      do {
        try buffer.withInputPicture(
          for: description, presentationTime: tick, duration: duration
        ) { (picture) throws(CodecError) in
          try encoder.encode(picture, request: frame.request, for: self)
        }
      } catch {
        // An encoder may give the frame out, and fail then: what it had learnt of a pass goes with it.
        guard inFlight.removeValue(forKey: tick) != nil else {
          lastTick = tick
          lastTime = frame.presentationTime
          passResult.isComplete = false
          return giveUp()
        }
        clock?.takeBackInput()
        throw error
      }
      lastTick = tick
      lastTime = frame.presentationTime
    } catch let error as StatusError {
      fail(frame, error.status)
      if error.status == kVTVideoEncoderMalfunctionErr { giveUp() }
    } catch {
      fail(frame, kVTVideoEncoderMalfunctionErr)
    }
  }

  /// Gets the frames out of the encoder that are shown no later than `time` (nil: all), and goes on.
  func complete(until time: CMTime?) -> OSStatus {
    guard let encoder, let lastTick else { return noErr }
    // All frames of a stream that another one follows: what its buffer is to hold at its end is a matter of the last one.
    if time == nil, configuration?.rate.hasFramesAfter == true, configuration?.rate.bufferModel != nil {
      return flush(encoder)
    }
    var last = lastTick
    if !inFlight.isEmpty {
      let due = inFlight.lazy.filter { entry in time.map { entry.value.presentationTime <= $0 } ?? true }
      guard let latest = due.map(\.key).max() else { return noErr }
      last = latest
    }
    do {
      try encoder.complete(through: last, for: self)
      abandonFrames(through: last)
      return noErr
    } catch {
      giveUp()
      return error.encoderStatus
    }
  }

  /// Starts a pass of several over the same frames.
  /// - Parameter parts: what alone is encoded again; none for the whole.
  func begin(_ pass: EncodingPass, parts: [PassPart] = []) -> OSStatus {
    if let encoder { _ = flush(encoder) }
    encoder = nil
    self.pass = pass
    self.parts = parts[...]
    part = nil
    lacksFrames = false
    passResult = PassResult()
    hasFrames = false
    clock = nil
    lastTick = nil
    lastTime = nil
    return noErr
  }

  /// Ends the pass: the encoder writes down what it has learnt when it goes.
  func endPass() -> OSStatus {
    let status = encoder.map { flush($0) } ?? noErr
    passResult.wantsAnotherPass = encoder?.wantsAnotherPass
    encoder = nil
    leavePart()
    if status == noErr, lacksFrames || !parts.isEmpty { return kVTParameterErr }
    return status
  }

  /// In a pass over parts: each is a stream of its own, whose frames are known.
  /// - Returns: Whether a frame with this time is to be encoded.
  private func enterPart(at time: CMTime) -> Bool {
    if part == nil && parts.isEmpty { return pass?.part == nil }
    if let next = parts.first, time >= next.firstTime {
      if let encoder { _ = flush(encoder) }
      encoder = nil
      leavePart()
      parts.removeFirst()
      guard time == next.firstTime else {
        lacksFrames = true
        return false
      }
      part = (next, next.frames.count)
      pass?.part = EncodingPass.Part(frames: next.frames, bits: next.bits)
      hasFrames = false
      lastTime = nil
    }
    guard let current = part, time <= current.part.lastTime else { return false }
    part?.missing -= 1
    return true
  }

  private func leavePart() {
    if let part, part.missing != 0 { lacksFrames = true }
    part = nil
  }

  func close() {
    encoder = nil
    inFlight.removeAll()
    results.removeAll()
    taken = 0
  }

  // MARK: - The encoder

  private func makeConfiguration(_ draft: CompressionDraft) -> VideoEncoderConfiguration? {
    var made = traits?.configuration(from: draft, encoder: description)
    made?.pass = pass
    return made
  }

  /// Sees to it that the encoder runs with these settings.
  private func apply(_ draft: CompressionDraft) -> OSStatus {
    if encoder != nil, draft.generation == draftGeneration { return noErr }
    guard var wanted = makeConfiguration(draft) else { return kVTVideoEncoderMalfunctionErr }
    // A stream that goes on cannot get a deeper reordering than it began with.
    if hasFrames { wanted.maxReorderingDepth = clock?.depth }
    if let encoder {
      var same = wanted
      same.maxReorderingDepth = configuration?.maxReorderingDepth
      do {
        switch try encoder.reconfigure(same) {
        case .applied:
          configuration = same
          draftGeneration = draft.generation
          assembly.cleanAperture = draft.cleanAperture
          assembly.hdr = same.hdr
          return noErr
        case .needsNewStream:
          // A new encoder goes on, with a key frame.
          _ = flush(encoder)
          self.encoder = nil
        }
      } catch {
        return error.encoderStatus
      }
    }
    return open(wanted, draft: draft)
  }

  private func open(_ wanted: VideoEncoderConfiguration?, draft: CompressionDraft) -> OSStatus {
    guard let wanted else { return kVTVideoEncoderMalfunctionErr }
    do {
      let made = RunningEncoder(try description.makeEncoder(wanted), wake: wake)
      encoder = made
      configuration = wanted
      draftGeneration = draft.generation
      keepsPassFrames = draft.allowsPartialPasses && pass?.readsStatistics == true
      assembly.cleanAperture = draft.cleanAperture
      assembly.hdr = configuration?.hdr ?? assembly.hdr
      if !hasFrames {
        clock = FrameClock(depth: made.reorderingDepth, known: part?.part.decodeTimes ?? [])
      }
      formatLock.withLock { sharedInputFormat = wanted.format }
      return noErr
    } catch .badData where pass?.readsStatistics == true {
      return kVTMultiPassStorageInvalidErr
    } catch {
      return error.encoderStatus
    }
  }

  private func flush(_ encoder: RunningEncoder) -> OSStatus {
    do {
      try encoder.flush(for: self)
      // What has come to nothing by now never will.
      abandonFrames()
      return noErr
    } catch {
      giveUp()
      return error.encoderStatus
    }
  }

  // MARK: - Results

  /// Takes up what the encoder has handed over between its calls.
  func takeArrivals() { encoder?.takeUp(for: self) }

  /// Takes a frame from the encoder.
  func finish(_ frame: consuming CompressedFrame) {
    guard let entry = inFlight.removeValue(forKey: frame.presentationTime) else { return }
    guard let data = frame.data.take() else {
      clock?.noteDropped(entry.presentationTime)
      emit(entry.output, noErr, [.asynchronous, .frameDropped], nil)
      return
    }
    let decodeTime = clock?.nextDecodeTime(frameDuration: lastDuration) ?? .invalid
    // Nobody could decode and show it in time, and what others refer to may be missing.
    guard clock?.accepts(entry.presentationTime, decodedAt: decodeTime) != false else {
      emit(entry.output, kVTVideoEncoderMalfunctionErr, [.asynchronous, .frameDropped], nil)
      return giveUp()
    }
    do {
      let sample = try assembly.sample(
        of: data, header: frame.header, facts: frame.facts, presentationTime: entry.presentationTime,
        decodeTime: decodeTime, duration: entry.duration)
      if pass != nil {
        passResult.count += 1
        passResult.span = PassSpan(
          presentationTime: entry.presentationTime, decodeTime: decodeTime, duration: entry.duration
        ).union(passResult.span)
        if keepsPassFrames {
          passResult.frames.append(
            PassFrame(
              presentationTime: entry.presentationTime, decodeTime: decodeTime,
              bits: CMSampleBufferGetTotalSampleSize(sample) * 8, isKeyFrame: frame.facts.isKeyFrame,
              isOpenGOP: frame.facts.isOpenGOP, averageQP: frame.facts.averageQP ?? 0))
        }
      }
      emit(entry.output, noErr, .asynchronous, sample)
    } catch {
      emit(entry.output, error.status, [.asynchronous, .frameDropped], nil)
    }
  }

  /// The encoder has failed on a picture that it had taken.
  func fail(pictureAt presentationTime: Int64, _ error: CodecError) {
    guard let entry = inFlight.removeValue(forKey: presentationTime) else { return }
    clock?.noteDropped(entry.presentationTime)
    emit(entry.output, error.encoderStatus, [.asynchronous, .frameDropped], nil)
    if error.encoderStatus == kVTVideoEncoderMalfunctionErr { giveUp() }
  }

  private func fail(_ frame: CompressionFrame, _ status: OSStatus) {
    emit(frame.output, status, [.asynchronous, .frameDropped], nil)
  }

  /// The encoder has failed: so have the frames that it held. The next frame gets a new one.
  private func giveUp() {
    encoder = nil
    abandonFrames()
  }

  /// The frames that the encoder holds, up to the one with this time stamp, have no other outcome.
  private func abandonFrames(through last: Int64 = .max) {
    guard !inFlight.isEmpty else { return }
    for (tick, entry) in inFlight.sorted(by: { $0.key < $1.key }) where tick <= last {
      inFlight[tick] = nil
      clock?.noteDropped(entry.presentationTime)
      emit(entry.output, kVTVideoEncoderMalfunctionErr, [.asynchronous, .frameDropped], nil)
    }
  }

  private func emit(
    _ output: @escaping CompressionOutput, _ status: OSStatus, _ flags: VTEncodeInfoFlags,
    _ sample: CMSampleBuffer?
  ) {
    if sample == nil { passResult.isComplete = false }
    results.append(Result(output: output, status: status, flags: flags, sample: sample))
  }

  /// The codec's time stamp: greater than the one before, also where exact times lie closer than a tick.
  private func tick(of time: CMTime) -> Int64 {
    let exact = time.units(CompressionDraft.timescale, .roundHalfAwayFromZero)
    return lastTick.map { max($0.addingClamped(1), exact) } ?? exact
  }
}
