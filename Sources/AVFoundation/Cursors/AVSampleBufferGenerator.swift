// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes sample buffers of the stored samples at an `AVSampleCursor`.
open class AVSampleBufferGenerator: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let asset: AVAsset
  private let timebase: CMTimebase?
  private let lock = Lock()
  /// By the numbers of the tracks.
  private var loaders: [CMPersistentTrackID: StoredSampleLoader] = [:]
  private let queue = DispatchQueue(label: "AVFoundation.samples")

  /// - Parameters:
  ///   - asset: The asset whose tracks have made the cursors.
  ///   - timebase: Of the times of scheduled requests; nil: these are done at once.
  public init(asset: AVAsset, timebase: CMTimebase?) {
    self.asset = asset
    self.timebase = timebase
    super.init()
  }

  /// Makes a sample buffer. Its data is read before the method returns, or, as the request's mode says, in the background; see
  /// `notifyOfDataReady(for:completionHandler:)`.
  /// - Throws: `AVError`: `invalidSampleCursor` for a cursor of another asset, or why the file cannot be read.
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

  /// The same; nil where it throws.
  open func createSampleBuffer(for request: AVSampleBufferRequest) -> CMSampleBuffer? {
    try? makeSampleBuffer(for: request)
  }

  /// Something that reads the data of several sample buffers together.
  open func makeBatch() -> AVSampleBufferGeneratorBatch { AVSampleBufferGeneratorBatch(self) }

  /// Makes a sample buffer whose data is read with a batch. The request's mode has no effect.
  /// - Throws: `AVError`: `invalidSampleCursor` for a cursor of another asset, `operationNotAllowed` for a batch of another
  ///   generator, or one whose data is being read.
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
        advice: "Make a generator of the asset whose track has made the cursor.")
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

  /// For a batch: reads in the background.
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

  /// Calls a handler once the data of a generator's sample buffer is there, or will not come.
  ///
  /// - Parameters:
  ///   - sbuf: The sample buffer.
  ///   - handler: Called once, on any thread, at once where it is known: with true, or with false and the reason. With true the
  ///     error has no meaning.
  open class func notifyOfDataReady(
    for sbuf: CMSampleBuffer, completionHandler handler: @escaping @Sendable (Bool, any Error) -> Void
  ) {
    let none = AVError(.unknown, reason: "The data is there.")
    if let pending = PendingSamples.of(sbuf) {
      return pending.whenLoaded { error in handler(error == nil, error ?? none) }
    }
    if CMSampleBufferDataIsReady(sbuf) { return handler(true, none) }
    handler(
      false,
      AVError(.operationNotAllowed, reason: "The sample buffer was not made by a sample buffer generator."))
  }

  /// Waits until the data of a generator's sample buffer is there, or will not come; see
  /// `notifyOfDataReady(for:completionHandler:)`.
  open class func notifyOfDataReady(for sbuf: CMSampleBuffer) async -> (Bool, any Error) {
    await withCheckedContinuation { continuation in
      notifyOfDataReady(for: sbuf) { continuation.resume(returning: ($0, $1)) }
    }
  }
}

/// Sample buffers whose data is read together.
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
          .operationNotAllowed, reason: "The data of the batch is being read.",
          advice: "Make another batch.")
      }
      buffers.append((pending, buffer))
    }
  }

  /// Reads the data of all sample buffers of the batch, once.
  /// - Parameter handler: Called once, on any thread, when all have their data: with nil, or with an `AVError` that says why one
  ///   has none: `operationCancelled` after `cancel()`, `operationNotAllowed` where the data is being read already.
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

  /// Reads the data of all sample buffers of the batch, once.
  /// - Throws: What `makeDataReady(completionHandler:)` gives.
  open func makeDataReady() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      makeDataReady { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  /// Gives up: what has not been read yet gets no data.
  open func cancel() {
    let waiting = lock.withLock {
      isCancelled = true
      return buffers
    }
    for (pending, _) in waiting { pending.giveUp() }
    // Who waits for data that nobody will ask for any more is told so.
    for (pending, buffer) in waiting { pending.load(buffer) }
  }
}
