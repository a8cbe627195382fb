// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation

/// An encoder of a session, from its making until the session lets it go, and what it hands over. Used by the session's
/// thread alone.
final class RunningEncoder {
  private let encoder: any VideoEncoder
  private let inbox: EncoderInbox

  /// - Parameter wake: called from any thread when something waits to be taken up between two calls.
  init(_ encoder: any VideoEncoder, wake: @escaping @Sendable () -> Void) {
    self.encoder = encoder
    inbox = EncoderInbox(wake: wake)
    encoder.start(output: inbox)
  }

  // What a device still sends after this is dropped.
  deinit { inbox.close() }

  var reorderingDepth: Int { encoder.reorderingDepth }
  var wantsAnotherPass: Bool? { encoder.wantsAnotherPass }

  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    try encoder.reconfigure(new)
  }

  // During these calls, `receiver` gets what comes on this thread at once, and after them what came on others.

  func encode(
    _ picture: InputPicture, request: FrameRequest, for receiver: CompressionWorker
  ) throws(CodecError) {
    inbox.receiver = receiver
    defer { takeUp(for: receiver) }
    try encoder.encode(picture, request: request)
  }

  func flush(for receiver: CompressionWorker) throws(CodecError) {
    inbox.receiver = receiver
    defer { takeUp(for: receiver) }
    try encoder.flush()
  }

  func complete(through presentationTime: Int64, for receiver: CompressionWorker) throws(CodecError) {
    inbox.receiver = receiver
    defer { takeUp(for: receiver) }
    try encoder.complete(through: presentationTime)
  }

  /// Hands over what has come from other threads so far.
  func takeUp(for receiver: CompressionWorker) {
    inbox.receiver = nil
    inbox.takeUp(for: receiver)
  }
}

/// The output of one encoder: what comes on the session's thread during a call goes on at once, all else waits until that
/// thread takes it up.
private final class EncoderInbox: VideoEncoderOutput, @unchecked Sendable {
  // Sendable: `lock` guards what changes, and `receiver` is touched on the session's thread alone.

  /// An outcome that waits, since an array cannot hold a frame that has one owner.
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
  /// Set while the session's thread is in a call of the encoder.
  var receiver: CompressionWorker?

  private let lock = Lock()
  private var waiting: [Waiting] = []
  private var isClosed = false
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func send(_ frame: consuming CompressedFrame) {
    guard let receiver = receiverOfCall() else { return put(Waiting(frame)) }
    // What a device has finished before comes first.
    takeUp(for: receiver)
    receiver.finish(frame)
    self.receiver = receiver
  }

  func fail(pictureAt presentationTime: Int64, with error: CodecError) {
    guard let receiver = receiverOfCall() else { return put(Waiting(presentationTime, error)) }
    takeUp(for: receiver)
    receiver.fail(pictureAt: presentationTime, error)
    self.receiver = receiver
  }

  /// Whoever takes an outcome at once, for which it is taken out: what comes while it is at work has to wait.
  private func receiverOfCall() -> CompressionWorker? {
    guard pthread_equal(pthread_self(), sessionThread) != 0 else { return nil }
    return receiver.take()
  }

  private func put(_ outcome: Waiting) {
    let isWanted = lock.withLock {
      if !isClosed { waiting.append(outcome) }
      return !isClosed
    }
    if isWanted { wake() }
  }

  func takeUp(for receiver: CompressionWorker) {
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

  /// Nothing is taken any more.
  func close() {
    let left = lock.withLock {
      isClosed = true
      return exchange(&waiting, with: [])
    }
    // Their memory goes back to the encoder, under no lock.
    withExtendedLifetime(left) {}
  }
}
