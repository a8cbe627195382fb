// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Creates sample buffers with the stored samples at the positions of `AVSampleCursor` objects.
open class AVSampleBufferGenerator: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let asset: AVAsset
  private let timebase: CMTimebase?
  private let lock = Lock()
  /// The loaders by the identifiers of their tracks.
  private var loaders: [CMPersistentTrackID: StoredSampleLoader] = [:]
  private let queue = DispatchQueue(label: "AVFoundation.samples")

  /// Creates a generator.
  /// - Parameters:
  ///   - asset: The asset whose tracks created the cursors.
  ///   - timebase: The timebase for the times of scheduled requests; without it, they are processed
  ///     at once.
  public init(asset: AVAsset, timebase: CMTimebase?) {
    self.asset = asset
    self.timebase = timebase
    super.init()
  }

  /// Creates a sample buffer. Its data is read before the method returns or in the background,
  /// according to the mode of the request; see `notifyOfDataReady(for:completionHandler:)`.
  /// - Throws: `AVError.Code.invalidSampleCursor` for a cursor of another asset, or another
  ///   `AVError` if the file cannot be read.
  open func makeSampleBuffer(for request: AVSampleBufferRequest) throws -> CMSampleBuffer {
    let (pending, buffer) = try prepare(request)
    let isImmediate =
      switch request.mode {
      case .immediate: true
      case .scheduled: timebase == nil
      case .opportunistic: false
      }
    if isImmediate {
      if let error = pending.load(buffer) { throw error }
    } else {
      queue.async { pending.load(buffer) }
    }
    return buffer
  }

  /// Does the same as `makeSampleBuffer(for:)`, but returns nil on failure.
  open func createSampleBuffer(for request: AVSampleBufferRequest) -> CMSampleBuffer? {
    try? makeSampleBuffer(for: request)
  }

  /// Creates a batch, with which the data of several sample buffers is read together.
  open func makeBatch() -> AVSampleBufferGeneratorBatch { AVSampleBufferGeneratorBatch(self) }

  /// Creates a sample buffer whose data is read with a batch. The mode of the request has no
  /// effect.
  /// - Throws: `AVError.Code.invalidSampleCursor` for a cursor of another asset;
  ///   `AVError.Code.operationNotAllowed` for a batch of another generator, or for one whose data
  ///   is being read or that was cancelled.
  open func makeSampleBuffer(
    for request: AVSampleBufferRequest, addTo batch: AVSampleBufferGeneratorBatch
  ) throws -> CMSampleBuffer {
    let (pending, buffer) = try prepare(request)
    try batch.add(pending, buffer, of: self)
    return buffer
  }

  private func prepare(_ request: AVSampleBufferRequest) throws -> (PendingSamples, CMSampleBuffer) {
    let index = request.startCursor.index
    guard index.file === asset.file else {
      throw AVError(
        .invalidSampleCursor, reason: "The cursor belongs to another asset.",
        advice: "Use a generator for the asset whose track created the cursor.")
    }
    let loader = lock.withLock {
      if let known = loaders[index.stream.trackID], known.index === index { return known }
      let made = StoredSampleLoader(index)
      loaders[index.stream.trackID] = made
      return made
    }
    let pending = PendingSamples(loader, request.samples())
    let buffer = try pending.makeBuffer()
    let time = request.overrideTime
    if time.isValid { try buffer.setOutputPresentationTimeStamp(time) }
    return (pending, buffer)
  }

  /// Reads the data of a batch in the background. The handler receives the first error, or nil.
  func load(_ buffers: [(PendingSamples, CMSampleBuffer)], _ handler: @escaping @Sendable (AVError?) -> Void)
  {
    queue.async {
      var first: AVError?
      for (pending, buffer) in buffers {
        if let error = pending.load(buffer), first == nil { first = error }
      }
      handler(first)
    }
  }

  /// Calls a handler when the data of a sample buffer that a generator created is ready or has
  /// failed.
  ///
  /// - Parameters:
  ///   - sbuf: The sample buffer.
  ///   - handler: Called once, on any thread, or at once if the result is known. Its first argument
  ///     is true if the data is ready; the second, the error, is then meaningless.
  open class func notifyOfDataReady(
    for sbuf: CMSampleBuffer, completionHandler handler: @escaping @Sendable (Bool, any Error) -> Void
  ) {
    let none = AVError(.unknown, reason: "No error occurred.")
    if let pending = PendingSamples.of(sbuf) {
      return pending.whenLoaded { error in handler(error == nil, error ?? none) }
    }
    if CMSampleBufferDataIsReady(sbuf) { return handler(true, none) }
    handler(
      false,
      AVError(.operationNotAllowed, reason: "The sample buffer was not made by a sample buffer generator."))
  }

  /// Waits until the data of a sample buffer that a generator created is ready or has failed; see
  /// `notifyOfDataReady(for:completionHandler:)`.
  open class func notifyOfDataReady(for sbuf: CMSampleBuffer) async -> (Bool, any Error) {
    await withCheckedContinuation { continuation in
      notifyOfDataReady(for: sbuf) { continuation.resume(returning: ($0, $1)) }
    }
  }
}

/// A batch of sample buffers whose data is read together.
open class AVSampleBufferGeneratorBatch: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let generator: AVSampleBufferGenerator
  private let lock = Lock()
  private var buffers: [(pending: PendingSamples, buffer: CMSampleBuffer)] = []
  private var isLoading = false
  private var isCancelled = false

  init(_ generator: AVSampleBufferGenerator) {
    self.generator = generator
    super.init()
  }

  func add(_ pending: PendingSamples, _ buffer: CMSampleBuffer, of other: AVSampleBufferGenerator) throws {
    guard other === generator else {
      throw AVError(.operationNotAllowed, reason: "The batch belongs to another generator.")
    }
    try lock.withLock {
      guard !isLoading, !isCancelled else {
        throw AVError(
          .operationNotAllowed,
          reason: isCancelled ? "The batch was cancelled." : "The data of the batch is being read.",
          advice: "Make another batch.")
      }
      buffers.append((pending, buffer))
    }
  }

  /// Reads the data of all sample buffers of the batch. It can be called once.
  /// - Parameter handler: Called once, on any thread, when all data is ready or has failed. Its
  ///   argument is nil or an `AVError`: `operationCancelled` after `cancel()`,
  ///   `operationNotAllowed` if the method was called before.
  open func makeDataReady(completionHandler handler: @escaping @Sendable ((any Error)?) -> Void) {
    let taken = lock.withLock { () -> [(PendingSamples, CMSampleBuffer)]? in
      guard !isLoading else { return nil }
      isLoading = true
      return buffers
    }
    guard let taken else {
      return handler(AVError(.operationNotAllowed, reason: "The data of the batch is being read already."))
    }
    generator.load(taken) { [self] error in
      lock.withLock { buffers = [] }
      handler(error)
    }
  }

  /// Reads the data of all sample buffers of the batch. It can be called once.
  /// - Throws: The error that `makeDataReady(completionHandler:)` reports.
  open func makeDataReady() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      makeDataReady { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  /// Cancels the batch. Sample buffers whose data has not been read yet get no data.
  open func cancel() {
    let waiting = lock.withLock {
      isCancelled = true
      return buffers
    }
    for (pending, _) in waiting { pending.giveUp() }
    // Handlers that wait for this data are notified that it was cancelled.
    for (pending, buffer) in waiting { pending.load(buffer) }
  }
}
