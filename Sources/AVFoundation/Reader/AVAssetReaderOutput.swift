// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Where a reader's samples come out. Use `AVAssetReaderTrackOutput`.
open class AVAssetReaderOutput: NSObject, @unchecked Sendable {
  // Sendable: `stateLock` and `readLock` guard what changes.
  private let stateLock = Lock()
  /// Held while a sample is read: one caller at a time.
  private let readLock = Lock()
  private weak var owner: AVAssetReader?
  private var source: (any SampleSource)?
  private var ranges: [CMTimeRange] = []
  private var atEnd = false
  private var copies = true
  private var randomAccess = false
  private var isFinal = false

  override init() { super.init() }

  open var mediaType: AVMediaType { .video }

  /// Filled by the sources.
  let damage = DamageLog()

  /// Whether samples may be changed by the program. If not, pictures come without a copy where that is possible;
  /// they may then be references of later ones, and must not be written to. Set it before reading begins.
  open var alwaysCopiesSampleData: Bool {
    get { stateLock.withLock { copies } }
    set { stateLock.withLock { if source == nil { copies = newValue } } }
  }

  /// Whether `reset(forReadingTimeRanges:)` may be called. Set it before reading begins.
  open var supportsRandomAccess: Bool {
    get { stateLock.withLock { randomAccess } }
    set { stateLock.withLock { if source == nil { randomAccess = newValue } } }
  }

  /// The next sample, waiting for it if need be; nil at the end, after a failure or when the reader was cancelled.
  @discardableResult
  open func copyNextSampleBuffer() -> CMSampleBuffer? {
    readLock.withLock {
      guard let reader, reader.isReading, let source = stateLock.withLock({ atEnd ? nil : source }) else {
        return nil
      }
      do {
        if let sample = try source.next() { return reader.isReading ? sample : nil }
        if try advance(source) { return try nextOfRange(source) }
      } catch {
        reader.fail(AVError.reading(error))
        return nil
      }
      finish(reader)
      return nil
    }
  }

  private func nextOfRange(_ source: any SampleSource) throws -> CMSampleBuffer? {
    repeat {
      if let sample = try source.next() { return sample }
    } while try advance(source)
    if let reader { finish(reader) }
    return nil
  }

  /// Goes to the next of several ranges.
  private func advance(_ source: any SampleSource) throws -> Bool {
    let next = stateLock.withLock { ranges.isEmpty ? nil : ranges.removeFirst() }
    guard let next else { return false }
    try source.seek(to: next)
    return true
  }

  private func finish(_ reader: AVAssetReader) {
    let ended = stateLock.withLock {
      atEnd = true
      return !randomAccess || isFinal
    }
    if ended { reader.outputEnded() }
  }

  /// After the end: reads other parts, `NSValue`s of `CMTimeRange`, which must be in order and apart.
  ///
  /// Without `supportsRandomAccess`, or with ranges that overlap or go back, the reader fails.
  open func reset(forReadingTimeRanges timeRanges: [NSValue]) {
    readLock.withLock {
      guard let reader, reader.isReading else { return }
      let new = timeRanges.map(\.timeRangeValue)
      let state = stateLock.withLock { (randomAccess, isFinal, source) }
      let inOrder = zip(new, new.dropFirst()).allSatisfy { $0.end <= $1.start }
      guard state.0, !state.1, let source = state.2, inOrder,
        new.allSatisfy({ $0.isValid && $0.start.isNumeric })
      else {
        reader.fail(
          AVError(
            .operationNotAllowed, reason: "The output cannot be reset for these time ranges.",
            advice: "Set supportsRandomAccess before reading, and give valid ranges in order."))
        return
      }
      stateLock.withLock {
        ranges = Array(new.dropFirst())
        atEnd = new.isEmpty
      }
      guard let first = new.first else { return }
      do { try source.seek(to: first) } catch { reader.fail(AVError.reading(error)) }
    }
  }

  /// No reset will follow: the reader may complete.
  open func markConfigurationAsFinal() {
    let ended = stateLock.withLock {
      isFinal = true
      return atEnd
    }
    if ended { reader?.outputEnded() }
  }

  // MARK: - For the reader

  var reader: AVAssetReader? { stateLock.withLock { owner } }
  var settingsError: AVError? { nil }
  func attach(to reader: AVAssetReader) { stateLock.withLock { owner = reader } }
  func belongs(to asset: AVAsset) -> Bool { false }
  func makeSource(asset: AVAsset, copies: Bool) throws -> any SampleSource {
    throw AVError(.operationNotAllowed, reason: "This kind of output reads nothing.")
  }

  /// Nothing more will be read. May be called from any thread, also while a sample is waited for.
  func stop() { stateLock.withLock { source }?.stop() }

  var hasEnded: Bool { stateLock.withLock { atEnd && (!randomAccess || isFinal) } }

  func start(asset: AVAsset, range: CMTimeRange) throws {
    if let settingsError { throw settingsError }
    let made = try makeSource(asset: asset, copies: alwaysCopiesSampleData)
    try made.seek(to: range)
    stateLock.withLock {
      source = made
      atEnd = false
    }
  }
}

/// What an output takes its samples from. One thread at a time.
protocol SampleSource: AnyObject {
  /// The next sample of the range; nil at its end.
  func next() throws -> CMSampleBuffer?
  /// Reads this range from now on.
  func seek(to range: CMTimeRange) throws
  /// Ends what goes on, in the background or in a `next()` that waits, here and in all sources inside. From any thread.
  func stop()
}

/// Ends what a source opens and reads while it is asked for a sample, from another thread.
final class SourceInterruption: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var current: MediaInterruption?
  private var isPaused = false
  private var isStopped = false

  var isInterrupted: Bool { lock.withLock { isPaused || isStopped } }

  /// For the file that is opened next. It is over already if nothing is to be read any more.
  func begin() -> MediaInterruption {
    let new = MediaInterruption()
    let isOver = lock.withLock {
      current = new
      return isPaused || isStopped
    }
    if isOver { new.interrupt() }
    return new
  }

  /// Ends the reading until `resume()`.
  func pause() {
    lock.withLock {
      isPaused = true
      return current
    }?.interrupt()
  }

  func resume() { lock.withLock { isPaused = false } }

  /// Ends the reading for good.
  func stop() {
    lock.withLock {
      isStopped = true
      return current
    }?.interrupt()
  }
}
