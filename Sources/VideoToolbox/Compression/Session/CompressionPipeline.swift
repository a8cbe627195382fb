// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// A frame on its way into the encoder.
struct CompressionFrame: Sendable {
  var buffer: CVPixelBuffer
  var presentationTime: CMTime
  var duration: CMTime
  var request: FrameRequest
  var output: CompressionOutput
}

/// Where a frame's result goes.
typealias CompressionOutput = @Sendable (OSStatus, VTEncodeInfoFlags, CMSampleBuffer?) -> Void

/// The thread that encodes, and the queue in front of it.
///
/// Clients put frames in from any thread, in an order that the session decides on, and wait while the queue is too full.
/// All results are given out on this one thread, one after the other, in decode order, under no lock: a client may call
/// the session from its callback. An encoder that finishes frames between its calls wakes the thread for them.
final class CompressionPipeline: @unchecked Sendable {
  // Sendable: `state` guards what callers ask for; the rest is touched on its thread alone.
  /// Frames that wait in front of the encoder. What the encoder itself holds comes on top.
  static let queueLimit = 2
  /// Jobs that may wait when callbacks, which cannot wait themselves, put frames in.
  private static let insideLimit = 1024

  private enum Job {
    case frame(CompressionFrame, draft: CompressionDraft, opening: Completion?)
    case work((CompressionWorker) -> OSStatus, Completion)
    /// To take up what the encoder has handed over between its calls.
    case arrivals
  }

  /// Something that a caller waits for.
  final class Completion {
    // Guarded by `state`.
    fileprivate var hasBegun = false
    fileprivate var status: OSStatus?
  }

  /// A frame in the queue.
  struct Place {
    /// Counts the frames that were put in, from 1.
    fileprivate let number: Int
    fileprivate let delayLimit: Int?
    /// Of a first frame: an encoder that cannot be had is an error of the call, not of the frame.
    fileprivate let opening: Completion?
  }

  // Guarded by `state`.
  private let state = NSCondition()
  private var jobs: [Job] = []
  private var submitted = 0
  /// Frames that have left the queue.
  private var taken = 0
  /// Whether the thread waits for something to do.
  private var isIdle = false
  /// The encoder has handed something over that nobody has taken up.
  private var hasArrivals = false
  private var emitted = 0
  private var isStopped = false
  private var thread: Thread?

  // Of the thread alone.
  private let worker: CompressionWorker
  /// Callbacks that are running, one inside the other.
  private var depth = 0
  /// A callback that completes frames whose callbacks complete frames, and so on, goes no deeper than this.
  private static let depthLimit = 8

  init(encoder: EncoderDescription, width: Int, height: Int, wishedFormat: OSType?) {
    worker = CompressionWorker(encoder: encoder, width: width, height: height, wishedFormat: wishedFormat)
    worker.wake = { [weak self] in self?.noteArrivals() }
  }

  /// Frames that were put in and whose result was not given out.
  var pendingFrames: Int { state.withLock { submitted - emitted } }

  /// What the encoder takes, as far as it is known.
  var inputFormat: PictureFormat? { worker.inputFormat }

  /// Whether the next frame would wait.
  var isQueueFull: Bool { state.withLock { submitted - taken >= Self.queueLimit } }

  // MARK: - From clients

  /// Puts a frame at the end of the queue and waits for nothing: the session decides on the order under its lock.
  /// `wait(for:)` follows, under no lock.
  /// - Parameters:
  ///   - delayLimit: frames that may be pending when the caller goes on; nil for any number.
  ///   - isFirst: the encoder is to be made for it.
  /// - Throws: `kVTInvalidSessionErr` after a stop, `kVTAllocationFailedErr` for want of room. The frame is not in then.
  func enqueue(
    _ frame: CompressionFrame, draft: CompressionDraft, delayLimit: Int?, isFirst: Bool
  ) throws(StatusError) -> Place {
    let isInside = isOnThread
    state.lock()
    defer { state.unlock() }
    guard !isStopped else { throw StatusError(kVTInvalidSessionErr) }
    // Other callers wait for what they have put in, so that there is no more than a frame of each.
    guard !isInside || jobs.count < Self.insideLimit else { throw StatusError(kVTAllocationFailedErr) }
    startIfNeeded()
    let opening = isFirst ? Completion() : nil
    jobs.append(.frame(frame, draft: draft, opening: opening))
    submitted += 1
    state.broadcast()
    return Place(number: submitted, delayLimit: delayLimit, opening: opening)
  }

  /// Waits while there are too many frames in the queue up to this one, or pending.
  /// - Returns: `kVTInvalidSessionErr` if a stop came before the frame's turn; of a first frame, why there is no encoder.
  ///   Its output is not called then.
  func wait(for place: Place) -> OSStatus {
    if let opening = place.opening {
      let status = finish(opening)
      guard status == noErr else { return status }
    }
    // Called from a callback, it cannot wait for itself.
    if isOnThread { return noErr }
    state.lock()
    defer { state.unlock() }
    while !isStopped, place.number - taken > Self.queueLimit { state.wait() }
    if let delayLimit = place.delayLimit {
      let target = place.number - delayLimit
      // Nor for an encoder that has seen all frames and holds more than it was asked to.
      while !isStopped, emitted < target, !(isIdle && jobs.isEmpty) { state.wait() }
    }
    return isStopped && place.number > taken ? kVTInvalidSessionErr : noErr
  }

  /// Does something on the thread, after all frames that were put in before, and waits for it.
  func perform(_ work: @escaping (CompressionWorker) -> OSStatus) -> OSStatus {
    guard let completion = post(work) else { return kVTInvalidSessionErr }
    return finish(completion)
  }

  /// Puts something that the thread is to do at the end of the queue; nil after a stop. `finish` follows, under no lock.
  func post(_ work: @escaping (CompressionWorker) -> OSStatus) -> Completion? {
    state.lock()
    defer { state.unlock() }
    guard !isStopped else { return nil }
    startIfNeeded()
    let completion = Completion()
    jobs.append(.work(work, completion))
    state.broadcast()
    return completion
  }

  /// Waits until it is done, or will not be begun any more.
  func finish(_ completion: Completion) -> OSStatus {
    if isOnThread {
      // Within a callback: what stands before it in the queue comes first.
      while let job = state.withLock({ completion.status == nil ? takeJob() : nil }) { run(job) }
      return state.withLock { completion.status } ?? kVTInvalidSessionErr
    }
    state.lock()
    defer { state.unlock() }
    // What has begun uses what its caller owns, also after a stop.
    while completion.status == nil, completion.hasBegun || !isStopped { state.wait() }
    return completion.status ?? kVTInvalidSessionErr
  }

  /// Ends the thread. Frames that are pending are given up; after the call no callback runs any more, unless the
  /// call came from one.
  func stop() {
    let isInside = isOnThread
    state.lock()
    isStopped = true
    let left = exchange(&jobs, with: [])
    state.broadcast()
    while !isInside, thread != nil { state.wait() }
    state.unlock()
    // What a client's closures hold may call the session when it goes: under no lock.
    withExtendedLifetime(left) {}
  }

  // MARK: - From the encoder

  private func noteArrivals() {
    state.withLock {
      hasArrivals = true
      state.broadcast()
    }
  }

  // MARK: - The thread

  private var isOnThread: Bool { state.withLock { thread.map { $0 === Thread.current } ?? false } }

  /// Call under the lock.
  private func startIfNeeded() {
    guard thread == nil, !isStopped else { return }
    let made = Thread { [self] in
      while let job = next() { run(job) }
      worker.close()
      state.lock()
      thread = nil
      state.broadcast()
      state.unlock()
    }
    made.name = "VTCompressionSession"
    made.stackSize = 1 << 20
    thread = made
    made.start()
  }

  private func next() -> Job? {
    state.lock()
    defer { state.unlock() }
    if jobs.isEmpty, !hasArrivals {
      isIdle = true
      state.broadcast()
    }
    while jobs.isEmpty, !hasArrivals, !isStopped { state.wait() }
    guard !isStopped else { return nil }
    isIdle = false
    // Before further work: what is done need not wait for it.
    if exchange(&hasArrivals, with: false) { return .arrivals }
    return takeJob()
  }

  /// Call under the lock.
  private func takeJob() -> Job? {
    guard !jobs.isEmpty else { return nil }
    let job = jobs.removeFirst()
    switch job {
    case .frame(_, _, let opening):
      taken += 1
      opening?.hasBegun = true
    case .work(_, let completion): completion.hasBegun = true
    case .arrivals: break
    }
    state.broadcast()
    return job
  }

  private func run(_ job: Job) {
    switch job {
    case .frame(let frame, let draft, let opening):
      if let opening {
        let status = worker.prepare(draft, buffer: frame.buffer, duration: frame.duration)
        state.withLock {
          opening.status = status
          // Its caller is told.
          if status != noErr { emitted += 1 }
          state.broadcast()
        }
        guard status == noErr else { return deliver() }
      }
      worker.encode(frame, draft: draft)
      deliver()
    case .work(let work, let completion):
      let status = work(worker)
      deliver()
      state.withLock {
        completion.status = status
        state.broadcast()
      }
    case .arrivals:
      worker.takeArrivals()
      deliver()
    }
  }

  /// Gives out what the worker has, after the encoder has returned. A callback may come back here through `perform`:
  /// the rest is then given out before that returns, unless it is many callbacks deep. Then the outermost gives it out.
  private func deliver() {
    guard depth < Self.depthLimit else { return }
    depth += 1
    defer { depth -= 1 }
    while let next = worker.takeResult() {
      // After a stop, the rest is given up.
      guard !state.withLock({ isStopped }) else { continue }
      next.output(next.status, next.flags, next.sample)
      state.withLock {
        emitted += 1
        state.broadcast()
      }
    }
  }
}
