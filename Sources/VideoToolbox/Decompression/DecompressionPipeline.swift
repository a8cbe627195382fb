// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia
import Foundation
import Synchronization

/// Receives the outcome of a frame: the status, flags, and the image; nil if the frame failed, was
/// dropped, or was not to be output.
typealias DecompressionOutput = @Sendable (OSStatus, VTDecodeInfoFlags, CVImageBuffer?) -> Void

/// A frame that a client has submitted and whose outcome is open.
struct DecompressionFrame: @unchecked Sendable {
  // Sendable: it is passed from the caller to the session's queue and used there alone.
  let sample: CMSampleBuffer
  let presentationTime: CMTime
  let flags: VTDecodeFrameFlags
  /// The format of the frame; nil for that of the previous frame. Frames of several threads arrive
  /// in any order, so each carries its own.
  let format: StreamFormat?
  let output: DecompressionOutput
}

/// The values of the session's properties that the pipeline uses, as of the time when a frame was
/// submitted.
struct DecompressionSettings {
  var setup = DecoderDriver.Setup()
  var selection = FrameSelection.all
  var temporalLevelLimit: Int?
  var image = ImageOutputSettings()
  /// Whether the client has set `RealTime` to true: the delay of each frame counts more than
  /// throughput.
  var isRealTime = false
  /// The number of changes of the properties so far.
  var generation = 0
}

/// Decodes the frames of a session one after the other: frames that have to be decoded when the
/// call returns on the caller's thread, all others on a dispatch queue.
final class DecompressionPipeline: @unchecked Sendable {
  // Sendable: `condition` guards the variables that callers use; all others are accessed on `queue`
  // alone.
  /// A frame that the decoder has received and whose outcome is open.
  private struct Pending {
    let frame: DecompressionFrame
    /// The frame's format. It may not be the current one: frames of the previous format may still
    /// be in the decoder.
    let format: StreamFormat
    /// Whether the frame was submitted asynchronously, so that its output gets the flag
    /// `.asynchronous`.
    let isLate: Bool
  }

  private let queue = DispatchQueue(label: "org.openvideotoolbox.decompression")
  /// The identifier (`pthread_self`) of the thread that runs the queue's work; 0 for none.
  private let owner = Atomic<UInt>(0)
  /// Marks the queue itself, set on it once in the initialiser. It identifies the queue also after
  /// a work item has ended, when the queue releases the item's closure, and with it perhaps the
  /// last reference to the session, so that `stop` must not wait for the queue.
  private let key = DispatchSpecificKey<Bool>()

  // Accessed on the queue alone.
  private let driver: DecoderDriver
  private let output: ImageOutput
  private var format: StreamFormat
  private var settings: DecompressionSettings
  /// The frames whose outcome is open, by their token.
  private var pending: [Int64: Pending] = [:]
  /// The number of the next frame, from 0. The decoder returns it with the frame's outcome.
  private var nextToken: Int64 = 0
  /// The outcomes that the decoder has returned and that were not delivered yet, in order.
  private var finished: [(Int64, DecodedFrame.Outcome)] = []
  /// The number of frames that were decoded so far; `scheduleIdleCheck` notices by it whether
  /// further ones came.
  private var idleCheck = 0
  /// The number of `deliver` calls that are running nested in each other.
  private var depth = 0
  /// The deepest nesting of callbacks: a callback may decode a frame whose callback decodes another
  /// one, and so on.
  private static let depthLimit = 8

  // Guarded by `condition`.
  private let condition = NSCondition()
  /// The frames that wait for the queue, in the order in which they were submitted.
  private var waiting: [(frame: DecompressionFrame, settings: DecompressionSettings)] = []
  /// The presentation times of all frames whose outcome is open.
  private var times: [CMTime] = []
  private var isStopped = false
  /// The number of waiting frames at which a caller that submits another one blocks.
  private static let queueLimit = 8

  /// Creates the pipeline and its decoder.
  /// - Parameters:
  ///   - format: The format of the first frames.
  ///   - configuration: The decoder's configuration.
  ///   - attributes: What the client wants of the image buffers.
  ///   - settings: The values of the session's properties.
  ///   - isForReader: Whether the pipeline serves a reader of AVFoundation: pictures come in
  ///     presentation order, damage is concealed, and no frame follows a drain.
  ///   - makeDecoder: Creates a decoder.
  /// - Throws: The error of `makeDecoder`.
  init(
    _ format: StreamFormat, _ configuration: VideoDecoderConfiguration, _ attributes: OutputAttributes,
    _ settings: DecompressionSettings, isForReader: Bool = false,
    makeDecoder: @escaping (VideoDecoderConfiguration) throws(CodecError) -> any VideoDecoder
  ) throws(CodecError) {
    self.format = format
    self.settings = settings
    let pools = OutputPools(attributes)
    var configuration = configuration
    configuration.allocator = pools
    configuration.preferredFormats = attributes.preferredFormats
    if isForReader { configuration.concealsDamage = true }
    output = ImageOutput(format, attributes, pools)
    output.settings = settings.image
    driver = DecoderDriver(
      configuration, mode: isForReader ? .presentation : .immediate, setup: settings.setup,
      isResumable: !isForReader, makeDecoder: makeDecoder)
    queue.setSpecific(key: key, value: true)
    // Creates the decoder now, so that the creation of the session fails if the decoder's does.
    try driver.prepare()
  }

  /// Whether this code runs on the queue. The thread is compared too, because dispatch-specific
  /// data is that of the innermost queue: a callback may wait for another session's queue, whose
  /// callback calls this session.
  private var isOnQueue: Bool {
    owner.load(ordering: .relaxed) == UInt(pthread_self()) || DispatchQueue.getSpecific(key: key) != nil
  }

  /// Runs a closure on the queue and waits for it; at once where this is the queue already, in a
  /// client's callback.
  private func synchronously<R>(_ body: () -> R) -> R {
    isOnQueue ? body() : queue.sync { owning(body) }
  }

  /// Runs work of the queue, with `owner` set. Everything that runs on the queue goes through this
  /// function.
  private func owning<R>(_ body: () -> R) -> R {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    defer { owner.store(0, ordering: .relaxed) }
    return body()
  }

  // MARK: - Frames

  /// Submits a frame. Blocks if it is to be decoded before the call returns, or if too many frames
  /// wait.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - settings: The values of the session's properties for this frame.
  /// - Returns: What is known about the frame on return; nil after `stop()`, in which case the
  ///   frame is not decoded.
  func submit(_ frame: DecompressionFrame, _ settings: DecompressionSettings) -> VTDecodeInfoFlags? {
    let isAsynchronous = frame.flags.contains(._EnableAsynchronousDecompression)
    condition.lock()
    // On the queue, waiting would never end.
    if isAsynchronous, !isOnQueue {
      while waiting.count >= Self.queueLimit, !isStopped { condition.wait() }
    }
    let isStopped = isStopped
    if !isStopped {
      times.append(frame.presentationTime)
      if isAsynchronous { waiting.append((frame, settings)) }
    }
    condition.unlock()
    guard !isStopped else { return nil }
    guard isAsynchronous else {
      return runInOrder { run(frame, settings) }
    }
    queue.async { [self] in
      owning {
        runNext()
        condition.lock()
        let isLast = waiting.isEmpty
        condition.unlock()
        if isLast { scheduleIdleCheck() }
      }
    }
    return .asynchronous
  }

  /// Runs a closure on the queue after all frames that wait for it, and waits for it. In a callback
  /// it decodes those frames first.
  private func runInOrder<R>(_ body: () -> R) -> R {
    if isOnQueue { while runNext() {} }
    return synchronously(body)
  }

  /// Decodes the frame that has waited longest. Call on the queue.
  /// - Returns: False if none waits: a callback may have had the frame decoded before its turn.
  @discardableResult private func runNext() -> Bool {
    condition.lock()
    let next = waiting.isEmpty ? nil : waiting.removeFirst()
    condition.broadcast()
    condition.unlock()
    guard let next else { return false }
    _ = run(next.frame, next.settings)
    return true
  }

  /// Decodes a frame and delivers what is finished. Call on the queue.
  /// - Returns: What is known about the frame.
  private func run(_ frame: DecompressionFrame, _ settings: DecompressionSettings) -> VTDecodeInfoFlags {
    idleCheck += 1
    condition.lock()
    let isStopped = isStopped
    condition.unlock()
    guard !isStopped else { return .frameDropped }
    apply(settings)
    let token = nextToken
    nextToken += 1
    let newFormat = frame.format.flatMap { $0.description === format.description ? nil : $0 }
    if let newFormat { format = newFormat }
    pending[token] = Pending(
      frame: frame, format: format, isLate: frame.flags.contains(._EnableAsynchronousDecompression))
    if Self.isSet(kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding, frame.sample) {
      driver.reset { finished.append(($0.token, $0.outcome)) }
    }
    let status = withData(of: frame.sample) { decode(frame, token, newFormat, $0) }
    if status != noErr { completeFrame(token, status, nil, []) }
    if Self.isSet(kCMSampleBufferAttachmentKey_DrainAfterDecoding, frame.sample) {
      driver.drain { finished.append(($0.token, $0.outcome)) }
    }
    return deliver(watching: token)
  }

  /// Passes a frame's bytes to the decoder, unless it is above the temporal level limit.
  private func decode(
    _ frame: DecompressionFrame, _ token: Int64, _ newFormat: StreamFormat?, _ data: UnsafeRawBufferPointer
  ) -> OSStatus {
    let isSync = Self.isSync(frame.sample)
    let traits = FrameTraits(data, format, isSync: isSync)
    if let limit = settings.temporalLevelLimit, traits.temporalLevel > limit {
      completeFrame(token, noErr, nil, .frameDropped)
      return noErr
    }
    let time = frame.presentationTime
    do throws(CodecError) {
      try driver.decode(
        DecoderDriver.Frame(
          data: data, token: token,
          presentationTime: time.isNumeric
            ? time.units(1_000_000, .default) : nil,
          isSync: isSync, isClosedKeyFrame: traits.isClosedKeyFrame,
          newRecord: newFormat?.record ?? MediaPacket.configurationRecord(of: frame.sample),
          palette: MediaPacket.palette(of: frame.sample)),
        requested: requested(frame.flags, traits)
      ) { finished.append(($0.token, $0.outcome)) }
      return noErr
    } catch {
      return Self.status(error)
    }
  }

  /// Chooses the decoder's mode for a frame, from the frame's flags and the session's properties.
  private func requested(_ flags: VTDecodeFrameFlags, _ traits: FrameTraits) -> DecoderDriver.Mode {
    let isAsynchronous = flags.contains(._EnableAsynchronousDecompression)
    if flags.contains(._EnableTemporalProcessing) { return .presentation }
    guard isAsynchronous, !settings.isRealTime else { return .immediate }
    if nextToken == 1 { return .pipelined }
    // A client that lets frames queue up wants throughput; one that waits for each of them does
    // not. The mode is changed at closed key frames only.
    guard traits.isClosedKeyFrame, driver.mode != .pipelined else {
      return driver.mode == .pipelined ? .pipelined : .immediate
    }
    condition.lock()
    defer { condition.unlock() }
    return waiting.count >= 2 ? .pipelined : .immediate
  }

  private func apply(_ settings: DecompressionSettings) {
    guard settings.generation != self.settings.generation else { return }
    self.settings = settings
    driver.setup = settings.setup
    driver.selection = settings.selection
    output.settings = settings.image
  }

  // MARK: - Outcomes

  /// Delivers the outcomes that the decoder has returned. The decoder is not running meanwhile, so
  /// that a callback may decode further frames.
  /// - Parameter watched: The token of the frame whose flags are returned.
  /// - Returns: What is known about that frame.
  private func deliver(watching watched: Int64? = nil) -> VTDecodeInfoFlags {
    var known: VTDecodeInfoFlags = []
    depth += 1
    defer { depth -= 1 }
    // Nested too deep: the outermost call delivers the rest.
    while depth <= Self.depthLimit, !finished.isEmpty {
      let (token, outcome) = finished.removeFirst()
      let flags: VTDecodeInfoFlags
      switch outcome {
      case .picture(let picture): flags = deliver(token, picture)
      case .dropped:
        flags = .frameDropped
        completeFrame(token, noErr, nil, flags)
      case .failed(let error):
        flags = []
        completeFrame(token, Self.status(error), nil, flags)
      }
      if token == watched { known = flags }
    }
    if let watched, pending[watched] != nil { known.insert(.asynchronous) }
    return known
  }

  private func deliver(_ token: Int64, _ picture: DecodedPicture) -> VTDecodeInfoFlags {
    guard let entry = pending[token] else { return [] }
    let frame = entry.frame
    if entry.format.description !== output.format.description { output.change(to: entry.format) }
    if frame.flags.contains(._DoNotOutputFrame) {
      completeFrame(token, noErr, nil, [])
      return []
    }
    do throws(StatusError) {
      let (buffer, isModifiable) = try output.finish(picture)
      let flags: VTDecodeInfoFlags = isModifiable ? .imageBufferModifiable : []
      completeFrame(token, noErr, buffer, flags)
      return flags
    } catch {
      completeFrame(token, error.status, nil, [])
      return []
    }
  }

  /// Ends a frame: removes it from `pending` and calls its output, unless the session was stopped.
  private func completeFrame(
    _ token: Int64, _ status: OSStatus, _ buffer: CVImageBuffer?, _ flags: VTDecodeInfoFlags
  ) {
    guard let entry = pending.removeValue(forKey: token) else { return }
    condition.lock()
    if let index = times.firstIndex(of: entry.frame.presentationTime) { times.remove(at: index) }
    let isStopped = isStopped
    condition.unlock()
    guard !isStopped else { return }
    entry.frame.output(status, entry.isLate ? flags.union(.asynchronous) : flags, buffer)
  }

  // MARK: - Waiting

  /// Delivers all frames that were submitted.
  func finish() {
    runInOrder {
      driver.drain { finished.append(($0.token, $0.outcome)) }
      _ = deliver()
    }
  }

  /// Waits until every frame that was submitted is decoded and delivered.
  func wait() {
    runInOrder {
      if driver.mode != .immediate { driver.drain { finished.append(($0.token, $0.outcome)) } }
      _ = deliver()
    }
  }

  /// Drains the decoder where no further frame comes within 25 ms, if frames are in it: a client
  /// that submits no more frames must get those that it has submitted, unless it has allowed a
  /// delay (`_EnableTemporalProcessing`).
  private func scheduleIdleCheck() {
    guard driver.mode == .pipelined, !pending.isEmpty else { return }
    let check = idleCheck
    queue.asyncAfter(deadline: .now() + .milliseconds(25)) { [weak self] in
      guard let self, check == idleCheck, driver.mode == .pipelined else { return }
      owning {
        driver.drain { self.finished.append(($0.token, $0.outcome)) }
        _ = deliver()
      }
    }
  }

  /// Ends all output, including that of frames that were submitted before.
  func stop() {
    condition.lock()
    isStopped = true
    condition.broadcast()
    condition.unlock()
    // Waits for a running callback, unless this is called from it.
    if !isOnQueue { queue.sync {} }
  }

  // MARK: - Facts

  /// The presentation times of the frames whose outcome is open.
  var framesInFlight: [CMTime] {
    condition.lock()
    defer { condition.unlock() }
    return times
  }

  /// Reads the state of the queue, on the queue.
  func properties<R>(_ body: (ImageOutput, StreamFormat) -> R) -> R { synchronously { body(output, format) } }

  // MARK: - Samples

  private static func isSet(_ key: CFString, _ sample: CMSampleBuffer) -> Bool {
    (CMGetAttachment(sample, key: key, attachmentModeOut: nil) as? NSNumber)?.boolValue ?? false
  }

  /// Whether the sample is a sync sample; true where the attachments do not say.
  private static func isSync(_ sample: CMSampleBuffer) -> Bool {
    guard let list = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false),
      let first = list.firstObject as? NSDictionary
    else { return true }
    return (first[kCMSampleAttachmentKey_NotSync] as? NSNumber)?.boolValue != true
  }

  /// Calls a closure with the sample's bytes, which are copied if they are not contiguous.
  private func withData(of sample: CMSampleBuffer, _ body: (UnsafeRawBufferPointer) -> OSStatus) -> OSStatus {
    guard let block = CMSampleBufferGetDataBuffer(sample) else { return kVTVideoDecoderBadDataErr }
    let length = CMBlockBufferGetDataLength(block)
    guard 1...Self.maxBytes ~= length else { return kVTVideoDecoderBadDataErr }
    if CMBlockBufferIsRangeContiguous(block, atOffset: 0, length: length) {
      var pointer: UnsafeMutablePointer<CChar>?
      let status = CMBlockBufferGetDataPointer(
        block, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &pointer)
      guard status == noErr, let pointer else { return status == noErr ? kVTVideoDecoderBadDataErr : status }
      return body(UnsafeRawBufferPointer(start: pointer, count: length))
    }
    // The length is not to be trusted, so that the allocation may fail.
    guard let base = malloc(length) else { return kVTAllocationFailedErr }
    defer { free(base) }
    let status = CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: length, destination: base)
    return status == noErr ? body(UnsafeRawBufferPointer(start: base, count: length)) : status
  }

  /// The largest frame that libavcodec accepts, in bytes: its sizes are 32-bit and include the
  /// padding.
  private static let maxBytes = Int(Int32.max) - 64

  /// The status code of a decoder's error.
  static func status(_ error: CodecError) -> OSStatus {
    switch error {
    case .badData: kVTVideoDecoderBadDataErr
    case .unsupported: kVTVideoDecoderUnsupportedDataFormatErr
    case .missingReferences: kVTVideoDecoderReferenceMissingErr
    case .malfunction: kVTVideoDecoderMalfunctionErr
    case .outOfMemory: kVTAllocationFailedErr
    case .invalidConfiguration: kVTCouldNotCreateInstanceErr
    }
  }
}
