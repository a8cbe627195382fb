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
/// Clients put frames in from any thread and wait while the queue is full. All results are given out on this one
/// thread, one after the other, in decode order, under no lock: a client may call the session from its callback.
final class CompressionPipeline: @unchecked Sendable {
  // Sendable: `state` guards what callers ask for; the rest is touched on its thread alone.
  /// Frames that wait in front of the encoder. What the encoder itself holds comes on top.
  static let queueLimit = 2
  /// Jobs that may wait when callbacks, which cannot wait themselves, put frames in.
  private static let insideLimit = 1024

  private enum Job {
    case frame(CompressionFrame, draft: CompressionDraft)
    case work((CompressionWorker) -> OSStatus, Completion)
  }

  private final class Completion {
    var status: OSStatus?
  }

  // Guarded by `state`.
  private let state = NSCondition()
  private var jobs: [Job] = []
  private var submitted = 0
  /// Whether the thread waits for something to do.
  private var isIdle = false
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
  }

  /// Frames that were put in and whose result was not given out.
  var pendingFrames: Int { state.withLock { submitted - emitted } }

  /// What the encoder takes, as far as it is known.
  var inputFormat: PictureFormat? { worker.inputFormat }

  /// Whether `submit` would wait.
  var isQueueFull: Bool { state.withLock { frameJobCount >= Self.queueLimit } }

  // MARK: - From clients

  /// Puts a frame in. Waits while the queue is full, and then until no more than `delayLimit` frames are pending.
  func submit(_ frame: CompressionFrame, draft: CompressionDraft, delayLimit: Int?) -> OSStatus {
    let isInside = isOnThread
    state.lock()
    defer { state.unlock() }
    startIfNeeded()
    // Called from a callback, it cannot wait for itself.
    while !isInside, !isStopped, frameJobCount >= Self.queueLimit { state.wait() }
    guard !isStopped else { return kVTInvalidSessionErr }
    guard jobs.count < Self.insideLimit else { return kVTAllocationFailedErr }
    jobs.append(.frame(frame, draft: draft))
    submitted += 1
    state.broadcast()
    if let delayLimit, !isInside {
      let target = submitted - delayLimit
      // Nor for an encoder that has seen all frames and holds more than it was asked to.
      while !isStopped, emitted < target, !(isIdle && jobs.isEmpty) { state.wait() }
    }
    return noErr
  }

  /// Does something on the thread, after all frames that were put in before, and waits for it.
  func perform(_ work: @escaping (CompressionWorker) -> OSStatus) -> OSStatus {
    if isOnThread {
      // Within a callback: what stands before it in the queue comes first.
      while let job = state.withLock({ jobs.isEmpty ? nil : jobs.removeFirst() }) { run(job) }
      let status = work(worker)
      deliver()
      return status
    }
    let completion = Completion()
    state.lock()
    defer { state.unlock() }
    guard !isStopped else { return kVTInvalidSessionErr }
    startIfNeeded()
    jobs.append(.work(work, completion))
    state.broadcast()
    while completion.status == nil, !isStopped { state.wait() }
    return completion.status ?? kVTInvalidSessionErr
  }

  /// Ends the thread. Frames that are pending are given up; after the call no callback runs any more, unless the
  /// call came from one.
  func stop() {
    let isInside = isOnThread
    state.lock()
    isStopped = true
    jobs.removeAll()
    state.broadcast()
    while !isInside, thread != nil { state.wait() }
    state.unlock()
  }

  // MARK: - The thread

  private var isOnThread: Bool { state.withLock { thread.map { $0 === Thread.current } ?? false } }

  private var frameJobCount: Int {
    jobs.reduce(0) { count, job in if case .frame = job { count + 1 } else { count } }
  }

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
    if jobs.isEmpty {
      isIdle = true
      state.broadcast()
    }
    while jobs.isEmpty, !isStopped { state.wait() }
    guard !isStopped else { return nil }
    isIdle = false
    let job = jobs.removeFirst()
    state.broadcast()
    return job
  }

  private func run(_ job: Job) {
    switch job {
    case .frame(let frame, let draft):
      worker.encode(frame, draft: draft)
      deliver()
    case .work(let work, let completion):
      let status = work(worker)
      deliver()
      state.withLock {
        completion.status = status
        state.broadcast()
      }
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
