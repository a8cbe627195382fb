// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation

/// An encoder that a session uses, together with the inbox for its results. Used on the session's
/// encoding thread alone.
final class RunningEncoder {
  private let encoder: any VideoEncoder
  private let inbox: EncoderInbox

  /// Starts an encoder.
  /// - Parameters:
  ///   - encoder: The encoder, newly created.
  ///   - wake: Called on any thread when a result arrives between two calls of the encoder.
  init(_ encoder: any VideoEncoder, wake: @escaping @Sendable () -> Void) {
    self.encoder = encoder
    inbox = EncoderInbox(wake: wake)
    encoder.start(output: inbox)
  }

  // Results that a device delivers after this are discarded.
  deinit { inbox.close() }

  var reorderingDepth: Int { encoder.reorderingDepth }
  var wantsAnotherPass: Bool? { encoder.wantsAnotherPass }

  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    try encoder.reconfigure(new)
  }

  // During these calls, `receiver` gets the results that arrive on this thread at once, and
  // afterwards those that arrived on other threads.

  func encode(
    _ picture: InputPicture, request: FrameRequest, for receiver: CompressionWorker
  ) throws(CodecError) {
    inbox.receiver = receiver
    defer { deliverResults(for: receiver) }
    try encoder.encode(picture, request: request)
  }

  func flush(for receiver: CompressionWorker) throws(CodecError) {
    inbox.receiver = receiver
    defer { deliverResults(for: receiver) }
    try encoder.flush()
  }

  func complete(through presentationTime: Int64, for receiver: CompressionWorker) throws(CodecError) {
    inbox.receiver = receiver
    defer { deliverResults(for: receiver) }
    try encoder.complete(through: presentationTime)
  }

  /// Passes the results that have arrived on other threads so far to the receiver.
  func deliverResults(for receiver: CompressionWorker) {
    inbox.receiver = nil
    inbox.deliverResults(for: receiver)
  }
}

/// The output of one encoder. Results that arrive on the encoding thread during a call go to the
/// receiver at once; all others wait until that thread calls `deliverResults`.
private final class EncoderInbox: VideoEncoderOutput, @unchecked Sendable {
  // Sendable: `lock` guards `waiting` and `isClosed`; `receiver` is accessed on the encoding thread
  // alone.

  /// A result that waits: a coded frame, or the error of a picture. It is a class because an array
  /// cannot hold a frame, which is noncopyable.
  private final class Waiting {
    var frame: CompressedFrame?
    let failure: (time: Int64, error: CodecError)?

    init(_ frame: consuming CompressedFrame) {
      self.frame = consume frame
      failure = nil
    }

    init(_ time: Int64, _ error: CodecError) {
      frame = nil
      failure = (time, error)
    }
  }

  private let sessionThread = pthread_self()
  /// The worker to pass results to; set while the encoding thread is in a call of the encoder.
  var receiver: CompressionWorker?

  private let lock = Lock()
  private var waiting: [Waiting] = []
  private var isClosed = false
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func send(_ frame: consuming CompressedFrame) {
    guard let receiver = receiverOfCall() else { return put(Waiting(frame)) }
    // Results that other threads have delivered before come first.
    deliverResults(for: receiver)
    receiver.finish(frame)
    self.receiver = receiver
  }

  func fail(pictureAt presentationTime: Int64, with error: CodecError) {
    guard let receiver = receiverOfCall() else { return put(Waiting(presentationTime, error)) }
    deliverResults(for: receiver)
    receiver.fail(pictureAt: presentationTime, error)
    self.receiver = receiver
  }

  /// Takes the receiver out of `receiver` if this is the encoding thread in a call of the encoder;
  /// nil otherwise. It is missing until the caller puts it back, so that results that arrive
  /// meanwhile have to wait.
  private func receiverOfCall() -> CompressionWorker? {
    guard pthread_equal(pthread_self(), sessionThread) != 0 else { return nil }
    return receiver.take()
  }

  /// Appends a result to those that wait, and wakes the encoding thread.
  private func put(_ outcome: Waiting) {
    let isWanted = lock.withLock {
      if !isClosed { waiting.append(outcome) }
      return !isClosed
    }
    if isWanted { wake() }
  }

  /// Passes all waiting results to the receiver, in the order of their arrival.
  func deliverResults(for receiver: CompressionWorker) {
    while true {
      let outcomes = lock.withLock { waiting.isEmpty ? [] : exchange(&waiting, with: []) }
      if outcomes.isEmpty { return }
      for outcome in outcomes {
        if let failure = outcome.failure {
          receiver.fail(pictureAt: failure.time, failure.error)
        } else if let frame = outcome.frame.take() {
          receiver.finish(frame)
        }
      }
    }
  }

  /// Discards the waiting results and all that arrive later.
  func close() {
    let left = lock.withLock {
      isClosed = true
      return exchange(&waiting, with: [])
    }
    // Releasing the frames returns their memory to the encoder, so it is done without the lock.
    withExtendedLifetime(left) {}
  }
}
