// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Dispatch

/// Applies an effect to the frames of a video, one after the other.
///
/// Start a session with the configuration of an effect, call one of the `process` methods for each
/// frame with parameters of the same effect, and end the session. The effect of this package is the
/// temporal noise filter (``VTTemporalNoiseFilterConfiguration``).
///
/// The methods may be called from any thread. Frames are processed in the order of the calls. Their
/// buffers must not be changed before the completion handler is called.
open class VTFrameProcessor: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards `session`, and the effect runs on `queue` alone.
  private let lock = Lock()
  private var session: (any FrameEffect)?
  private let queue = DispatchQueue(label: "VTFrameProcessor")
  /// Tells whether code runs on the queue of a processor.
  private let queueKey = DispatchSpecificKey<Bool>()

  /// Makes a processor without a session.
  public override init() {
    super.init()
    queue.setSpecific(key: queueKey, value: true)
  }

  /// Starts a session.
  ///
  /// - Parameter configuration: the effect and its settings.
  /// - Throws: `VTFrameProcessorError` with the code `sessionAlreadyActive` if there is a session,
  ///   and `initializationFailed` for a configuration of an effect that this package does not have.
  open func startSession(configuration: any VTFrameProcessorConfiguration) throws {
    try lock.withLock {
      guard session == nil else { throw VTFrameProcessorError(.sessionAlreadyActive) }
      guard let configuration = configuration as? any FrameEffectConfiguration else {
        throw VTFrameProcessorError(.initializationFailed)
      }
      session = configuration.makeEffect()
    }
  }

  /// Applies the effect to a frame.
  ///
  /// - Parameters:
  ///   - parameters: the frame, its references and its destination, of the session's effect.
  ///   - completionHandler: is called when the frame is complete, on a thread of the processor,
  ///     with the same parameters. Its error is a `VTFrameProcessorError`, or nil:
  ///     `sessionNotStarted` without a session, `invalidParameterError` for parameters of another
  ///     effect or out of range, `unsupportedInput` for buffers of another size or pixel format
  ///     than the session's, `invalidFrameTiming` for frames whose times are not numeric or not in
  ///     order.
  open func process(
    parameters: any VTFrameProcessorParameters,
    completionHandler: @escaping @Sendable (any VTFrameProcessorParameters, (any Error)?) -> Void
  ) {
    let effect = lock.withLock { session }
    // Sendable: the parameters are handed over to the queue, and back by the handler.
    nonisolated(unsafe) let parameters = parameters
    queue.async {
      do {
        guard let effect else { throw VTFrameProcessorError(.sessionNotStarted) }
        try effect.process(parameters)
        completionHandler(parameters, nil)
      } catch {
        completionHandler(parameters, error)
      }
    }
  }

  /// Applies the effect to a frame.
  ///
  /// - Parameter parameters: the frame, its references and its destination, of the session's
  ///   effect.
  /// - Returns: the same parameters, when the frame is complete.
  /// - Throws: the errors that `process(parameters:completionHandler:)` tells.
  @discardableResult
  open func process(parameters: any VTFrameProcessorParameters) async throws
    -> any VTFrameProcessorParameters
  {
    // Sendable: as above.
    nonisolated(unsafe) let parameters = parameters
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process(parameters: parameters) { _, error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
    return parameters
  }

  /// Ends the session and waits for the frames that are being processed. In a completion handler it
  /// does not wait. Another session may be started afterwards.
  open func endSession() {
    lock.withLock { session = nil }
    if DispatchQueue.getSpecific(key: queueKey) != true { queue.sync {} }
  }
}

/// The operation that a session applies to each frame.
protocol FrameEffect: Sendable {
  /// Processes a frame.
  ///
  /// - Throws: `VTFrameProcessorError`.
  func process(_ parameters: any VTFrameProcessorParameters) throws
}

/// The configuration of an effect that this package has.
protocol FrameEffectConfiguration: VTFrameProcessorConfiguration {
  /// The greatest numbers of preceding and following frames.
  var frameCounts: (previous: Int, next: Int) { get }
  func makeEffect() -> any FrameEffect
}
