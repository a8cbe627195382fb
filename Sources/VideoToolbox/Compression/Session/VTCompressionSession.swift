// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The encoder to use, by its id (see `VTCopyVideoEncoderList`). String.
public nonisolated(unsafe) let kVTVideoEncoderSpecification_EncoderID: CFString = "EncoderID"

/// Called with the result of each frame, in decode order, one after the other, on the session's
/// encoding thread.
///
/// The arguments are the session's refcon; the frame's refcon; `noErr` or the frame's error; flags
/// that say whether the frame was dropped; and the sample buffer, which is nil if there was an
/// error or the frame was dropped.
public typealias VTCompressionOutputCallback =
  @Sendable (
    UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, OSStatus, VTEncodeInfoFlags, CMSampleBuffer?
  ) -> Void

/// Called with the result of one frame, on the session's encoding thread. The arguments are `noErr`
/// or the frame's error; flags that say whether the frame was dropped; and the sample buffer, which
/// is nil if there was an error or the frame was dropped.
public typealias VTCompressionOutputHandler = @Sendable (OSStatus, VTEncodeInfoFlags, CMSampleBuffer?) -> Void

/// How a pass of a multi-pass encoding is to be run.
public struct VTCompressionSessionOptionFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// No further pass will follow.
  public static let beginFinalPass = VTCompressionSessionOptionFlags(rawValue: 1 << 0)
}

/// Compresses a sequence of pictures. Its functions may be called from any thread.
public final class VTCompressionSession: PropertySession, CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards all variables.
  package static let cfTypeID = CFRuntimeRegister("VTCompressionSession")

  let width: Int
  let height: Int
  let encoder: EncoderDescription
  private let instance: EncoderInstance
  private let callback: (VTCompressionOutputCallback, UnsafeMutableRawPointer?)?
  private let sourceAttributes: SourceAttributes
  let pipeline: CompressionPipeline

  private let lock = Lock()
  private var settings: CompressionSettings
  /// The draft that was made of `settings` last; it is current if both have the same `generation`.
  private var draft: CompressionDraft?
  private var isInvalid = false
  /// The presentation time of the last frame that was accepted; nil before the first, also of a
  /// pass.
  private var lastTime: CMTime?
  /// The pools by their pixel formats. All live as long as the session: callers need not retain
  /// them.
  private var pools: [OSType: AnyObject] = [:]
  private var passes = PassState()

  init(
    width: Int, height: Int, encoder: EncoderDescription, instance: EncoderInstance,
    sourceAttributes: SourceAttributes, callback: (VTCompressionOutputCallback, UnsafeMutableRawPointer?)?
  ) {
    self.width = width
    self.height = height
    self.encoder = encoder
    self.instance = instance
    self.sourceAttributes = sourceAttributes
    self.callback = callback
    settings = CompressionSettings(
      table: CompressionPropertyTable(encoder: encoder), width: width, height: height)
    pipeline = CompressionPipeline(
      encoder: encoder, width: width, height: height, requestedFormat: sourceAttributes.pixelFormat)
  }

  deinit { pipeline.stop() }

  public static func == (a: VTCompressionSession, b: VTCompressionSession) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  // MARK: - Frames

  /// Creates the encoder before the first frame.
  func prepare() -> OSStatus {
    guard let draft = lock.withLock({ isInvalid ? nil : currentDraft() }) else { return kVTInvalidSessionErr }
    return pipeline.perform { $0.prepare(draft, buffer: nil, duration: .invalid) }
  }

  func encode(
    _ buffer: CVPixelBuffer, time: CMTime, duration: CMTime, properties: CFDictionary?,
    output: CompressionOutput
  ) -> OSStatus {
    let request: FrameRequest
    do { request = try FrameRequest(properties, encoder: encoder) } catch { return error.status }
    guard CompressionDraft.isInRange(time),
      !duration.isNumeric || CompressionDraft.isInRange(duration) && duration.epoch == 0
    else { return kVTParameterErr }
    guard SourceConverter.canTake(CVPixelBufferGetPixelFormatType(buffer), encoder: encoder) else {
      return kVTPixelTransferNotSupportedErr
    }
    let frame = CompressionFrame(
      buffer: buffer, presentationTime: time, duration: duration, request: request, output: output)
    let submission: CompressionPipeline.Submission
    do throws(StatusError) {
      submission = try lock.withLock { () throws(StatusError) in try admit(frame) }
    } catch {
      return error.status
    }
    let status = pipeline.wait(for: submission)
    // The frame was not encoded, nor was one after it, so that a frame of the same time may come
    // again.
    if status != noErr { lock.withLock { if lastTime == time { lastTime = nil } } }
    return status
  }

  /// Appends a frame to the queue if its time is greater than the last one's. Call under `lock`, so
  /// that the frames in the queue are in the order of their times.
  private func admit(_ frame: CompressionFrame) throws(StatusError) -> CompressionPipeline.Submission {
    if isInvalid { throw StatusError(kVTInvalidSessionErr) }
    let current = currentDraft()
    if let storage = current.multiPassStorage {
      guard storage.isOpen else { throw StatusError(kVTMultiPassStorageInvalidErr) }
      // A pass has to be begun first.
      guard passes.takesFrames else { throw StatusError(kVTParameterErr) }
    }
    let time = frame.presentationTime
    // The difference of times of two epochs is undefined, so that no decode times can be computed
    // from them.
    if let lastTime, time <= lastTime || time.epoch != lastTime.epoch { throw StatusError(kVTParameterErr) }
    let submission = try pipeline.enqueue(
      frame, draft: current, delayLimit: current.configuration.maxFrameDelay, isFirst: lastTime == nil)
    lastTime = time
    return submission
  }

  /// The output of a frame that calls the session's callback; nil if the session has none.
  func output(frameRefcon: UnsafeMutableRawPointer?) -> CompressionOutput? {
    guard let (callback, refcon) = callback else { return nil }
    return .callback(callback, refcon: refcon, frameRefcon: frameRefcon)
  }

  var hasCallback: Bool { callback != nil }

  func complete(until time: CMTime) -> OSStatus {
    if lock.withLock({ isInvalid }) { return kVTInvalidSessionErr }
    return pipeline.perform { $0.complete(until: time.isNumeric ? time : nil) }
  }

  func invalidate() {
    lock.withLock { isInvalid = true }
    // Also where another call was first: each caller may free what the callbacks use when its own
    // call returns.
    pipeline.stop()
    instance.end()
  }

  /// Returns the session's pool. The first call creates it with `make`, and so does one after the
  /// profile has changed to one of another pixel format.
  /// - Parameter make: Creates the pool from the attributes of its buffers.
  /// - Returns: Nil after the session was invalidated, or if `make` returns nil.
  func kept<Object: AnyObject>(_ make: (_ attributes: CFDictionary) -> Object?) -> Object? {
    lock.withLock {
      if isInvalid { return nil }
      let format = poolFormat
      if let pool = pools[format] as? Object { return pool }
      let made = make(sourceAttributes.poolAttributes(width: width, height: height, format: format))
      pools[format] = made
      return made
    }
  }

  /// The pixel format of the pool's buffers. Call under `lock`.
  private var poolFormat: OSType {
    if let format = sourceAttributes.pixelFormat { return format }
    let formats = encoder.inputFormats(for: currentDraft().configuration.profile)
    return (formats.first ?? .nv12VideoRange).rawValue
  }

  // MARK: - Passes

  func beginPass(_ flags: VTCompressionSessionOptionFlags) -> OSStatus {
    let (status, posted) = lock.withLock { () -> (OSStatus, CompressionPipeline.Completion?) in
      if isInvalid { return (kVTInvalidSessionErr, nil) }
      let draft = currentDraft()
      guard let storage = draft.multiPassStorage else { return (kVTParameterErr, nil) }
      guard storage.isOpen else { return (kVTMultiPassStorageInvalidErr, nil) }
      guard storage.claim(for: encoder.id) else { return (kVTMultiPassStorageIdentifierMismatchErr, nil) }
      let begun = passes.begin(
        storage, isFinal: flags.contains(.beginFinalPass), isOnDemand: draft.makesPassesOnDemand)
      guard let begun else { return (kVTParameterErr, nil) }
      lastTime = nil
      // Posted under the lock, so that the job precedes all frames of the pass, whatever thread
      // submits them.
      let posted = pipeline.post { $0.begin(begun.pass, parts: begun.parts) }
      return (kVTInvalidSessionErr, posted)
    }
    guard let posted else { return status }
    return pipeline.finish(posted)
  }

  func endPass() -> (status: OSStatus, wantsMore: Bool) {
    var result = PassResult()
    let (failure, posted) = lock.withLock { () -> (OSStatus, CompressionPipeline.Completion?) in
      if isInvalid { return (kVTInvalidSessionErr, nil) }
      guard passes.beginEnding() else { return (kVTParameterErr, nil) }
      let posted = pipeline.post {
        let status = $0.endPass()
        result = $0.passResult
        return status
      }
      return (kVTInvalidSessionErr, posted)
    }
    guard let posted else { return (failure, false) }
    let status = pipeline.finish(posted)
    let wantsMore = lock.withLock { passes.end(result, target: targetOfPartialPasses()) }
    return (status, status == noErr && wantsMore)
  }

  /// The bit rate that passes over parts aim at; nil where each pass is over the whole movie,
  /// because a rate limit or a buffer model applies to all frames together. Call under `lock`.
  private func targetOfPartialPasses() -> PassTarget? {
    let draft = currentDraft()
    guard draft.allowsPartialPasses, encoder.features.contains(.partialPasses) else { return nil }
    let rate = draft.resolved(for: encoder).rate
    guard case .average(let bits) = rate.mode, rate.limits.isEmpty, rate.bufferModel == nil,
      rate.maximumQueueDelay == nil
    else { return nil }
    let maximum = min(max(rate.maxQP ?? 51, 0), 51)
    return PassTarget(rate: Double(bits), qp: min(max(rate.minQP ?? 0, 0), maximum)...maximum)
  }

  func timeRangesForNextPass() -> (status: OSStatus, ranges: UnsafeBufferPointer<CMTimeRange>?) {
    lock.withLock {
      if isInvalid { return (kVTInvalidSessionErr, nil) }
      guard let storage = currentDraft().multiPassStorage, let ranges = passes.ranges(storage) else {
        return (kVTParameterErr, nil)
      }
      return (noErr, ranges)
    }
  }

  // MARK: - Properties

  /// The current settings. Call under `lock`.
  private func currentDraft() -> CompressionDraft {
    if let draft, draft.generation == settings.generation { return draft }
    // `draft()` returns nil for contradictory values only, which `set` has refused before.
    var made =
      settings.draft()
      ?? CompressionDraft(
        codec: encoder.codec, width: width, height: height,
        format: encoder.inputFormats.first ?? .nv12VideoRange)
    made.generation = settings.generation
    draft = made
    return made
  }

  func setProperty(_ key: String, to value: AnyObject?) -> OSStatus {
    lock.withLock {
      isInvalid ? kVTInvalidSessionErr : settings.set(key, to: value, hasFrames: lastTime != nil)
    }
  }

  func copyProperty(_ key: String) -> (status: OSStatus, value: AnyObject?) {
    lock.withLock {
      if isInvalid { return (kVTInvalidSessionErr, nil) }
      guard let row = settings.table[key] else { return (kVTPropertyNotSupportedErr, nil) }
      guard let read = row.read else { return (noErr, settings.value(row)) }
      let state = CompressionState(
        encoder: encoder, pendingFrames: pipeline.pendingFrames, width: width, height: height,
        inputFormat: pipeline.inputFormat?.rawValue ?? poolFormat, poolFormat: poolFormat,
        draft: currentDraft())
      return (noErr, read(state))
    }
  }

  func copySupportedProperties() -> (status: OSStatus, properties: [String: [String: Any]]) {
    lock.withLock {
      isInvalid ? (kVTInvalidSessionErr, [:]) : (noErr, settings.table.supportedProperties)
    }
  }

  func copySerializableProperties() -> (status: OSStatus, properties: [String: Any]) {
    lock.withLock { isInvalid ? (kVTInvalidSessionErr, [:]) : (noErr, settings.serializable) }
  }

  var propertyOrder: [String] { CompressionProperty.all.map(\.key) }
}
