// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// A frame that a client has submitted and that the encoder has not received yet.
struct CompressionFrame: Sendable {
  var buffer: CVPixelBuffer
  var presentationTime: CMTime
  var duration: CMTime
  var request: FrameRequest
  var output: CompressionOutput
}

/// Receives the result of one frame: a status, flags, and the sample buffer, or nil if the frame
/// failed or was dropped.
///
/// A session's callback is stored with the context pointers of the frame, because a closure that
/// captures them would have to be allocated for each frame.
enum CompressionOutput: @unchecked Sendable {
  // Sendable: the functions are, and the client passes the pointers to be used on the encoding
  // thread.
  case handler(VTCompressionOutputHandler)
  case callback(
    VTCompressionOutputCallback, refcon: UnsafeMutableRawPointer?, frameRefcon: UnsafeMutableRawPointer?)

  func callAsFunction(_ status: OSStatus, _ flags: VTEncodeInfoFlags, _ sample: CMSampleBuffer?) {
    switch self {
    case .handler(let handler): handler(status, flags, sample)
    case .callback(let callback, let refcon, let frameRefcon):
      callback(refcon, frameRefcon, status, flags, sample)
    }
  }
}

/// The encoding thread of one compression session, and the queue of jobs for it.
///
/// Clients submit frames from any thread, in an order that the session decides on, and block while
/// the queue is too full. The encoding thread calls all outputs, one after the other, in decode
/// order, and holds no lock while it does: a client may call the session from its callback. An
/// encoder that finishes a frame between two calls wakes the thread to deliver it.
final class CompressionPipeline: @unchecked Sendable {
  // Sendable: `state` guards the variables that callers use; all others are accessed on the
  // encoding thread alone.
  /// The number of submitted frames that may wait for the encoding thread before a caller blocks.
  /// Frames that the encoder itself holds are not counted.
  static let queueLimit = 2
  /// The number of waiting jobs at which `enqueue` refuses frames that come from a callback: a
  /// callback runs on the encoding thread and cannot wait for it.
  private static let insideLimit = 1024

  private enum Job {
    case frame(CompressionFrame, draft: CompressionDraft, opening: Completion?)
    case work((CompressionWorker) -> OSStatus, Completion)
    /// Collects the results that the encoder has delivered between two calls.
    case arrivals
  }

  /// The outcome of a job that a caller waits for.
  final class Completion {
    // Guarded by `state`.
    fileprivate var hasBegun = false
    fileprivate var status: OSStatus?
  }

  /// A frame that was submitted, as `wait(for:)` needs it.
  struct Submission {
    /// The frame's number among all frames that were submitted, from 1.
    fileprivate let number: Int
    /// The number of frames that may be pending when the caller continues; nil for any number.
    fileprivate let delayLimit: Int?
    /// The creation of the encoder, for the first frame only; nil for all others. Where it fails,
    /// the call that submitted the frame returns the error, and the frame's output is not called.
    fileprivate let opening: Completion?
  }

  // Guarded by `state`.
  private let state = NSCondition()
  private var jobs: [Job] = []
  /// The number of frames that were submitted.
  private var submitted = 0
  /// The number of frames that the encoding thread has taken from the queue.
  private var taken = 0
  /// Whether the encoding thread waits for a job.
  private var isIdle = false
  /// Whether the encoder has delivered results between its calls that the thread has not collected
  /// yet.
  private var hasArrivals = false
  /// The number of frames whose result was given to the client.
  private var emitted = 0
  private var isStopped = false
  private var thread: Thread?

  // Accessed on the encoding thread alone.
  private let worker: CompressionWorker
  /// The number of client callbacks that are running nested in each other.
  private var depth = 0
  /// The deepest nesting of callbacks: a callback may complete frames, whose callbacks complete
  /// further frames, and so on.
  private static let depthLimit = 8

  init(encoder: EncoderDescription, width: Int, height: Int, requestedFormat: OSType?) {
    worker = CompressionWorker(
      encoder: encoder, width: width, height: height, requestedFormat: requestedFormat)
    worker.wake = { [weak self] in self?.recordArrivals() }
  }

  /// The number of frames that were submitted and whose result was not given to the client yet.
  var pendingFrames: Int { state.withLock { submitted - emitted } }

  /// The pixel format of the pictures that the encoder gets; nil until an encoder was created.
  var inputFormat: PictureFormat? { worker.inputFormat }

  /// Whether a caller that submits the next frame would block.
  var isQueueFull: Bool { state.withLock { submitted - taken >= Self.queueLimit } }

  // MARK: - From clients

  /// Appends a frame to the queue without blocking, as the session calls it under its lock to keep
  /// the frames in order. The caller then releases that lock and calls `wait(for:)`.
  /// - Parameters:
  ///   - frame: The frame to encode.
  ///   - draft: The session's settings for the frame.
  ///   - delayLimit: The number of frames that may be pending when the caller continues; nil for
  ///     any number.
  ///   - isFirst: Whether the encoder is to be created for this frame.
  /// - Returns: The submission, for `wait(for:)`.
  /// - Throws: `kVTInvalidSessionErr` after `stop()`, `kVTAllocationFailedErr` for a frame from a
  ///   callback where too many jobs wait. The frame is not in the queue then.
  func enqueue(
    _ frame: CompressionFrame, draft: CompressionDraft, delayLimit: Int?, isFirst: Bool
  ) throws(StatusError) -> Submission {
    let isInside = isOnThread
    state.lock()
    defer { state.unlock() }
    guard !isStopped else { throw StatusError(kVTInvalidSessionErr) }
    // The limit is for callbacks alone: each other caller blocks in `wait(for:)`, so that the queue
    // holds no more than one frame too many for each of them.
    guard !isInside || jobs.count < Self.insideLimit else { throw StatusError(kVTAllocationFailedErr) }
    startIfNeeded()
    let opening = isFirst ? Completion() : nil
    jobs.append(.frame(frame, draft: draft, opening: opening))
    submitted += 1
    state.broadcast()
    return Submission(number: submitted, delayLimit: delayLimit, opening: opening)
  }

  /// Blocks while too many frames wait in the queue ahead of this one, or are pending.
  /// - Parameter submission: What `enqueue` has returned.
  /// - Returns: `kVTInvalidSessionErr` if the session was stopped before the thread took the frame;
  ///   for the first frame, the error if no encoder could be created. The frame's output is not
  ///   called then.
  func wait(for submission: Submission) -> OSStatus {
    if let opening = submission.opening {
      let status = finish(opening)
      guard status == noErr else { return status }
    }
    // A callback runs on the encoding thread, which cannot wait for itself.
    if isOnThread { return noErr }
    state.lock()
    defer { state.unlock() }
    while !isStopped, submission.number - taken > Self.queueLimit { state.wait() }
    if let delayLimit = submission.delayLimit {
      let target = submission.number - delayLimit
      // An encoder that has received all frames may hold more of them than the limit: it gives no
      // more out until the next frame comes, so that waiting would never end.
      while !isStopped, emitted < target, !(isIdle && jobs.isEmpty) { state.wait() }
    }
    return isStopped && submission.number > taken ? kVTInvalidSessionErr : noErr
  }

  /// Runs work on the encoding thread, after all frames that were submitted before, and blocks
  /// until it is done.
  /// - Parameter work: The work to do; its result is returned.
  /// - Returns: The status of the work; `kVTInvalidSessionErr` if it was not run because the
  ///   session was stopped.
  func perform(_ work: @escaping (CompressionWorker) -> OSStatus) -> OSStatus {
    guard let completion = post(work) else { return kVTInvalidSessionErr }
    return finish(completion)
  }

  /// Appends work for the encoding thread to the queue without blocking. The caller passes the
  /// result to `finish`, without holding a lock.
  /// - Parameter work: The work to do; its result becomes the status of the completion.
  /// - Returns: The completion to wait for; nil after `stop()`.
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

  /// Blocks until a job is done, or will not be run because the session was stopped.
  func finish(_ completion: Completion) -> OSStatus {
    if isOnThread {
      // This is a callback on the encoding thread: run the jobs that are queued before this one
      // here.
      while let job = state.withLock({ completion.status == nil ? takeJob() : nil }) { run(job) }
      return state.withLock { completion.status } ?? kVTInvalidSessionErr
    }
    state.lock()
    defer { state.unlock() }
    // A job that is running may use variables of its caller, so the caller waits for its end even
    // after a stop.
    while completion.status == nil, completion.hasBegun || !isStopped { state.wait() }
    return completion.status ?? kVTInvalidSessionErr
  }

  /// Ends the encoding thread and discards the pending frames. No callback runs after this has
  /// returned, unless it was called from a callback.
  func stop() {
    let isInside = isOnThread
    state.lock()
    isStopped = true
    let left = exchange(&jobs, with: [])
    state.broadcast()
    while !isInside, thread != nil { state.wait() }
    state.unlock()
    // Releasing the clients' closures may release objects that call the session, so it is done
    // without the lock.
    withExtendedLifetime(left) {}
  }

  // MARK: - From the encoder

  private func recordArrivals() {
    state.withLock {
      hasArrivals = true
      state.broadcast()
    }
  }

  // MARK: - The thread

  private var isOnThread: Bool { state.withLock { thread.map { $0 === Thread.current } ?? false } }

  /// Starts the encoding thread if it is not running. Call under `state`.
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
    // Results go first: a finished frame need not wait for the next one to be encoded.
    if exchange(&hasArrivals, with: false) { return .arrivals }
    return takeJob()
  }

  /// Removes the first job from the queue and marks it as begun; nil if there is none. Call
  /// under `state`.
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
          // The call that submitted the frame returns the error; there is no other result.
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

  /// Passes the worker's results to the clients' outputs. A callback may call the session, and so
  /// come back here through `perform`: the remaining results are then delivered in that call,
  /// unless callbacks are nested `depthLimit` deep, in which case the outermost call delivers them.
  private func deliver() {
    guard depth < Self.depthLimit else { return }
    depth += 1
    defer { depth -= 1 }
    while let next = worker.takeResult() {
      // After a stop no output is called any more.
      guard !state.withLock({ isStopped }) else { continue }
      next.output(next.status, next.flags, next.sample)
      state.withLock {
        emitted += 1
        state.broadcast()
      }
    }
  }
}
