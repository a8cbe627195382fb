// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Owns a session's encoder, feeds it frames and makes sample buffers of its output. Used on the
/// encoding thread of `CompressionPipeline` alone, except where noted.
final class CompressionWorker {
  /// The outcome of one frame, for the client's output.
  struct Result {
    let output: CompressionOutput
    let status: OSStatus
    let flags: VTEncodeInfoFlags
    let sample: CMSampleBuffer?
  }

  /// A frame that the encoder has received and whose outcome is open.
  private struct InFlight {
    let presentationTime: CMTime
    let duration: CMTime
    let output: CompressionOutput
  }

  private let description: EncoderDescription
  /// The pixel format that the client's source attributes name; nil if they name none.
  private let requestedFormat: OSType?
  private let converter = SourceConverter()
  private var assembly: SampleAssembly

  private var encoder: RunningEncoder?
  /// The configuration of the current encoder, or of the last one.
  private var configuration: VideoEncoderConfiguration?
  /// The `generation` of the draft from which `configuration` was made; -1 before the first.
  private var draftGeneration = -1
  private var traits: SourceTraits?
  /// Whether a frame of this stream (of this pass or part, in a multi-pass encoding) was encoded.
  private var hasFrames = false
  /// The current pass of a multi-pass encoding; kept after its end.
  private var pass: EncodingPass?
  /// The results of the current pass so far.
  private(set) var passResult = PassResult()
  /// Whether the pass's frames are recorded one by one, because the next pass may encode parts of
  /// the movie only.
  private var keepsPassFrames = false
  /// In a pass over parts: the parts that are still to come, and the current one with the number of
  /// its frames that have not come yet.
  private var parts: ArraySlice<PassPart> = []
  private var part: (part: PassPart, missing: Int)?
  /// Whether a part did not get all of its frames.
  private var lacksFrames = false

  private var clock: FrameClock?
  /// The presentation time of the last encoded frame, in ticks of `CompressionDraft.timescale`.
  private var lastTick: Int64?
  /// The distance between the last two presentation times, or the first frame's duration. It stands
  /// in where decode times have to be estimated.
  private var lastDuration = CMTime(value: 1, timescale: 30)
  private var lastTime: CMTime?
  /// The frames that the encoder holds, by their presentation time in ticks.
  private var inFlight: [Int64: InFlight] = [:]
  /// The outcomes in decode order. Those from index `taken` on were not passed to the clients yet.
  private var results: [Result] = []
  private var taken = 0

  /// Called on any thread when the encoder delivers a result between two calls. Set it before the
  /// first frame.
  var wake: @Sendable () -> Void = {}

  private let formatLock = Lock()
  private var sharedInputFormat: PictureFormat?

  init(encoder: EncoderDescription, width: Int, height: Int, requestedFormat: OSType?) {
    description = encoder
    self.requestedFormat = requestedFormat
    assembly = SampleAssembly(codec: encoder.codec, width: width, height: height)
  }

  /// The pixel format of the pictures that the encoder gets; nil before an encoder was created. May
  /// be read from any thread.
  var inputFormat: PictureFormat? { formatLock.withLock { sharedInputFormat } }

  /// Removes and returns the next result in decode order; nil if there is none.
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

  /// Creates an encoder for these settings, unless the current one has them already.
  /// - Parameters:
  ///   - draft: The session's settings.
  ///   - buffer: The first source buffer; nil if it is not known yet.
  ///   - duration: That buffer's duration, from which a frame rate is estimated.
  /// - Returns: `noErr`, or why there is no encoder.
  func prepare(_ draft: CompressionDraft, buffer: CVPixelBuffer?, duration: CMTime) -> OSStatus {
    guard !hasFrames else { return apply(draft) }
    traits = SourceTraits(
      encoder: description, requested: requestedFormat, draft: draft, buffer: buffer, duration: duration)
    // Each part gets an encoder of its own.
    guard parts.isEmpty else { return noErr }
    let wanted = makeConfiguration(draft)
    if encoder != nil, wanted == configuration { return noErr }
    encoder = nil
    return open(wanted, draft: draft)
  }

  /// Encodes a frame, or records its error as its result.
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
      clock?.addInput(frame.presentationTime)
      do {
        try buffer.withInputPicture(
          for: description, presentationTime: tick, duration: duration
        ) { (picture) throws(CodecError) in
          try encoder.encode(picture, request: frame.request, for: self)
        }
      } catch {
        // An encoder may deliver the frame and fail after that: the frame has its result then, but
        // what the encoder had learnt for a next pass is lost.
        guard inFlight.removeValue(forKey: tick) != nil else {
          lastTick = tick
          lastTime = frame.presentationTime
          passResult.isComplete = false
          return releaseFailedEncoder()
        }
        clock?.removeLastInput()
        throw error
      }
      lastTick = tick
      lastTime = frame.presentationTime
    } catch let error as StatusError {
      fail(frame, error.status)
      if error.status == kVTVideoEncoderMalfunctionErr { releaseFailedEncoder() }
    } catch {
      fail(frame, kVTVideoEncoderMalfunctionErr)
    }
  }

  /// Makes the encoder finish the frames up to a presentation time. The stream continues after
  /// that.
  /// - Parameter time: The latest presentation time; nil for all frames.
  /// - Returns: The encoder's error, or `noErr`.
  func complete(until time: CMTime?) -> OSStatus {
    guard let encoder, let lastTick else { return noErr }
    // Where another session's stream follows this one, the decoder's buffer must have a certain
    // fullness after the last frame. Completing all frames therefore counts as the end of the
    // stream.
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
      releaseFailedEncoder()
      return error.encoderStatus
    }
  }

  /// Starts a pass of a multi-pass encoding.
  /// - Parameters:
  ///   - pass: What the encoder does with its statistics in this pass.
  ///   - parts: The parts of the movie to encode again; none for all of it.
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

  /// Ends the pass. The encoder is released, whereupon it writes its statistics.
  /// - Returns: `kVTParameterErr` if a part did not get exactly its frames; the encoder's error, or
  ///   `noErr`.
  func endPass() -> OSStatus {
    let status = encoder.map { flush($0) } ?? noErr
    passResult.wantsAnotherPass = encoder?.wantsAnotherPass
    encoder = nil
    leavePart()
    if status == noErr, lacksFrames || !parts.isEmpty { return kVTParameterErr }
    return status
  }

  /// Finds out whether a pass over parts encodes the frame of a presentation time, and starts the
  /// next part where the frame is its first. Each part gets an encoder of its own.
  /// - Parameter time: The frame's presentation time.
  /// - Returns: True if the frame is to be encoded, which it always is in a pass over all of the
  ///   movie.
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

  /// Ends the current part and records whether frames of it are missing.
  private func leavePart() {
    if let part, part.missing != 0 { lacksFrames = true }
    part = nil
  }

  /// Releases the encoder and discards all frames and results.
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

  /// Applies changed settings to the running encoder, or replaces it by a new one where it cannot
  /// take them over.
  private func apply(_ draft: CompressionDraft) -> OSStatus {
    if encoder != nil, draft.generation == draftGeneration { return noErr }
    guard var wanted = makeConfiguration(draft) else { return kVTVideoEncoderMalfunctionErr }
    // The decode times of this stream were computed for a fixed reordering depth, so a new encoder
    // must not exceed it.
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
          // A new encoder continues the stream; it begins with a key frame.
          _ = flush(encoder)
          self.encoder = nil
        }
      } catch {
        return error.encoderStatus
      }
    }
    return open(wanted, draft: draft)
  }

  /// Creates the encoder, and, for a new stream, the clock that computes its decode times.
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

  /// Makes the encoder finish all frames; those without a result after that have failed.
  private func flush(_ encoder: RunningEncoder) -> OSStatus {
    do {
      try encoder.flush(for: self)
      // Frames that have no result after a flush will never get one.
      abandonFrames()
      return noErr
    } catch {
      releaseFailedEncoder()
      return error.encoderStatus
    }
  }

  // MARK: - Results

  /// Collects the results that the encoder has delivered between its calls.
  func takeArrivals() { encoder?.deliverResults(for: self) }

  /// Makes a sample buffer of a coded frame, or records that the encoder has dropped the frame.
  func finish(_ frame: consuming CompressedFrame) {
    guard let entry = inFlight.removeValue(forKey: frame.presentationTime) else { return }
    guard let data = frame.data.take() else {
      clock?.removeDropped(entry.presentationTime)
      emit(entry.output, noErr, [.asynchronous, .frameDropped], nil)
      return
    }
    let decodeTime = clock?.nextDecodeTime(frameDuration: lastDuration) ?? .invalid
    // A frame that is decoded after it is to be shown breaks the reordering depth that the encoder
    // has announced. Others may refer to it, so the encoder cannot go on without it.
    guard clock?.accepts(entry.presentationTime, decodedAt: decodeTime) != false else {
      emit(entry.output, kVTVideoEncoderMalfunctionErr, [.asynchronous, .frameDropped], nil)
      return releaseFailedEncoder()
    }
    do {
      let sample = try assembly.sample(
        of: data, header: frame.header, properties: frame.properties,
        presentationTime: entry.presentationTime,
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
              bits: CMSampleBufferGetTotalSampleSize(sample) * 8, isKeyFrame: frame.properties.isKeyFrame,
              isOpenGOP: frame.properties.isOpenGOP, averageQP: frame.properties.averageQP ?? 0))
        }
      }
      emit(entry.output, noErr, .asynchronous, sample)
    } catch {
      emit(entry.output, error.status, [.asynchronous, .frameDropped], nil)
    }
  }

  /// Records the error of a picture that the encoder had accepted before.
  func fail(pictureAt presentationTime: Int64, _ error: CodecError) {
    guard let entry = inFlight.removeValue(forKey: presentationTime) else { return }
    clock?.removeDropped(entry.presentationTime)
    emit(entry.output, error.encoderStatus, [.asynchronous, .frameDropped], nil)
    if error.encoderStatus == kVTVideoEncoderMalfunctionErr { releaseFailedEncoder() }
  }

  /// Records the error of a frame that the encoder did not accept.
  private func fail(_ frame: CompressionFrame, _ status: OSStatus) {
    emit(frame.output, status, [.asynchronous, .frameDropped], nil)
  }

  /// Releases an encoder that has failed; the frames that it held fail with it. The next frame gets
  /// a new encoder.
  private func releaseFailedEncoder() {
    encoder = nil
    abandonFrames()
  }

  /// Fails the frames that the encoder holds, up to the one with this presentation time in ticks.
  private func abandonFrames(through last: Int64 = .max) {
    guard !inFlight.isEmpty else { return }
    for (tick, entry) in inFlight.sorted(by: { $0.key < $1.key }) where tick <= last {
      inFlight[tick] = nil
      clock?.removeDropped(entry.presentationTime)
      emit(entry.output, kVTVideoEncoderMalfunctionErr, [.asynchronous, .frameDropped], nil)
    }
  }

  private func emit(
    _ output: CompressionOutput, _ status: OSStatus, _ flags: VTEncodeInfoFlags,
    _ sample: CMSampleBuffer?
  ) {
    if sample == nil { passResult.isComplete = false }
    results.append(Result(output: output, status: status, flags: flags, sample: sample))
  }

  /// Converts a presentation time to the encoder's ticks. The result is always greater than the
  /// previous one, even where exact times differ by less than a tick.
  private func tick(of time: CMTime) -> Int64 {
    let exact = time.units(CompressionDraft.timescale, .roundHalfAwayFromZero)
    return lastTick.map { max($0.addingClamped(1), exact) } ?? exact
  }
}
