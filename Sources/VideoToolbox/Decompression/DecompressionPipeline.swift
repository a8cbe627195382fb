// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia
import Foundation
import Synchronization

/// Called with what became of a frame: the status, the flags, and the image if there is one.
typealias DecompressionOutput = @Sendable (OSStatus, VTDecodeInfoFlags, CVImageBuffer?) -> Void

/// One frame on its way through a session.
struct DecompressionFrame: @unchecked Sendable {
  // Sendable: goes from the caller to the queue of its session.
  let sample: CMSampleBuffer
  let presentationTime: CMTime
  let flags: VTDecodeFrameFlags
  /// Nil for that of the frame before. Frames of several threads come in any order, so each brings its own.
  let format: StreamFormat?
  let output: DecompressionOutput
}

/// What the pipeline takes over from the session's properties, with the next frame.
struct DecompressionSettings {
  var setup = DecoderDriver.Setup()
  var selection = FrameSelection.all
  var temporalLevelLimit: Int?
  var image = ImageOutputSettings()
  /// The client said that each frame counts more than throughput.
  var isRealTime = false
  var generation = 0
}

/// Decodes the frames of a session one after the other: on the caller's thread for frames that are to be ready on
/// return, or else on a queue.
final class DecompressionPipeline: @unchecked Sendable {
  // Sendable: `condition` guards what callers ask for; the rest is touched on `queue` alone.
  private struct Pending {
    let frame: DecompressionFrame
    /// What holds for it: frames of the format before may still be under way.
    let format: StreamFormat
    let isLate: Bool
  }

  private let queue = DispatchQueue(label: "org.openvideotoolbox.decompression")
  /// The thread that has the queue; 0 for none.
  private let owner = Atomic<UInt>(0)
  /// Of the queue alone. It also knows itself where it lets go of what it was given to do, and the last reference to a session with it.
  private let key = DispatchSpecificKey<Bool>()

  // Touched on the queue only.
  private let driver: DecoderDriver
  private let output: ImageOutput
  private var format: StreamFormat
  private var settings: DecompressionSettings
  private var pending: [Int64: Pending] = [:]
  private var nextToken: Int64 = 0
  private var finished: [(Int64, DecodedFrame.Outcome)] = []
  private var idleCheck = 0
  /// Callbacks that are running, one inside the other.
  private var depth = 0
  /// A callback that decodes a frame whose callback decodes a frame, and so on, goes no deeper than this.
  private static let depthLimit = 8

  // Guarded by the condition.
  private let condition = NSCondition()
  /// Frames that wait for the queue, in order.
  private var waiting: [(frame: DecompressionFrame, settings: DecompressionSettings)] = []
  private var times: [CMTime] = []
  private var isStopped = false
  /// Frames that may wait for the queue before a caller has to.
  private static let queueLimit = 8

  /// - Parameter isForReader: Pictures come in order of presentation, with damage concealed, and a drain is the end.
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
    // A decoder that cannot be made is an error of the session's creation.
    try driver.prepare()
  }

  /// Whether this thread has the queue: also where a callback waits for another queue, as that of another session, whose
  /// callback calls this one.
  private var isOnQueue: Bool {
    owner.load(ordering: .relaxed) == UInt(pthread_self()) || DispatchQueue.getSpecific(key: key) != nil
  }

  /// Runs on the queue, or right away if that is where we are: in a client's callback.
  private func synchronously<R>(_ body: () -> R) -> R {
    isOnQueue ? body() : queue.sync { owning(body) }
  }

  /// All that the queue does goes through here.
  private func owning<R>(_ body: () -> R) -> R {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    defer { owner.store(0, ordering: .relaxed) }
    return body()
  }

  // MARK: - Frames

  /// - Returns: what is known on return; nil after a stop, when the frame is not taken.
  func submit(_ frame: DecompressionFrame, _ settings: DecompressionSettings) -> VTDecodeInfoFlags? {
    let isAsynchronous = frame.flags.contains(._EnableAsynchronousDecompression)
    condition.lock()
    // The queue's own thread would wait for itself.
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
      return inTurn { run(frame, settings) }
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

  /// Runs on the queue behind the frames that wait for it, also where a callback calls.
  private func inTurn<R>(_ body: () -> R) -> R {
    if isOnQueue { while runNext() {} }
    return synchronously(body)
  }

  /// Decodes the frame that has waited longest. On the queue.
  /// - Returns: false if none waits: a callback may have had it decoded before its turn came.
  @discardableResult private func runNext() -> Bool {
    condition.lock()
    let next = waiting.isEmpty ? nil : waiting.removeFirst()
    condition.broadcast()
    condition.unlock()
    guard let next else { return false }
    _ = run(next.frame, next.settings)
    return true
  }

  /// Decodes a frame. On the queue.
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
    if status != noErr { settle(token, status, nil, []) }
    if Self.isSet(kCMSampleBufferAttachmentKey_DrainAfterDecoding, frame.sample) {
      driver.drain { finished.append(($0.token, $0.outcome)) }
    }
    return deliver(watching: token)
  }

  private func decode(
    _ frame: DecompressionFrame, _ token: Int64, _ newFormat: StreamFormat?, _ data: UnsafeRawBufferPointer
  ) -> OSStatus {
    let isSync = Self.isSync(frame.sample)
    let traits = FrameTraits(data, format, isSync: isSync)
    if let limit = settings.temporalLevelLimit, traits.temporalLevel > limit {
      settle(token, noErr, nil, .frameDropped)
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
        wish: wish(frame.flags, traits)
      ) { finished.append(($0.token, $0.outcome)) }
      return noErr
    } catch {
      return Self.status(error)
    }
  }

  /// How the client wants this frame.
  private func wish(_ flags: VTDecodeFrameFlags, _ traits: FrameTraits) -> DecoderDriver.Mode {
    let isAsynchronous = flags.contains(._EnableAsynchronousDecompression)
    if flags.contains(._EnableTemporalProcessing) { return .presentation }
    guard isAsynchronous, !settings.isRealTime else { return .immediate }
    if nextToken == 1 { return .pipelined }
    // A client that keeps frames waiting wants throughput; one that waits for them does not.
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

  /// Hands over what the decoder gave, after it has returned: a callback may decode further frames.
  /// - Returns: what is known of one frame.
  private func deliver(watching watched: Int64? = nil) -> VTDecodeInfoFlags {
    var known: VTDecodeInfoFlags = []
    depth += 1
    defer { depth -= 1 }
    // Deeper down, the outermost callback's caller gives out what there is.
    while depth <= Self.depthLimit, !finished.isEmpty {
      let (token, outcome) = finished.removeFirst()
      let flags: VTDecodeInfoFlags
      switch outcome {
      case .picture(let picture): flags = deliver(token, picture)
      case .dropped:
        flags = .frameDropped
        settle(token, noErr, nil, flags)
      case .failed(let error):
        flags = []
        settle(token, Self.status(error), nil, flags)
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
      settle(token, noErr, nil, [])
      return []
    }
    do throws(StatusError) {
      let (buffer, isModifiable) = try output.finish(picture)
      let flags: VTDecodeInfoFlags = isModifiable ? .imageBufferModifiable : []
      settle(token, noErr, buffer, flags)
      return flags
    } catch {
      settle(token, error.status, nil, [])
      return []
    }
  }

  private func settle(
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

  /// Gives out all frames that are under way.
  func finish() {
    inTurn {
      driver.drain { finished.append(($0.token, $0.outcome)) }
      _ = deliver()
    }
  }

  /// Waits until the decoder has had every frame; those that are held for the order of presentation stay.
  func wait() {
    inTurn {
      if driver.mode != .immediate { driver.drain { finished.append(($0.token, $0.outcome)) } }
      _ = deliver()
    }
  }

  /// A client that sends no more frames must get what it has sent, unless it allowed for a delay.
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

  /// No output any more, not even for frames under way.
  func stop() {
    condition.lock()
    isStopped = true
    condition.broadcast()
    condition.unlock()
    // Waits for a callback that is running, unless it is the one that calls.
    if !isOnQueue { queue.sync {} }
  }

  // MARK: - Facts

  var framesUnderWay: [CMTime] {
    condition.lock()
    defer { condition.unlock() }
    return times
  }

  func facts<R>(_ body: (ImageOutput, StreamFormat) -> R) -> R { synchronously { body(output, format) } }

  // MARK: - Samples

  private static func isSet(_ key: CFString, _ sample: CMSampleBuffer) -> Bool {
    (CMGetAttachment(sample, key: key, attachmentModeOut: nil) as? NSNumber)?.boolValue ?? false
  }

  private static func isSync(_ sample: CMSampleBuffer) -> Bool {
    guard let list = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false),
      let first = list.firstObject as? NSDictionary
    else { return true }
    return (first[kCMSampleAttachmentKey_NotSync] as? NSNumber)?.boolValue != true
  }

  /// The sample's bytes in one piece.
  private func withData(of sample: CMSampleBuffer, _ body: (UnsafeRawBufferPointer) -> OSStatus) -> OSStatus {
    guard let block = CMSampleBufferGetDataBuffer(sample) else { return kVTVideoDecoderBadDataErr }
    let length = CMBlockBufferGetDataLength(block)
    guard 1...Self.mostBytes ~= length else { return kVTVideoDecoderBadDataErr }
    if CMBlockBufferIsRangeContiguous(block, atOffset: 0, length: length) {
      var pointer: UnsafeMutablePointer<CChar>?
      let status = CMBlockBufferGetDataPointer(
        block, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &pointer)
      guard status == noErr, let pointer else { return status == noErr ? kVTVideoDecoderBadDataErr : status }
      return body(UnsafeRawBufferPointer(start: pointer, count: length))
    }
    // What it claims may have no memory at all.
    guard let base = malloc(length) else { return kVTAllocationFailedErr }
    defer { free(base) }
    let status = CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: length, destination: base)
    return status == noErr ? body(UnsafeRawBufferPointer(start: base, count: length)) : status
  }

  /// Bytes of a frame that libavcodec takes, its padding off.
  private static let mostBytes = Int(Int32.max) - 64

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
